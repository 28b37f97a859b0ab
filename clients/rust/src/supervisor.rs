//! Keeps a sidecar there: starts it when it is needed, and again when it is gone, with
//! pauses that grow and not more often than allowed. Knows nothing of streams.

use std::{
    collections::VecDeque,
    ffi::OsString,
    process,
    sync::{Arc, Mutex as Plain, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures_timer::Delay;
use futures_util::lock::Mutex;
use serde_json::{Value, json};

use crate::{
    connection::{Connection, QueueBounds},
    error::{Attempt, Error, Failure},
    locate::{self, CommandLine},
    protocol::{Capabilities, ConnectionOptions, ErrorKind},
};

/// The version of the protocol that this crate speaks.
pub const PROTOCOL_VERSION: i64 = 1;

const CAPABILITIES: &str = "/capabilities/experimental/streamSidecar";
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What the host decided; see [`Builder`](crate::Builder).
#[derive(Debug, Clone)]
pub(crate) struct Config {
    /// Empty: it is looked for.
    pub(crate) words: Vec<OsString>,
    /// Environment and directory of whatever is started; its words are not used.
    pub(crate) place: CommandLine,
    pub(crate) downloads: bool,
    pub(crate) options: ConnectionOptions,
    pub(crate) bounds: QueueBounds,
    pub(crate) start_timeout: Duration,
    pub(crate) request_timeout: Duration,
    pub(crate) batch_timeout: Duration,
    pub(crate) restarts: usize,
    pub(crate) within: Duration,
    pub(crate) pause: Duration,
    pub(crate) replay_bytes: usize,
    pub(crate) pass_through: bool,
}

pub(crate) struct Supervisor {
    pub(crate) config: Config,
    slot: Mutex<Slot>,
    status: Plain<Status>,
}

/// What there is, and what there was. Whoever starts a process holds the lock, so that
/// all others wait for the same one.
#[derive(Default)]
struct Slot {
    connection: Option<Arc<Connection>>,
    /// The command that led to a sidecar.
    command: Option<CommandLine>,
    starts: usize,
    /// When processes were started again, in the time that counts.
    restarts: VecDeque<Instant>,
    /// What ended the last process, or kept it from starting.
    last: Option<Error>,
    shut: bool,
}

/// What can be asked without waiting.
#[derive(Debug, Clone, Default)]
pub(crate) struct Status {
    pub(crate) process_id: Option<u32>,
    pub(crate) restarts: usize,
    pub(crate) capabilities: Option<Arc<Capabilities>>,
}

impl Supervisor {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            config,
            slot: Mutex::default(),
            status: Plain::default(),
        }
    }

    pub(crate) fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection that lives, or a new one.
    pub(crate) async fn connection(&self) -> Result<Arc<Connection>, Error> {
        let mut slot = self.slot.lock().await;
        if slot.shut {
            return Err(Error::ShutDown);
        }
        match slot.connection.as_ref().map(|it| it.lost()) {
            Some(None) => return slot.connection.clone().ok_or(Error::ShutDown),
            Some(lost) => slot.last = lost,
            None => {}
        }
        slot.connection = None;
        loop {
            self.pause(&mut slot).await?;
            let served = slot.command.is_some();
            match self.start(&mut slot).await {
                Ok(connection) => {
                    slot.connection = Some(Arc::clone(&connection));
                    return Ok(connection);
                }
                Err(error) if served && error.is_passing() => slot.last = Some(error),
                Err(error) => {
                    slot.last = Some(error.clone());
                    return Err(error);
                }
            }
        }
    }

    /// Asks the process to end, and sees to it that it does. Nothing is started again.
    pub(crate) async fn shutdown(&self) -> Result<(), Error> {
        let mut slot = self.slot.lock().await;
        slot.shut = true;
        let Some(connection) = slot.connection.take() else {
            return Ok(());
        };
        if connection.lost().is_some() {
            return Ok(());
        }
        let timeout = self.config.request_timeout;
        let asked = connection.request("shutdown", &Value::Null, timeout).await;
        let ended = match asked {
            Ok(_) => connection.exit(timeout).await,
            Err(failure) => failure,
        };
        connection.end(Error::ShutDown);
        match ended {
            Failure::Lost(_) => Ok(()),
            Failure::Failed(error) => Err(error),
        }
    }

    /// Waits until the next start is due, or refuses it.
    async fn pause(&self, slot: &mut Slot) -> Result<(), Error> {
        slot.starts += 1;
        if slot.starts == 1 {
            return Ok(());
        }
        let Config {
            restarts, within, ..
        } = self.config;
        let now = Instant::now();
        slot.restarts.retain(|it| now.duration_since(*it) < within);
        let made = slot.restarts.len();
        if made >= restarts {
            let last = Box::new(slot.last.clone().unwrap_or(Error::ShutDown));
            return Err(Error::GaveUp {
                restarts: made,
                within,
                last,
            });
        }
        if slot.command.is_some() {
            let doubled = u32::try_from(made).unwrap_or(u32::MAX).min(16);
            Delay::new((self.config.pause * 2u32.pow(doubled)).min(LONGEST_PAUSE)).await;
        }
        slot.restarts.push_back(Instant::now());
        self.status().restarts += 1;
        Ok(())
    }

    async fn start(&self, slot: &mut Slot) -> Result<Arc<Connection>, Error> {
        let mut tried = Vec::new();
        for command in self.commands(slot) {
            match self.shake_hands(&command).await {
                Ok((connection, capabilities)) => {
                    slot.command = Some(command);
                    let mut status = self.status();
                    status.process_id = Some(connection.process_id());
                    status.capabilities = Some(Arc::new(capabilities));
                    return Ok(connection);
                }
                // Any sidecar would refuse the same options.
                Err(error @ Error::Rpc(_)) => return Err(error),
                Err(error) => {
                    let command = command.to_string();
                    tried.push(Attempt {
                        command,
                        error: Box::new(error),
                    });
                }
            }
        }
        Err(Error::Start { tried })
    }

    fn commands(&self, slot: &Slot) -> Vec<CommandLine> {
        if let Some(command) = &slot.command {
            return vec![command.clone()];
        }
        let found = if self.config.words.is_empty() {
            locate::candidates_here(self.config.downloads)
        } else {
            vec![self.config.words.clone()]
        };
        found
            .into_iter()
            .map(|words| CommandLine {
                words,
                ..self.config.place.clone()
            })
            .collect()
    }

    async fn shake_hands(
        &self,
        command: &CommandLine,
    ) -> Result<(Arc<Connection>, Capabilities), Error> {
        let connection = Arc::new(Connection::start(command, self.config.bounds)?);
        let params = json!({
            "processId": process::id(),
            "clientInfo": {"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")},
            "capabilities": {},
            "initializationOptions": {"streamSidecar": self.config.options},
        });
        let answer = connection
            .request("initialize", &params, self.config.start_timeout)
            .await;
        let result = answer.map_err(|failure| spoken(failure.into_error()))?;
        let capabilities = capabilities(result.get())?;
        connection.notify("initialized", None);
        Ok((connection, capabilities))
    }
}

/// What the answer to `initialize` says of the sidecar, when it is one of our version.
fn capabilities(result: &str) -> Result<Capabilities, Error> {
    let unfit = |error| Error::json("the result of initialize", error);
    let result: Value = serde_json::from_str(result).map_err(unfit)?;
    let told = result.pointer(CAPABILITIES).unwrap_or(&Value::Null);
    let found = told["protocolVersion"].as_i64();
    if found != Some(PROTOCOL_VERSION) {
        let found = found.into_iter().collect();
        return Err(Error::Version {
            wanted: PROTOCOL_VERSION,
            found,
        });
    }
    serde_json::from_value(told.clone()).map_err(unfit)
}

/// A refused version in the form of any other mismatch.
fn spoken(error: Error) -> Error {
    match error {
        Error::Rpc(refusal) if refusal.kind() == ErrorKind::UnsupportedVersion => {
            let supported = refusal.data.get("supported").and_then(Value::as_array);
            let found = supported
                .into_iter()
                .flatten()
                .filter_map(Value::as_i64)
                .collect();
            Error::Version {
                wanted: PROTOCOL_VERSION,
                found,
            }
        }
        other => other,
    }
}
