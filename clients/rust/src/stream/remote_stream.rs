//! One response of one model: pushes and answers in order, and replays, which hide the end of
//! a process.
//!
//! Answered chunks are kept. When the process has ended (or hung and was ended), the stream is
//! opened in the next process, the kept chunks are pushed again without delivering their
//! events a second time, and the pushes in flight are sent again. The protocol promises that
//! the same pushes give the same events, `seq` included; each replay checks this.
//!
//! A future may be dropped at any `await`, and the stream can still be used: pushes in flight
//! stay in the window, and events that nobody received stay in `unclaimed`.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher, Hasher},
    mem,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::{
    connection::{
        link::{Connection, decode},
        retry,
        supervisor::Supervisor,
    },
    error::{Error, Failure, LostReason, StderrTail},
    protocol::{
        CloseParams, CloseResult, Event, Framing, OpenParams, OpenResult, SnapshotParams,
        SnapshotResult,
    },
    stream::{
        answer::{Answer, Closed},
        body_format::{Document, Emitted},
        lease::Lease,
        replay_log::{Mark, ReplayLog},
        slices::{Request, Requests},
        window::Window,
    },
};

/// [`PushResult`](crate::protocol::PushResult) with its documents as JSON text.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pushed {
    events: Vec<Event>,
    last_seq: i64,
    chunks: Option<Vec<Emitted>>,
}

/// The chunks of [`CloseResult`] as JSON text.
#[derive(Deserialize)]
struct LastChunks {
    chunks: Option<Vec<Box<RawValue>>>,
}

impl From<Vec<Event>> for Answer {
    fn from(events: Vec<Event>) -> Self {
        Self { events, emitted: Vec::new() }
    }
}

/// The stream's state before a push, kept while only some of its requests are answered.
struct Before {
    kept: Mark,
    last_seq: i64,
    emitted: usize,
}

/// The state of an open stream.
pub(crate) struct RemoteStream {
    supervisor: Arc<Supervisor>,
    params: OpenParams,
    id: String,
    opened: OpenResult,
    /// The stream in a process; `None`: the next use opens it again.
    lease: Option<Lease>,
    kept: ReplayLog,
    window: Window,
    last_seq: i64,
    /// How many pushes the host made; a replay needs fewer.
    pushes: i64,
    unclaimed: Answer,
    /// `None`: no push is partly answered.
    before: Option<Before>,
    /// The error that ended the last process, or the stream.
    cause: Option<Error>,
    /// How often the stream has expired since the last answer.
    expiries: u32,
    /// How many processes have ended on this stream since the last answer or error.
    losses: usize,
}

/// After this many expiries without an answer in between, the expiry is an error.
const MAX_EXPIRIES: u32 = 3;

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// A random number for this run of the program. Ids of calls contain the stream's id, so two
/// runs must not share ids of streams.
static RUN: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());

/// A new id, for a stream that the host gave none.
pub(crate) fn new_id() -> String {
    format!("{:016x}-{}", *RUN, NEXT_ID.fetch_add(1, Ordering::Relaxed))
}

impl RemoteStream {
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
        let kept = ReplayLog::new(supervisor.config.replay_bytes, supervisor.budget());
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

    /// The answer to a close did not arrive in time.
    pub(crate) fn unanswered_close(&self, after: Duration) -> Error {
        let lease = self.lease.as_ref();
        let stderr = lease.map_or_else(|| StderrTail("".into()), |it| it.connection().stderr());
        Error::Timeout { method: "stream/close", after, stderr }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn opened(&self) -> &OpenResult {
        &self.opened
    }

    /// Returns an error if the queue of waiting requests is full.
    pub(crate) fn check_room(&self) -> Result<(), Error> {
        self.lease.as_ref().map_or(Ok(()), |lease| lease.connection().check_room())
    }

    /// An empty queue for chunks of this stream.
    pub(crate) fn requests(&self) -> Requests {
        Requests::new(self.params.framing != Some(Framing::Json))
    }

    pub(crate) fn under_way(&self) -> usize {
        self.window.pushes()
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.window.is_settled()
    }

    /// Waits for the answer to the oldest request, without removing it.
    pub(crate) async fn settled(&mut self) {
        self.window.settled().await;
    }

    /// Sends a push, or leaves it in the window until its turn or until the next process.
    pub(crate) async fn submit(&mut self, request: Request) {
        self.window.add(request);
        if self.send_next() {
            self.window.sent().await;
        }
    }

    /// Sends the pushes that may be in flight; false if sending failed.
    fn send_next(&mut self) -> bool {
        let sent = self.send();
        let was_sent = sent.is_ok();
        if let Err(failure) = sent {
            self.cause = Some(failure.into_error());
        }
        was_sent
    }

    /// The answer to the oldest push; `None` if there is no push. After an error nothing is in
    /// flight, and nothing of the failed push was applied.
    pub(crate) async fn answered(&mut self) -> Option<Result<Answer, Error>> {
        if self.window.pushes() == 0 {
            return None;
        }
        Some(self.answer("stream/push").await.map(|result| self.accept(result)))
    }

    /// The answer to the oldest request. The stream is restored as often as it is lost.
    async fn answer<T: DeserializeOwned>(&mut self, method: &'static str) -> Result<T, Error> {
        loop {
            self.settled().await;
            let failure = match self.window.answer() {
                Some(Ok(answer)) => match decode(&answer, method) {
                    Ok(result) => return Ok(result),
                    Err(error) => Failure::Failed(error),
                },
                Some(Err(failure)) => failure,
                None => self.lost_process(),
            };
            self.recover(failure).await?;
        }
    }

    fn lost_process(&self) -> Failure {
        Failure::Lost(self.cause.clone().unwrap_or(Error::ShutDown))
    }

    /// Waits for all answers, and adds their events to `unclaimed`.
    async fn settle_all(&mut self) -> Result<(), Error> {
        while let Some(answer) = self.answered().await {
            let Answer { events, emitted } = answer?;
            self.unclaimed.events.extend(events);
            self.unclaimed.emitted.extend(emitted);
        }
        Ok(())
    }

    /// Pushes chunks and waits for the answers to all pushes.
    pub(crate) async fn push(&mut self, chunks: Vec<String>) -> Result<Vec<Event>, Error> {
        let mut requests = self.requests();
        for chunk in chunks {
            requests.add(chunk);
        }
        while let Some(request) = requests.next() {
            self.window.add(Request { ends: requests.is_empty(), ..request });
        }
        if self.send_next() {
            self.window.sent().await;
        }
        self.settle_all().await?;
        Ok(mem::take(&mut self.unclaimed.events))
    }

    pub(crate) fn take_emitted(&mut self) -> Vec<Document> {
        mem::take(&mut self.unclaimed.emitted).iter().map(Emitted::document).collect()
    }

    pub(crate) async fn snapshot(&mut self) -> Result<SnapshotResult, Error> {
        self.settle_all().await?;
        let (method, params) = ("stream/snapshot", SnapshotParams { stream_id: self.id.clone() });
        loop {
            let timeout = self.supervisor.config.request_timeout;
            let answer = match &self.lease {
                None => Err(self.lost_process()),
                Some(lease) => lease.connection().request(method, &params, timeout).await,
            };
            match answer {
                Ok(answer) => {
                    self.losses = 0;
                    let mut result: SnapshotResult = decode(&answer, method)?;
                    result.stats.pushes = self.pushes;
                    return Ok(result);
                }
                Err(failure) => self.recover(failure).await?,
            }
        }
    }

    /// Sends the close after the pushes, unless it is sent already. [`RemoteStream::close`] waits for
    /// the answer.
    pub(crate) fn send_close(&mut self, params: &CloseParams) -> Result<(), Error> {
        if !self.window.is_closing() {
            let params = CloseParams { stream_id: self.id.clone(), ..params.clone() };
            let text = serde_json::to_string(&params)
                .map_err(|error| Error::json("the params of stream/close".to_owned(), error))?;
            self.window.close(text);
            self.send_next();
        }
        Ok(())
    }

    pub(crate) async fn close(mut self, params: &CloseParams) -> Result<Closed, Error> {
        self.send_close(params)?;
        self.settle_all().await?;
        let raw: Box<RawValue> = self.answer("stream/close").await?;
        let mut result: CloseResult = decode(&raw, "stream/close")?;
        if let Some(lease) = &mut self.lease {
            lease.release();
        }
        let mut answer = mem::take(&mut self.unclaimed);
        answer.events.extend(fresh(mem::take(&mut result.events), self.last_seq));
        result.stats.pushes = self.pushes;
        let mut is_marked = false;
        if let Some(chunks) = &mut result.chunks {
            let LastChunks { chunks: last } = decode(&raw, "stream/close")?;
            let last: Vec<_> = last.into_iter().flatten().map(Emitted::try_from).collect();
            is_marked = last.last().is_some_and(Result::is_err);
            answer.emitted.extend(last.into_iter().flatten());
            chunks.clear();
        }
        Ok(Closed { result, answer, is_marked })
    }

    fn send(&mut self) -> Result<(), Failure> {
        let Some(lease) = &self.lease else {
            return Ok(());
        };
        let timeout = self.supervisor.config.request_timeout;
        self.window.send(lease.connection(), &self.id, timeout)
    }

    /// Records the answer to the oldest push, keeps its chunks, and sends the next pushes.
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

    /// Restores the stream in a new process, if the failure is the end of a process or an
    /// expiry. Returns other failures.
    async fn recover(&mut self, failure: Failure) -> Result<(), Error> {
        let recovered = self.restore(failure).await;
        if let Err(error) = &recovered {
            self.give_up(error);
        }
        recovered
    }

    async fn restore(&mut self, failure: Failure) -> Result<(), Error> {
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
            if let Some(limit) = self.kept.exceeded() {
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

    /// Resets the stream after an error, with nothing in flight. Pushes sent after the failed
    /// push, and parts of the failed push, may have been applied in the process. So the next
    /// use opens the stream again, from the pushes that were answered.
    fn give_up(&mut self, error: &Error) {
        let before = self.before.take();
        if self.window.pushes() > 1 || before.is_some() {
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
