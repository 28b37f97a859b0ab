//! A stream without a sidecar: the text of every chunk, unchanged. Tags, calls and framing stay
//! in the text, and the first event reports this.

use serde_json::Value;

use crate::{
    config::ReadText,
    error::Error,
    protocol::{
        Block, BlockEnd, Channel, CloseParams, CloseReason, CloseResult, Diagnostic, Event, Finish,
        FinishReason, Message, OpenParams, Severity, SnapshotResult, Stats, TextBlock, TextDelta,
    },
    stream::answer::Closed,
};

pub(crate) struct PassThrough {
    params: OpenParams,
    read_text: ReadText,
    /// Why there is no sidecar.
    error: Error,
    stats: Stats,
    text: String,
    answer: Option<Vec<Event>>,
}

impl PassThrough {
    pub(crate) fn new(params: OpenParams, read_text: ReadText, error: Error) -> Self {
        let (stats, text) = (Stats::default(), String::new());
        Self { params, read_text, error, stats, text, answer: None }
    }

    pub(crate) fn id(&self) -> &str {
        self.params.stream_id.as_deref().unwrap_or_default()
    }

    /// Pushes chunks, given as the items of a JSON array.
    pub(crate) fn push(&mut self, items: &str) -> Vec<Event> {
        self.stats.pushes += 1;
        let mut events = self.warning();
        let chunks = serde_json::from_str::<Vec<Value>>(&format!("[{items}]"));
        for chunk in chunks.unwrap_or_default() {
            let text = self.read_text.text(&chunk, &self.params);
            self.stats.chunks += 1;
            self.stats.chars += i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
            self.text += &text;
            if !text.is_empty() {
                let seq = self.next();
                let delta =
                    TextDelta { seq, choice: None, block: 0, text, span: None, refusal: None };
                events.push(Event::TextDelta(delta));
            }
        }
        events
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
        let (message, stats) = (self.message(None), self.stats.clone());
        SnapshotResult { message, last_seq: stats.events, stats }
    }

    pub(crate) fn close(mut self, params: &CloseParams) -> Closed {
        let mut events = self.warning();
        if !self.text.is_empty() {
            events.push(self.end_of_text());
        }
        let finish = self.finish(params);
        events.push(Event::Finish(finish.clone()));
        let message = self.message(Some(finish));
        let stream_id = self.id().to_owned();
        let stats = self.stats;
        let result = CloseResult { stream_id, events: Vec::new(), message, stats, chunks: None };
        Closed { result, answer: events.into(), is_marked: false }
    }

    /// The first event; none after that.
    fn warning(&mut self) -> Vec<Event> {
        if self.stats.events > 0 {
            return Vec::new();
        }
        vec![Event::Diagnostic(Diagnostic {
            seq: self.next(),
            choice: None,
            code: "sidecar-unavailable".into(),
            severity: Severity::Warning,
            message: format!("The text is not checked: {}", self.error),
            raw: None,
            span: None,
        })]
    }

    fn end_of_text(&mut self) -> Event {
        Event::BlockEnd(BlockEnd {
            seq: self.next(),
            choice: None,
            block: 0,
            channel: Channel::Text,
            signature: None,
            opaque: None,
            raw_text: None,
            fields: None,
            seal_broken: None,
        })
    }

    fn finish(&mut self, params: &CloseParams) -> Finish {
        let reason = match (&params.reason, &params.error) {
            (Some(CloseReason::Cancelled), _) => FinishReason::Cancelled,
            (Some(CloseReason::Error), _) | (None, Some(_)) => FinishReason::Error,
            _ => FinishReason::Unknown,
        };
        let empty_answer = self.text.trim().is_empty();
        Finish { seq: self.next(), choice: None, reason, empty_answer, complete: false, raw: None }
    }

    fn next(&mut self) -> i64 {
        self.stats.events += 1;
        self.stats.events
    }

    fn message(&self, finish: Option<Finish>) -> Message {
        let text = self.text.clone();
        let block = TextBlock { block: 0, text: text.clone(), opaque: None, refusal: None };
        let blocks = if text.is_empty() { Vec::new() } else { vec![Block::Text(block)] };
        Message {
            role: "assistant".into(),
            text: Some(text),
            reasoning: Some(String::new()),
            blocks: Some(blocks),
            finish,
            ..Message::default()
        }
    }
}
