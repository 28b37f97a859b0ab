//! The options that a host sets before the sidecar is started.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use serde_json::Value;

use crate::{
    checks,
    config::{Config, QueueBounds, ReadText},
    connection::{handshake::PROTOCOL_VERSION, supervisor::Supervisor},
    error::Error,
    process::locate::{self, CommandLine},
    protocol::{ConnectionOptions, LimitsPatch, OpenParams, PolicyPatch},
    sidecar::Sidecar,
    warnings::Warnings,
    watching::{Callback, SidecarState},
};

/// Makes a [`Sidecar`].
#[derive(Debug, Clone)]
#[must_use = "nothing is started before `spawn` or `build`"]
pub struct Builder {
    config: Config,
}

// Defined here, because a builder knows the sidecar, and a sidecar knows no builder.
impl Sidecar {
    /// A builder with the default options.
    pub fn builder() -> Builder {
        Builder::new()
    }
}

impl Builder {
    fn new() -> Self {
        let options = ConnectionOptions {
            protocol_version: Some(PROTOCOL_VERSION),
            ..ConnectionOptions::default()
        };
        Self {
            config: Config {
                commands: Vec::new(),
                place: CommandLine::default(),
                downloads: false,
                options,
                bounds: QueueBounds { requests: 64, bytes: 16 << 20, waiting: 1_024 },
                start_timeout: Duration::from_secs(60),
                request_timeout: Duration::from_secs(30),
                shutdown_timeout: Duration::from_secs(5),
                batch_timeout: Duration::from_secs(300),
                restarts: 4,
                within: Duration::from_secs(180),
                pause: Duration::from_millis(100),
                replay_bytes: 16 << 20,
                all_replay_bytes: 128 << 20,
                pass_through: None,
                log_level: None,
                on_stderr: Callback::default(),
                on_lost: Callback::default(),
                on_state: Callback::default(),
                on_warning: Callback::default(),
                warnings: Warnings::default(),
            },
        }
    }

    /// The command that starts the sidecar, program first: an installed sidecar, or
    /// `["python3", "-I", "/where/it/is/stream-sidecar.pyz"]`. Default: the command in the
    /// environment variable `STREAM_SIDECAR`, or else the first command of
    /// [`Sidecar::locate`] that works.
    pub fn command(mut self, words: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.config.commands = vec![words.into_iter().map(Into::into).collect()];
        self
    }

    /// A Python in which the sidecar is installed. The command is `[python, "-I", "-m",
    /// "stream_sidecar"]`, or the same with `-P` if that fails.
    pub fn python(mut self, program: impl Into<OsString>) -> Self {
        self.config.commands = locate::serving(&[program.into()]).into();
        self
    }

    /// Whether `uvx` or `pipx` may download the package if no sidecar is installed. Default:
    /// `false`; `uvx` then uses only its cache.
    pub fn allow_download(mut self, allowed: bool) -> Self {
        self.config.downloads = allowed;
        self
    }

    /// Adds a variable to the process's environment, besides the inherited variables.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.config.place.environment.insert(name.into(), value.into());
        self
    }

    /// The only variables that the process inherits: `inherit_env(["PATH", "HOME"])`. Default:
    /// all except `PYTHONHOME`. `PYTHONPATH` is inherited without its relative entries.
    pub fn inherit_env(mut self, names: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.config.place.inherited = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// The level of the process's log on standard error: `error`, `warning`, `info` or
    /// `debug`. Default: `warning`.
    pub fn log_level(mut self, level: impl Into<String>) -> Self {
        self.config.log_level = Some(level.into());
        self
    }

    /// `callback` gets everything that the process writes to standard error, as it arrives, on
    /// a separate thread. It also gets standard output before the first frame.
    pub fn on_stderr(mut self, callback: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.config.on_stderr = Callback::new(callback);
        self
    }

    /// `callback` gets each new state of the sidecar. It must not block or call the sidecar.
    pub fn on_state(mut self, callback: impl Fn(&SidecarState) + Send + Sync + 'static) -> Self {
        self.config.on_state = Callback::new(callback);
        self
    }

    /// `callback` gets the error that ended the process, unless it was a restart or a shutdown.
    pub fn on_lost(mut self, callback: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.config.on_lost = Callback::new(callback);
        self
    }

    /// `callback` gets everything that a host should know although no call failed, each once:
    /// options that the sidecar does not know, and that answers pass uncleaned while nobody
    /// listens. Default: a line on standard error.
    pub fn on_warning(mut self, callback: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.config.on_warning = Callback::new(callback);
        self
    }

    /// The process's working directory, which relative paths in its arguments start from.
    /// Default: the folder of the host's program. The host's own working directory is never
    /// the default, because its content may be untrusted.
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.config.place.directory = Some(directory.into());
        self
    }

    /// Defaults for every stream.
    pub fn policy(mut self, policy: PolicyPatch) -> Self {
        self.config.options.policy = Some(policy);
        self
    }

    /// Limits for the process and for every stream. Default: those of the sidecar.
    pub fn limits(mut self, limits: LimitsPatch) -> Self {
        self.config.options.limits = Some(limits);
        self
    }

    /// How long a start may take, including the handshake and a
    /// [download](Self::allow_download). A longer start has failed. Default: 60 seconds.
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.config.start_timeout = timeout;
        self
    }

    /// How long an answer may take; `Duration::MAX` is no limit. A process that takes longer is
    /// killed, and its streams continue in the next process, as after a crash. Default: 30
    /// seconds.
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.config.request_timeout = timeout;
        self
    }

    /// How long an answer to `normalize`, `inspect` and `repair` may take: their work has no
    /// limit. Default: 5 minutes.
    pub fn batch_timeout(mut self, timeout: Duration) -> Self {
        self.config.batch_timeout = timeout;
        self
    }

    /// How long the process may take to exit at a shutdown. Default: 5 seconds.
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.config.shutdown_timeout = timeout;
        self
    }

    /// How many restarts are allowed within a period, including starts that fail. One process
    /// more than `times` may end on the same request of a stream, in any period; then the
    /// stream is lost ([`Error::StreamLost`]). Default: 4 times within 3 minutes.
    pub fn restarts(mut self, times: usize, within: Duration) -> Self {
        self.config.restarts = times;
        self.config.within = within;
        self
    }

    /// The pause before the first of these restarts. Each further restart doubles the pause,
    /// up to 5 seconds. Default: 100 milliseconds.
    pub fn restart_pause(mut self, pause: Duration) -> Self {
        self.config.pause = pause;
        self
    }

    /// How many requests may be in flight at the same time; further requests wait. Default: 64.
    pub fn max_concurrent_requests(mut self, requests: usize) -> Self {
        self.config.bounds.requests = requests;
        self
    }

    /// How many bytes these requests may have together; a larger request is sent alone.
    /// Default: 16 MiB.
    pub fn max_concurrent_bytes(mut self, bytes: usize) -> Self {
        self.config.bounds.bytes = bytes;
        self
    }

    /// How many requests may wait to be sent. A further request fails with
    /// [`Error::QueueFull`]; a pipe and the end of a stream wait instead. Default: 1,024.
    pub fn max_queued_requests(mut self, requests: usize) -> Self {
        self.config.bounds.waiting = requests;
        self
    }

    /// How many bytes of chunks each stream keeps for a replay; 0 keeps nothing. A longer
    /// stream fails with [`Error::StreamLost`] if the process ends. Default: 16 MiB.
    pub fn replay_bytes(mut self, bytes: usize) -> Self {
        self.config.replay_bytes = bytes;
        self
    }

    /// How many of these bytes all streams may keep together. Default: 128 MiB.
    pub fn all_replay_bytes(mut self, bytes: usize) -> Self {
        self.config.all_replay_bytes = bytes;
        self
    }

    /// What happens if no sidecar can be started ([`Error::is_start`]). By default
    /// [`Sidecar::open`] fails. With `true` it returns a stream without a sidecar: its first
    /// event is the diagnostic `sidecar-unavailable`, and the text of each chunk passes
    /// **raw**, including tags: strings and bytes unchanged, documents as JSON.
    ///
    /// A stream that had a sidecar never changes to this. The other methods still fail.
    pub fn pass_through(mut self, allowed: bool) -> Self {
        self.config.pass_through = allowed.then(ReadText::as_it_is);
        self
    }

    /// [`Builder::pass_through`] with a function that returns the text of a chunk. If it panics,
    /// the chunk passes as it does without the function.
    pub fn pass_through_with(
        mut self,
        read_text: impl Fn(&Value, &OpenParams) -> String + Send + Sync + 'static,
    ) -> Self {
        self.config.pass_through = Some(ReadText::new(read_text));
        self
    }

    /// A sidecar that is started at its first use.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] if an option cannot have its value.
    pub fn build(mut self) -> Result<Sidecar, Error> {
        checks::config(&self.config)?;
        self.config.warnings = Warnings::new(self.config.on_warning.clone());
        Ok(Sidecar::new(Supervisor::new(self.config)))
    }

    /// Starts the sidecar and waits for its handshake. With
    /// [`pass_through`](Self::pass_through), a sidecar that cannot be started is no error.
    ///
    /// # Errors
    ///
    /// The errors of [`Builder::build`] and [`Sidecar::start`].
    pub async fn spawn(self) -> Result<Sidecar, Error> {
        let pass_through = self.config.pass_through.is_some();
        let sidecar = self.build()?;
        match sidecar.start().await {
            Err(error) if !(pass_through && error.is_start()) => Err(error),
            _ => Ok(sidecar),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_downloaded_unless_it_is_allowed() {
        assert!(!Builder::new().config.downloads);
        assert!(Builder::new().allow_download(true).config.downloads);
    }
}
