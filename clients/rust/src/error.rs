//! Everything that can go wrong, as one type.
//!
//! Errors can be cloned, because the end of one process fails many requests at once.
//! What a *provider* does wrong is never an error: it is an event of the stream.

use std::{fmt, io, process::ExitStatus, sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{protocol::ErrorKind, python::PythonProblem};

/// What a call of this crate can end in.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No command led to a sidecar: there is none, it cannot be run, it ended or fell
    /// silent before the handshake was made, or it speaks another protocol.
    #[error("no sidecar could be started{}{}", list(.tried), way_out(.python.as_ref()))]
    Start {
        /// The commands in the order in which they were tried; empty: there was none.
        tried: Vec<Attempt>,
        /// What is wrong with the Pythons among them.
        python: Option<PythonProblem>,
    },
    /// The command could not be run at all.
    #[error("cannot run {command}: {source}")]
    Spawn {
        /// The command line.
        command: String,
        /// What the operating system said.
        source: Arc<io::Error>,
    },
    /// The process ended, or closed its output.
    #[error("the sidecar ended ({}){}", .status.map_or_else(|| "status unknown".into(), |it| it.to_string()), tail(.stderr))]
    Exited {
        /// Its exit status, where the system told it.
        status: Option<ExitStatus>,
        /// The last 64 kB that it wrote to standard error.
        stderr: StderrTail,
    },
    /// An answer did not come in time. The process is ended, for it serves one request
    /// after the other: when one hangs, all of them do. Streams go on in the next process
    /// and give this error only as what ended the last one, in [`Error::StreamLost`] and
    /// [`Error::GaveUp`].
    #[error("no answer to {method} within {after:?}{}", tail(.stderr))]
    Timeout {
        /// The method that was asked for.
        method: &'static str,
        /// How long was waited.
        after: Duration,
        /// The last 64 kB that the process wrote to standard error.
        stderr: StderrTail,
    },
    /// The process wrote something to its standard output that is not the protocol.
    #[error("not the protocol: {message}{}", tail(.stderr))]
    Protocol {
        /// What was wrong.
        message: String,
        /// The last 64 kB that the process wrote to standard error.
        stderr: StderrTail,
    },
    /// The process is a sidecar of another protocol version, or no sidecar at all.
    #[error("protocol version {wanted} is not spoken, but {found:?}")]
    Version {
        /// The version that this crate speaks.
        wanted: i64,
        /// The versions that the process speaks; empty: it does not say that it is a
        /// sidecar.
        found: Vec<i64>,
    },
    /// The sidecar refused a request.
    #[error(transparent)]
    Rpc(#[from] RpcError),
    /// The state of a stream is gone and cannot be made again.
    #[error("stream {stream_id} is lost: {reason}")]
    StreamLost {
        /// The stream.
        stream_id: String,
        /// Why it could not be replayed.
        reason: LostReason,
        /// What had ended the process.
        source: Box<Error>,
    },
    /// The process ended, hung or could not be started more often than
    /// [`Builder::restarts`](crate::Builder::restarts) allows. A later call may succeed.
    #[error("the sidecar was started again {restarts} times within {within:?}, last: {last}")]
    GaveUp {
        /// Restarts that were made.
        restarts: usize,
        /// The time in which they were made.
        within: Duration,
        /// What had ended the process, or kept it from starting, the last time.
        last: Box<Error>,
    },
    /// More requests wait than
    /// [`Builder::max_queued_requests`](crate::Builder::max_queued_requests) allows.
    #[error("{limit} requests are waiting already")]
    QueueFull {
        /// The bound.
        limit: usize,
    },
    /// The sidecar is of a version that does not have it yet.
    #[error("the sidecar is too old for {method}: what it is for passes as it came")]
    Unsupported {
        /// The method that it lacks.
        method: &'static str,
    },
    /// [`Sidecar::shutdown`](crate::Sidecar::shutdown) was called.
    #[error("the sidecar was shut down")]
    ShutDown,
    /// What was given or received cannot be written or read as JSON of the right shape.
    #[error("{what}: {source}")]
    Json {
        /// A method and what of it.
        what: String,
        /// What the JSON library said.
        source: Arc<serde_json::Error>,
    },
}

/// One command that did not lead to a sidecar.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// The command line.
    pub command: String,
    /// Why it did not.
    pub error: Box<Error>,
}

/// Why a stream could not be replayed into a new process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LostReason {
    /// More chunks had been pushed than
    /// [`Builder::replay_bytes`](crate::Builder::replay_bytes) or
    /// [`Builder::all_replay_bytes`](crate::Builder::all_replay_bytes) keeps.
    #[error("its chunks take more than the {limit} bytes that are kept for a replay")]
    ReplayLimit {
        /// The bound.
        limit: usize,
    },
    /// The same chunks gave other events, as those of another version of the sidecar.
    #[error("its replay gave {replayed} events where {delivered} were delivered")]
    Diverged {
        /// The last `seq` that was delivered.
        delivered: i64,
        /// The last `seq` of the replay.
        replayed: i64,
    },
    /// One process after the other ended, or hung, before the stream had an answer: one
    /// more than [`Builder::restarts`](crate::Builder::restarts) allows, in whatever time.
    #[error("{processes} sidecars ended on it, one after the other")]
    Crashing {
        /// How many they were.
        processes: usize,
    },
}

/// An error answer. `protocol.md` lists the codes.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Deserialize)]
#[error("{message} ({code})")]
pub struct RpcError {
    /// The JSON-RPC code.
    pub code: i64,
    /// For people; says all that is to be said.
    pub message: String,
    /// `kind`, `retryable` and what else belongs to the kind.
    #[serde(default)]
    pub data: Map<String, Value>,
}

impl RpcError {
    /// The kind of error; an empty `Other` where none was told.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind_as_told().into()
    }

    fn kind_as_told(&self) -> &str {
        self.data.get("kind").and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub fn retryable(&self) -> bool {
        self.data.get("retryable") == Some(&Value::Bool(true))
    }

    /// The stream was forgotten because nobody used it (`idleTimeoutMs`).
    pub(crate) fn is_expiry(&self) -> bool {
        self.kind() == ErrorKind::StreamNotFound
            && self.data.get("reason").is_some_and(|it| it == "expired")
    }
}

impl Error {
    /// Whether there is no sidecar, in this moment at least. This is what
    /// [`Builder::pass_through`](crate::Builder::pass_through) goes by.
    #[must_use]
    pub fn is_start(&self) -> bool {
        match self {
            Self::Start { .. } => true,
            Self::GaveUp { last, .. } => last.is_start(),
            _ => false,
        }
    }

    /// A name for programs: the same for the same failure in every client, and that of the
    /// sidecar's own refusals.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Start { .. } | Self::GaveUp { .. } => "sidecar-unavailable",
            Self::Spawn { .. } | Self::Exited { .. } | Self::Protocol { .. } => "connection-lost",
            Self::Timeout { .. } => "request-timeout",
            Self::Version { .. } => "unsupported-version",
            Self::Rpc(error) => error.kind_as_told(),
            Self::StreamLost { .. } => "stream-lost",
            Self::QueueFull { .. } => "queue-full",
            Self::Unsupported { .. } => "unsupported",
            Self::ShutDown => "sidecar-closed",
            Self::Json { .. } => "no-json",
        }
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub fn retryable(&self) -> bool {
        match self {
            Self::Rpc(error) => error.retryable(),
            Self::StreamLost { .. }
            | Self::Version { .. }
            | Self::Unsupported { .. }
            | Self::ShutDown
            | Self::Json { .. } => false,
            _ => true,
        }
    }

    /// Whether another start may do better: the process was there, and went.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Start { tried, .. } => tried.iter().any(|it| it.error.is_passing()),
            Self::Exited { .. } | Self::Timeout { .. } => true,
            _ => false,
        }
    }

    pub(crate) fn json(what: impl Into<String>, source: serde_json::Error) -> Self {
        Self::Json { what: what.into(), source: Arc::new(source) }
    }
}

/// What a request can end in, told apart by what a new process mends.
#[derive(Debug, Clone)]
pub(crate) enum Failure {
    /// The process is gone for a reason that is not this request's.
    Lost(Error),
    /// The process gave no answer to this request in time, and was ended for it.
    Hung(Error),
    /// This request failed, and would again.
    Failed(Error),
}

impl Failure {
    /// For a request that is not worth a second wait: it failed where the process hung.
    pub(crate) fn of_its_own(self) -> Self {
        if let Self::Hung(error) = self { Self::Failed(error) } else { self }
    }

    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::Lost(error) | Self::Hung(error) | Self::Failed(error) => error,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

fn list(tried: &[Attempt]) -> String {
    if tried.is_empty() {
        return ": no command for it was found".into();
    }
    let lines: Vec<_> = tried.iter().map(|it| format!("{}: {}", it.command, it.error)).collect();
    format!("\n  {}", lines.join("\n  "))
}

fn way_out(python: Option<&PythonProblem>) -> String {
    python.map_or_else(String::new, |it| format!(". {it}"))
}

/// The last 64 kB that the process wrote to standard error: derefs to all of it, and
/// shows its last lines.
#[derive(Clone, PartialEq, Eq)]
pub struct StderrTail(pub(crate) Arc<str>);

impl std::ops::Deref for StderrTail {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StderrTail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LINES: usize = 5;
        let lines: Vec<&str> = self.trim_end().lines().collect();
        formatter.write_str(&lines[lines.len().saturating_sub(LINES)..].join("\n"))
    }
}

impl fmt::Debug for StderrTail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.to_string())
    }
}

fn tail(stderr: &StderrTail) -> String {
    if stderr.is_empty() { String::new() } else { format!("; it said: {stderr}") }
}
