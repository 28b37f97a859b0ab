//! Bodies of providers' answers with a given text, one function for each provider, as compact
//! as the provider writes them.

use serde_json::{Value, json};

fn data(documents: &[Value]) -> String {
    documents.iter().map(|it| format!("data: {it}\n\n")).collect()
}

fn named(documents: &[Value]) -> String {
    let event = |it: &Value| format!("event: {}\ndata: {it}\n\n", it["type"].as_str().unwrap());
    documents.iter().map(event).collect()
}

pub fn chat(content: &str) -> String {
    chat_of(&[content])
}

pub fn chat_of(contents: &[&str]) -> String {
    let chunk = |delta: Value, finish: Value| {
        json!({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    };
    let said = contents.iter().map(|it| chunk(json!({"content": it}), Value::Null));
    let documents: Vec<Value> = said.chain([chunk(json!({}), "stop".into())]).collect();
    data(&documents) + "data: [DONE]\n\n"
}

pub fn messages(text: &str) -> String {
    let message = json!({"id": "m1", "type": "message", "role": "assistant", "model": "c",
        "content": [], "stop_reason": null, "usage": {"input_tokens": 1, "output_tokens": 1}});
    named(&[
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": text}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ])
}

pub fn responses(text: &str) -> String {
    let item = |content: Value| {
        json!({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
            "content": content})
    };
    let part = json!([{"type": "output_text", "text": text, "annotations": []}]);
    let response = |status: &str, output: Value| {
        json!({"id": "resp_1", "object": "response", "created_at": 1, "model": "m",
            "status": status, "output": output})
    };
    named(&[
        json!({"type": "response.created", "response": response("in_progress", json!([]))}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item(json!([]))}),
        json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0,
            "content_index": 0, "delta": text}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item(part.clone())}),
        json!({"type": "response.completed",
            "response": response("completed", json!([item(part)]))}),
    ])
}

fn candidate(text: &str) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]},
        "finishReason": "STOP"}], "modelVersion": "g"})
}

pub fn gemini(text: &str) -> String {
    data(&[candidate(text)])
}

pub fn array(text: &str) -> String {
    let (first, second) = text.split_at(9);
    format!("[{}\n,{}\n]", candidate(first), candidate(second))
}

pub fn completion(content: &str) -> String {
    let message = json!({"role": "assistant", "content": content});
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    format!(r#"{{ "object": "chat.completion", "model": "m", "n" : 1.0, "choices": [{choice}] }}"#)
}
