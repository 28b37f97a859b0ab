//! What is under way over one process: requests by id, who waits for their answers, and
//! how they go out and come in. Knows no process: frames go to a function.

use std::{
    collections::HashMap,
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures_channel::oneshot;
use serde_json::value::RawValue;

use crate::{
    error::{Error, Failure},
    gate::{Gate, QueueBounds},
    message::{self, Heard},
    process::{End, Listener, Outbox},
};

/// The raw result of a request, or what became of it instead.
pub(crate) type Answer = Result<Box<RawValue>, Failure>;

/// Shared by those who ask and by the thread that reads.
pub(crate) struct Wire {
    state: Mutex<State>,
    outbox: Outbox,
    on_lost: OnLost,
}

/// Is told, once, what ended the process.
pub(crate) type OnLost = Box<dyn Fn(&Error) + Send + Sync>;

enum State {
    Live(Live),
    Lost(Error),
}

struct Live {
    next_id: i64,
    asked: HashMap<i64, Asked>,
    gate: Gate,
    /// When the process was last heard of.
    heard: Instant,
}

struct Asked {
    answer: oneshot::Sender<Answer>,
    /// Fires when the request goes out.
    sent: Option<oneshot::Sender<()>>,
    /// Since when the process has it; nothing before that.
    since: Option<Instant>,
    bytes: usize,
}

/// How long a request has been waiting for the process.
pub(crate) enum Waiting {
    /// It was sent this long ago.
    Sent(Duration),
    /// It has not been sent, and no answer to any other came for this long.
    Queued(Duration),
    /// It is answered, or its process is gone: its answer comes this moment.
    Over,
}

/// A request that was made: its id, its answer, and a sign that it went out.
pub(crate) struct Expected {
    pub(crate) id: i64,
    pub(crate) answer: oneshot::Receiver<Answer>,
    pub(crate) sent: oneshot::Receiver<()>,
}

impl Wire {
    pub(crate) fn new(outbox: Outbox, bounds: QueueBounds, on_lost: OnLost) -> Self {
        let (asked, gate) = (HashMap::new(), Gate::new(bounds));
        let live = Live { next_id: 1, asked, gate, heard: Instant::now() };
        Self { state: Mutex::new(State::Live(live)), outbox, on_lost }
    }

    /// Makes a request, which goes out as soon as the bounds allow.
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

    /// Refuses, where as many wait as may.
    pub(crate) fn check_room(&self) -> Result<(), Error> {
        let mut state = self.lock();
        let full = state.live().ok().and_then(|live| live.gate.full());
        full.map_or(Ok(()), |limit| Err(Error::QueueFull { limit }))
    }

    /// Waits for nothing but the end.
    pub(crate) fn wait(&self) -> Result<Expected, Failure> {
        let mut state = self.lock();
        let live = state.live()?;
        let expected = live.expect();
        if let Some(asked) = live.asked.get_mut(&expected.id) {
            asked.since = Some(Instant::now());
        }
        Ok(expected)
    }

    /// Sends what nobody waits for, past the queue.
    pub(crate) fn tell(&self, method: &str, params: Option<&str>) {
        self.outbox.send(message::notification(method, params));
    }

    /// Sends a request whose answer nobody waits for, past the queue.
    pub(crate) fn forget(&self, method: &str, params: Option<&str>) {
        if let Ok(live) = self.lock().live() {
            let id = live.next_id;
            live.next_id += 1;
            live.asked.insert(id, Asked::nobody());
            self.outbox.send(message::request(id, method, params));
        }
    }

    /// Nobody waits for this answer any more. Gives whether the request has gone out.
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
            Some(None) => Waiting::Queued(live.heard.elapsed()),
            None => Waiting::Over,
        }
    }

    /// What ended it, if something did.
    pub(crate) fn lost(&self) -> Option<Error> {
        match &*self.lock() {
            State::Live(_) => None,
            State::Lost(error) => Some(error.clone()),
        }
    }

    /// Ends it: everybody who waits gets this error. The first one is the one that stays.
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
        live.heard = Instant::now();
        let asked = live.asked.remove(&id);
        let asked = asked.ok_or_else(|| format!("an answer to {id}, which nobody asked"))?;
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
        let (sign, sent) = oneshot::channel();
        let id = self.next_id;
        self.next_id += 1;
        self.asked.insert(id, Asked { answer, sent: Some(sign), since: None, bytes: 0 });
        Expected { id, answer: answered, sent }
    }

    /// Sends what may go.
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

/// What the reading thread does with what it reads.
pub(crate) struct Reader(pub(crate) std::sync::Arc<Wire>);

impl Listener for Reader {
    fn body(&self, body: &[u8]) -> Result<(), String> {
        match message::read(body)? {
            Heard::Answer(id, answer) => {
                self.0.answer(id, answer.map_err(|it| Failure::Failed(it.into())))
            }
            Heard::Request(id) => {
                self.0.outbox.send(message::refusal(&id));
                Ok(())
            }
            Heard::Notification => Ok(()), // there is none that this crate has a use for
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
