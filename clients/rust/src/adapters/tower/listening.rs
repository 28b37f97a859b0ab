//! What the host is given of one answer: its events, its message, and why it is not clean.

use std::sync::Arc;

use super::options::{AnswerInfo, Options, Unavailable};
use crate::{
    error::Error,
    protocol::{Event, Message, MessagePolicyPatch, PolicyPatch, Severity},
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

    /// The policy of an answer that streams: if nobody listens for its message, this needs no
    /// text, however long it is.
    pub(super) fn policy(&self, policy: Option<PolicyPatch>) -> Option<PolicyPatch> {
        if self.options.on_message.is_some() { policy } else { Some(without_parts(policy)) }
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

/// The policy, without the parts of the message unless the host asked for them.
fn without_parts(policy: Option<PolicyPatch>) -> PolicyPatch {
    let mut policy = policy.unwrap_or_default();
    policy.message.get_or_insert(MessagePolicyPatch { parts: Some(false) });
    policy
}

/// The error of a document whose text passed unread, or that was left out, because it is too
/// long. A long document without text, such as an image, is no loss.
pub(super) fn too_long(event: &Event) -> Option<Error> {
    let Event::Diagnostic(it) = event else { return None };
    let is_loss = it.code == "document-limit" && it.severity == Severity::Warning;
    is_loss.then(|| Error::Uncleaned { problem: it.message.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_decides_about_the_parts_of_a_message() {
        let parts = |policy: PolicyPatch| policy.message.unwrap().parts;
        assert_eq!(parts(without_parts(None)), Some(false));
        let message = Some(MessagePolicyPatch { parts: Some(true) });
        let chosen = PolicyPatch { message, ..PolicyPatch::default() };
        assert_eq!(parts(without_parts(Some(chosen))), Some(true));
    }
}
