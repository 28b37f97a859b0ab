//! Events of a stream as `session/update`s of the Agent Client Protocol, version 1, in the
//! types of its own crate (feature `acp`).
//!
//! After the last update, a `pending` call is to be run by the agent, or runs at the provider.
//! Every other call has failed or has a result. A call that nobody runs says why in
//! `_meta.streamSidecar`: `{"claim": true, "reason", "origin"?, "declared"?}`.

mod locations;
#[cfg(feature = "acp-v2")]
pub mod v2;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    path::PathBuf,
    pin::Pin,
    task::{Context, Poll, ready},
};

pub use agent_client_protocol_schema as schema;
use agent_client_protocol_schema::v1::{
    ContentChunk, Meta, ToolCall as FirstUpdate, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields, ToolKind, UsageUpdate,
};
pub use agent_client_protocol_schema::v1::{SessionUpdate, StopReason};
use futures_core::Stream;
use serde_json::{Value, json};

use crate::{
    adapters::{
        acp::locations::locations_of,
        turn::{Turn, is_failed, is_of_server, objection, objection_of_end},
    },
    error::Error,
    protocol::{
        CloseResult, Event, Finish, FinishReason, Message, Retract, ToolCall, ToolCallDelta,
        ToolCallOrigin, ToolResult, ToolResultSource, Usage,
    },
    stream::pipe::Pipe,
};

/// Options of [`session_updates`].
#[must_use]
pub struct SessionUpdateOptions {
    prefix: String,
    choice: i64,
    cwd: Option<PathBuf>,
    context_size: Option<u64>,
    on_other: Option<OnOther>,
}

type OnOther = Box<dyn FnMut(&Event, &dyn Fn(i64) -> String) + Send>;

impl SessionUpdateOptions {
    /// Every id starts with `prefix`. It must be unique for the stream within the session, as
    /// [`StreamHandle::id`](crate::StreamHandle::id) is.
    pub fn new(prefix: impl Into<String>) -> Self {
        let prefix = prefix.into();
        Self { prefix, choice: 0, cwd: None, context_size: None, on_other: None }
    }

    /// The choice of the response that the updates are made from. Default: 0.
    pub fn choice(mut self, choice: i64) -> Self {
        self.choice = choice;
        self
    }

    /// The session's folder, which relative paths of calls start from. Without it, relative
    /// paths have no `locations`.
    pub fn cwd(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cwd = Some(folder.into());
        self
    }

    /// How many tokens the model's context holds. Without it there is no update for `usage`.
    pub fn context_size(mut self, tokens: u64) -> Self {
        self.context_size = Some(tokens);
        self
    }

    /// `callback` gets the events that have no update: events for the agent itself (`citation`,
    /// `diagnostic`, `block-end` ...), and `reclassify`, `retract` and `finish`. Its second
    /// argument returns the id that updates use for a block.
    pub fn on_other(
        mut self,
        callback: impl FnMut(&Event, &dyn Fn(i64) -> String) + Send + 'static,
    ) -> Self {
        self.on_other = Some(Box::new(callback));
        self
    }
}

/// The stop reason for the answer to `session/prompt`. `None`: the turn is not over
/// (`tool-calls`, `pause`), or it failed (`error`, `malformed`).
#[must_use]
pub fn stop_reason(finish: &Finish) -> Option<StopReason> {
    use FinishReason as Reason;
    match finish.reason {
        Reason::ToolCalls | Reason::Pause | Reason::Error | Reason::Malformed => None,
        Reason::Length | Reason::ContextLength => Some(StopReason::MaxTokens),
        Reason::Refusal | Reason::ContentFilter => Some(StopReason::Refusal),
        Reason::Cancelled => Some(StopReason::Cancelled),
        _ => Some(StopReason::EndTurn),
    }
}

/// The updates of a response, to be sent one by one. An error is the last item, after the
/// updates that end the interrupted calls.
#[must_use]
pub fn session_updates(pipe: Pipe<'_>, options: SessionUpdateOptions) -> SessionUpdates<'_> {
    let turn = Turn::new(options.choice);
    let updates = Updates::new(options);
    SessionUpdates { pipe, turn, updates, made: VecDeque::new(), other: None, end: End::Ahead }
}

/// See [`session_updates`].
pub struct SessionUpdates<'a> {
    pipe: Pipe<'a>,
    turn: Turn,
    updates: Updates,
    made: VecDeque<SessionUpdate>,
    /// An event for `on_other`, reported after the updates made from it were returned.
    other: Option<Event>,
    end: End,
}

enum End {
    Ahead,
    Failed(Error),
    Over,
}

impl SessionUpdates<'_> {
    /// The message and the counters, after the last update.
    #[must_use]
    pub fn closed(&self) -> Option<&CloseResult> {
        self.pipe.closed()
    }

    /// [`SessionUpdates::closed`] by value.
    #[must_use]
    pub fn into_closed(self) -> Option<CloseResult> {
        self.pipe.into_closed()
    }

    fn accept(&mut self, event: Event) {
        let Some(event) = self.turn.of(event) else {
            return;
        };
        let made = self.updates.of(&event);
        self.other = (made.is_empty() || matches!(event, Event::Retract(_))).then_some(event);
        self.made.extend(made);
    }

    fn end(&mut self, end: End) {
        let message = self.pipe.closed().map(|it| &it.message);
        self.made.extend(self.updates.end(&self.turn, message));
        self.other = self.turn.finish().cloned().map(Event::Finish);
        self.end = end;
    }
}

impl Stream for SessionUpdates<'_> {
    type Item = Result<SessionUpdate, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(update) = self.made.pop_front() {
                return Poll::Ready(Some(Ok(update)));
            }
            if let Some(event) = self.other.take() {
                self.updates.report(&event);
            }
            match std::mem::replace(&mut self.end, End::Over) {
                End::Over => return Poll::Ready(None),
                End::Failed(error) => return Poll::Ready(Some(Err(error))),
                End::Ahead => self.end = End::Ahead,
            }
            match ready!(Pin::new(&mut self.pipe).poll_next(context)) {
                Some(Ok(event)) => self.accept(event),
                Some(Err(error)) => self.end(End::Failed(error)),
                None => self.end(End::Over),
            }
        }
    }
}

struct Updates {
    options: SessionUpdateOptions,
    /// Calls that have an update, by block; `None`: only the call's beginning is known.
    calls: HashMap<i64, Option<Box<ToolCall>>>,
    /// Blocks of the calls that are `pending`, in order.
    pending: Vec<i64>,
    /// Blocks of the calls that have a result, which may arrive before its call.
    answered: HashSet<i64>,
    /// Blocks of structured calls by the provider's id; if an id repeats, the last block.
    blocks: HashMap<String, i64>,
}

impl Updates {
    fn new(options: SessionUpdateOptions) -> Self {
        let (calls, blocks) = (HashMap::new(), HashMap::new());
        Self { options, calls, pending: Vec::new(), answered: HashSet::new(), blocks }
    }

    fn id_of(&self, block: i64) -> String {
        id_of(&self.options.prefix, block)
    }

    fn report(&mut self, event: &Event) {
        let SessionUpdateOptions { prefix, on_other, .. } = &mut self.options;
        if let Some(on_other) = on_other {
            on_other(event, &|block| id_of(prefix, block));
        }
    }

    fn of(&mut self, event: &Event) -> Vec<SessionUpdate> {
        match event {
            Event::TextDelta(it) => {
                vec![SessionUpdate::AgentMessageChunk(self.chunk(it.block, &it.text))]
            }
            Event::ReasoningDelta(it) => {
                vec![SessionUpdate::AgentThoughtChunk(self.chunk(it.block, &it.text))]
            }
            Event::ToolCallDelta(it) => self.call_delta(it).into_iter().collect(),
            Event::ToolCall(it) => vec![self.call(it)],
            Event::ToolResult(it) => self.result(it).into_iter().collect(),
            Event::Usage(it) => self.usage(it).into_iter().collect(),
            Event::Retract(it) => self.retract(it),
            _ => Vec::new(),
        }
    }

    fn chunk(&self, block: i64, text: &str) -> ContentChunk {
        ContentChunk::new(text.into()).message_id(self.id_of(block).as_str())
    }

    /// Only the first delta has an update: none exists for a piece of the arguments.
    fn call_delta(&mut self, delta: &ToolCallDelta) -> Option<SessionUpdate> {
        let block = delta.block;
        if self.calls.contains_key(&block) {
            return None;
        }
        self.calls.insert(block, None);
        self.pending.push(block);
        self.blocks.insert(delta.tool_call_id.clone().unwrap_or_default(), block);
        let title = delta.name.clone().unwrap_or_else(|| "tool".into());
        let update = FirstUpdate::new(self.id_of(block), title).name(delta.name.clone());
        Some(SessionUpdate::ToolCall(update))
    }

    fn call(&mut self, call: &ToolCall) -> SessionUpdate {
        let block = call.block.unwrap_or(-1);
        let is_answered = self.answered.contains(&block);
        let is_pending = call.executable || is_of_server(call);
        self.settle(block, is_pending && !is_answered);
        let is_known = self.calls.insert(block, Some(Box::new(call.clone()))).is_some();
        if call.origin == ToolCallOrigin::Structured {
            self.blocks.insert(call.tool_call_id.clone(), block);
        }
        let locations = locations_of(call, self.options.cwd.as_deref());
        let input = call.input.clone().map_or_else(|| call.arguments.clone().into(), Value::Object);
        let status = if is_pending { ToolCallStatus::Pending } else { ToolCallStatus::Failed };
        let fields = ToolCallUpdateFields::new()
            .title(call.name.clone())
            .name(call.name.clone())
            .kind(kind_of(call))
            .raw_input(input)
            .locations(Some(locations).filter(|it| !it.is_empty()))
            .status(Some(status).filter(|_| !is_answered));
        let is_claim = !is_pending && !is_answered;
        let meta = is_claim.then(|| meta_of(&objection(call), Some(call)));
        let update = ToolCallUpdate::new(self.id_of(block), fields).meta(meta);
        if is_known { SessionUpdate::ToolCallUpdate(update) } else { begun(update) }
    }

    /// Records whether a call is pending; a pending call keeps its place in the order.
    fn settle(&mut self, block: i64, is_pending: bool) {
        if !is_pending {
            self.pending.retain(|it| *it != block);
        } else if !self.pending.contains(&block) {
            self.pending.push(block);
        }
    }

    /// `None` for a result without a call, and for a result that the model wrote itself.
    fn result(&mut self, result: &ToolResult) -> Option<SessionUpdate> {
        let block = *self.blocks.get(result.tool_call_id.as_ref()?)?;
        if result.source != ToolResultSource::Server {
            return None;
        }
        self.settle(block, false);
        self.answered.insert(block);
        let is_error = result.is_error == Some(true);
        let status = if is_error { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
        let shown = result.content.as_ref().and_then(Value::as_str).map(|it| vec![it.into()]);
        let fields = ToolCallUpdateFields::new()
            .status(status)
            .raw_output(result.content.clone())
            .content(shown);
        Some(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(self.id_of(block), fields)))
    }

    fn usage(&self, usage: &Usage) -> Option<SessionUpdate> {
        let used = u64::try_from(usage.total_tokens?).ok()?;
        Some(SessionUpdate::UsageUpdate(UsageUpdate::new(used, self.options.context_size?)))
    }

    fn retract(&mut self, Retract { blocks, reason, .. }: &Retract) -> Vec<SessionUpdate> {
        let calls = blocks.iter().filter(|it| self.calls.contains_key(it)).copied();
        let calls: Vec<i64> = calls.collect();
        let reason = format!("the call was retracted: {reason}");
        calls.into_iter().map(|block| self.fail(block, &reason)).collect()
    }

    /// Fails the calls that nobody will run. Unless the turn failed, a call that the provider
    /// runs stays pending, because its result may arrive in a later turn.
    fn end(&mut self, turn: &Turn, message: Option<&Message>) -> Vec<SessionUpdate> {
        let executable = turn.executable(message);
        let may_answer = !is_failed(turn.finish());
        let is_kept = |block: &i64| {
            let call = self.calls.get(block).and_then(Option::as_deref);
            executable.contains(block) || (may_answer && call.is_some_and(is_of_server))
        };
        let given: Vec<i64> = self.pending.iter().copied().filter(|it| !is_kept(it)).collect();
        let reason = objection_of_end(turn.finish());
        given.into_iter().map(|block| self.fail(block, &reason)).collect()
    }

    fn fail(&mut self, block: i64, reason: &str) -> SessionUpdate {
        self.settle(block, false);
        let call = self.calls.get(&block).and_then(Option::as_deref);
        let fields = ToolCallUpdateFields::new().status(ToolCallStatus::Failed);
        let meta = meta_of(reason, call);
        SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(self.id_of(block), fields).meta(meta))
    }
}

fn id_of(prefix: &str, block: i64) -> String {
    format!("{prefix}-{block}")
}

/// The first update of a call, from the fields of a later update.
fn begun(update: ToolCallUpdate) -> SessionUpdate {
    let ToolCallUpdate { tool_call_id, fields, meta, .. } = update;
    let first = FirstUpdate::new(tool_call_id, fields.title.unwrap_or_default())
        .name(fields.name)
        .kind(fields.kind.unwrap_or_default())
        .status(fields.status.unwrap_or_default())
        .locations(fields.locations.unwrap_or_default())
        .raw_input(fields.raw_input)
        .meta(meta);
    SessionUpdate::ToolCall(first)
}

/// Kinds have the same names in the protocol, with `_` instead of `-`.
fn kind_of(call: &ToolCall) -> ToolKind {
    let name = call.kind.as_str().replace('-', "_");
    serde_json::from_value(name.into()).unwrap_or_default()
}

/// `_meta` of a call that is not run, whatever its status.
fn meta_of(reason: &str, call: Option<&ToolCall>) -> Meta {
    let mut fields =
        Meta::from_iter([("claim".to_owned(), json!(true)), ("reason".to_owned(), json!(reason))]);
    if let Some(call) = call {
        fields.insert("origin".into(), json!(call.origin));
        fields.extend(call.declared.map(|it| ("declared".to_owned(), json!(it))));
    }
    Meta::from_iter([("streamSidecar".to_owned(), Value::Object(fields))])
}
