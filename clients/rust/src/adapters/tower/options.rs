//! The options of a layer, and what its host hears.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use serde_json::{Map, Value};

use crate::{
    error::Error,
    pool::SidecarPool,
    protocol::{EmitClaims, Event, Message, PolicyPatch},
    warnings::Warnings,
    watching::Callback,
};

/// Identifies an answer, since several may arrive at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnswerInfo {
    /// The id of the stream through which the answer is read.
    pub stream_id: String,
    /// The model that the request named.
    pub model: Option<String>,
}

/// What happens to a response that cannot be cleaned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unavailable {
    /// It passes unchanged.
    #[default]
    Pass,
    /// Its body breaks off with the [`Error`]. If no sidecar can be started, the request is not
    /// sent: then the response has the status 503, and nothing but such a body.
    Fail,
}

/// A callback of the host about an answer; by default there is none.
type AnswerCallback<T> = Option<Arc<dyn Fn(&T, &AnswerInfo) + Send + Sync>>;

/// The options of a layer.
#[derive(Clone)]
pub(super) struct Options {
    pub(super) pool: SidecarPool,
    pub(super) claims: EmitClaims,
    pub(super) rewrite: bool,
    pub(super) policy: Option<PolicyPatch>,
    pub(super) response_template: Option<Map<String, Value>>,
    pub(super) provider: Option<String>,
    pub(super) prepares: bool,
    pub(super) on_event: AnswerCallback<Event>,
    pub(super) on_message: AnswerCallback<Message>,
    pub(super) losses: Losses,
    pub(super) unavailable: Unavailable,
    pub(super) reported_old: Arc<AtomicBool>,
}

/// What the host hears about responses that pass uncleaned.
#[derive(Clone, Default)]
pub(super) struct Losses {
    on_lost: Callback<Error>,
    /// Whether there was a warning, because nobody listens; a layer has one.
    warned: Arc<AtomicBool>,
}

impl Losses {
    pub(super) fn reporting_to(on_lost: Callback<Error>) -> Self {
        Self { on_lost, warned: Arc::default() }
    }

    pub(super) fn report(&self, error: &Error, warnings: &Warnings) {
        if !self.on_lost.call(error) && !self.warned.swap(true, Ordering::Relaxed) {
            warnings.once(&format!(
                "responses pass uncleaned or break off, and on_lost is not set: {error}"
            ));
        }
    }
}

impl Options {
    pub(super) fn new(pool: SidecarPool) -> Self {
        Self {
            pool,
            claims: EmitClaims::Drop,
            rewrite: false,
            policy: None,
            response_template: None,
            provider: None,
            prepares: true,
            on_event: None,
            on_message: None,
            losses: Losses::default(),
            unavailable: Unavailable::default(),
            reported_old: Arc::default(),
        }
    }
}
