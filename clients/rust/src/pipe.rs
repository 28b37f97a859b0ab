//! A response from its source to its events, with several pushes under way.
//!
//! Everything is driven by whoever reads the events: when nobody reads, nothing is taken
//! from the source and nothing is sent, so that the memory is bounded by what is under
//! way. Chunks that are there at the same time go in one push, which gives the same
//! events and costs one round trip; a chunk that comes alone goes alone, at once.

use std::{
    collections::VecDeque,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    vec,
};

use futures_core::Stream;
use futures_util::{
    StreamExt,
    future::{Either, select},
    stream::{self, ReadyChunks},
};
use serde_json::json;

use crate::{
    chunk::Chunk,
    error::Error,
    handle::StreamHandle,
    protocol::{CloseParams, CloseReason, CloseResult, Event},
};

/// Pushes that are under way at once: enough that the process never waits.
const WINDOW: usize = 4;
/// Chunks of one push.
const BATCH_CHUNKS: usize = 64;
/// Bytes of one push, unless a single chunk is larger.
const BATCH_BYTES: usize = 64 << 10;

// Here, because a pipe knows its handle and a handle no pipe.
impl StreamHandle {
    /// The events of a whole response: pushes what `chunks` gives and closes the stream
    /// at its end. The message is in [`Pipe::closed`] then.
    ///
    /// Nothing is taken from `chunks` while nobody reads the events. An error is the
    /// last item.
    pub fn pipe<'a, S>(self, chunks: S) -> Pipe<'a>
    where
        S: Stream + Send + 'a,
        S::Item: Into<Chunk>,
    {
        Pipe::new(self, chunks.map(|it| Ok(it.into())))
    }

    /// [`StreamHandle::pipe`] for a source that can fail, as a response over HTTP. Its
    /// failure ends the response with an `error` event and what had been received.
    pub fn try_pipe<'a, S, C, E>(self, chunks: S) -> Pipe<'a>
    where
        S: Stream<Item = Result<C, E>> + Send + 'a,
        C: Into<Chunk>,
        E: std::fmt::Display,
    {
        Pipe::new(self, chunks.map(|it| it.map(Into::into).map_err(|error| error.to_string())))
    }
}

/// The events of a response; see [`StreamHandle::pipe`].
pub struct Pipe<'a> {
    steps: Pin<Box<dyn Stream<Item = Result<Step, Error>> + Send + 'a>>,
    events: vec::IntoIter<Event>,
    closed: Option<CloseResult>,
}

impl<'a> Pipe<'a> {
    fn new(handle: StreamHandle, source: impl Stream<Item = Given> + Send + 'a) -> Self {
        let flow = Flow {
            handle,
            source: Box::pin(source.ready_chunks(BATCH_CHUNKS)),
            waiting: VecDeque::new(),
            end: None,
        };
        let steps = stream::unfold(Some(flow), |flow| async {
            let mut flow = flow?;
            match flow.step().await {
                Ok(Some(events)) => Some((Ok(Step::Events(events)), Some(flow))),
                Ok(None) => Some((flow.close().await.map(|it| Step::Closed(Box::new(it))), None)),
                Err(error) => Some((Err(error), None)),
            }
        });
        Self { steps: Box::pin(steps), events: Vec::new().into_iter(), closed: None }
    }
}

impl Pipe<'_> {
    /// The message and the counters, once the last event was given. Its `events` are
    /// empty, because they were given.
    #[must_use]
    pub fn closed(&self) -> Option<&CloseResult> {
        self.closed.as_ref()
    }

    /// [`Pipe::closed`] to keep.
    #[must_use]
    pub fn into_closed(self) -> Option<CloseResult> {
        self.closed
    }
}

impl Stream for Pipe<'_> {
    type Item = Result<Event, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(event) = self.events.next() {
                return Poll::Ready(Some(Ok(event)));
            }
            match ready!(self.steps.as_mut().poll_next(context)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(Step::Events(events))) => self.events = events.into_iter(),
                Some(Ok(Step::Closed(mut closed))) => {
                    self.events = std::mem::take(&mut closed.events).into_iter();
                    self.closed = Some(*closed);
                }
            }
        }
    }
}

/// What a turn of the flow gives.
enum Step {
    Events(Vec<Event>),
    Closed(Box<CloseResult>),
}

/// What the source gives: a chunk, or how it failed.
type Given = Result<Chunk, String>;

struct Flow<S: Stream> {
    handle: StreamHandle,
    source: Pin<Box<ReadyChunks<S>>>,
    /// Chunks that the source gave and that are not under way.
    waiting: VecDeque<Chunk>,
    /// How the source ended, once it did.
    end: Option<CloseParams>,
}

impl<S: Stream<Item = Given>> Flow<S> {
    /// The next events; `None` when everything was pushed and answered.
    async fn step(&mut self) -> Result<Option<Vec<Event>>, Error> {
        loop {
            let under_way = self.handle.under_way();
            if under_way < WINDOW && !self.waiting.is_empty() {
                self.submit().await;
            } else if under_way < WINDOW && self.end.is_none() {
                self.take().await;
            } else {
                return self.handle.answered().await.transpose();
            }
            if self.handle.is_settled() {
                return self.handle.answered().await.transpose();
            }
        }
    }

    /// Takes what the source has, or returns when an answer is there before that.
    async fn take(&mut self) {
        let given = if self.handle.under_way() == 0 {
            self.source.next().await
        } else {
            let settled = pin!(self.handle.settled());
            match select(settled, self.source.next()).await {
                Either::Left(_) => return,
                Either::Right((given, _)) => given,
            }
        };
        let Some(given) = given else {
            self.end.get_or_insert_default();
            return;
        };
        for each in given {
            match each {
                Ok(chunk) if self.end.is_none() => self.waiting.push_back(chunk),
                Err(failure) => self.end = Some(failed(&failure)),
                Ok(_) => {} // behind a failure nothing counts
            }
        }
    }

    /// Sends one push of what waits.
    async fn submit(&mut self) {
        let mut items = String::new();
        while let Some(chunk) = self.waiting.front() {
            if !items.is_empty() {
                if items.len() + chunk.as_json().len() > BATCH_BYTES {
                    break;
                }
                items.push(',');
            }
            items.push_str(chunk.as_json());
            self.waiting.pop_front();
        }
        self.handle.submit(items).await;
    }

    async fn close(self) -> Result<CloseResult, Error> {
        self.handle.close_with(self.end.unwrap_or_default()).await
    }
}

fn failed(failure: &str) -> CloseParams {
    let error = json!({"body": failure}).as_object().cloned();
    CloseParams { reason: Some(CloseReason::Error), error, ..CloseParams::default() }
}
