//! A stream without a sidecar: what was pushed comes back, in order and with numbers.

use serde_json::{Value, json};

use crate::protocol::{
    BlockEnd, Channel, CloseParams, CloseReason, CloseResult, Event, Finish, FinishReason, Framing,
    Message, OpenParams, SnapshotResult, Stats, TextDelta, Wire,
};

/// The `type` of the events that bring a chunk back.
pub const PASS_THROUGH: &str = "pass-through";

/// Gives text that was pushed as text (wire or framing `text`) as the answer, unchanged,
/// and any other chunk as `Event::Unknown` with the type [`PASS_THROUGH`].
pub(crate) struct PassThrough {
    stream_id: String,
    is_text: bool,
    seq: i64,
    pushes: i64,
    shown: bool,
    answer: Option<Vec<Event>>,
}

impl PassThrough {
    pub(crate) fn new(params: &OpenParams) -> Self {
        let is_text = params.wire == Some(Wire::Text) || params.framing == Some(Framing::Text);
        let stream_id = params.stream_id.clone().unwrap_or_default();
        Self { stream_id, is_text, seq: 0, pushes: 0, shown: false, answer: None }
    }

    pub(crate) fn id(&self) -> &str {
        &self.stream_id
    }

    /// Takes chunks with commas between, as they would have been sent.
    pub(crate) fn push(&mut self, items: &str) -> Vec<Event> {
        self.pushes += 1;
        let chunks = serde_json::from_str::<Vec<Value>>(&format!("[{items}]"));
        chunks.unwrap_or_default().into_iter().map(|it| self.event(it)).collect()
    }

    pub(crate) fn submit(&mut self, items: &str) {
        self.answer = Some(self.push(items));
    }

    pub(crate) fn under_way(&self) -> usize {
        usize::from(self.answer.is_some())
    }

    pub(crate) fn answered(&mut self) -> Option<Vec<Event>> {
        self.answer.take()
    }

    pub(crate) fn snapshot(&self) -> SnapshotResult {
        SnapshotResult { message: message(None), stats: self.stats(), last_seq: self.seq }
    }

    pub(crate) fn close(mut self, params: &CloseParams) -> CloseResult {
        let mut events = Vec::new();
        if self.shown {
            events.push(Event::BlockEnd(BlockEnd {
                seq: self.next(),
                choice: None,
                block: 0,
                channel: Channel::Text,
                signature: None,
                opaque: None,
                raw_text: None,
                fields: None,
            }));
        }
        let finish = self.finish(params);
        events.push(Event::Finish(finish.clone()));
        let (message, stats) = (message(Some(finish)), self.stats());
        CloseResult { stream_id: self.stream_id, events, message, stats, chunks: None }
    }

    fn event(&mut self, chunk: Value) -> Event {
        let seq = self.next();
        match chunk {
            Value::String(text) if self.is_text => {
                self.shown = true;
                Event::TextDelta(TextDelta { seq, choice: None, block: 0, text, span: None })
            }
            chunk => Event::Unknown(json!({"type": PASS_THROUGH, "seq": seq, "chunk": chunk})),
        }
    }

    fn finish(&mut self, params: &CloseParams) -> Finish {
        let reason = match (&params.reason, &params.error) {
            (Some(CloseReason::Cancelled), _) => FinishReason::Cancelled,
            (Some(CloseReason::Error), _) | (None, Some(_)) => FinishReason::Error,
            _ => FinishReason::Unknown,
        };
        let complete = reason == FinishReason::Unknown;
        let empty_answer = !self.shown;
        Finish { seq: self.next(), choice: None, reason, empty_answer, complete, raw: None }
    }

    fn next(&mut self) -> i64 {
        self.seq += 1;
        self.seq
    }

    fn stats(&self) -> Stats {
        Stats { pushes: self.pushes, events: self.seq, ..Stats::default() }
    }
}

/// A message without parts: nothing that went through was kept.
fn message(finish: Option<Finish>) -> Message {
    Message { role: "assistant".into(), finish, ..Message::default() }
}
