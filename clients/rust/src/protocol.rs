//! What goes over the wire, as `protocol.md` tells it. Made by `cargo run -p xtask` from
//! the schema; changes by hand are lost.
//!
//! Everything that the sidecar sends may grow: fields that are not known are ignored,
//! values and types that are not known are kept in `Other` and `Unknown`. Positions are
//! in Unicode code points unless a name says otherwise.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::open::{open_enum, open_union, present};

open_union! {
    /// One of these, told apart by `type`.
    Block {
        "text" = TextBlock(TextBlock),
        "reasoning" = ReasoningBlock(ReasoningBlock),
        "tool-call" = ToolCall(Box<ToolCall>),
        "tool-result" = ToolResult(ToolResult),
    }
}

open_union! {
    /// One of these, told apart by `type`.
    Event {
        "metadata" = Metadata(Metadata),
        "text-delta" = TextDelta(TextDelta),
        "reasoning-delta" = ReasoningDelta(ReasoningDelta),
        "block-end" = BlockEnd(BlockEnd),
        "reclassify" = Reclassify(Reclassify),
        "retract" = Retract(Retract),
        "tool-call-delta" = ToolCallDelta(ToolCallDelta),
        "tool-call" = ToolCall(Box<ToolCall>),
        "tool-result" = ToolResult(ToolResult),
        "citation" = Citation(Box<Citation>),
        "error" = ProviderError(Box<ProviderError>),
        "usage" = Usage(Usage),
        "diagnostic" = Diagnostic(Diagnostic),
        "finish" = Finish(Finish),
    }
}

impl Event {
    /// Its number in the stream: 1, 2, 3 ... Absent in calls of `tool/classify`.
    #[must_use]
    pub fn seq(&self) -> Option<i64> {
        match self {
            Self::Metadata(it) => Some(it.seq),
            Self::TextDelta(it) => Some(it.seq),
            Self::ReasoningDelta(it) => Some(it.seq),
            Self::BlockEnd(it) => Some(it.seq),
            Self::Reclassify(it) => Some(it.seq),
            Self::Retract(it) => Some(it.seq),
            Self::ToolCallDelta(it) => Some(it.seq),
            Self::ToolCall(it) => it.seq,
            Self::ToolResult(it) => it.seq,
            Self::Citation(it) => Some(it.seq),
            Self::ProviderError(it) => Some(it.seq),
            Self::Usage(it) => Some(it.seq),
            Self::Diagnostic(it) => Some(it.seq),
            Self::Finish(it) => Some(it.seq),
            Self::Unknown(value) => value.get("seq").and_then(Value::as_i64),
        }
    }

    /// The provider's index of the choice that it belongs to.
    #[must_use]
    pub fn choice(&self) -> i64 {
        let choice = match self {
            Self::Metadata(it) => it.choice,
            Self::TextDelta(it) => it.choice,
            Self::ReasoningDelta(it) => it.choice,
            Self::BlockEnd(it) => it.choice,
            Self::Reclassify(it) => it.choice,
            Self::Retract(it) => it.choice,
            Self::ToolCallDelta(it) => it.choice,
            Self::ToolCall(it) => it.choice,
            Self::ToolResult(it) => it.choice,
            Self::Citation(it) => it.choice,
            Self::ProviderError(it) => it.choice,
            Self::Usage(it) => it.choice,
            Self::Diagnostic(it) => it.choice,
            Self::Finish(it) => it.choice,
            Self::Unknown(value) => value.get("choice").and_then(Value::as_i64),
        };
        choice.unwrap_or(0)
    }
}

/// Of all models together, and of each.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AllCounters {
    /// Messages that have ended.
    pub messages: i64,
    /// Documents, or slices of text.
    pub chunks: i64,
    /// Delimiters that were removed.
    pub delimiters_stripped: i64,
    /// Tagged blocks of reasoning that were closed.
    pub reasoning_extracted: i64,
    /// Results that were taken out of the text.
    pub tool_results_stripped: i64,
    /// Calls that were taken out of the text.
    pub tool_calls_from_text: i64,
    /// Pieces of input that could not be used.
    pub malformed_chunks: i64,
    /// The same for each model.
    pub by_model: Vec<ModelCounters>,
}

/// Of all models together, and of each.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AllRepairCounters {
    /// Messages that `message/repair` was given.
    pub messages: i64,
    /// Messages that something was taken out of.
    pub changed: i64,
    /// Messages that were left alone: nothing would be left.
    pub blocked: i64,
    /// How much was taken out, by its kind.
    pub removed: Map<String, Value>,
    /// The same for each model.
    pub by_model: Vec<ModelRepairCounters>,
}

/// A block of text or reasoning is over.
///
/// `signature` and `opaque` are provider state that must go back unchanged in the next turn; `rawText` is the original when signed reasoning was cleaned. May come without deltas, and again (later fields win).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", rename = "block-end")]
#[non_exhaustive]
pub struct BlockEnd {
    /// Its number in the stream: 1, 2, 3 ... without a gap.
    pub seq: i64,
    /// The provider's index of the choice; absent for 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<i64>,
    /// The number of a piece of the message, from 0 across all choices.
    pub block: i64,
    /// Where it stands.
    pub channel: Channel,
    /// Provider state that must go back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// Provider state that must go back unchanged, of any shape.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
    /// The original, where signed reasoning had to be cleaned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_text: Option<String>,
}

/// `capabilities.experimental.streamSidecar`: what this sidecar can do.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Capabilities {
    /// The version of the protocol.
    pub protocol_version: i64,
    /// The values of `wire` that are known.
    pub wires: Vec<String>,
    /// The values of `framing` that are known.
    pub framings: Vec<String>,
    /// Families of models whose way of writing is known.
    pub dialects: Vec<String>,
    /// Events, in order.
    pub events: Vec<String>,
    /// The limits in force.
    pub limits: Limits,
}

/// A source; `start` and `end` lie in the joined text of `blocks`.
///
/// `exact` is false when the end had to be guessed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", rename = "citation")]
#[non_exhaustive]
pub struct Citation {
    /// Its number in the stream: 1, 2, 3 ... without a gap.
    pub seq: i64,
    /// The provider's index of the choice; absent for 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<i64>,
    /// What is cited.
    pub kind: CitationKind,
    /// The role.
    pub role: CitationRole,
    /// False: the place had to be guessed.
    pub exact: bool,
    /// The provider's document.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub raw: Option<Value>,
    /// Its URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The words that are cited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cited_text: Option<String>,
    /// Numbers of blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<i64>>,
    /// The position of the first code point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<i64>,
    /// The position behind the last code point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<i64>,
    /// `start` in UTF-16 units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_utf16: Option<i64>,
    /// `end` in UTF-16 units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_utf16: Option<i64>,
}

/// `tool/classify`: a provider's call items, whole, in their own spelling.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClassifyParams {
    /// Calls.
    pub calls: Vec<Map<String, Value>>,
    /// The format of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
    /// The provider's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The tools that were declared to the model; empty: none were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<AnyTool>>,
}

/// The calls in the order of `calls`; without a block and a number.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ClassifyResult {
    /// Calls.
    pub calls: Vec<ToolCall>,
}

/// `stream/close`; without `reason` it is `error` when `error` is given.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CloseParams {
    /// The stream's name.
    pub stream_id: String,
    /// Why it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<CloseReason>,
    /// What the host knows of the failure: `status`, `headers`, `body`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Map<String, Value>>,
}

/// The last events, and what all events make.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CloseResult {
    /// The stream's name.
    pub stream_id: String,
    /// Events, in order.
    pub events: Vec<Event>,
    /// The message.
    pub message: Message,
    /// Counters.
    pub stats: Stats,
}

/// `initializationOptions.streamSidecar`: defaults for every stream.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionOptions {
    /// The version of the protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<i64>,
    /// What a host may decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyPatch>,
    /// The limits in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<LimitsPatch>,
}

/// Something was odd. What was taken out of the stream is in `raw`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", rename = "diagnostic")]
#[non_exhaustive]
pub struct Diagnostic {
    /// Its number in the stream: 1, 2, 3 ... without a gap.
    pub seq: i64,
    /// The provider's index of the choice; absent for 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<i64>,
    /// The code.
    pub code: String,
    /// Severity.
    pub severity: Severity,
    /// The message.
    pub message: String,
    /// What was taken out of the stream, if something was.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub raw: Option<Value>,
    /// Where it stood in the channel; under `trace` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// Formats that the host itself writes into prompts, and models imitate.
///
/// Literals at a line's start, or the word `timestamp`: the line or block of a marker goes, a prefix goes from the answer's start.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EchoPolicy {
    /// Literals whose line or block goes.
    pub markers: Vec<String>,
    /// Literals that go from the answer's start.
    pub prefixes: Vec<String>,
}

/// Formats that the host itself writes into prompts, and models imitate.
///
/// Literals at a line's start, or the word `timestamp`: the line or block of a marker goes, a prefix goes from the answer's start.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EchoPolicyPatch {
    /// Literals whose line or block goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub markers: Option<Vec<String>>,
    /// Literals that go from the answer's start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefixes: Option<Vec<String>>,
}

/// `newText` replaces a span of the string at `path`, in old positions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Edit {
    /// A JSON Pointer into the message.
    pub path: String,
    /// The position of the first code point.
    pub start: i64,
    /// The position behind the last code point.
    pub end: i64,
    /// `start` in UTF-16 units.
    pub start_utf16: i64,
    /// `end` in UTF-16 units.
    pub end_utf16: i64,
    /// What comes there.
    pub new_text: String,
}

/// What a program wants to know of an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ErrorData {
    /// The kind of error.
    pub kind: ErrorKind,
    /// Whether the same request may succeed later.
    pub retryable: bool,
}

/// Something that does not belong into the answer.
///
/// `path` is a JSON Pointer into the message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// A JSON Pointer into the message.
    pub path: String,
    /// The position of the first code point.
    pub start: i64,
    /// The position behind the last code point.
    pub end: i64,
    /// `start` in UTF-16 units.
    pub start_utf16: i64,
    /// `end` in UTF-16 units.
    pub end_utf16: i64,
    /// The text.
    pub text: String,
}

/// The end of one choice, always last; `raw` is the provider's own reason.
///
/// `complete` is false when the transport ended before the provider did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", rename = "finish")]
#[non_exhaustive]
pub struct Finish {
    /// Its number in the stream: 1, 2, 3 ... without a gap.
    pub seq: i64,
    /// The provider's index of the choice; absent for 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<i64>,
    /// Why the model stopped.
    pub reason: FinishReason,
    /// No visible character that is not blank, and no call.
    pub empty_answer: bool,
    /// False when the transport ended before the provider did.
    pub complete: bool,
    /// The provider's own word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

/// `message/inspect` and `message/repair`: the messages of one session.
///
/// `workDoneToken` (string or integer): progress is told under it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryParams {
    /// The messages, whosever they are, as they are stored.
    pub messages: Vec<Value>,
    /// The tools that were declared to the model; empty: none were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<AnyTool>>,
    /// The model's name, in any spelling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The provider's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// What a host may decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyPatch>,
    /// A string or a number under which progress is told.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub work_done_token: Option<Value>,
}

/// One for each of `messages`, in their order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InspectResult {
    /// One for each message, in their order.
    pub results: Vec<Inspection>,
}

/// Of one item; `malformed`: repair would change it, or cannot.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Inspection {
    /// Whether a repair would change it, or cannot.
    pub malformed: bool,
    /// What does not belong there, and where.
    pub findings: Vec<Finding>,
}

/// Bounds of a connection and of each stream; milliseconds, bytes, code points.
///
/// `idleTimeoutMs` of 0 means that streams never expire.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Limits {
    /// Open streams.
    pub max_streams: i64,
    /// The body of one message of the host, in bytes.
    pub max_message_bytes: i64,
    /// One document of the provider, in code points.
    pub max_document_chars: i64,
    /// Text that is held back, in code points.
    pub max_held_chars: i64,
    /// The arguments of one call, in code points.
    pub max_call_chars: i64,
    /// Milliseconds without a request for a stream; 0: no bound.
    pub idle_timeout_ms: i64,
}

/// Bounds of a connection and of each stream; milliseconds, bytes, code points.
///
/// `idleTimeoutMs` of 0 means that streams never expire.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitsPatch {
    /// Open streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_streams: Option<i64>,
    /// The body of one message of the host, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_message_bytes: Option<i64>,
    /// One document of the provider, in code points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_document_chars: Option<i64>,
    /// Text that is held back, in code points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_held_chars: Option<i64>,
    /// The arguments of one call, in code points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_call_chars: Option<i64>,
    /// Milliseconds without a request for a stream; 0: no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<i64>,
}

/// Open streams, oldest first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListResult {
    /// Streams.
    pub streams: Vec<StreamRow>,
}

/// The message of `choice`; with several choices the first also has `choices`.
///
/// `sources` are the citations grouped by URL. `text`, `reasoning` and `blocks` are absent under `message.parts: false`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Message {
    /// The role.
    pub role: String,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Numbers of blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<Block>>,
    /// Calls, with the final word on each.
    pub tool_calls: Vec<ToolCall>,
    /// Results of tools.
    pub tool_results: Vec<ToolResult>,
    /// Citations.
    pub citations: Vec<Citation>,
    /// What the citations cite, each once.
    pub sources: Vec<Source>,
    /// Errors of the provider.
    pub errors: Vec<ProviderError>,
    /// Token counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
    /// What the provider said of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// The provider's index of the choice; absent for 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<i64>,
    /// All choices, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<Message>>,
}

/// `parts` of false: close and snapshot leave out text, reasoning and blocks.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MessagePolicy {
    /// False: text, reasoning and blocks are left out and not kept.
    pub parts: bool,
}

/// `parts` of false: close and snapshot leave out text, reasoning and blocks.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessagePolicyPatch {
    /// False: text, reasoning and blocks are left out and not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<bool>,
}

/// What the provider, or the detection of wire and framing, said of the response.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", rename = "metadata")]
#[non_exhaustive]
pub struct Metadata {
    /// Its number in the stream: 1, 2, 3 ... without a gap.
    pub seq: i64,
    /// The provider's index of the choice; absent for 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<i64>,
    /// The response's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The model's name, in any spelling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The provider's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<i64>,
    /// The format of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
    /// How string chunks are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
}

/// Of one model; absent: neither the host nor the provider has named it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelCounters {
    /// Messages that have ended.
    pub messages: i64,
    /// Documents, or slices of text.
    pub chunks: i64,
    /// Delimiters that were removed.
    pub delimiters_stripped: i64,
    /// Tagged blocks of reasoning that were closed.
    pub reasoning_extracted: i64,
    /// Results that were taken out of the text.
    pub tool_results_stripped: i64,
    /// Calls that were taken out of the text.
    pub tool_calls_from_text: i64,
    /// Pieces of input that could not be used.
    pub malformed_chunks: i64,
    /// The provider's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model's name, in any spelling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Of one model; absent: neither the host nor the message has named it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelRepairCounters {
    /// Messages that `message/repair` was given.
    pub messages: i64,
    /// Messages that something was taken out of.
    pub changed: i64,
    /// Messages that were left alone: nothing would be left.
    pub blocked: i64,
    /// How much was taken out, by its kind.
    pub removed: Map<String, Value>,
    /// The provider's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model's name, in any spelling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// `stream/list` and `sidecar/stats`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NoParams {}

/// `error/normalize`: a failed HTTP response; `body` is text or a JSON value.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NormalizeErrorParams {
    /// The body, as text or decoded.
    pub body: Value,
    /// The HTTP status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<i64>,
    /// Headers of the HTTP response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<Map<String, Value>>,
    /// The provider's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
}

/// The fields of an `error` event; see `sidecar.events.ProviderError`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NormalizeErrorResult {
    /// The kind of error.
    pub kind: ProviderErrorKind,
    /// The message.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// When it failed.
    pub phase: String,
    /// Text, reasoning or calls had been sent before.
    pub partial: bool,
    /// The provider's document.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub raw: Option<Value>,
    /// The code.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub code: Option<Value>,
    /// The provider's type of error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_type: Option<String>,
    /// The HTTP status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<i64>,
    /// Milliseconds to wait before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<i64>,
}

/// `message/normalize`: a whole response in `body`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NormalizeParams {
    /// The response: decoded, or a string as `framing` says.
    pub body: Value,
    /// The format of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
    /// How string chunks are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// Whether string chunks are text, or base64 of the raw bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
    /// The provider's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model's name, in any spelling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tools that were declared to the model; empty: none were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<AnyTool>>,
    /// What a host may decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyPatch>,
}

/// What push and close of `body` give.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NormalizeResult {
    /// Events, in order.
    pub events: Vec<Event>,
    /// The message.
    pub message: Message,
    /// Counters.
    pub stats: Stats,
}

/// `stream/open`; `metadata` is the host's own and comes back in stream/list.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenParams {
    /// The stream's name; made up where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_id: Option<String>,
    /// The format of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
    /// How string chunks are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// Whether string chunks are text, or base64 of the raw bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
    /// The provider's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model's name, in any spelling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tools that were declared to the model; empty: none were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<AnyTool>>,
    /// What a host may decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyPatch>,
    /// The host's own; comes back in `stream/list`.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// `wire` and `framing` are `auto` until they are decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OpenResult {
    /// The stream's name.
    pub stream_id: String,
    /// The format of the provider.
    pub wire: Wire,
    /// How string chunks are read.
    pub framing: Framing,
    /// What was chosen by the model's name.
    pub profile: Profile,
    /// What a host may decide.
    pub policy: Policy,
    /// The limits in force.
    pub limits: Limits,
}

/// Everything a host may decide about one stream.
///
/// `dialects`: `auto` are the profile's and those that are safe for any model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Policy {
    /// Reasoning.
    pub reasoning: ReasoningPolicy,
    /// Results that the model repeats.
    pub tool_results: ToolResultsPolicy,
    /// Calls that are written as text.
    pub tool_calls: ToolCallsPolicy,
    /// Families of models in whose ways calls and reasoning are read.
    pub dialects: Dialects,
    /// What the host writes into prompts, and models imitate.
    pub echo: EchoPolicy,
    /// The message.
    pub message: MessagePolicy,
    /// Whether events have a `span`, and every removal a diagnostic.
    pub trace: bool,
}

/// Everything a host may decide about one stream.
///
/// `dialects`: `auto` are the profile's and those that are safe for any model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyPatch {
    /// Reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<ReasoningPolicyPatch>,
    /// Results that the model repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_results: Option<ToolResultsPolicyPatch>,
    /// Calls that are written as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<ToolCallsPolicyPatch>,
    /// Families of models in whose ways calls and reasoning are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialects: Option<Dialects>,
    /// What the host writes into prompts, and models imitate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echo: Option<EchoPolicyPatch>,
    /// The message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessagePolicyPatch>,
    /// Whether events have a `span`, and every removal a diagnostic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<bool>,
}

/// `dialects` are names of `sidecar.dialects.DIALECTS`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Profile {
    /// The name.
    pub name: String,
    /// Families of models whose way of writing is known.
    pub dialects: Vec<String>,
    /// Whether the text begins inside reasoning.
    pub starts_open: bool,
}

/// The remote side failed. `retryAfterMs` is in milliseconds.
///
/// `partial` is true when visible text, reasoning or calls had been sent before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", rename = "error")]
#[non_exhaustive]
pub struct ProviderError {
    /// Its number in the stream: 1, 2, 3 ... without a gap.
    pub seq: i64,
    /// The provider's index of the choice; absent for 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<i64>,
    /// The kind of error.
    pub kind: ProviderErrorKind,
    /// The message.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// When it failed.
    pub phase: ErrorPhase,
    /// Text, reasoning or calls had been sent before.
    pub partial: bool,
    /// The provider's document.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub raw: Option<Value>,
    /// The code.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub code: Option<Value>,
    /// The provider's type of error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_type: Option<String>,
    /// The HTTP status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<i64>,
    /// Milliseconds to wait before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<i64>,
}

/// `stream/push`: `chunk` or `chunks`. `pushSeq` counts pushes from 1.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PushParams {
    /// The stream's name.
    pub stream_id: String,
    /// A string or a decoded document.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub chunk: Option<Value>,
    /// Several chunks in place of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks: Option<Vec<Value>>,
    /// The number of this push: 1, 2, 3 ...; checked when it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_seq: Option<i64>,
}

/// The notification that answers a refused push.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PushRefusal {
    /// The stream's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_id: Option<String>,
    /// What was wrong.
    pub error: ResponseError,
}

/// `pushes` counts the pushes of the stream, this one included.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PushResult {
    /// The stream's name.
    pub stream_id: String,
    /// Events, in order.
    pub events: Vec<Event>,
    /// `seq` of the stream's last event so far.
    pub last_seq: i64,
    /// Pushes of the stream so far.
    pub pushes: i64,
}

/// A block of reasoning with the provider state that belongs to it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", rename = "reasoning")]
#[non_exhaustive]
pub struct ReasoningBlock {
    /// The number of a piece of the message, from 0 across all choices.
    pub block: i64,
    /// The text.
    pub text: String,
    /// Whether it was a field of the provider or text between tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Provider state that must go back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// Provider state that must go back unchanged, of any shape.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
    /// The original, where signed reasoning had to be cleaned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_text: Option<String>,
}

/// A piece of reasoning; `source` tells a provider's field from tagged text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", rename = "reasoning-delta")]
#[non_exhaustive]
pub struct ReasoningDelta {
    /// Its number in the stream: 1, 2, 3 ... without a gap.
    pub seq: i64,
    /// The provider's index of the choice; absent for 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<i64>,
    /// The number of a piece of the message, from 0 across all choices.
    pub block: i64,
    /// The text.
    pub text: String,
    /// Whether it was a field of the provider or text between tags.
    pub source: ReasoningSource,
    /// Where it stood in the channel; under `trace` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// How reasoning in the text is found and what becomes of it.
///
/// `tags` of absent are the default tags and the profile's. `scope`: where a delimiter counts; `boundary` limits openers to the start, a line's start or right after closing punctuation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReasoningPolicy {
    /// Opening delimiters of reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Where a delimiter counts.
    pub scope: ReasoningScope,
    /// What becomes of tagged reasoning beside a field for it.
    pub precedence: ReasoningPrecedence,
    /// Whether the text begins inside reasoning.
    pub starts_open: ReasoningStart,
    /// What becomes of reasoning that never closes.
    pub unclosed: UnclosedReasoning,
}

/// How reasoning in the text is found and what becomes of it.
///
/// `tags` of absent are the default tags and the profile's. `scope`: where a delimiter counts; `boundary` limits openers to the start, a line's start or right after closing punctuation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReasoningPolicyPatch {
    /// Opening delimiters of reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Where a delimiter counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<ReasoningScope>,
    /// What becomes of tagged reasoning beside a field for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precedence: Option<ReasoningPrecedence>,
    /// Whether the text begins inside reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts_open: Option<ReasoningStart>,
    /// What becomes of reasoning that never closes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unclosed: Option<UnclosedReasoning>,
}

/// Deltas already sent of `blocks` belong to the other channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", rename = "reclassify")]
#[non_exhaustive]
pub struct Reclassify {
    /// Its number in the stream: 1, 2, 3 ... without a gap.
    pub seq: i64,
    /// The provider's index of the choice; absent for 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<i64>,
    /// Numbers of blocks.
    pub blocks: Vec<i64>,
    /// The channel that they belong to.
    pub to: Channel,
}

/// What was taken out of the string at `path`, and where it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Removal {
    /// What it was.
    pub kind: FindingKind,
    /// A JSON Pointer into the message.
    pub path: String,
    /// The position of the first code point.
    pub start: i64,
    /// The position behind the last code point.
    pub end: i64,
    /// The text.
    pub text: String,
}

/// Of one item. `blocked`: nothing would be left, so nothing was changed.
///
/// `message` is the item without what was removed; it is not there where it cannot be written back exactly (protocol.md, "JSON"). `dropped` are parts that were left empty and went. The rest is what the engine took out: reasoning, echoes, calls.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Repair {
    /// Whether something was taken out.
    pub changed: bool,
    /// Something should go, but nothing would be left: nothing was changed.
    pub blocked: bool,
    /// The message as it should be; absent where JSON cannot write it back.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub message: Option<Value>,
    /// What makes the new message of the old one: sorted, in old positions.
    pub edits: Vec<Edit>,
    /// What was taken out.
    pub removed: Vec<Removal>,
    /// The paths of parts that were left empty and are gone.
    pub dropped: Vec<String>,
    /// Reasoning that was taken out of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Results that were taken out of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_results: Option<Vec<ToolResult>>,
    /// Calls that were taken out of the text: claims, never to be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCall>>,
}

/// One for each of `messages`, in their order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RepairResult {
    /// One for each message, in their order.
    pub results: Vec<Repair>,
}

/// The `error` of an answer; `message` stands alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResponseError {
    /// The code.
    pub code: i64,
    /// The message.
    pub message: String,
    /// What a program wants to know.
    pub data: ErrorData,
}

/// Forget `blocks` (text, reasoning or calls): the same content came better.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", rename = "retract")]
#[non_exhaustive]
pub struct Retract {
    /// Its number in the stream: 1, 2, 3 ... without a gap.
    pub seq: i64,
    /// The provider's index of the choice; absent for 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<i64>,
    /// Numbers of blocks.
    pub blocks: Vec<i64>,
    /// Where the same came better.
    pub reason: RetractReason,
}

/// `stream/snapshot`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotParams {
    /// The stream's name.
    pub stream_id: String,
}

/// The message as the events 1 to `lastSeq` make it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SnapshotResult {
    /// The message.
    pub message: Message,
    /// Counters.
    pub stats: Stats,
    /// `seq` of the stream's last event so far.
    pub last_seq: i64,
}

/// What `citations` of them cite; `excerpts` are its different cited texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Source {
    /// What it is.
    pub kind: CitationKind,
    /// How many citations cite it.
    pub citations: i64,
    /// Its different cited texts.
    pub excerpts: Vec<String>,
    /// Its URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// Code points in the wire's channel, removals included.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Span {
    /// The position of the first code point.
    pub start: i64,
    /// The position behind the last code point.
    pub end: i64,
}

/// Counters of one stream; `chars` and `heldPeak` in code points.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Stats {
    /// Pushes of the stream so far.
    pub pushes: i64,
    /// Documents, or slices of text.
    pub chunks: i64,
    /// Code points of the string chunks.
    pub chars: i64,
    /// Events, in order.
    pub events: i64,
    /// Delimiters that were removed.
    pub delimiters_stripped: i64,
    /// Tagged blocks of reasoning that were closed.
    pub reasoning_extracted: i64,
    /// Results that were taken out of the text.
    pub tool_results_stripped: i64,
    /// Calls that were taken out of the text.
    pub tool_calls_from_text: i64,
    /// Pieces of input that could not be used.
    pub malformed_chunks: i64,
    /// The most code points that were held back at the end of a document.
    pub held_peak: i64,
}

/// `sidecar/stats`; milliseconds since the start of the connection.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StatsResult {
    /// Milliseconds since the connection began.
    pub uptime_ms: i64,
    /// Numbers of streams.
    pub streams: StreamCounts,
    /// Totals over all messages that have ended.
    pub counters: AllCounters,
    /// What `message/repair` has done.
    pub repairs: AllRepairCounters,
}

/// Numbers of streams; `opened` since the start of the process.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StreamCounts {
    /// Streams that are open.
    pub open: i64,
    /// Streams that were opened.
    pub opened: i64,
    /// Streams that were closed.
    pub closed: i64,
    /// Streams that were forgotten because nobody used them.
    pub expired: i64,
}

/// An open stream. `openedAt` is ISO 8601, UTC; `chars` are code points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StreamRow {
    /// The stream's name.
    pub stream_id: String,
    /// The format of the provider.
    pub wire: Wire,
    /// When it was opened: ISO 8601, UTC.
    pub opened_at: String,
    /// Pushes of the stream so far.
    pub pushes: i64,
    /// Code points of the string chunks.
    pub chars: i64,
    /// `seq` of the stream's last event so far.
    pub last_seq: i64,
    /// What `stream/open` was given.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// A block of the visible answer, with its provider state if there is any.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", rename = "text")]
#[non_exhaustive]
pub struct TextBlock {
    /// The number of a piece of the message, from 0 across all choices.
    pub block: i64,
    /// The text.
    pub text: String,
    /// Provider state that must go back unchanged, of any shape.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
}

/// A piece of the visible answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", rename = "text-delta")]
#[non_exhaustive]
pub struct TextDelta {
    /// Its number in the stream: 1, 2, 3 ... without a gap.
    pub seq: i64,
    /// The provider's index of the choice; absent for 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<i64>,
    /// The number of a piece of the message, from 0 across all choices.
    pub block: i64,
    /// The piece; never empty.
    pub text: String,
    /// Where it stood in the channel; under `trace` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// A tool that the host declared to the model; `annotations` are MCP's hints.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// The name.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON Schema of the arguments.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    /// Hints of the Model Context Protocol.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
    /// Who runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executor: Option<Executor>,
    /// What it does; beats what its name says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ToolKind>,
}

/// One call, exactly once, complete or marked as not complete.
///
/// `arguments` is the raw text, `input` its parsed value or absent. `block` is the call's key in the stream (absent in tool/classify). A call with `origin` `text` is a claim of the model and never `executable`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", rename = "tool-call")]
#[non_exhaustive]
pub struct ToolCall {
    /// Its number in the stream: 1, 2, 3 ... without a gap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    /// The provider's index of the choice; absent for 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<i64>,
    /// The number of a piece of the message, from 0 across all choices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<i64>,
    /// The provider's id of the call; may repeat within a response.
    pub tool_call_id: String,
    /// The provider gave no id, so that one was made.
    pub id_synthetic: bool,
    /// The name.
    pub name: String,
    /// Exactly what the model wrote; `{}` where it wrote nothing.
    pub arguments: String,
    /// What `arguments` is.
    pub arguments_format: ArgumentsFormat,
    /// The arguments parsed; absent where they are not a JSON object.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Whether it came whole.
    pub state: ToolCallState,
    /// Who runs it.
    pub executor: Executor,
    /// How it was told.
    pub origin: ToolCallOrigin,
    /// Where it stands.
    pub channel: Channel,
    /// Whether its name is among the tools; absent where none were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<bool>,
    /// What it does.
    pub kind: ToolKind,
    /// What says so.
    pub kind_source: ToolKindSource,
    /// Whether it changes something; absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutating: Option<bool>,
    /// What the conversation waits for.
    pub awaits: Awaits,
    /// Whether the host may run it.
    pub executable: bool,
    /// Of a call written as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// Who called: a program that the provider runs.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub caller: Option<Value>,
    /// Provider state that must go back unchanged, of any shape.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
    /// The provider's item.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub raw: Option<Value>,
    /// Where it stood in the channel; under `trace` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// A fragment of a structured call's arguments; none before the name is known.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", rename = "tool-call-delta")]
#[non_exhaustive]
pub struct ToolCallDelta {
    /// Its number in the stream: 1, 2, 3 ... without a gap.
    pub seq: i64,
    /// The provider's index of the choice; absent for 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<i64>,
    /// The number of a piece of the message, from 0 across all choices.
    pub block: i64,
    /// The provider's id of the call; may repeat within a response.
    pub tool_call_id: String,
    /// The fragment; may be empty.
    pub arguments_delta: String,
    /// The name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Calls written as text: `report` sends them and leaves their text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolCallsPolicy {
    /// What becomes of them.
    pub mode: ToolCallsMode,
}

/// Calls written as text: `report` sends them and leaves their text.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallsPolicyPatch {
    /// What becomes of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ToolCallsMode>,
}

/// A result in the model's output: of a server's tool, or an echo in the text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", rename = "tool-result")]
#[non_exhaustive]
pub struct ToolResult {
    /// Its number in the stream: 1, 2, 3 ... without a gap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    /// The provider's index of the choice; absent for 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<i64>,
    /// The number of a piece of the message, from 0 across all choices.
    pub block: i64,
    /// What the tool gave.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub content: Option<Value>,
    /// Where it comes from.
    pub source: ToolResultSource,
    /// Whether a tool ran; absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executed: Option<bool>,
    /// The provider's document.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub raw: Option<Value>,
    /// The provider's id of the call; may repeat within a response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether the tool failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Where it stood in the channel; under `trace` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// What becomes of tool results that the model repeats at the answer's start.
///
/// `strip` takes them out, `report` leaves them and raises a diagnostic, `keep` does nothing. `known`: results the host passed to the model this turn, as strings or JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolResultsPolicy {
    /// What becomes of them.
    pub mode: ToolResultsMode,
    /// Keys that tell a result from other JSON.
    pub indicators: Vec<String>,
    /// Results that the host gave to the model this turn.
    pub known: Vec<Value>,
}

/// What becomes of tool results that the model repeats at the answer's start.
///
/// `strip` takes them out, `report` leaves them and raises a diagnostic, `keep` does nothing. `known`: results the host passed to the model this turn, as strings or JSON.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultsPolicyPatch {
    /// What becomes of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ToolResultsMode>,
    /// Keys that tell a result from other JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indicators: Option<Vec<String>>,
    /// Results that the host gave to the model this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Vec<Value>>,
}

/// Token totals so far: each event replaces the one before, nothing is added up.
///
/// `inputTokens` includes cached tokens, `outputTokens` includes reasoning.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", rename = "usage")]
#[non_exhaustive]
pub struct Usage {
    /// Its number in the stream: 1, 2, 3 ... without a gap.
    pub seq: i64,
    /// The provider's index of the choice; absent for 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<i64>,
    /// The provider's document.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub raw: Option<Value>,
    /// Input tokens, with cached ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<i64>,
    /// Output tokens, with those of reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<i64>,
    /// All tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<i64>,
    /// Input tokens that were read from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<i64>,
    /// Input tokens that were written to a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<i64>,
    /// Output tokens of reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<i64>,
}

/// One thing in any of these spellings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AnyTool {
    /// [`Tool`]
    Tool(Tool),
    /// [`ProviderTool`]
    ProviderTool(ProviderTool),
}

impl From<Tool> for AnyTool {
    fn from(it: Tool) -> Self {
        Self::Tool(it)
    }
}

impl From<ProviderTool> for AnyTool {
    fn from(it: ProviderTool) -> Self {
        Self::ProviderTool(it)
    }
}

/// One thing in any of these spellings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Dialects {
    /// [`DialectsWord`]
    Word(DialectsWord),
    /// [`Vec<String>`]
    List(Vec<String>),
}

impl From<DialectsWord> for Dialects {
    fn from(it: DialectsWord) -> Self {
        Self::Word(it)
    }
}

impl From<Vec<String>> for Dialects {
    fn from(it: Vec<String>) -> Self {
        Self::List(it)
    }
}

/// A tool as Chat Completions spell it, or a provider's own tool, which goes by its `type`.
pub type ProviderTool = Map<String, Value>;

open_enum! {
    /// What the arguments of a call are.
    ArgumentsFormat {
        Json = "json",
        Text = "text",
    }
}

open_enum! {
    /// What the conversation waits for after a call.
    Awaits {
        ClientResult = "client-result",
        ClientApproval = "client-approval",
        ServerResult = "server-result",
        None = "none",
    }
}

open_enum! {
    /// The visible answer or the reasoning.
    Channel {
        Text = "text",
        Reasoning = "reasoning",
    }
}

open_enum! {
    /// What is cited.
    CitationKind {
        Url = "url",
        Document = "document",
        File = "file",
        SearchResult = "search-result",
    }
}

open_enum! {
    /// What the place of a citation is.
    CitationRole {
        Claim = "claim",
        Marker = "marker",
        Insertion = "insertion",
        Block = "block",
    }
}

open_enum! {
    /// Why the host closes a stream.
    CloseReason {
        Eof = "eof",
        Cancelled = "cancelled",
        Error = "error",
    }
}

open_enum! {
    /// What may be in place of a list of families of models.
    DialectsWord {
        Auto = "auto",
    }
}

open_enum! {
    /// What string chunks are made of.
    Encoding {
        Utf8 = "utf-8",
        Base64 = "base64",
    }
}

open_enum! {
    /// The kinds of refused requests.
    ErrorKind {
        ParseError = "parse-error",
        InvalidRequest = "invalid-request",
        MethodNotFound = "method-not-found",
        InternalError = "internal-error",
        NotInitialized = "not-initialized",
        Cancelled = "cancelled",
        InvalidParams = "invalid-params",
        StreamNotFound = "stream-not-found",
        StreamExists = "stream-exists",
        SequenceError = "sequence-error",
        LimitExceeded = "limit-exceeded",
        UnsupportedVersion = "unsupported-version",
    }
}

open_enum! {
    /// When the provider failed.
    ErrorPhase {
        BeforeStream = "before-stream",
        MidStream = "mid-stream",
    }
}

open_enum! {
    /// Who runs a tool.
    Executor {
        Client = "client",
        Server = "server",
        Unknown = "unknown",
    }
}

open_enum! {
    /// What does not belong into an answer.
    FindingKind {
        Reasoning = "reasoning",
        Delimiter = "delimiter",
        ToolResult = "tool-result",
        ToolCall = "tool-call",
        Marker = "marker",
        WhiteSpace = "white-space",
    }
}

open_enum! {
    /// Why the model stopped.
    FinishReason {
        Stop = "stop",
        ToolCalls = "tool-calls",
        Length = "length",
        ContextLength = "context-length",
        ContentFilter = "content-filter",
        Refusal = "refusal",
        Pause = "pause",
        Malformed = "malformed",
        Error = "error",
        Cancelled = "cancelled",
        Unknown = "unknown",
    }
}

open_enum! {
    /// How string chunks are read.
    Framing {
        Auto = "auto",
        Json = "json",
        Sse = "sse",
        Ndjson = "ndjson",
        JsonArray = "json-array",
        AwsEventstream = "aws-eventstream",
        Text = "text",
    }
}

open_enum! {
    /// The kinds of failures of a provider.
    ProviderErrorKind {
        Auth = "auth",
        Permission = "permission",
        Billing = "billing",
        ContextLength = "context-length",
        ContentFilter = "content-filter",
        RateLimit = "rate-limit",
        Overloaded = "overloaded",
        NotFound = "not-found",
        Timeout = "timeout",
        Network = "network",
        Cancelled = "cancelled",
        InvalidRequest = "invalid-request",
        Server = "server",
        Unknown = "unknown",
    }
}

open_enum! {
    /// What becomes of tagged reasoning beside a field for it.
    ReasoningPrecedence {
        NativeFirst = "native-first",
        Merge = "merge",
    }
}

open_enum! {
    /// Where a reasoning delimiter counts.
    ReasoningScope {
        OutsideCode = "outside-code",
        Everywhere = "everywhere",
        Boundary = "boundary",
    }
}

open_enum! {
    /// A field of the provider, or text between tags.
    ReasoningSource {
        Native = "native",
        Tag = "tag",
    }
}

open_enum! {
    /// Whether the text begins inside reasoning.
    ReasoningStart {
        Auto = "auto",
        Open = "open",
        Closed = "closed",
    }
}

open_enum! {
    /// Where the same came better.
    RetractReason {
        DuplicateOfNative = "duplicate-of-native",
        DuplicateOfStructured = "duplicate-of-structured",
    }
}

open_enum! {
    /// How odd it was.
    Severity {
        Info = "info",
        Warning = "warning",
    }
}

open_enum! {
    /// How a call was told.
    ToolCallOrigin {
        Structured = "structured",
        Text = "text",
        FinishMessage = "finish-message",
    }
}

open_enum! {
    /// Whether a call came whole.
    ToolCallState {
        Complete = "complete",
        Truncated = "truncated",
        Invalid = "invalid",
    }
}

open_enum! {
    /// What becomes of calls that are written as text.
    ToolCallsMode {
        Extract = "extract",
        Report = "report",
        Off = "off",
    }
}

open_enum! {
    /// What a tool does: the kinds of the Agent Client Protocol.
    ToolKind {
        Read = "read",
        Edit = "edit",
        Delete = "delete",
        Move = "move",
        Search = "search",
        Execute = "execute",
        Think = "think",
        Fetch = "fetch",
        SwitchMode = "switch-mode",
    }
}

open_enum! {
    /// What says of which kind a tool is.
    ToolKindSource {
        Declared = "declared",
        Table = "table",
        Annotation = "annotation",
        Name = "name",
        Default = "default",
    }
}

open_enum! {
    /// Where a result comes from.
    ToolResultSource {
        Server = "server",
        Echo = "echo",
    }
}

open_enum! {
    /// What becomes of results that the model repeats.
    ToolResultsMode {
        Strip = "strip",
        Report = "report",
        Keep = "keep",
    }
}

open_enum! {
    /// What becomes of reasoning that never closes.
    UnclosedReasoning {
        Auto = "auto",
        Reasoning = "reasoning",
        Text = "text",
    }
}

open_enum! {
    /// The format of a provider.
    Wire {
        Auto = "auto",
        OpenaiChat = "openai-chat",
        OpenaiResponses = "openai-responses",
        Anthropic = "anthropic",
        Gemini = "gemini",
        Ollama = "ollama",
        BedrockConverse = "bedrock-converse",
        Cohere = "cohere",
        Text = "text",
    }
}
