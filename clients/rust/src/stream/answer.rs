//! The answers to pushes and to the end of a stream: events, and documents of the clean stream.

use serde_json::Value;

use crate::{
    protocol::{CloseResult, Event},
    stream::body_format::Emitted,
};

/// The answer to a push.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) events: Vec<Event>,
    pub(crate) emitted: Vec<Emitted>,
}

/// The end of a stream. Its events and documents are in `answer`; in `result` they are empty.
pub(crate) struct Closed {
    pub(crate) result: CloseResult,
    pub(crate) answer: Answer,
    /// Whether the provider's end mark followed the documents.
    pub(crate) is_marked: bool,
}

impl Closed {
    /// The result with its events and documents filled in.
    pub(crate) fn into_result(self) -> CloseResult {
        let Self { mut result, answer, is_marked } = self;
        result.events = answer.events;
        if let Some(chunks) = &mut result.chunks {
            let documents = answer.emitted.iter().map(|it| Value::Object(it.document()));
            *chunks = documents.chain(is_marked.then(|| END_MARK.into())).collect();
        }
        result
    }
}

/// The last of the chunks of `stream/close`, if the provider sent an end mark.
const END_MARK: &str = "[DONE]";
