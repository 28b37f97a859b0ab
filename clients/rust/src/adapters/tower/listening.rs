//! What the host is given of one answer: its events, its message, and why it is not clean.

use std::sync::Arc;

use super::options::{AnswerInfo, Options, Unavailable};
use crate::{
    error::Error,
    protocol::{Event, Message, Severity},
    warnings::Warnings,
    watching::guarded,
};

pub(super) struct Listening {
    options: Arc<Options>,
    pub(super) answer: AnswerInfo,
    warnings: Warnings,
}

impl Listening {
    pub(super) fn new(options: Arc<Options>, answer: AnswerInfo, warnings: Warnings) -> Self {
        Self { options, answer, warnings }
    }

    /// Whether responses may pass unchanged without a sidecar.
    pub(super) fn passes(&self) -> bool {
        self.options.unavailable == Unavailable::Pass
    }

    pub(super) fn event(&self, event: &Event) {
        if let Some(callback) = &self.options.on_event {
            guarded(|| callback(event, &self.answer));
        }
        self.loss(event);
    }

    /// Reports the loss, if the event is one.
    pub(super) fn loss(&self, event: &Event) {
        if let Some(error) = too_long(event) {
            self.lost(&error);
        }
    }

    pub(super) fn message(&self, message: &Message) {
        if let Some(callback) = &self.options.on_message {
            guarded(|| callback(message, &self.answer));
        }
    }

    pub(super) fn unread(&self, what: &str) {
        self.lost(&Error::Uncleaned { problem: format!("{what} is not read") });
    }

    pub(super) fn lost(&self, error: &Error) {
        self.options.losses.report(error, &self.warnings);
    }
}

/// The error of a document whose text passed unread, or that was left out, because it is too
/// long. A long document without text, such as an image, is no loss.
pub(super) fn too_long(event: &Event) -> Option<Error> {
    let Event::Diagnostic(it) = event else { return None };
    let is_loss = it.code == "document-limit" && it.severity == Severity::Warning;
    is_loss.then(|| Error::Uncleaned { problem: it.message.clone() })
}
