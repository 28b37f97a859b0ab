//! What a host decides before the sidecar is started.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use crate::{
    config::Config,
    error::Error,
    gate::QueueBounds,
    handshake::PROTOCOL_VERSION,
    locate::CommandLine,
    protocol::{ConnectionOptions, LimitsPatch, PolicyPatch},
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
                words: Vec::new(),
                place: CommandLine::default(),
                downloads: false,
                options,
                bounds: QueueBounds { requests: 256, bytes: 16 << 20 },
                start_timeout: Duration::from_secs(60),
                request_timeout: Duration::from_secs(30),
                batch_timeout: Duration::from_secs(300),
                restarts: 4,
                within: Duration::from_secs(180),
                pause: Duration::from_millis(100),
                replay_bytes: 16 << 20,
                pass_through: false,
                log_level: None,
                on_stderr: Told::default(),
                on_state: Told::default(),
            },
        }
    }

    /// The command, program first, in place of looking for one: an installed sidecar, or
    /// `["python3", "bundled/stream-sidecar.pyz"]`. Without it that is what the
    /// environment variable `STREAM_SIDECAR` says, else the first that works of
    /// `stream-sidecar` on `PATH`, `uvx` from its cache, and `-m sidecar` of the Python
    /// interpreters on `PATH`.
    pub fn command(mut self, words: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.config.words = words.into_iter().map(Into::into).collect();
        self
    }

    /// Let `uvx` or `pipx` fetch the package from the index when no sidecar is installed.
    /// Default: no, `uvx` may only use what it has in its cache.
    pub fn downloads(mut self, allowed: bool) -> Self {
        self.config.downloads = allowed;
        self
    }

    /// A variable of the process's environment, beside those that it inherits.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.config.place.environment.insert(name.into(), value.into());
        self
    }

    /// The variables that the process has of this process's environment, and no others:
    /// `inherit_env(["PATH", "HOME"])`. Default: all.
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

    /// Gets what the process writes to standard error, as it comes, on a thread of its own.
    pub fn on_stderr(mut self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.config.on_stderr = Told::new(tell);
        self
    }

    /// Gets each new state of the sidecar. It must not wait, nor ask the sidecar.
    pub fn on_state(mut self, tell: impl Fn(&SidecarState) + Send + Sync + 'static) -> Self {
        self.config.on_state = Told::new(tell);
        self
    }

    /// The directory that the process runs in.
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

    /// How long a start may take, handshake and [`downloads`](Self::downloads) included.
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

    /// How much may be under way to the process: requests that are not answered, and
    /// their bytes. Whoever sends more waits. Default: 256, and 16 MiB.
    pub fn queue(mut self, requests: usize, bytes: usize) -> Self {
        self.config.bounds = QueueBounds { requests: requests.max(1), bytes };
        self
    }

    /// How many bytes of chunks each stream keeps for a replay; 0 keeps nothing. A stream
    /// that is longer ends with [`Error::StreamLost`] when the process ends. Default:
    /// 16 MiB.
    pub fn replay_bytes(mut self, bytes: usize) -> Self {
        self.config.replay_bytes = bytes;
        self
    }

    /// What happens when no sidecar can be started ([`Error::is_start`]). By default
    /// [`Sidecar::open`] fails. With `true` it gives a stream all the same, which hands
    /// back what is pushed, so that a host can go on with what it did before:
    ///
    /// - text, of streams with wire or framing `text`, as `text-delta`, unchanged;
    /// - any other chunk as `Event::Unknown` of the type
    ///   [`PASS_THROUGH`](crate::PASS_THROUGH), the chunk in its field `chunk`.
    ///
    /// Events are numbered, a `finish` with the reason `unknown` is the last, and the
    /// message has no parts. A stream that had a sidecar never changes over. The other
    /// methods fail as ever.
    pub fn pass_through(mut self, allowed: bool) -> Self {
        self.config.pass_through = allowed;
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
        let pass_through = self.config.pass_through;
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
        assert!(Builder::new().downloads(true).config.downloads);
    }
}
