//! A response from its source to its events, or to its clean body, with several pushes
//! under way.
//!
//! Everything is driven by whoever reads the events: when nobody reads, nothing is taken
//! from the source and nothing is sent, so that the memory is bounded by what is under
//! way. Chunks that are there at the same time go in one push, which gives the same
//! events and costs one round trip; a chunk that comes alone goes alone, at once.

use std::{
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
    answer::{Answer, Closed},
    body_format::{BodyFormat, BodyWriter, Document, Emitted},
    chunk::Chunk,
    error::Error,
    handle::StreamHandle,
    protocol::{CloseParams, CloseReason, CloseResult, EmitWire, Event, FailedResponse},
    requests::{Requests, UNDER_WAY},
};

/// Chunks that are taken from the source at once.
const BATCH_CHUNKS: usize = 64;

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
        Pipe::new(self, chunks.map(|it| Ok(it.into())), |answer, _| answer.events)
    }

    /// [`StreamHandle::pipe`] for a source that can fail, as a response over HTTP. Its
    /// failure ends the response with an `error` event and what had been received.
    pub fn try_pipe<'a, S, C, E>(self, chunks: S) -> Pipe<'a>
    where
        S: Stream<Item = Result<C, E>> + Send + 'a,
        C: Into<Chunk>,
        E: std::fmt::Display,
    {
        Pipe::new(self, chunks.map(|it| it.map(Into::into).map_err(failure)), |answer, _| {
            answer.events
        })
    }
}

// The same for hosts that hand on what their provider would have sent.
impl StreamHandle {
    /// The documents of the clean response, of a stream that was opened to `emit`.
    pub fn pipe_chunks<'a, S>(self, chunks: S) -> Pipe<'a, Document>
    where
        S: Stream + Send + 'a,
        S::Item: Into<Chunk>,
    {
        Pipe::new(self, chunks.map(|it| Ok(it.into())), |answer, _| documents(&answer))
    }

    /// [`StreamHandle::pipe_chunks`] for a source that can fail. Its failure ends the
    /// response as the wire tells errors.
    pub fn try_pipe_chunks<'a, S, C, E>(self, chunks: S) -> Pipe<'a, Document>
    where
        S: Stream<Item = Result<C, E>> + Send + 'a,
        C: Into<Chunk>,
        E: std::fmt::Display,
    {
        Pipe::new(self, chunks.map(|it| it.map(Into::into).map_err(failure)), |answer, _| {
            documents(&answer)
        })
    }

    /// The body of the clean response, as the wire that the stream was opened to `emit` has
    /// it over HTTP: server-sent events, a document each. An error is the last item.
    ///
    /// Without a sidecar it is the text that was pushed, as it is.
    pub fn emit<'a, S>(self, chunks: S) -> Pipe<'a, Bytes>
    where
        S: Stream + Send + 'a,
        S::Item: Into<Chunk>,
    {
        let write = body_writer(&self);
        Pipe::new(self, chunks.map(|it| Ok(it.into())), write)
    }

    /// [`StreamHandle::emit`] for a source that can fail, as a response over HTTP. Its
    /// failure ends the response as the wire tells errors.
    pub fn try_emit<'a, S, C, E>(self, chunks: S) -> Pipe<'a, Bytes>
    where
        S: Stream<Item = Result<C, E>> + Send + 'a,
        C: Into<Chunk>,
        E: std::fmt::Display,
    {
        let write = body_writer(&self);
        Pipe::new(self, chunks.map(|it| it.map(Into::into).map_err(failure)), write)
    }
}

fn failure(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn documents(answer: &Answer) -> Vec<Document> {
    answer.emitted.iter().map(Emitted::document).collect()
}

/// What [`StreamHandle::emit`] gives of an answer: one slice of the body, or none.
fn body_writer(handle: &StreamHandle) -> impl FnMut(Answer, End) -> Vec<Bytes> + Send + use<> {
    let emit = handle.opened().and_then(|opened| opened.emit.as_ref());
    let wire = emit.map_or(EmitWire::Gemini, |emit| emit.wire.clone()); // which has no mark
    let mut writer = BodyWriter::new(BodyFormat::events(&wire));
    let is_raw = handle.is_pass_through();
    move |answer, end| {
        let mut body = if is_raw { text_of(&answer.events) } else { writer.write(&answer.emitted) };
        if end != End::NotYet {
            body.push_str(writer.end(true));
        }
        if body.is_empty() { Vec::new() } else { vec![body.into()] }
    }
}

fn text_of(events: &[Event]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        Event::TextDelta(delta) => Some(delta.text.as_str()),
        _ => None,
    });
    texts.collect()
}

type Hear<'a> = Box<dyn FnMut(&Event) + Send + 'a>;

/// What a response is read as: its events ([`StreamHandle::pipe`]), or the documents or the
/// body of the clean one ([`StreamHandle::pipe_chunks`], [`StreamHandle::emit`]).
pub struct Pipe<'a, T = Event> {
    steps: Pin<Box<dyn Stream<Item = Result<Step, Error>> + Send + 'a>>,
    pick: Box<dyn FnMut(Answer, End) -> Vec<T> + Send + 'a>,
    picked: vec::IntoIter<T>,
    hear: Option<Hear<'a>>,
    closed: Option<CloseResult>,
}

/// Whether an answer is the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    NotYet,
    Bare,
    /// With the provider's end mark.
    Marked,
}

impl<'a, T> Pipe<'a, T> {
    /// `pick` says what is given of an answer.
    pub(crate) fn new(
        handle: StreamHandle,
        source: impl Stream<Item = Given> + Send + 'a,
        pick: impl FnMut(Answer, End) -> Vec<T> + Send + 'a,
    ) -> Self {
        let steps = Box::pin(steps(handle, source));
        let picked = Vec::new().into_iter();
        Self { steps, pick: Box::new(pick), picked, hear: None, closed: None }
    }

    /// Gets each event, before what is given of it: of a body, for what its reader has no
    /// place for, as calls that the model wrote as text. The message is in [`Pipe::closed`].
    #[must_use]
    pub fn on_event(mut self, hear: impl FnMut(&Event) + Send + 'a) -> Self {
        self.hear = Some(Box::new(hear));
        self
    }

    fn pick(&mut self, answer: Answer, end: End) -> Vec<T> {
        if let Some(hear) = &mut self.hear {
            answer.events.iter().for_each(hear);
        }
        (self.pick)(answer, end)
    }

    /// The message and the counters, once the last item was given. Its `events` and `chunks`
    /// are empty, because they were given.
    #[must_use]
    pub fn closed(&self) -> Option<&CloseResult> {
        self.closed.as_ref()
    }

    /// [`Pipe::closed`] to keep.
    #[must_use]
    pub fn into_closed(self) -> Option<CloseResult> {
        self.closed
    }

    fn accept(&mut self, step: Step) {
        let picked = match step {
            Step::Answer(answer) => self.pick(answer, End::NotYet),
            Step::Closed(closed) => {
                let Closed { result, answer, is_marked } = *closed;
                self.closed = Some(result);
                self.pick(answer, if is_marked { End::Marked } else { End::Bare })
            }
        };
        self.picked = picked.into_iter();
    }
}

impl<T: Unpin> Stream for Pipe<'_, T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(item) = self.picked.next() {
                return Poll::Ready(Some(Ok(item)));
            }
            match ready!(self.steps.as_mut().poll_next(context)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(step)) => self.accept(step),
            }
        }
    }
}

/// The answers to everything that `source` gives, and the stream's end.
fn steps<'a>(
    handle: StreamHandle,
    source: impl Stream<Item = Given> + Send + 'a,
) -> impl Stream<Item = Result<Step, Error>> + Send + 'a {
    let (waiting, source) = (handle.requests(), Box::pin(source.ready_chunks(BATCH_CHUNKS)));
    let flow = Flow { handle, source, waiting, end: None };
    stream::unfold(Some(flow), |flow| async {
        let mut flow = flow?;
        match flow.step().await {
            Ok(Some(answer)) => Some((Ok(Step::Answer(answer)), Some(flow))),
            Ok(None) => Some((flow.close().await.map(|it| Step::Closed(Box::new(it))), None)),
            Err(error) => Some((Err(error), None)),
        }
    })
}

/// What a turn of the flow gives.
enum Step {
    Answer(Answer),
    Closed(Box<Closed>),
}

/// What the source gives: a chunk, or how it failed.
pub(crate) type Given = Result<Chunk, String>;

struct Flow<S: Stream> {
    handle: StreamHandle,
    source: Pin<Box<ReadyChunks<S>>>,
    /// Chunks that the source gave and that are not under way.
    waiting: Requests,
    /// How the source ended, once it did.
    end: Option<CloseParams>,
}

impl<S: Stream<Item = Given>> Flow<S> {
    /// The next answer; `None` when everything was pushed and answered.
    async fn step(&mut self) -> Result<Option<Answer>, Error> {
        loop {
            let under_way = self.handle.under_way();
            let next = if under_way < UNDER_WAY { self.waiting.next() } else { None };
            if let Some(request) = next {
                self.handle.submit(request).await;
            } else if under_way < UNDER_WAY && self.end.is_none() {
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
                    self.waiting.add(self.handle.write(&chunk));
                }
                Err(failure) => self.end = Some(failed(&failure)),
                Ok(_) => {} // behind a failure nothing counts
            }
        }
    }

    async fn close(self) -> Result<Closed, Error> {
        self.handle.end(self.end.unwrap_or_default()).await
    }
}

fn failed(failure: &str) -> CloseParams {
    let error = Some(FailedResponse { body: Some(json!(failure)), ..FailedResponse::default() });
    CloseParams { reason: Some(CloseReason::Error), error, ..CloseParams::default() }
}
