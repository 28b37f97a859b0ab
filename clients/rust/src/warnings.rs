//! What a host should know although no call failed: an option without effect, answers that pass
//! uncleaned. Each is reported once.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{error::Error, watching::Callback};

/// How many different warnings there may be.
const MOST: usize = 100;

/// The warnings of one client; all clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Warnings {
    callback: Callback<str>,
    reported: Arc<Mutex<HashSet<String>>>,
}

impl Warnings {
    pub(crate) fn new(callback: Callback<str>) -> Self {
        Self { callback, reported: Arc::default() }
    }

    /// Reports a message, unless it was reported before.
    pub(crate) fn once(&self, message: &str) {
        self.once_about(message, message);
    }

    /// Reports that a stream passes uncleaned, because it has no sidecar. The words of the error
    /// may have a time in them, and one warning is enough.
    pub(crate) fn passing_through(&self, error: &Error) {
        let message = format!("answers pass uncleaned, because there is no sidecar: {error}");
        self.once_about("no sidecar", &message);
    }

    fn once_about(&self, about: &str, message: &str) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = reported.len() < MOST && reported.insert(about.to_owned());
        drop(reported);
        let text = format!("stream-sidecar: {message}");
        if is_new && !self.callback.call(&text) {
            on_standard_error(&text);
        }
    }

    /// Reports what the sidecar ignores: misspelt options, or options of later versions.
    pub(crate) fn ignored(&self, paths: Option<&Vec<String>>) {
        for path in paths.into_iter().flatten() {
            self.once(&format!("the sidecar does not know {path}, so it has no effect"));
        }
    }
}

#[expect(clippy::print_stderr, reason = "the host has no callback for warnings")]
fn on_standard_error(text: &str) {
    eprintln!("{text}");
}
