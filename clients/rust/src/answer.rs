//! What pushes and the end of a stream give: events, and documents of the clean stream.

use serde_json::Value;

use crate::{
    body_format::Emitted,
    protocol::{CloseResult, Event},
};

/// What a push gives.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) events: Vec<Event>,
    pub(crate) emitted: Vec<Emitted>,
}

/// What the end of a stream gives. Events and documents are the answer's, not the result's.
pub(crate) struct Closed {
    pub(crate) result: CloseResult,
    pub(crate) answer: Answer,
    /// Whether the provider's end mark followed the documents.
    pub(crate) is_marked: bool,
}

impl Closed {
    /// With all that it gave in one piece.
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

/// The last of the chunks of `stream/close`, where it came.
const END_MARK: &str = "[DONE]";
