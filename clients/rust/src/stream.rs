//! One response of one model: pushes in order, answers in order, and what makes the end
//! of the process invisible.
//!
//! Chunks whose answer has come are kept. When the process is gone, or hung and was ended
//! for it, the stream is opened in the next one, the kept chunks are pushed again, their
//! events are not delivered a second time, and the pushes that were under way are sent
//! again. The same pushes give the same events, `seq` included: that is what the protocol
//! promises, and what is checked.
//!
//! Every state that an `await` can be left in is one to go on from: what is under way
//! stays in the window, events that nobody took stay in `unclaimed`.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher, Hasher},
    mem,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::{
    answer::{Answer, Closed},
    body_format::{Document, Emitted},
    connection::{Connection, decode},
    error::{Error, Failure, LostReason},
    kept::{Kept, Mark},
    lease::Lease,
    protocol::{
        CloseParams, CloseResult, Event, Framing, OpenParams, OpenResult, SnapshotParams,
        SnapshotResult,
    },
    requests::{Request, Requests},
    retry,
    supervisor::Supervisor,
    window::Window,
};

/// [`PushResult`](crate::protocol::PushResult) with documents as they were written.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pushed {
    events: Vec<Event>,
    last_seq: i64,
    chunks: Option<Vec<Emitted>>,
}

/// The chunks of [`CloseResult`] as they were written.
#[derive(Deserialize)]
struct LastChunks {
    chunks: Option<Vec<Box<RawValue>>>,
}

impl From<Vec<Event>> for Answer {
    fn from(events: Vec<Event>) -> Self {
        Self { events, emitted: Vec::new() }
    }
}

/// What a stream was before a push of which some requests were answered.
struct Before {
    kept: Mark,
    last_seq: i64,
    emitted: usize,
}

/// The state of an open stream.
pub(crate) struct Stream {
    supervisor: Arc<Supervisor>,
    params: OpenParams,
    id: String,
    opened: OpenResult,
    /// The stream in a process; `None`: the next use opens it anew.
    lease: Option<Lease>,
    kept: Kept,
    window: Window,
    last_seq: i64,
    /// Pushes of the host, which a replay makes fewer of.
    pushes: i64,
    unclaimed: Answer,
    /// `None`: no push is answered in part.
    before: Option<Before>,
    /// What ended the last process, or the stream.
    cause: Option<Error>,
    /// How often the stream had expired since the last answer.
    expiries: u32,
    /// How many processes have ended on it since the last answer, or the last error.
    losses: usize,
}

/// A stream that expires faster than it can be pushed to stays expired.
const MAX_EXPIRIES: u32 = 3;

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Ids of calls are made of a stream's name, so no two runs of a program share one.
static RUN: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());

/// The name of a stream for which the host has none.
pub(crate) fn new_id() -> String {
    format!("{:016x}-{}", *RUN, NEXT_ID.fetch_add(1, Ordering::Relaxed))
}

impl Stream {
    pub(crate) async fn open(
        supervisor: Arc<Supervisor>,
        mut params: OpenParams,
    ) -> Result<Self, Error> {
        let chosen = params.stream_id.is_some();
        let stream_id = params.stream_id.get_or_insert_with(new_id).clone();
        let timeout = supervisor.config.request_timeout;
        let enter = async |connection: Arc<Connection>| {
            connection.check_room()?;
            Lease::enter(&connection, &params, &stream_id, !chosen, timeout).await
        };
        let tries = supervisor.config.restarts;
        let (lease, opened) = retry::until_answered(&supervisor, tries, enter).await?;
        let kept = Kept::new(supervisor.config.replay_bytes, supervisor.budget());
        Ok(Self {
            supervisor,
            params,
            id: stream_id,
            opened,
            lease: Some(lease),
            kept,
            window: Window::default(),
            last_seq: 0,
            pushes: 0,
            unclaimed: Answer::default(),
            before: None,
            cause: None,
            expiries: 0,
            losses: 0,
        })
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn opened(&self) -> &OpenResult {
        &self.opened
    }

    /// Refuses, where as many requests wait as may.
    pub(crate) fn check_room(&self) -> Result<(), Error> {
        self.lease.as_ref().map_or(Ok(()), |lease| lease.connection().check_room())
    }

    /// What makes requests of its chunks.
    pub(crate) fn requests(&self) -> Requests {
        Requests::new(self.params.framing != Some(Framing::Json))
    }

    pub(crate) fn under_way(&self) -> usize {
        self.window.len()
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.window.is_settled()
    }

    /// Waits for the answer to the oldest push, without taking it.
    pub(crate) async fn settled(&mut self) {
        self.window.settled().await;
    }

    /// Sends a push, or leaves it in the window, for its turn or for the next process.
    pub(crate) async fn submit(&mut self, request: Request) {
        self.window.add(request);
        if self.send_next() {
            self.window.gone().await;
        }
    }

    /// Whether what may be under way was sent.
    fn send_next(&mut self) -> bool {
        let sent = self.send();
        let was_sent = sent.is_ok();
        if let Err(failure) = sent {
            self.cause = Some(failure.into_error());
        }
        was_sent
    }

    /// The events of the oldest push that has not been answered; `None`: there is none.
    /// After an error nothing is under way, and nothing of it was applied.
    pub(crate) async fn answered(&mut self) -> Option<Result<Answer, Error>> {
        while self.window.len() > 0 {
            self.settled().await;
            let failure = match self.window.answer() {
                Some(Ok(answer)) => match decode::<Pushed>(&answer, "stream/push") {
                    Ok(result) => return Some(Ok(self.accept(result))),
                    Err(error) => Failure::Failed(error),
                },
                Some(Err(failure)) => failure,
                None => Failure::Lost(self.cause.clone().unwrap_or(Error::ShutDown)),
            };
            if let Err(error) = self.mend(failure).await {
                return Some(Err(error));
            }
        }
        None
    }

    /// Waits for all answers; their events are `unclaimed` then.
    async fn settle_all(&mut self) -> Result<(), Error> {
        while let Some(answer) = self.answered().await {
            let Answer { events, emitted } = answer?;
            self.unclaimed.events.extend(events);
            self.unclaimed.emitted.extend(emitted);
        }
        Ok(())
    }

    /// Pushes chunks and waits for everything that was pushed.
    pub(crate) async fn push(&mut self, chunks: Vec<String>) -> Result<Vec<Event>, Error> {
        let mut requests = self.requests();
        for chunk in chunks {
            requests.add(chunk);
        }
        while let Some(request) = requests.next() {
            self.window.add(Request { ends: requests.is_empty(), ..request });
        }
        if self.send_next() {
            self.window.gone().await;
        }
        self.settle_all().await?;
        Ok(mem::take(&mut self.unclaimed.events))
    }

    pub(crate) fn take_emitted(&mut self) -> Vec<Document> {
        mem::take(&mut self.unclaimed.emitted).iter().map(Emitted::document).collect()
    }

    pub(crate) async fn snapshot(&mut self) -> Result<SnapshotResult, Error> {
        let params = SnapshotParams { stream_id: self.id.clone() };
        let mut result: SnapshotResult = self.ask("stream/snapshot", &params).await?;
        result.stats.pushes = self.pushes;
        Ok(result)
    }

    pub(crate) async fn close(mut self, mut params: CloseParams) -> Result<Closed, Error> {
        params.stream_id.clone_from(&self.id);
        let told: Box<RawValue> = self.ask("stream/close", &params).await?;
        let mut result: CloseResult = decode(&told, "stream/close")?;
        if let Some(lease) = &mut self.lease {
            lease.release();
        }
        let mut answer = mem::take(&mut self.unclaimed);
        answer.events.extend(fresh(mem::take(&mut result.events), self.last_seq));
        result.stats.pushes = self.pushes;
        let mut is_marked = false;
        if let Some(chunks) = &mut result.chunks {
            let LastChunks { chunks: last } = decode(&told, "stream/close")?;
            let last: Vec<_> = last.into_iter().flatten().map(Emitted::try_from).collect();
            is_marked = last.last().is_some_and(Result::is_err);
            answer.emitted.extend(last.into_iter().flatten());
            chunks.clear();
        }
        Ok(Closed { result, answer, is_marked })
    }

    async fn ask<T: DeserializeOwned>(
        &mut self,
        method: &'static str,
        params: &impl Serialize,
    ) -> Result<T, Error> {
        self.settle_all().await?;
        loop {
            let failure = match &self.lease {
                None => Failure::Lost(self.cause.clone().unwrap_or(Error::ShutDown)),
                Some(lease) => {
                    let timeout = self.supervisor.config.request_timeout;
                    match lease.connection().request(method, params, timeout).await {
                        Ok(answer) => {
                            self.losses = 0;
                            return decode(&answer, method);
                        }
                        Err(failure) => failure,
                    }
                }
            };
            self.mend(failure).await?;
        }
    }

    fn send(&mut self) -> Result<(), Failure> {
        let Some(lease) = &self.lease else {
            return Ok(());
        };
        let timeout = self.supervisor.config.request_timeout;
        self.window.send(lease.connection(), &self.id, timeout)
    }

    /// Takes the answer to the oldest push.
    fn accept(&mut self, result: Pushed) -> Answer {
        if let Some(Request { items, ends }) = self.window.accept() {
            if ends {
                (self.before, self.pushes) = (None, self.pushes + 1);
            } else {
                let (kept, emitted) = (self.kept.mark(), self.unclaimed.emitted.len());
                let last_seq = self.last_seq;
                self.before.get_or_insert(Before { kept, last_seq, emitted });
            }
            self.kept.add(&items);
        }
        self.send_next();
        (self.expiries, self.losses) = (0, 0);
        let events = fresh(result.events, self.last_seq);
        self.last_seq = self.last_seq.max(result.last_seq);
        Answer { events, emitted: result.chunks.unwrap_or_default() }
    }

    /// Makes the stream anew in a new process, when that is what helps.
    async fn mend(&mut self, failure: Failure) -> Result<(), Error> {
        let mended = self.make_anew(failure).await;
        if let Err(error) = &mended {
            self.give_up(error);
        }
        mended
    }

    async fn make_anew(&mut self, failure: Failure) -> Result<(), Error> {
        let mut cause = match failure {
            Failure::Failed(Error::Rpc(refusal))
                if refusal.is_expiry() && self.expiries < MAX_EXPIRIES =>
            {
                self.expiries += 1;
                refusal.into()
            }
            Failure::Failed(error) => return Err(error),
            Failure::Lost(error) | Failure::Hung(error) => {
                self.losses += usize::from(self.lease.is_some());
                error
            }
        };
        loop {
            self.cause = Some(cause.clone());
            self.lease = None;
            self.window.recall();
            if let Some(limit) = self.kept.passed() {
                return Err(self.lost(LostReason::ReplayLimit { limit }));
            }
            match self.replay().await {
                Ok(()) => return Ok(()),
                Err(Failure::Failed(error)) => return Err(error),
                Err(Failure::Lost(error) | Failure::Hung(error)) => cause = error,
            }
            self.losses += 1;
        }
    }

    async fn replay(&mut self) -> Result<(), Failure> {
        let connection = self.supervisor.connection().await?;
        let timeout = self.supervisor.config.request_timeout;
        if self.losses > self.supervisor.config.restarts {
            return Err(self.lost(LostReason::Crashing { processes: self.losses }).into());
        }
        let (lease, _) = Lease::enter(&connection, &self.params, &self.id, true, timeout).await?;
        let replayed = lease.replay(&self.kept, timeout).await?;
        if replayed != self.last_seq {
            let reason = LostReason::Diverged { delivered: self.last_seq, replayed };
            return Err(self.lost(reason).into());
        }
        self.lease = Some(lease);
        self.send()
    }

    /// After an error nothing is under way. What was sent behind the failed push may have
    /// been applied, and requests of the push before that, so that the stream is made anew
    /// from the pushes that were answered.
    fn give_up(&mut self, error: &Error) {
        let before = self.before.take();
        if self.window.len() > 1 || before.is_some() {
            self.lease = None;
            self.cause = Some(error.clone());
        }
        if let Some(Before { kept, last_seq, emitted }) = before {
            self.kept.shorten(kept);
            self.last_seq = last_seq;
            self.unclaimed.events.retain(|it| it.seq().is_none_or(|seq| seq <= last_seq));
            self.unclaimed.emitted.truncate(emitted);
        }
        self.window.clear();
        self.losses = 0;
    }

    fn lost(&self, reason: LostReason) -> Error {
        let cause = self.cause.clone().unwrap_or(Error::ShutDown);
        Error::StreamLost { stream_id: self.id.clone(), reason, source: Box::new(cause) }
    }
}

fn fresh(events: Vec<Event>, last_seq: i64) -> Vec<Event> {
    let known = |it: &Event| it.seq().is_some_and(|seq| seq <= last_seq);
    events.into_iter().filter(|it| !known(it)).collect()
}
