//! A passage: requests that their provider accepts, clean responses, and a callback for
//! everything that an SDK has no place for.

mod support;

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_executor::block_on;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use stream_sidecar::{
    Event, OpenParams, Passage, Sidecar,
    protocol::{Emit, EmitReasoning, EmitWire, ToolCall, Wire},
};
use support::{builder, project_tests};

/// The params for a provider that refuses reasoning.
fn groq() -> OpenParams {
    let emit =
        Some(Emit { wire: EmitWire::OpenaiChat, claims: None, reasoning: None, rewrite: None });
    OpenParams { wire: Some(Wire::OpenaiChat), provider: Some("groq".into()), emit, ..text() }
}

fn text() -> OpenParams {
    OpenParams { model: Some("qwen3-32b".into()), ..OpenParams::default() }
}

type Lost = Arc<Mutex<Vec<String>>>;

/// The passage, and the kinds of the errors that `on_lost` got.
fn passage(sidecar: &Sidecar, params: OpenParams) -> (Passage, Lost) {
    let lost = Lost::default();
    let kept = Arc::clone(&lost);
    let record =
        move |error: &stream_sidecar::Error| kept.lock().unwrap().push(error.kind().into());
    (sidecar.passage(params).on_lost(record), lost)
}

const LEAKED: &str = r#"{ "model": "qwen3-32b", "seed": 123456789012345678901, "messages": [
    {"role": "user", "content": "?"},
    {"role": "assistant", "content": "<think>why</think>Because.", "reasoning_content": "why"},
    {"role": "user", "content": "Sure?"}]}"#;
const CLEAN: &str = r#"{ "messages": [ {"role": "user", "content": "?"} ] }"#;

fn sent(passage: &Passage, body: &str) -> String {
    let sent = block_on(passage.request(body.to_owned()));
    String::from_utf8(sent.into()).unwrap()
}

#[test]
fn a_request_is_sent_as_its_provider_accepts_it() {
    let sidecar = builder().build().unwrap();
    let (groq, lost) = passage(&sidecar, groq());
    let body = LEAKED.replace("123456789012345678901", "7");
    let prepared: Value = serde_json::from_str(&sent(&groq, &body)).unwrap();
    assert_eq!(prepared["messages"][1], json!({"role": "assistant", "content": "Because."}));
    for own in [CLEAN, "", "[]", "no json", r#"{"messages": 1}"#, "\u{feff}{}", LEAKED] {
        assert_eq!(sent(&groq, own), own, "what is not to be done, or cannot be");
    }
    let off = sidecar.passage(self::groq()).prepare(false);
    assert_eq!(sent(&off, &body), body);
    assert!(lost.lock().unwrap().is_empty());
}

#[test]
fn without_a_sidecar_the_callers_bytes_are_sent_and_the_loss_is_reported() {
    let none = Sidecar::builder().command(["/does/not/exist"]).build().unwrap();
    let (passage, lost) = passage(&none, groq());
    assert_eq!(sent(&passage, LEAKED), LEAKED);
    assert_eq!(*lost.lock().unwrap(), ["sidecar-unavailable"]);
}

/// The body made from a response with reasoning between tags, and the events.
fn body_of(passage: &Passage, content: &str) -> (String, Vec<ToolCall>) {
    let delta = json!({"choices": [{"index": 0, "delta": {"content": content}}]});
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    let source = format!("data: {delta}\n\ndata: {end}\n\ndata: [DONE]\n\n");
    block_on(async {
        let mut calls = Vec::new();
        let on_event = |event: &Event| {
            if let Event::ToolCall(call) = event {
                calls.push(ToolCall::clone(call));
            }
        };
        let opened = passage.open().await.unwrap();
        let body = opened.emit(stream::iter([source])).on_event(on_event);
        let body: Vec<Bytes> = body.map(Result::unwrap).collect().await;
        (String::from_utf8(body.concat()).unwrap(), calls)
    })
}

#[test]
fn reasoning_is_emitted_if_requests_are_prepared() {
    let sidecar = builder().build().unwrap();
    let content = "<think>why</think>Because.";
    let (passage, _) = passage(&sidecar, groq());
    assert!(body_of(&passage, content).0.contains(r#""reasoning_content":"why""#));
    let off = sidecar.passage(groq()).prepare(false);
    assert!(!body_of(&off, content).0.contains("why"), "groq would refuse it");
    let mut dropping = groq();
    dropping.emit.as_mut().unwrap().reasoning = Some(EmitReasoning::Drop);
    assert!(!body_of(&sidecar.passage(dropping), content).0.contains("why"));
}

#[test]
fn a_call_written_as_text_is_reported() {
    let sidecar = builder().build().unwrap();
    let (passage, _) = passage(&sidecar, groq());
    let written = "<tool_call>\n{\"name\": \"read\", \"arguments\": {}}\n</tool_call>";
    let (body, calls) = body_of(&passage, written);
    assert!(!body.contains("read"), "{body}");
    assert_eq!(calls.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["read"]);
}

#[test]
fn with_an_older_sidecar_requests_pass_and_it_is_reported_once() {
    let python = &support::command()[0];
    let script = project_tests().join("support/older_sidecar.py");
    let older =
        Sidecar::builder().command([python.into(), script.into_os_string()]).build().unwrap();
    let (passage, lost) = passage(&older, groq());
    for _ in 0..2 {
        assert_eq!(sent(&passage, LEAKED), LEAKED);
        let (body, _) = body_of(&passage, "<think>why</think>Because.");
        assert!(body.contains("Because.") && !body.contains("think>"), "{body}");
    }
    assert_eq!(*lost.lock().unwrap(), ["unsupported"]);
}
