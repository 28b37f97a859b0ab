//! All errors of this crate, as one type.
//!
//! Errors can be cloned, because the end of one process fails many requests.
//! A *provider's* mistake is never an error here: it is an event of the stream.

use std::{fmt, io, process::ExitStatus, sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::protocol::ErrorKind;

/// The errors that calls of this crate return.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An option has a value that it cannot have.
    #[error("the option {option} {problem}")]
    Option {
        /// The option: `request_timeout`, `policy.reasoning.scope`.
        option: String,
        /// What is wrong with its value.
        problem: String,
    },
    /// No command started a sidecar: no command was found, or each command could not be run,
    /// ended or hung before the handshake, or speaks another protocol.
    #[error("no sidecar could be started{}{}", list(.tried), way_out(.python.as_ref()))]
    Start {
        /// The commands in the order in which they were tried; empty if none was found.
        tried: Vec<Attempt>,
        /// What is wrong with the Pythons among the commands.
        python: Option<PythonProblem>,
    },
    /// The command could not be run.
    #[error("cannot run {command}: {source}")]
    Spawn {
        /// The command line.
        command: String,
        /// The error of the operating system.
        source: Arc<io::Error>,
    },
    /// The process ended, or closed its output.
    #[error("the sidecar ended ({}){}", .status.map_or_else(|| "status unknown".into(), |it| it.to_string()), tail(.stderr))]
    Exited {
        /// Its exit status, if the system reported it.
        status: Option<ExitStatus>,
        /// The last 64 kB that the process wrote to standard error.
        stderr: StderrTail,
    },
    /// An answer did not arrive in time. The process is ended, except by
    /// [`StreamHandle::cancel`](crate::StreamHandle::cancel): it serves one request after the
    /// other, so if one request hangs, all of them do. Streams continue in the next process;
    /// for a stream this error is only the `source` of [`Error::StreamLost`], or `last` of
    /// [`Error::GaveUp`].
    #[error("no answer to {method} within {after:?}{}", tail(.stderr))]
    Timeout {
        /// The requested method.
        method: &'static str,
        /// The time limit that was exceeded.
        after: Duration,
        /// The last 64 kB that the process wrote to standard error.
        stderr: StderrTail,
    },
    /// The process wrote something to its standard output that is not the protocol.
    #[error("the sidecar's output is not the protocol: {message}{}", tail(.stderr))]
    Protocol {
        /// What was wrong with the output.
        message: String,
        /// The last 64 kB that the process wrote to standard error.
        stderr: StderrTail,
    },
    /// The process is a sidecar with another protocol version, or not a sidecar.
    #[error("protocol version {wanted} is needed, but the process speaks {found:?}")]
    Version {
        /// The version that this crate speaks.
        wanted: i64,
        /// The versions that the process speaks; empty if it is not a sidecar.
        found: Vec<i64>,
    },
    /// The sidecar refused a request.
    #[error(transparent)]
    Rpc(#[from] RpcError),
    /// The state of a stream is lost and cannot be restored.
    #[error("stream {stream_id} is lost: {reason}")]
    StreamLost {
        /// The id of the stream.
        stream_id: String,
        /// Why the stream could not be replayed.
        reason: LostReason,
        /// The error that ended the process.
        source: Box<Error>,
    },
    /// The process ended, hung or could not be started more often than
    /// [`Builder::restarts`](crate::Builder::restarts) allows.
    /// [`Sidecar::restart`](crate::Sidecar::restart) starts it all the same.
    #[error("the sidecar was restarted {restarts} times within {within:?}; {}, unless restart() is called; last error: {last}", next_start(.retry_after.as_ref()))]
    GaveUp {
        /// The number of restarts.
        restarts: usize,
        /// The period of the restarts.
        within: Duration,
        /// How long it is until the next use starts the sidecar again; `None`: it never does.
        retry_after: Option<Duration>,
        /// The error that ended the last process, or kept it from starting.
        last: Box<Error>,
    },
    /// More requests wait than
    /// [`Builder::max_queued_requests`](crate::Builder::max_queued_requests) allows.
    #[error("{limit} requests are already waiting")]
    QueueFull {
        /// The limit.
        limit: usize,
    },
    /// The sidecar's version is too old for a method, or for a part of it.
    #[error("the sidecar is too old for {method}, so what needs it is left undone")]
    Unsupported {
        /// The missing method.
        method: &'static str,
    },
    /// A response, or a document in it, cannot be cleaned.
    #[error("{problem}")]
    Uncleaned {
        /// What is too long or of another type; of a document, the message of the diagnostic
        /// `document-limit`.
        problem: String,
    },
    /// [`Sidecar::shutdown`](crate::Sidecar::shutdown) was called.
    #[error("the sidecar was shut down")]
    ShutDown,
    /// Params cannot be written as JSON, or a result is not JSON of the expected shape.
    #[error("{what}: {source}")]
    Json {
        /// The value and its method: `the result of stream/push`.
        what: String,
        /// The error of the JSON library.
        source: Arc<serde_json::Error>,
    },
}

/// A command that did not start a sidecar.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// The command line.
    pub command: String,
    /// Why it failed.
    pub error: Box<Error>,
}

/// Why a stream could not be replayed into a new process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LostReason {
    /// The chunks have more bytes than
    /// [`Builder::replay_bytes`](crate::Builder::replay_bytes) or
    /// [`Builder::all_replay_bytes`](crate::Builder::all_replay_bytes) keeps.
    #[error("its chunks have more than the {limit} bytes that are kept for a replay")]
    ReplayLimit {
        /// The limit.
        limit: usize,
    },
    /// The same chunks gave different events, for example in another version of the sidecar.
    #[error("its replay gave {replayed} events, but {delivered} were delivered")]
    Diverged {
        /// The last `seq` that was delivered.
        delivered: i64,
        /// The last `seq` of the replay.
        replayed: i64,
    },
    /// One process after the other ended, or hung, before it answered the stream: one process
    /// more than [`Builder::restarts`](crate::Builder::restarts) allows, in any period.
    #[error("{processes} sidecars ended on it, one after the other")]
    Crashing {
        /// The number of processes.
        processes: usize,
    },
}

/// An error answer of the sidecar. `protocol.md` lists the codes.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Deserialize)]
#[error("{message} ({code})")]
pub struct RpcError {
    /// The JSON-RPC code.
    pub code: i64,
    /// The complete message, for people.
    pub message: String,
    /// `kind`, `retryable` and the fields of the kind.
    #[serde(default)]
    pub data: Map<String, Value>,
}

impl RpcError {
    /// The kind of error; an empty `Other` if the answer names none.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind_text().into()
    }

    fn kind_text(&self) -> &str {
        self.data.get("kind").and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub fn retryable(&self) -> bool {
        self.data.get("retryable") == Some(&Value::Bool(true))
    }

    /// Whether the stream expired because nobody used it (`idleTimeoutMs`).
    pub(crate) fn is_expiry(&self) -> bool {
        self.kind() == ErrorKind::StreamNotFound
            && self.data.get("reason").is_some_and(|it| it == "expired")
    }
}

impl Error {
    /// Whether no sidecar can be started, at this moment at least. In this case
    /// [`Builder::pass_through`](crate::Builder::pass_through) applies.
    #[must_use]
    pub fn is_start(&self) -> bool {
        match self {
            Self::Start { .. } => true,
            Self::GaveUp { last, .. } => last.is_start(),
            _ => false,
        }
    }

    /// A name of the error for programs: the same in every client, and the sidecar's own name
    /// for requests that it refused.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Option { .. } => "invalid-option",
            Self::Start { .. } | Self::GaveUp { .. } => "sidecar-unavailable",
            Self::Spawn { .. } | Self::Exited { .. } | Self::Protocol { .. } => "connection-lost",
            Self::Timeout { .. } => "request-timeout",
            Self::Version { .. } => "unsupported-version",
            Self::Rpc(error) => error.kind_text(),
            Self::StreamLost { .. } => "stream-lost",
            Self::QueueFull { .. } => "queue-full",
            Self::Unsupported { .. } | Self::Uncleaned { .. } => "unsupported",
            Self::ShutDown => "sidecar-closed",
            Self::Json { .. } => "no-json",
        }
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub fn retryable(&self) -> bool {
        match self {
            Self::Rpc(error) => error.retryable(),
            Self::Option { .. }
            | Self::StreamLost { .. }
            | Self::Version { .. }
            | Self::Unsupported { .. }
            | Self::Uncleaned { .. }
            | Self::ShutDown
            | Self::Json { .. } => false,
            _ => true,
        }
    }

    /// Whether another start may succeed: the process had started, and then ended or hung.
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

/// How a request can fail, by what a new process would change.
#[derive(Debug, Clone)]
pub(crate) enum Failure {
    /// The process ended for a reason that has nothing to do with this request.
    Lost(Error),
    /// The process did not answer this request in time, and was ended.
    Hung(Error),
    /// This request failed, and would fail again.
    Failed(Error),
}

impl Failure {
    /// A hang counts as a failure of this request, which is then not tried a second time.
    pub(crate) fn without_retry_of_hang(self) -> Self {
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

fn next_start(after: Option<&Duration>) -> String {
    after.map_or_else(
        || "it is not started again".into(),
        |it| format!("the next start is in {} s", it.as_secs_f64().ceil()),
    )
}

/// The oldest Python that can run the package.
pub(crate) const NEEDED: (u32, u32) = (3, 11);

/// The problem with the Pythons that were tried.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PythonProblem {
    /// No Python was found.
    Missing,
    /// The Python that was found is older than 3.11.
    TooOld {
        /// "3.10".
        version: String,
        /// The path of the Python.
        path: String,
    },
    /// The Python is new enough, but cannot run the package.
    NoPackage {
        /// "3.13".
        version: String,
        /// The path of the Python.
        path: String,
    },
}

impl fmt::Display for PythonProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = NEEDED;
        let name_it =
            "or name a sidecar that includes a Python, with Builder::command or STREAM_SIDECAR";
        match self {
            Self::Missing => {
                write!(
                    formatter,
                    "Python {major}.{minor} or newer is needed, but none was found; {name_it}"
                )
            }
            Self::TooOld { version, path } => write!(
                formatter,
                "Python {major}.{minor} or newer is needed, found {version} at {path}; {name_it}"
            ),
            Self::NoPackage { version, path } => write!(
                formatter,
                "Python {version} at {path} cannot run stream-sidecar; install the package there, or name another Python with Builder::python"
            ),
        }
    }
}

fn way_out(python: Option<&PythonProblem>) -> String {
    python.map_or_else(String::new, |it| format!(". {it}"))
}

/// The last 64 kB that the process wrote to standard error. It derefs to the whole text, and
/// displays the last 5 lines.
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
    if stderr.is_empty() { String::new() } else { format!("; standard error: {stderr}") }
}
