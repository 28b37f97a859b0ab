//! The requests to one process, and their time limits. A connection ends with its process;
//! then the [`Supervisor`](crate::connection::supervisor::Supervisor) makes a new connection.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_channel::oneshot;
use futures_timer::Delay;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::{
    config::QueueBounds,
    connection::message_connection::{
        Answer, Expected, MessageConnection, OnLost, Reader, Waiting,
    },
    error::{Error, Failure, StderrTail},
    process::{
        child::{Outbox, Process},
        locate::CommandLine,
    },
    watching::Callback,
};

/// A running process and the requests to it. Dropping it ends the process.
pub(crate) struct Connection {
    process: Process,
    messages: Arc<MessageConnection>,
}

impl Connection {
    /// Starts the process, without the handshake.
    pub(crate) fn start(
        command: &CommandLine,
        on_stderr: Callback<str>,
        bounds: QueueBounds,
        on_lost: OnLost,
    ) -> Result<Self, Error> {
        let (outbox, frames) = Outbox::new();
        let messages = Arc::new(MessageConnection::new(outbox, bounds, on_lost));
        let process = Process::start(command, on_stderr, frames, Reader(Arc::clone(&messages)));
        let process = process.map_err(|source| Error::Spawn {
            command: command.to_string(),
            source: Arc::new(source),
        })?;
        Ok(Self { process, messages })
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn stderr(&self) -> StderrTail {
        self.process.stderr()
    }

    /// Returns an error if the queue of waiting requests is full.
    pub(crate) fn check_room(&self) -> Result<(), Error> {
        self.messages.check_room()
    }

    /// The error that ended the connection; `None` while it lives.
    pub(crate) fn lost(&self) -> Option<Error> {
        self.messages.lost()
    }

    /// Ends the process; every request that waits for an answer gets `error`.
    pub(crate) fn end(&self, error: &Error) {
        self.messages.lose(error);
        self.process.kill();
    }

    /// Makes a request and waits for its result.
    pub(crate) async fn request(
        self: &Arc<Self>,
        method: &'static str,
        params: &impl Serialize,
        timeout: Duration,
    ) -> Answer {
        self.ask(method, params, timeout)?.await
    }

    /// Makes a request, which is sent as soon as the queue's limits allow.
    pub(crate) fn ask(
        self: &Arc<Self>,
        method: &'static str,
        params: &impl Serialize,
        timeout: Duration,
    ) -> Result<Ticket, Failure> {
        let params = serde_json::to_string(params)
            .map_err(|error| Error::json(format!("the params of {method}"), error))?;
        self.ask_text(method, &params, timeout)
    }

    /// [`Connection::ask`] with params that are JSON already.
    pub(crate) fn ask_text(
        self: &Arc<Self>,
        method: &'static str,
        params: &str,
        timeout: Duration,
    ) -> Result<Ticket, Failure> {
        // Methods without params expect no `params`, so `null` is left out.
        let params = Some(params).filter(|it| *it != "null");
        Ok(Ticket::new(self, self.messages.ask(method, params)?, method, timeout))
    }

    /// Makes a request whose answer nobody waits for.
    pub(crate) fn forget(&self, method: &'static str, params: &str) {
        self.messages.forget(method, Some(params));
    }

    pub(crate) fn notify(&self, method: &'static str) {
        self.messages.notify(method, None);
    }

    /// Asks the process to exit, and waits for its end.
    pub(crate) async fn exit(self: &Arc<Self>, timeout: Duration) -> Failure {
        self.notify("exit");
        let expected = match self.messages.wait() {
            Ok(expected) => expected,
            Err(failure) => return failure,
        };
        match Ticket::new(self, expected, "exit", timeout).await {
            Ok(_) => Failure::Lost(Error::ShutDown),
            Err(failure) => failure,
        }
    }
}

/// A timer cannot wait for ever. A longer wait is made of several.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Decodes the result of a request.
pub(crate) fn decode<T: DeserializeOwned>(answer: &RawValue, method: &str) -> Result<T, Error> {
    serde_json::from_str(answer.get())
        .map_err(|error| Error::json(format!("the result of {method}"), error))
}

/// A request, as a future of its raw result. If it is dropped earlier, the request is withdrawn
/// if it was not sent yet; otherwise the sidecar is asked to cancel it (`stream/*` cannot be).
pub(crate) struct Ticket {
    connection: Arc<Connection>,
    expected: Expected,
    method: &'static str,
    after: Duration,
    patience: Delay,
    answered: bool,
}

impl Ticket {
    fn new(
        connection: &Arc<Connection>,
        expected: Expected,
        method: &'static str,
        after: Duration,
    ) -> Self {
        let (connection, patience) = (Arc::clone(connection), Delay::new(after.min(LONGEST)));
        Self { connection, expected, method, after, patience, answered: false }
    }

    /// Ready when the request has been sent, or never will be. The answer says which.
    pub(crate) fn poll_sent(&mut self, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.expected.sent).poll(context).map(drop)
    }

    /// The time left after the timer fired; `None`: the process hangs. A queued request counts
    /// from the last answer to any request: every answer, read or not, lets others be sent.
    fn left(&self) -> Option<Duration> {
        let waited = match self.connection.messages.waiting(self.expected.id) {
            Waiting::Sent(time) | Waiting::Queued(time) => time,
            Waiting::Over => Duration::ZERO,
        };
        self.after.checked_sub(waited).filter(|it| !it.is_zero())
    }

    fn time_out(&self) -> Error {
        let stderr = self.connection.process.stderr();
        let error = Error::Timeout { method: self.method, after: self.after, stderr };
        self.connection.end(&error);
        error
    }
}

impl Future for Ticket {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        if let Poll::Ready(answer) = Pin::new(&mut self.expected.answer).poll(context) {
            self.answered = true;
            return Poll::Ready(answer.unwrap_or_else(|oneshot::Canceled| {
                Err(Failure::Lost(self.connection.lost().unwrap_or(Error::ShutDown)))
            }));
        }
        while Pin::new(&mut self.patience).poll(context).is_ready() {
            let Some(left) = self.left() else {
                self.answered = true;
                return Poll::Ready(Err(Failure::Hung(self.time_out())));
            };
            self.patience.reset(left.min(LONGEST));
        }
        Poll::Pending
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let messages = &self.connection.messages;
        if !self.answered && messages.leave(self.expected.id) && !self.method.starts_with("stream/")
        {
            let params = format!("{{\"id\":{}}}", self.expected.id);
            messages.notify("$/cancelRequest", Some(&params));
        }
    }
}
