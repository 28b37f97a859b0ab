//! The requests in flight to one process, by id, with the callers that wait for their answers.
//! This module does not know the process: it sends frames to an outbox.

use std::{
    collections::HashMap,
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures_channel::oneshot;
use serde_json::value::RawValue;

use crate::{
    config::QueueBounds,
    connection::{
        gate::Gate,
        message::{self, Received},
    },
    error::{Error, Failure},
    process::child::{End, Listener, Outbox},
};

/// The raw result of a request, or its failure.
pub(crate) type Answer = Result<Box<RawValue>, Failure>;

/// The state shared by the callers and the reading thread.
pub(crate) struct MessageConnection {
    state: Mutex<State>,
    outbox: Outbox,
    on_lost: OnLost,
}

/// Gets, once, the error that ended the process.
pub(crate) type OnLost = Box<dyn Fn(&Error) + Send + Sync>;

enum State {
    Live(Live),
    Lost(Error),
}

struct Live {
    next_id: i64,
    asked: HashMap<i64, Asked>,
    gate: Gate,
    /// When the last answer of the process arrived.
    last_answer: Instant,
}

struct Asked {
    answer: oneshot::Sender<Answer>,
    /// Fires when the request is sent.
    sent: Option<oneshot::Sender<()>>,
    /// When the request was sent; `None` before that.
    since: Option<Instant>,
    bytes: usize,
}

/// How long a request has been waiting for the process.
pub(crate) enum Waiting {
    /// The time since the request was sent.
    Sent(Duration),
    /// The request was not sent yet: the time since the last answer to any request.
    Queued(Duration),
    /// The request is answered, or its process has ended: the caller gets its answer now.
    Over,
}

/// A request: its id, its answer, and a signal that it was sent.
pub(crate) struct Expected {
    pub(crate) id: i64,
    pub(crate) answer: oneshot::Receiver<Answer>,
    pub(crate) sent: oneshot::Receiver<()>,
}

impl MessageConnection {
    pub(crate) fn new(outbox: Outbox, bounds: QueueBounds, on_lost: OnLost) -> Self {
        let (asked, gate) = (HashMap::new(), Gate::new(bounds));
        let live = Live { next_id: 1, asked, gate, last_answer: Instant::now() };
        Self { state: Mutex::new(State::Live(live)), outbox, on_lost }
    }

    /// Makes a request, which is sent as soon as the limits allow.
    pub(crate) fn ask(&self, method: &str, params: Option<&str>) -> Result<Expected, Failure> {
        let mut state = self.lock();
        let live = state.live()?;
        let expected = live.expect();
        let id = expected.id;
        let frame = message::request(id, method, params);
        if let Some(asked) = live.asked.get_mut(&id) {
            asked.bytes = frame.len();
        }
        live.gate.add(id, frame);
        live.send(&self.outbox);
        Ok(expected)
    }

    /// Returns an error if the queue of waiting requests is full.
    pub(crate) fn check_room(&self) -> Result<(), Error> {
        let mut state = self.lock();
        let full = state.live().ok().and_then(|live| live.gate.full());
        full.map_or(Ok(()), |limit| Err(Error::QueueFull { limit }))
    }

    /// Waits for the end of the process, without making a request.
    pub(crate) fn wait(&self) -> Result<Expected, Failure> {
        let mut state = self.lock();
        let live = state.live()?;
        let expected = live.expect();
        if let Some(asked) = live.asked.get_mut(&expected.id) {
            asked.since = Some(Instant::now());
        }
        Ok(expected)
    }

    /// Sends a notification immediately, past the queue.
    pub(crate) fn notify(&self, method: &str, params: Option<&str>) {
        self.outbox.send(message::notification(method, params));
    }

    /// Sends a request whose answer nobody waits for, immediately, past the queue.
    pub(crate) fn forget(&self, method: &str, params: Option<&str>) {
        if let Ok(live) = self.lock().live() {
            let id = live.next_id;
            live.next_id += 1;
            live.asked.insert(id, Asked::nobody());
            self.outbox.send(message::request(id, method, params));
        }
    }

    /// Records that nobody waits for this answer; withdraws the request if it was not sent.
    /// Returns whether it was sent.
    pub(crate) fn leave(&self, id: i64) -> bool {
        let mut state = self.lock();
        let Ok(live) = state.live() else { return false };
        let sent = live.asked.get(&id).is_some_and(|it| it.since.is_some());
        if !sent {
            live.gate.withdraw(id);
            live.asked.remove(&id);
        }
        sent
    }

    pub(crate) fn waiting(&self, id: i64) -> Waiting {
        let mut state = self.lock();
        let Ok(live) = state.live() else {
            return Waiting::Over;
        };
        match live.asked.get(&id).map(|it| it.since) {
            Some(Some(since)) => Waiting::Sent(since.elapsed()),
            Some(None) => Waiting::Queued(live.last_answer.elapsed()),
            None => Waiting::Over,
        }
    }

    /// The error that ended the process; `None` while it lives.
    pub(crate) fn lost(&self) -> Option<Error> {
        match &*self.lock() {
            State::Live(_) => None,
            State::Lost(error) => Some(error.clone()),
        }
    }

    /// Ends the connection: all waiting requests get this error. Only the first call has an effect.
    pub(crate) fn lose(&self, error: &Error) {
        let mut state = self.lock();
        if matches!(*state, State::Lost(_)) {
            return;
        }
        let before = mem::replace(&mut *state, State::Lost(error.clone()));
        drop(state);
        (self.on_lost)(error);
        if let State::Live(live) = before {
            for (_, asked) in live.asked {
                let _ = asked.answer.send(Err(Failure::Lost(error.clone())));
            }
        }
    }

    fn answer(&self, id: i64, answer: Answer) -> Result<(), String> {
        let mut state = self.lock();
        let Ok(live) = state.live() else {
            return Ok(());
        };
        live.last_answer = Instant::now();
        let asked = live.asked.remove(&id);
        let asked = asked.ok_or_else(|| format!("an answer to {id}, which was not requested"))?;
        if asked.bytes > 0 {
            live.gate.answered(asked.bytes);
            live.send(&self.outbox);
        }
        drop(state);
        let _ = asked.answer.send(answer);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn live(&mut self) -> Result<&mut Live, Failure> {
        match self {
            Self::Live(live) => Ok(live),
            Self::Lost(error) => Err(Failure::Lost(error.clone())),
        }
    }
}

impl Live {
    fn expect(&mut self) -> Expected {
        let (answer, answered) = oneshot::channel();
        let (signal, sent) = oneshot::channel();
        let id = self.next_id;
        self.next_id += 1;
        self.asked.insert(id, Asked { answer, sent: Some(signal), since: None, bytes: 0 });
        Expected { id, answer: answered, sent }
    }

    /// Sends all frames that the gate allows.
    fn send(&mut self, outbox: &Outbox) {
        while let Some((id, frame)) = self.gate.next() {
            outbox.send(frame);
            if let Some(asked) = self.asked.get_mut(&id) {
                asked.since = Some(Instant::now());
                asked.sent.take().map(|it| it.send(()));
            }
        }
    }
}

impl Asked {
    fn nobody() -> Self {
        Self { answer: oneshot::channel().0, sent: None, since: Some(Instant::now()), bytes: 0 }
    }
}

/// Handles the messages that the reading thread reads.
pub(crate) struct Reader(pub(crate) std::sync::Arc<MessageConnection>);

impl Listener for Reader {
    fn body(&self, body: &[u8]) -> Result<(), String> {
        match message::read(body)? {
            Received::Answer(id, answer) => {
                self.0.answer(id, answer.map_err(|it| Failure::Failed(it.into())))
            }
            Received::Request(id) => {
                self.0.outbox.send(message::refusal(&id));
                Ok(())
            }
            Received::Notification => Ok(()), // this crate needs none of them
        }
    }

    fn end(&self, end: End) {
        let End { junk, status, stderr } = end;
        self.0.lose(&match junk {
            Some(message) => Error::Protocol { message, stderr },
            None => Error::Exited { status, stderr },
        });
    }
}
