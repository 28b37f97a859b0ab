//! Requests over one process: ids, answers, time. Ends with its process and is never
//! mended: the [`Supervisor`](crate::supervisor::Supervisor) makes another one.

use std::{
    collections::HashMap,
    future::Future,
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use futures_channel::oneshot;
use futures_timer::Delay;
use futures_util::future::{Either, select};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    budget::{Budget, Permit},
    error::{Error, Failure, RpcError},
    framing,
    locate::CommandLine,
    process::{End, Listener, Process},
};

const METHOD_NOT_FOUND: i64 = -32601;

/// A running process and what it was asked. Dropping it ends the process.
pub(crate) struct Connection {
    process: Process,
    wire: Arc<Wire>,
}

/// How much may be under way at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueueBounds {
    pub(crate) requests: usize,
    pub(crate) bytes: usize,
}

/// A request that was sent. Gives the raw result; dropped before that, it asks the
/// sidecar to stop working on it (which `stream/*` ignores).
pub(crate) struct Ticket {
    connection: Arc<Connection>,
    id: i64,
    method: &'static str,
    answer: oneshot::Receiver<Answer>,
    patience: Delay,
    after: Duration,
    answered: bool,
}

type Answer = Result<Box<RawValue>, Failure>;

impl Connection {
    /// Starts the process, without shaking hands.
    pub(crate) fn start(command: &CommandLine, bounds: QueueBounds) -> Result<Self, Error> {
        let wire = Arc::new(Wire {
            state: Mutex::new(State::Live {
                next_id: 1,
                waiting: HashMap::new(),
                heard: Instant::now(),
            }),
            budget: Budget::new(bounds.requests, bounds.bytes),
        });
        let process = Process::start(command, Reader(Arc::clone(&wire)));
        let process = process.map_err(|source| Error::Spawn {
            command: command.to_string(),
            source: Arc::new(source),
        })?;
        Ok(Self { process, wire })
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// What ended the connection, if something did.
    pub(crate) fn lost(&self) -> Option<Error> {
        match &*self.wire.lock() {
            State::Live { .. } => None,
            State::Lost(error) => Some(error.clone()),
        }
    }

    /// Ends the process; everybody who waits for an answer gets `error`.
    pub(crate) fn end(&self, error: Error) {
        self.wire.lose(error);
        self.process.kill();
    }

    /// Sends a request as soon as the [`Budget`] allows, and gives the result.
    pub(crate) async fn request(
        self: &Arc<Self>,
        method: &'static str,
        params: &impl Serialize,
        timeout: Duration,
    ) -> Answer {
        self.send(method, params, timeout).await?.await
    }

    /// Sends a request as soon as the [`Budget`] allows. Its time begins then.
    pub(crate) async fn send(
        self: &Arc<Self>,
        method: &'static str,
        params: &impl Serialize,
        timeout: Duration,
    ) -> Result<Ticket, Failure> {
        let params = serde_json::value::to_raw_value(params)
            .map_err(|error| Error::json(format!("the params of {method}"), error))?;
        let permit = self.permit(params.get().len(), method, timeout).await;
        let (id, answer) = self.wire.expect(permit)?;
        let params = (params.get() != "null").then_some(&*params);
        self.write(&Message {
            id: Some(id),
            method,
            params,
        });
        Ok(self.ticket(id, method, answer, timeout))
    }

    /// Waits for a share of the budget. Answers give shares back whether somebody reads
    /// them or not, so that a process that gives none for so long hangs.
    async fn permit(&self, bytes: usize, method: &'static str, after: Duration) -> Option<Permit> {
        let mut turn = pin!(self.wire.budget.acquire(bytes));
        let mut patience = after;
        loop {
            match select(turn, Delay::new(patience)).await {
                Either::Left((permit, _)) => return permit,
                Either::Right(((), waiting)) => turn = waiting,
            }
            let quiet = self.wire.quiet();
            if quiet >= after {
                let stderr = self.process.stderr();
                self.end(Error::Timeout {
                    method,
                    after,
                    stderr,
                });
                return None;
            }
            patience = after - quiet;
        }
    }

    fn ticket(
        self: &Arc<Self>,
        id: i64,
        method: &'static str,
        answer: oneshot::Receiver<Answer>,
        after: Duration,
    ) -> Ticket {
        let (connection, patience) = (Arc::clone(self), Delay::new(after));
        Ticket {
            connection,
            id,
            method,
            answer,
            patience,
            after,
            answered: false,
        }
    }

    /// Sends a request whose answer nobody waits for.
    pub(crate) fn forget(&self, method: &'static str, params: &impl Serialize) {
        let Ok(params) = serde_json::value::to_raw_value(params) else {
            return;
        };
        if let Ok((id, _)) = self.wire.expect(None) {
            self.write(&Message {
                id: Some(id),
                method,
                params: Some(&params),
            });
        }
    }

    /// Tells the process to exit, and waits for its end.
    pub(crate) async fn exit(self: &Arc<Self>, timeout: Duration) -> Failure {
        self.notify("exit", None);
        let ticket = match self.wire.expect(None) {
            Ok((id, answer)) => self.ticket(id, "exit", answer, timeout),
            Err(failure) => return failure,
        };
        match ticket.await {
            Ok(_) => Failure::Lost(Error::ShutDown),
            Err(failure) => failure,
        }
    }

    pub(crate) fn notify(&self, method: &'static str, params: Option<&RawValue>) {
        self.write(&Message {
            id: None,
            method,
            params,
        });
    }

    fn write(&self, message: &Message<'_>) {
        if let Ok(body) = serde_json::to_vec(message) {
            self.process.send(framing::frame(&body));
        }
    }
}

impl Future for Ticket {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        if let Poll::Ready(answer) = Pin::new(&mut self.answer).poll(context) {
            self.answered = true;
            let gone = || Failure::Lost(self.connection.lost().unwrap_or(Error::ShutDown));
            return Poll::Ready(answer.unwrap_or_else(|_| Err(gone())));
        }
        if Pin::new(&mut self.patience).poll(context).is_pending() {
            return Poll::Pending;
        }
        self.answered = true;
        let stderr = self.connection.process.stderr();
        let error = Error::Timeout {
            method: self.method,
            after: self.after,
            stderr,
        };
        self.connection.end(error.clone());
        Poll::Ready(Err(Failure::Failed(error)))
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.answered && !self.method.starts_with("stream/") {
            let params = RawValue::from_string(format!("{{\"id\":{}}}", self.id)).ok();
            self.connection.notify("$/cancelRequest", params.as_deref());
        }
    }
}

/// What the reading thread shares with those who ask.
struct Wire {
    state: Mutex<State>,
    budget: Arc<Budget>,
}

enum State {
    Live {
        next_id: i64,
        waiting: HashMap<i64, Waiter>,
        heard: Instant,
    },
    Lost(Error),
}

/// Somebody who waits for an answer. Its share of the budget is given back with it.
struct Waiter {
    answer: oneshot::Sender<Answer>,
    _permit: Option<Permit>,
}

impl Wire {
    /// A new id, and where its answer will come.
    fn expect(&self, permit: Option<Permit>) -> Result<(i64, oneshot::Receiver<Answer>), Failure> {
        match &mut *self.lock() {
            State::Lost(error) => Err(Failure::Lost(error.clone())),
            State::Live {
                next_id, waiting, ..
            } => {
                let (answer, receiver) = oneshot::channel();
                let id = *next_id;
                *next_id += 1;
                waiting.insert(
                    id,
                    Waiter {
                        answer,
                        _permit: permit,
                    },
                );
                Ok((id, receiver))
            }
        }
    }

    fn answer(&self, id: i64, answer: Answer) -> Result<(), String> {
        let waiter = match &mut *self.lock() {
            State::Lost(_) => return Ok(()),
            State::Live { waiting, heard, .. } => {
                *heard = Instant::now();
                waiting.remove(&id)
            }
        };
        let waiter = waiter.ok_or_else(|| format!("an answer to {id}, which nobody asked"))?;
        let _ = waiter.answer.send(answer);
        Ok(())
    }

    /// How long there was no answer. Of a lost process nobody waits for one.
    fn quiet(&self) -> Duration {
        match &*self.lock() {
            State::Live { heard, .. } => heard.elapsed(),
            State::Lost(_) => Duration::ZERO,
        }
    }

    /// The first error is the one that stays.
    fn lose(&self, error: Error) {
        let mut state = self.lock();
        if matches!(*state, State::Lost(_)) {
            return;
        }
        let before = std::mem::replace(&mut *state, State::Lost(error.clone()));
        drop(state);
        self.budget.close();
        if let State::Live { waiting, .. } = before {
            for (_, waiter) in waiting {
                let _ = waiter.answer.send(Err(Failure::Lost(error.clone())));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Reader(Arc<Wire>);

impl Listener for Reader {
    fn body(&self, body: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let message: Incoming = serde_json::from_slice(body).map_err(|it| it.to_string())?;
        match (message.id, message.method) {
            (Some(id), None) => {
                let id = id.get().parse().map_err(|_| format!("an answer to {id}"))?;
                let answer = answer(message.result, message.error)?;
                self.0.answer(id, answer).map(|()| None)
            }
            (Some(id), Some(_)) => Ok(Some(refusal(&id))),
            (None, Some(_)) => Ok(None), // a notification that this crate has no use for
            (None, None) => Err("neither an answer nor a request".into()),
        }
    }

    fn end(&self, end: End) {
        let End {
            junk,
            status,
            stderr,
        } = end;
        self.0.lose(match junk {
            Some(message) => Error::Protocol { message, stderr },
            None => Error::Exited { status, stderr },
        });
    }
}

fn answer(result: Option<Box<RawValue>>, error: Option<RpcError>) -> Result<Answer, String> {
    match (result, error) {
        (None, Some(error)) => Ok(Err(Failure::Failed(error.into()))),
        (Some(result), None) => Ok(Ok(result)),
        _ => Err("an answer without a result, or with two".into()),
    }
}

/// The sidecar may ask as a language server does; there is nothing here to give.
fn refusal(id: &RawValue) -> Vec<u8> {
    let error = format!(r#"{{"code":{METHOD_NOT_FOUND},"message":"not a method of this host"}}"#);
    framing::frame(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#).as_bytes())
}

#[derive(Deserialize)]
struct Incoming {
    id: Option<Box<RawValue>>,
    method: Option<String>,
    // `null` is a result, so that absence has to be told apart from it.
    #[serde(default, deserialize_with = "present")]
    result: Option<Box<RawValue>>,
    error: Option<RpcError>,
}

fn present<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(input).map(Some)
}

struct Message<'a> {
    id: Option<i64>,
    method: &'a str,
    params: Option<&'a RawValue>,
}

impl Serialize for Message<'_> {
    fn serialize<S: serde::Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = output.serialize_map(None)?;
        map.serialize_entry("jsonrpc", "2.0")?;
        if let Some(id) = self.id {
            map.serialize_entry("id", &id)?;
        }
        map.serialize_entry("method", self.method)?;
        if let Some(params) = self.params {
            map.serialize_entry("params", params)?;
        }
        map.end()
    }
}
