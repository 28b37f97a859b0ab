//! A response as attributes and messages of OpenTelemetry's semantic conventions for `GenAI`.
//! Counts of removed text have names that start with `stream_sidecar.`.
//!
//! These functions are pure: the host has the span and the clock.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::protocol::{
    Block, CloseResult, Executor, FinishReason, Message, ToolCall, ToolCallOrigin, ToolResult,
    ToolResultSource,
};

/// The attributes of a finished response, for its span. `time_to_first_chunk` starts at the
/// request. With `content` the attributes include the messages as JSON: the text of the
/// conversation, which may be confidential.
#[must_use]
pub fn attributes(
    closed: &CloseResult,
    time_to_first_chunk: Option<Duration>,
    content: bool,
) -> Map<String, Value> {
    let CloseResult { message, stats, .. } = closed;
    let (metadata, usage) = (message.metadata.as_ref(), message.usage.as_ref());
    let choices = choices_of(message);
    let reasons: Vec<_> = choices.iter().filter_map(|it| reason_of(it)).collect();
    let results = choices.iter().flat_map(|it| &it.tool_results);
    let echoes = results.filter(|it| it.source == ToolResultSource::Echo).count();
    let calls = choices.iter().flat_map(|it| &it.tool_calls);
    let of_text = calls.filter(|it| it.origin == ToolCallOrigin::Text).count();
    let messages = content.then(|| Value::from(output_messages(message)).to_string());
    let attributes = [
        ("gen_ai.response.id", json!(metadata.and_then(|it| it.id.as_ref()))),
        ("gen_ai.response.model", json!(metadata.and_then(|it| it.model.as_ref()))),
        ("gen_ai.response.finish_reasons", json!(Some(reasons).filter(|it| !it.is_empty()))),
        (
            "gen_ai.response.time_to_first_chunk",
            json!(time_to_first_chunk.map(|it| it.as_secs_f64())),
        ),
        ("gen_ai.usage.input_tokens", json!(usage.and_then(|it| it.input_tokens))),
        ("gen_ai.usage.output_tokens", json!(usage.and_then(|it| it.output_tokens))),
        ("gen_ai.usage.cache_read.input_tokens", json!(usage.and_then(|it| it.cache_read_tokens))),
        (
            "gen_ai.usage.cache_creation.input_tokens",
            json!(usage.and_then(|it| it.cache_write_tokens)),
        ),
        ("gen_ai.usage.reasoning.output_tokens", json!(usage.and_then(|it| it.reasoning_tokens))),
        ("stream_sidecar.delimiters_stripped", json!(stats.delimiters_stripped)),
        ("stream_sidecar.reasoning_extracted", json!(stats.reasoning_extracted)),
        ("stream_sidecar.malformed_chunks", json!(stats.malformed_chunks)),
        ("stream_sidecar.tool_results_stripped", json!(echoes)),
        ("stream_sidecar.tool_calls_from_text", json!(of_text)),
        ("gen_ai.output.messages", json!(messages)),
    ];
    let known = attributes.into_iter().filter(|(_, value)| !value.is_null());
    known.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The value of `gen_ai.output.messages`: a message for each choice.
#[must_use]
pub fn output_messages(message: &Message) -> Vec<Value> {
    choices_of(message).into_iter().map(message_of).collect()
}

fn choices_of(message: &Message) -> Vec<&Message> {
    match &message.choices {
        Some(choices) => choices.iter().collect(),
        None => vec![message],
    }
}

fn message_of(choice: &Message) -> Value {
    let final_call =
        |call: &ToolCall| choice.tool_calls.iter().find(|it| it.block == call.block).cloned();
    let blocks = choice.blocks.iter().flatten();
    let parts: Vec<Value> = blocks
        .filter_map(|block| match block {
            Block::Text(it) => said("text", &it.text),
            Block::Reasoning(it) => said("reasoning", &it.text),
            Block::ToolCall(it) => part_of_call(final_call(it).as_ref().unwrap_or(it)),
            Block::ToolResult(it) => part_of_result(it),
            _ => None,
        })
        .collect();
    let mut message = json!({"role": "assistant", "parts": parts});
    if let Some(reason) = reason_of(choice) {
        message["finish_reason"] = reason.into();
    }
    message
}

fn said(kind: &str, text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| json!({"type": kind, "content": text}))
}

/// The part for a call; `None` for a call that nobody runs.
fn part_of_call(call: &ToolCall) -> Option<Value> {
    let input = call.input.clone().map_or_else(|| call.arguments.clone().into(), Value::Object);
    let (id, name) = (&call.tool_call_id, &call.name);
    if call.executor == Executor::Server {
        let details = json!({"type": kind_of(Some(name)), "arguments": input});
        return Some(json!(
            {"type": "server_tool_call", "id": id, "name": name, "server_tool_call": details}
        ));
    }
    call.executable
        .then(|| json!({"type": "tool_call", "id": id, "name": name, "arguments": input}))
}

/// The part for a result; `None` for a result that the model repeated.
fn part_of_result(result: &ToolResult) -> Option<Value> {
    let (kind, name) = ("server_tool_call_response", result.name.as_ref());
    let content = json!({"type": kind_of(name), "content": result.content});
    let mut part = json!({"type": kind, kind: content});
    if let Some(id) = &result.tool_call_id {
        part["id"] = json!(id);
    }
    if let Some(name) = name {
        part["name"] = json!(name);
    }
    (result.source == ToolResultSource::Server).then_some(part)
}

fn kind_of(name: Option<&String>) -> &str {
    name.map(String::as_str).filter(|it| !it.is_empty()).unwrap_or("tool")
}

/// The finish reason under its name in the conventions.
fn reason_of(choice: &Message) -> Option<String> {
    use FinishReason as Reason;
    let reason = &choice.finish.as_ref()?.reason;
    let name = match reason {
        Reason::ToolCalls => "tool_call",
        Reason::ContextLength => "length",
        Reason::ContentFilter | Reason::Refusal => "content_filter",
        Reason::Malformed | Reason::Cancelled => "error",
        other => other.as_str(),
    };
    Some(name.to_owned())
}
