//! The clean body of a streamed response. After a failure before its first slice, the source
//! passes unchanged, if the host allows that and not too much came. After a later failure the body ends with an error,
//! after everything that was certain.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_core::Stream;
use futures_util::StreamExt;

use super::{
    body::{BoxError, SidecarBody},
    kept_source::KeptSource,
    listening::Listening,
};
use crate::{
    error::Error,
    stream::{
        body_format::{BodyFormat, BodyWriter},
        chunk::Chunk,
        handle::StreamHandle,
        pipe::{End, Pipe},
    },
};

pub(super) struct Cleaning {
    listening: Arc<Listening>,
    source: KeptSource,
    phase: Phase,
    /// Whether a slice was returned.
    has_begun: bool,
}

enum Phase {
    Cleaning(Box<Pipe<'static, Bytes>>),
    Passing(Pin<Box<dyn Stream<Item = Slice> + Send>>),
    Over,
}

type Slice = Result<Bytes, BoxError>;

/// The most bytes of a stream that are kept before its first clean slice.
const MOST_KEPT: usize = 16 << 20;

impl Cleaning {
    pub(super) fn new(
        listening: Arc<Listening>,
        stream: StreamHandle,
        body: SidecarBody,
        format: BodyFormat,
    ) -> Self {
        let source = KeptSource::new(body, MOST_KEPT);
        let chunks = source.clone().map(|slice| slice.map(Chunk::from));
        let (broken, mut writer) = (source.clone(), BodyWriter::new(format));
        let pipe = Pipe::new(stream, chunks, move |answer, end| {
            if end != End::NotYet && broken.has_failed() {
                return Vec::new(); // the body ends with the source's error, without an end mark
            }
            let mut body = writer.write(&answer.emitted);
            if end != End::NotYet {
                body.push_str(writer.end(end == End::Marked));
            }
            if body.is_empty() { Vec::new() } else { vec![body.into()] }
        });
        let reporting = Arc::clone(&listening);
        let pipe = pipe.on_event(move |event| reporting.event(event));
        Self { listening, source, phase: Phase::Cleaning(Box::new(pipe)), has_begun: false }
    }

    /// The phase after the end of the stream, whose source may have broken off.
    fn closed(&mut self, pipe: &Pipe<'static, Bytes>) -> Phase {
        if let Some(closed) = pipe.closed() {
            self.listening.message(&closed.message);
        }
        if self.source.has_failed() { self.broken_off(None) } else { Phase::Over }
    }

    fn broken_off(&mut self, error: Option<Error>) -> Phase {
        if let Some(error) = &error {
            self.listening.lost(error);
        }
        if !self.has_begun && self.listening.passes() && self.source.is_whole() {
            return Phase::Passing(Box::pin(self.source.again()));
        }
        let failure = self.source.failure().or(error.map(Into::into));
        Phase::Passing(Box::pin(futures_util::stream::iter(failure.map(Err))))
    }
}

impl Stream for Cleaning {
    type Item = Slice;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Slice>> {
        loop {
            let given = match &mut self.phase {
                Phase::Cleaning(pipe) => ready!(pipe.poll_next_unpin(context)),
                Phase::Passing(slices) => return slices.poll_next_unpin(context),
                Phase::Over => return Poll::Ready(None),
            };
            if let Some(Ok(slice)) = given {
                self.has_begun = true;
                self.source.forget();
                return Poll::Ready(Some(Ok(slice)));
            }
            let phase = std::mem::replace(&mut self.phase, Phase::Over);
            self.phase = match (given, phase) {
                (Some(Err(error)), _) => self.broken_off(Some(error)),
                (_, Phase::Cleaning(pipe)) => self.closed(&pipe),
                (_, over) => over,
            };
        }
    }
}
