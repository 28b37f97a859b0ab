//! Params and results of `message/inspect` and `message/repair`, which work on stored
//! messages. Written by hand, because the schema of this version does not have them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::protocol::{AnyTool, PolicyPatch};

/// `message/inspect`: stored messages, as the provider or the host spells them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InspectParams {
    /// `{role, content, ...}` each; only those of the model are looked at.
    pub messages: Vec<Value>,
    /// The tools that were declared to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<AnyTool>>,
    /// The model's name, in any spelling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The provider's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// What the host decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyPatch>,
}

/// `message/repair` takes the same.
pub type RepairParams = InspectParams;

/// One result for each message.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InspectResult {
    /// In the order of the messages.
    pub results: Vec<Inspection>,
}

/// What was found in one message.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Inspection {
    /// Whether a repair would change it, or cannot.
    pub malformed: bool,
    /// What is malformed, and where.
    pub findings: Vec<Finding>,
}

/// A piece of a message that does not belong there.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Finding {
    /// What it is.
    pub kind: String,
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
    /// The piece.
    pub text: String,
}

/// One result for each message.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RepairResult {
    /// In the order of the messages.
    pub results: Vec<Repair>,
}

/// What became of one message.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Repair {
    /// Whether it changed.
    pub changed: bool,
    /// Nothing would have been left of it, so that nothing was changed.
    pub blocked: bool,
    /// The message as it should be; absent where JSON cannot write it back exactly, so
    /// that only the edits are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Value>,
    /// What makes the new message of the old one, sorted, in old positions.
    #[serde(default)]
    pub edits: Vec<Edit>,
    /// What was taken out.
    #[serde(default)]
    pub removed: Vec<Removed>,
    /// Reasoning that was taken out of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Value>,
    /// Tool results that were taken out of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_results: Option<Value>,
    /// Calls that were taken out of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Value>,
}

/// A change of a text in a message.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Edit {
    /// A JSON Pointer into the message.
    pub path: String,
    /// The position of the first code point that goes.
    pub start: i64,
    /// The position behind the last one.
    pub end: i64,
    /// `start` in UTF-16 units.
    pub start_utf16: i64,
    /// `end` in UTF-16 units.
    pub end_utf16: i64,
    /// What comes there.
    pub new_text: String,
}

/// Something that was taken out of a message.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Removed {
    /// What it was.
    pub kind: String,
    /// A JSON Pointer into the message.
    pub path: String,
    /// The text.
    pub text: String,
}
