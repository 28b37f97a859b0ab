//! What the host decided; [`Builder`](crate::Builder) tells what each of it means.

use std::{ffi::OsString, time::Duration};

use crate::{
    error::Error,
    gate::QueueBounds,
    locate::CommandLine,
    pass_through::ReadText,
    protocol::ConnectionOptions,
    watching::{SidecarState, Told},
};

#[derive(Debug, Clone)]
pub(crate) struct Config {
    /// Commands that are tried one after the other; empty: they are looked for.
    pub(crate) commands: Vec<Vec<OsString>>,
    /// Environment and directory of whatever is started; its words are not used.
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
    /// `None`: without a sidecar there is no stream.
    pub(crate) pass_through: Option<ReadText>,
    pub(crate) log_level: Option<String>,
    pub(crate) on_stderr: Told<str>,
    pub(crate) on_lost: Told<Error>,
    pub(crate) on_state: Told<SidecarState>,
}
