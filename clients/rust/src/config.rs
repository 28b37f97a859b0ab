//! The host's options; [`Builder`](crate::Builder) describes each of them.

use std::{ffi::OsString, time::Duration};

use crate::{
    error::Error,
    gate::QueueBounds,
    locate::CommandLine,
    pass_through::ReadText,
    protocol::ConnectionOptions,
    warnings::Warnings,
    watching::{Callback, SidecarState},
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
