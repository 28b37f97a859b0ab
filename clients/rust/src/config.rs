//! The host's options; [`Builder`](crate::Builder) describes each of them.

use std::{ffi::OsString, fmt, sync::Arc, time::Duration};

use serde_json::Value;

use crate::{
    error::Error,
    process::locate::CommandLine,
    protocol::{ConnectionOptions, OpenParams},
    warnings::Warnings,
    watching::{Callback, SidecarState, guarded},
};

#[derive(Debug, Clone)]
pub(crate) struct Config {
    /// Commands that are tried one after the other; if empty, commands are looked for.
    pub(crate) commands: Vec<Vec<OsString>>,
    /// The environment and directory of every command; its `words` are not used.
    pub(crate) place: CommandLine,
    pub(crate) downloads: bool,
    pub(crate) options: ConnectionOptions,
    pub(crate) bounds: QueueBounds,
    pub(crate) start_timeout: Duration,
    pub(crate) request_timeout: Duration,
    pub(crate) shutdown_timeout: Duration,
    pub(crate) batch_timeout: Duration,
    pub(crate) restarts: usize,
    pub(crate) within: Duration,
    pub(crate) pause: Duration,
    pub(crate) replay_bytes: usize,
    pub(crate) all_replay_bytes: usize,
    /// `None`: a stream needs a sidecar.
    pub(crate) pass_through: Option<ReadText>,
    pub(crate) log_level: Option<String>,
    pub(crate) on_stderr: Callback<str>,
    pub(crate) on_lost: Callback<Error>,
    pub(crate) on_state: Callback<SidecarState>,
    pub(crate) on_warning: Callback<str>,
    /// Those of the sidecar that is built; made from `on_warning`.
    pub(crate) warnings: Warnings,
}

/// How much may be in flight at the same time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueueBounds {
    pub(crate) requests: usize,
    pub(crate) bytes: usize,
    /// How many requests may wait because of these limits; further requests are refused.
    pub(crate) waiting: usize,
}

/// Finds the text of a chunk without a sidecar.
#[derive(Clone)]
pub(crate) struct ReadText(Arc<Read>);

type Read = dyn Fn(&Value, &OpenParams) -> String + Send + Sync;

impl ReadText {
    pub(crate) fn new(
        read: impl Fn(&Value, &OpenParams) -> String + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(read))
    }

    pub(crate) fn as_it_is() -> Self {
        Self::new(|chunk, _| as_it_is(chunk))
    }

    /// The text of a chunk; if the host's function panics, the chunk as it is.
    pub(crate) fn text(&self, chunk: &Value, params: &OpenParams) -> String {
        let mut text = None;
        guarded(|| text = Some((self.0)(chunk, params)));
        text.unwrap_or_else(|| as_it_is(chunk))
    }
}

/// Strings unchanged, documents as JSON.
fn as_it_is(chunk: &Value) -> String {
    chunk.as_str().map_or_else(|| chunk.to_string(), str::to_owned)
}

impl fmt::Debug for ReadText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a function")
    }
}
