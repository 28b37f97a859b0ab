//! A response from its source to its events, or to its clean body, with several pushes
//! under way.
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

use bytes::Bytes;
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
    stream::{Answer, Document},
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

// The same for hosts that hand on what their provider would have sent.
impl StreamHandle {
    /// The body of the clean response, as the wire that the stream was opened to `emit` has
    /// it over HTTP: server-sent events, a document each. An error is the last item.
    pub fn emit<'a, S>(self, chunks: S) -> Emitted<'a>
    where
        S: Stream + Send + 'a,
        S::Item: Into<Chunk>,
    {
        Emitted::new(self, chunks.map(|it| Ok(it.into())))
    }

    /// [`StreamHandle::emit`] for a source that can fail, as a response over HTTP. Its
    /// failure ends the response as the wire tells errors.
    pub fn try_emit<'a, S, C, E>(self, chunks: S) -> Emitted<'a>
    where
        S: Stream<Item = Result<C, E>> + Send + 'a,
        C: Into<Chunk>,
        E: std::fmt::Display,
    {
        Emitted::new(self, chunks.map(|it| it.map(Into::into).map_err(|error| error.to_string())))
    }
}

/// The body of a clean response; see [`StreamHandle::emit`].
pub struct Emitted<'a> {
    steps: Pin<Box<dyn Stream<Item = Result<Step, Error>> + Send + 'a>>,
    /// The wire marks its end (`data: [DONE]`).
    has_mark: bool,
    closed: Option<CloseResult>,
}

impl<'a> Emitted<'a> {
    fn new(handle: StreamHandle, source: impl Stream<Item = Given> + Send + 'a) -> Self {
        let emit = handle.opened().and_then(|opened| opened.emit.as_ref());
        let has_mark = emit.is_some_and(|emit| emit.wire == "openai-chat");
        Self { steps: Box::pin(steps(handle, source)), has_mark, closed: None }
    }

    /// The message and the counters, once the body has ended.
    #[must_use]
    pub fn closed(&self) -> Option<&CloseResult> {
        self.closed.as_ref()
    }
}

impl Stream for Emitted<'_> {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let body = match ready!(self.steps.as_mut().poll_next(context)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(Step::Answer(answer))) => body_of(&answer.emitted),
                Some(Ok(Step::Closed(closed))) => {
                    let mut body = body_of(closed.chunks.as_deref().unwrap_or_default());
                    if self.has_mark {
                        body.push_str("data: [DONE]\n\n");
                    }
                    self.closed = Some(*closed);
                    body
                }
            };
            if !body.is_empty() {
                return Poll::Ready(Some(Ok(body.into())));
            }
        }
    }
}

/// Documents as server-sent events; those that have a `type` are named by it.
fn body_of(documents: &[Document]) -> String {
    documents.iter().fold(String::new(), |mut body, document| {
        if let Some(name) = document.get("type").and_then(serde_json::Value::as_str) {
            body.extend(["event: ", name, "\n"]);
        }
        let data = serde_json::to_string(document).unwrap_or_default();
        body.extend(["data: ", &data, "\n\n"]);
        body
    })
}

/// The events of a response; see [`StreamHandle::pipe`].
pub struct Pipe<'a> {
    steps: Pin<Box<dyn Stream<Item = Result<Step, Error>> + Send + 'a>>,
    events: vec::IntoIter<Event>,
    closed: Option<CloseResult>,
}

impl<'a> Pipe<'a> {
    fn new(handle: StreamHandle, source: impl Stream<Item = Given> + Send + 'a) -> Self {
        let steps = steps(handle, source);
        Self { steps: Box::pin(steps), events: Vec::new().into_iter(), closed: None }
    }
}

/// The answers to everything that `source` gives, and the stream's end.
fn steps<'a>(
    handle: StreamHandle,
    source: impl Stream<Item = Given> + Send + 'a,
) -> impl Stream<Item = Result<Step, Error>> + Send + 'a {
    let flow = Flow {
        handle,
        source: Box::pin(source.ready_chunks(BATCH_CHUNKS)),
        waiting: VecDeque::new(),
        end: None,
    };
    stream::unfold(Some(flow), |flow| async {
        let mut flow = flow?;
        match flow.step().await {
            Ok(Some(answer)) => Some((Ok(Step::Answer(answer)), Some(flow))),
            Ok(None) => Some((flow.close().await.map(|it| Step::Closed(Box::new(it))), None)),
            Err(error) => Some((Err(error), None)),
        }
    })
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
                Some(Ok(Step::Answer(answer))) => self.events = answer.events.into_iter(),
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
    Answer(Answer),
    Closed(Box<CloseResult>),
}

/// What the source gives: a chunk, or how it failed.
type Given = Result<Chunk, String>;

struct Flow<S: Stream> {
    handle: StreamHandle,
    source: Pin<Box<ReadyChunks<S>>>,
    /// Chunks that the source gave and that are not under way.
    waiting: VecDeque<String>,
    /// How the source ended, once it did.
    end: Option<CloseParams>,
}

impl<S: Stream<Item = Given>> Flow<S> {
    /// The next answer; `None` when everything was pushed and answered.
    async fn step(&mut self) -> Result<Option<Answer>, Error> {
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
                Ok(chunk) if self.end.is_none() => {
                    self.waiting.push_back(self.handle.write(&chunk));
                }
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
                if items.len() + chunk.len() > BATCH_BYTES {
                    break;
                }
                items.push(',');
            }
            items.push_str(chunk);
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
