//! What a host decides before the sidecar is started.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use serde_json::Value;

use crate::{
    config::Config,
    error::Error,
    gate::QueueBounds,
    handshake::PROTOCOL_VERSION,
    locate::{self, CommandLine},
    pass_through::ReadText,
    protocol::{ConnectionOptions, LimitsPatch, OpenParams, PolicyPatch},
    sidecar::Sidecar,
    supervisor::Supervisor,
    watching::{SidecarState, Told},
};

/// Makes a [`Sidecar`].
#[derive(Debug, Clone)]
#[must_use = "nothing is started before `spawn` or `build`"]
pub struct Builder {
    config: Config,
}

// Here, because a builder knows what it makes, and a sidecar no builder.
impl Sidecar {
    /// How it is started and what it is allowed.
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
                on_stderr: Told::default(),
                on_lost: Told::default(),
                on_state: Told::default(),
            },
        }
    }

    /// The command, program first, in place of looking for one: an installed sidecar, or
    /// `["python3", "-I", "/where/it/is/stream-sidecar.pyz"]`. Without it that is what the
    /// environment variable `STREAM_SIDECAR` says, else the first that works of what
    /// [`Sidecar::locate`] gives.
    pub fn command(mut self, words: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.config.commands = vec![words.into_iter().map(Into::into).collect()];
        self
    }

    /// A Python in which the sidecar is installed: `[python, "-I", "-m", "stream_sidecar"]`,
    /// else with `-P`.
    pub fn python(mut self, program: impl Into<OsString>) -> Self {
        self.config.commands = locate::serving(&[program.into()]).into();
        self
    }

    /// Let `uvx` or `pipx` fetch the package from the index when no sidecar is installed.
    /// Default: no, `uvx` may only use what it has in its cache.
    pub fn allow_download(mut self, allowed: bool) -> Self {
        self.config.downloads = allowed;
        self
    }

    /// A variable of the process's environment, beside those that it inherits.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.config.place.environment.insert(name.into(), value.into());
        self
    }

    /// The variables that the process has of this process's environment, and no others:
    /// `inherit_env(["PATH", "HOME"])`. Default: all but `PYTHONHOME`. Of `PYTHONPATH` the
    /// process has the absolute entries.
    pub fn inherit_env(mut self, names: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.config.place.inherited = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// What the process logs to standard error: `error`, `warning`, `info` or `debug`.
    /// Default: `warning`.
    pub fn log_level(mut self, level: impl Into<String>) -> Self {
        self.config.log_level = Some(level.into());
        self
    }

    /// Gets what the process writes to standard error, as it comes, on a thread of its own;
    /// so it does with what is on standard output before the first frame.
    pub fn on_stderr(mut self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.config.on_stderr = Told::new(tell);
        self
    }

    /// Gets each new state of the sidecar. It must not wait, nor ask the sidecar.
    pub fn on_state(mut self, tell: impl Fn(&SidecarState) + Send + Sync + 'static) -> Self {
        self.config.on_state = Told::new(tell);
        self
    }

    /// Gets what ended the process, whenever that is neither a restart nor a shutdown.
    pub fn on_lost(mut self, tell: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.config.on_lost = Told::new(tell);
        self
    }

    /// The directory that the process runs in, and what relative paths in its arguments are
    /// below. Default: that of the program that runs, never the one that the host works
    /// in, which may be anybody's.
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.config.place.directory = Some(directory.into());
        self
    }

    /// Defaults for every stream.
    pub fn policy(mut self, policy: PolicyPatch) -> Self {
        self.config.options.policy = Some(policy);
        self
    }

    /// Limits of the process and of every stream.
    pub fn limits(mut self, limits: LimitsPatch) -> Self {
        self.config.options.limits = Some(limits);
        self
    }

    /// How long a start may take, handshake and [`allow_download`](Self::allow_download) included.
    /// One that takes longer has failed. Default: 60 seconds.
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.config.start_timeout = timeout;
        self
    }

    /// How long an answer may take. A process that takes longer is killed: its streams go
    /// on in the next one, as after a crash. Default: 30 seconds.
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.config.request_timeout = timeout;
        self
    }

    /// How long the answer to `normalize`, `inspect` and `repair` may take, which do any
    /// amount of work. Default: 5 minutes.
    pub fn batch_timeout(mut self, timeout: Duration) -> Self {
        self.config.batch_timeout = timeout;
        self
    }

    /// How long the process may take to end by itself. Default: 5 seconds.
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.config.shutdown_timeout = timeout;
        self
    }

    /// How often the process may be started again in which time, starts that fail
    /// included. As many processes, and one more, may end on the same request of a stream
    /// in any time, then it is [`Error::StreamLost`]. Default: 4 times within 3 minutes.
    pub fn restarts(mut self, times: usize, within: Duration) -> Self {
        self.config.restarts = times;
        self.config.within = within;
        self
    }

    /// The pause before the first of these restarts; each further one doubles it, up to
    /// 5 seconds. Default: 100 milliseconds.
    pub fn restart_pause(mut self, pause: Duration) -> Self {
        self.config.pause = pause;
        self
    }

    /// Requests that may be on their way at once; further ones wait. Default: 64.
    pub fn max_concurrent_requests(mut self, requests: usize) -> Self {
        self.config.bounds.requests = requests.max(1);
        self
    }

    /// Bytes of these requests; one that is larger goes alone. Default: 16 MiB.
    pub fn max_concurrent_bytes(mut self, bytes: usize) -> Self {
        self.config.bounds.bytes = bytes;
        self
    }

    /// Requests that may wait for these before further ones are refused with
    /// [`Error::QueueFull`]. A pipe and the end of a stream are not refused, but wait.
    /// Default: 1,024.
    pub fn max_queued_requests(mut self, requests: usize) -> Self {
        self.config.bounds.waiting = requests;
        self
    }

    /// How many bytes of chunks each stream keeps for a replay; 0 keeps nothing. A stream
    /// that is longer ends with [`Error::StreamLost`] when the process ends. Default:
    /// 16 MiB.
    pub fn replay_bytes(mut self, bytes: usize) -> Self {
        self.config.replay_bytes = bytes;
        self
    }

    /// How many of these bytes all streams keep together. Default: 128 MiB.
    pub fn all_replay_bytes(mut self, bytes: usize) -> Self {
        self.config.all_replay_bytes = bytes;
        self
    }

    /// What happens when no sidecar can be started ([`Error::is_start`]). By default
    /// [`Sidecar::open`] fails. With `true` it gives a stream all the same, whose first event
    /// is the diagnostic `sidecar-unavailable`, and which hands the text of each chunk through
    /// **raw**, tags and all: strings and bytes as they are, documents as JSON.
    ///
    /// A stream that had a sidecar never changes over. The other methods fail as ever.
    pub fn pass_through(mut self, allowed: bool) -> Self {
        self.config.pass_through = allowed.then(ReadText::as_it_is);
        self
    }

    /// [`Builder::pass_through`] with a function that finds the text in a chunk.
    pub fn pass_through_with(
        mut self,
        read_text: impl Fn(&Value, &OpenParams) -> String + Send + Sync + 'static,
    ) -> Self {
        self.config.pass_through = Some(ReadText::new(read_text));
        self
    }

    /// A sidecar that is started at its first use.
    #[must_use]
    pub fn build(self) -> Sidecar {
        Sidecar::new(Supervisor::new(self.config))
    }

    /// Starts the sidecar and waits for its handshake. With
    /// [`pass_through`](Self::pass_through) a sidecar that cannot be started is none to
    /// wait for.
    ///
    /// # Errors
    ///
    /// As those of [`Sidecar::start`].
    pub async fn spawn(self) -> Result<Sidecar, Error> {
        let pass_through = self.config.pass_through.is_some();
        let sidecar = self.build();
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
