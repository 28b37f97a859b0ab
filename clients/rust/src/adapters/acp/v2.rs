//! Version 2 of the Agent Client Protocol, a draft (feature `acp-v2`). A message or a thought
//! can be replaced as a whole there, so the editor also moves the text that a `reclassify`
//! moves, and removes the text that a `retract` removes. All updates of calls are of one kind.

use std::{
    collections::{HashMap, VecDeque},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

pub use agent_client_protocol_schema::v2::SessionUpdate;
use agent_client_protocol_schema::{
    v1,
    v2::{AgentMessage, AgentThought, ContentBlock, ContentChunk, TextContent},
};
use futures_core::Stream;
use serde_json::{Value, json};

use super::{OnOther, SessionUpdateOptions, SessionUpdates as First, id_of};
use crate::{
    error::Error,
    protocol::{CloseResult, Event},
    stream::pipe::Pipe,
};

/// The updates of a response, to be sent one by one. An error is the last item, after the
/// updates that end the interrupted calls.
#[must_use]
pub fn session_updates(pipe: Pipe<'_>, mut options: SessionUpdateOptions) -> SessionUpdates<'_> {
    let moves: Arc<Mutex<Vec<Move>>> = Arc::default();
    let (collected, prefix) = (Arc::clone(&moves), options.prefix.clone());
    let mut on_other: Option<OnOther> = options.on_other.take();
    let options = options.on_other(move |event, id_of_block| {
        collected.lock().unwrap_or_else(PoisonError::into_inner).extend(moves_of(event, &prefix));
        if let Some(on_other) = &mut on_other {
            on_other(event, id_of_block);
        }
    });
    let first = super::session_updates(pipe, options);
    SessionUpdates { first, moves, shown: HashMap::new(), made: VecDeque::new() }
}

/// A message, by its id, that moves to another channel (`to`) or is removed (`None`).
struct Move {
    id: String,
    to: Option<Channel>,
}

#[derive(Clone, Copy, PartialEq)]
enum Channel {
    Message,
    Thought,
}

fn moves_of(event: &Event, prefix: &str) -> Vec<Move> {
    let (blocks, to) = match event {
        Event::Retract(it) => (&it.blocks, None),
        Event::Reclassify(it) => match it.to.as_str() {
            "text" => (&it.blocks, Some(Channel::Message)),
            "reasoning" => (&it.blocks, Some(Channel::Thought)),
            _ => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    blocks.iter().map(|block| Move { id: id_of(prefix, *block), to }).collect()
}

/// See [`session_updates`].
pub struct SessionUpdates<'a> {
    first: First<'a>,
    /// Moves that are still to be sent, in the order of the events.
    moves: Arc<Mutex<Vec<Move>>>,
    /// The text that an editor shows, by the message's id.
    shown: HashMap<String, (Channel, String)>,
    made: VecDeque<Result<SessionUpdate, Error>>,
}

impl SessionUpdates<'_> {
    /// The message and the counters, after the last update.
    #[must_use]
    pub fn closed(&self) -> Option<&CloseResult> {
        self.first.closed()
    }

    /// [`SessionUpdates::closed`] by value.
    #[must_use]
    pub fn into_closed(self) -> Option<CloseResult> {
        self.first.into_closed()
    }

    fn take_back(&mut self) {
        let moves = std::mem::take(&mut *self.moves.lock().unwrap_or_else(PoisonError::into_inner));
        for Move { id, to } in moves {
            let Some((channel, text)) = self.shown.get(&id).cloned() else {
                continue;
            };
            if to == Some(channel) {
                continue;
            }
            self.made.push_back(Ok(whole(channel, &id, Vec::new())));
            if let Some(to) = to {
                self.made.push_back(Ok(whole(to, &id, vec![block_of(text.clone())])));
                self.shown.insert(id, (to, text));
            } else {
                self.shown.remove(&id);
            }
        }
    }

    fn upsert(&mut self, update: v1::SessionUpdate) -> SessionUpdate {
        use v1::SessionUpdate as Update;
        match update {
            Update::AgentMessageChunk(it) => {
                SessionUpdate::AgentMessageChunk(self.chunk(Channel::Message, it))
            }
            Update::AgentThoughtChunk(it) => {
                SessionUpdate::AgentThoughtChunk(self.chunk(Channel::Thought, it))
            }
            other => as_upsert(&other),
        }
    }

    fn chunk(&mut self, channel: Channel, chunk: v1::ContentChunk) -> ContentChunk {
        let id = chunk.message_id.map(|it| it.to_string()).unwrap_or_default();
        let v1::ContentBlock::Text(v1::TextContent { text, .. }) = chunk.content else {
            unreachable!("every chunk made here has text")
        };
        let shown = self.shown.entry(id.clone()).or_insert((channel, String::new()));
        shown.0 = channel;
        shown.1.push_str(&text);
        ContentChunk::new(block_of(text), id.as_str())
    }
}

impl Stream for SessionUpdates<'_> {
    type Item = Result<SessionUpdate, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.made.is_empty() {
            let polled = Pin::new(&mut self.first).poll_next(context);
            self.take_back();
            match polled {
                Poll::Ready(Some(update)) => {
                    let update = update.map(|it| self.upsert(it));
                    self.made.push_back(update);
                }
                Poll::Ready(None) if self.made.is_empty() => return Poll::Ready(None),
                Poll::Pending if self.made.is_empty() => return Poll::Pending,
                _ => {}
            }
        }
        Poll::Ready(self.made.pop_front())
    }
}

fn block_of(text: String) -> ContentBlock {
    ContentBlock::Text(TextContent::new(text))
}

fn whole(channel: Channel, id: &str, content: Vec<ContentBlock>) -> SessionUpdate {
    match channel {
        Channel::Message => SessionUpdate::AgentMessage(AgentMessage::new(id).content(content)),
        Channel::Thought => SessionUpdate::AgentThought(AgentThought::new(id).content(content)),
    }
}

/// An update of a call or of usage in version 2; its members have the same names in both versions.
fn as_upsert(update: &v1::SessionUpdate) -> SessionUpdate {
    let mut fields = json!(update);
    if matches!(update, v1::SessionUpdate::ToolCall(_)) {
        fields["sessionUpdate"] = Value::from("tool_call_update");
    }
    serde_json::from_value(fields).expect("version 2 has all members of these updates")
}
