//! A response from its source to its events, or to its clean body, with several pushes in
//! flight.
//!
//! The reader of the events drives everything: without a reader, nothing is pulled from the
//! source and nothing is sent, so memory is bounded by the pushes in flight. Chunks that are
//! available at the same time are sent in one push: the events are the same, for one round
//! trip. A single chunk is sent alone, immediately. When the source has ended, the close is sent
//! with the last push: nobody else can use the stream, so nothing can come between them.

use std::{
    fmt,
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
    error::Error,
    protocol::{CloseParams, CloseReason, CloseResult, EmitWire, Event, FailedResponse},
    stream::{
        answer::{Answer, Closed},
        body_format::{BodyFormat, BodyWriter, Document, Emitted},
        chunk::Chunk,
        handle::StreamHandle,
        slices::{Requests, UNDER_WAY},
    },
    watching::guarded,
};

/// How many chunks are pulled from the source at a time.
const BATCH_CHUNKS: usize = 64;

// Defined here, because a pipe knows its handle, and a handle knows no pipe.
impl StreamHandle {
    /// The events of a whole response: pushes the items of `chunks`, and closes the stream at
    /// their end, together with the last push. Then [`Pipe::closed`] has the message.
    ///
    /// Nothing is pulled from `chunks` while nobody reads the events. An error is the last
    /// item.
    pub fn pipe<'a, S>(self, chunks: S) -> Pipe<'a>
    where
        S: Stream + Send + 'a,
        S::Item: Into<Chunk>,
    {
        Pipe::new(self, chunks.map(|it| Ok(it.into())), |answer, _| answer.events)
    }

    /// [`StreamHandle::pipe`] for a source that can fail, for example a response over HTTP. A
    /// failure ends the response with an `error` event, after everything that was received.
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

// The same for hosts that pass on a clean response in their provider's format.
impl StreamHandle {
    /// The documents of the clean response, for a stream opened with `emit`.
    pub fn pipe_chunks<'a, S>(self, chunks: S) -> Pipe<'a, Document>
    where
        S: Stream + Send + 'a,
        S::Item: Into<Chunk>,
    {
        Pipe::new(self, chunks.map(|it| Ok(it.into())), |answer, _| documents(&answer))
    }

    /// [`StreamHandle::pipe_chunks`] for a source that can fail. A failure ends the response
    /// with an error document of the wire.
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

    /// The HTTP body of the clean response, for a stream opened with `emit`: server-sent events
    /// of that wire, one for each document. An error is the last item.
    ///
    /// Without a sidecar the body is the pushed text, unchanged.
    pub fn emit<'a, S>(self, chunks: S) -> Pipe<'a, Bytes>
    where
        S: Stream + Send + 'a,
        S::Item: Into<Chunk>,
    {
        let write = body_writer(&self);
        Pipe::new(self, chunks.map(|it| Ok(it.into())), write)
    }

    /// [`StreamHandle::emit`] for a source that can fail, for example a response over HTTP. A
    /// failure ends the response with an error event of the wire.
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

/// The function that turns an answer into one slice of the body, or none.
fn body_writer(handle: &StreamHandle) -> impl FnMut(Answer, End) -> Vec<Bytes> + Send + use<> {
    let emit = handle.opened().and_then(|opened| opened.emit.as_ref());
    let wire = emit.map_or(EmitWire::Gemini, |emit| emit.wire.clone()); // Gemini has no end mark
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

type OnEvent<'a> = Box<dyn FnMut(&Event) + Send + 'a>;

/// A response as a stream of its events ([`StreamHandle::pipe`]), or of the documents or the
/// body of the clean response ([`StreamHandle::pipe_chunks`], [`StreamHandle::emit`]).
pub struct Pipe<'a, T = Event> {
    id: String,
    steps: Pin<Box<dyn Stream<Item = Result<Step, Error>> + Send + 'a>>,
    pick: Box<dyn FnMut(Answer, End) -> Vec<T> + Send + 'a>,
    picked: vec::IntoIter<T>,
    on_event: Option<OnEvent<'a>>,
    closed: Option<CloseResult>,
}

impl<T> fmt::Debug for Pipe<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Pipe");
        shown.field("id", &self.id).field("is_closed", &self.closed.is_some());
        shown.finish_non_exhaustive()
    }
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
    /// `pick` makes the items from an answer.
    pub(crate) fn new(
        handle: StreamHandle,
        source: impl Stream<Item = Given> + Send + 'a,
        pick: impl FnMut(Answer, End) -> Vec<T> + Send + 'a,
    ) -> Self {
        let id = handle.id().to_owned();
        let steps = Box::pin(steps(handle, source));
        let picked = Vec::new().into_iter();
        Self { id, steps, pick: Box::new(pick), picked, on_event: None, closed: None }
    }

    /// `callback` gets each event before the items made from it. A reader of a body needs it
    /// for everything that the body has no place for, such as calls that the model wrote as
    /// text. The message is in [`Pipe::closed`]. A panic in it affects nothing else.
    #[must_use]
    pub fn on_event(mut self, callback: impl FnMut(&Event) + Send + 'a) -> Self {
        self.on_event = Some(Box::new(callback));
        self
    }

    fn pick(&mut self, answer: Answer, end: End) -> Vec<T> {
        if let Some(on_event) = &mut self.on_event {
            for event in &answer.events {
                guarded(|| on_event(event));
            }
        }
        (self.pick)(answer, end)
    }

    /// The message and the counters, after the last item. `events` and `chunks` are empty here,
    /// because they were returned as items.
    #[must_use]
    pub fn closed(&self) -> Option<&CloseResult> {
        self.closed.as_ref()
    }

    /// [`Pipe::closed`] by value.
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

/// The answers to all chunks of `source`, and the end of the stream.
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

/// A result of the flow: an answer to pushes, or the end of the stream.
enum Step {
    Answer(Answer),
    Closed(Box<Closed>),
}

/// An item of the source: a chunk, or the text of its failure.
pub(crate) type Given = Result<Chunk, String>;

struct Flow<S: Stream> {
    handle: StreamHandle,
    source: Pin<Box<ReadyChunks<S>>>,
    /// Chunks from the source that are not in flight yet.
    waiting: Requests,
    /// How the source ended; `None` before its end.
    end: Option<CloseParams>,
}

impl<S: Stream<Item = Given>> Flow<S> {
    /// The next answer; `None` if everything was pushed and answered.
    async fn step(&mut self) -> Result<Option<Answer>, Error> {
        loop {
            let under_way = self.handle.under_way();
            let next = if under_way < UNDER_WAY { self.waiting.next() } else { None };
            if let Some(request) = next {
                self.handle.submit(request).await;
            } else if under_way < UNDER_WAY && self.end.is_none() {
                self.pull().await;
            } else {
                if let Some(end) = self.end.as_ref().filter(|_| self.waiting.is_empty()) {
                    self.handle.send_close(end)?;
                }
                return self.handle.answered().await.transpose();
            }
            if self.handle.is_settled() {
                return self.handle.answered().await.transpose();
            }
        }
    }

    /// Pulls available chunks from the source; returns earlier if an answer arrives first.
    async fn pull(&mut self) {
        let given = if self.handle.under_way() == 0 {
            self.source.next().await
        } else {
            let settled = pin!(self.handle.settled());
            match select(settled, self.source.next()).await {
                Either::Left(_) => return,
                Either::Right((given, _)) => given,
            }
        };
        if given.is_none() {
            self.end = Some(CloseParams::default());
        }
        for each in given.into_iter().flatten() {
            match each {
                Ok(chunk) => self.waiting.add(self.handle.write(&chunk)),
                Err(failure) => {
                    self.end = Some(failed(&failure));
                    break; // chunks after a failure do not count
                }
            }
        }
        if let Some(rest) = self.end.is_some().then(|| self.handle.write_rest()).flatten() {
            self.waiting.add(rest);
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
