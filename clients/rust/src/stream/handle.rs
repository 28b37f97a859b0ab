//! The handle of an open stream, with or without a sidecar.

use std::{fmt, pin::pin, time::Duration};

use futures_timer::Delay;
use futures_util::future::{Either, select};

use crate::{
    error::Error,
    protocol::{CloseParams, CloseReason, CloseResult, Event, OpenResult, SnapshotResult},
    stream::{
        answer::{Answer, Closed},
        body_format::Document,
        chunk::{Chunk, ChunkWriter},
        pass_through::PassThrough,
        remote_stream::RemoteStream,
        slices::{Request, Requests},
    },
};

/// An open stream: one response of one model.
///
/// Dropping it closes the stream in the sidecar. If the sidecar's process ends or hangs, the
/// stream continues in the next process, and the host does not notice.
#[must_use = "dropping a stream closes it"]
pub struct StreamHandle {
    kind: Kind,
    writer: ChunkWriter,
}

impl fmt::Debug for StreamHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("StreamHandle");
        shown.field("id", &self.id()).field("is_pass_through", &self.is_pass_through());
        shown.finish_non_exhaustive()
    }
}

/// How long the end of a stream that the user stopped may take.
const CANCEL_TIMEOUT: Duration = Duration::from_millis(500);

enum Kind {
    Live(Box<RemoteStream>),
    PassThrough(Box<PassThrough>),
}

impl StreamHandle {
    pub(crate) fn live(stream: RemoteStream, is_base64: bool) -> Self {
        Self { kind: Kind::Live(Box::new(stream)), writer: ChunkWriter::new(is_base64) }
    }

    /// In pass-through, bytes are text, whatever `encoding` the params had.
    pub(crate) fn pass_through(stream: PassThrough) -> Self {
        Self { kind: Kind::PassThrough(Box::new(stream)), writer: ChunkWriter::new(false) }
    }

    /// The sidecar's answer to the opening: profile, policy, limits. `None` in pass-through.
    #[must_use]
    pub fn opened(&self) -> Option<&OpenResult> {
        match &self.kind {
            Kind::Live(stream) => Some(stream.opened()),
            Kind::PassThrough(_) => None,
        }
    }

    /// The stream's id, chosen by the host or by this crate.
    #[must_use]
    pub fn id(&self) -> &str {
        match &self.kind {
            Kind::Live(stream) => stream.id(),
            Kind::PassThrough(stream) => stream.id(),
        }
    }

    /// Whether this stream has no sidecar; see
    /// [`Builder::pass_through`](crate::Builder::pass_through).
    #[must_use]
    pub fn is_pass_through(&self) -> bool {
        matches!(self.kind, Kind::PassThrough(_))
    }

    /// Pushes a chunk and returns the events that are certain after it.
    ///
    /// The future may be dropped while it waits: a chunk that was sent still counts, and the
    /// next call returns its events.
    ///
    /// # Errors
    ///
    /// Any [`Error`]. After an error the chunk was not applied and may be pushed again, except
    /// after [`Error::StreamLost`], which ends the stream.
    pub async fn push(&mut self, chunk: impl Into<Chunk>) -> Result<Vec<Event>, Error> {
        self.push_all([chunk]).await
    }

    /// Pushes several chunks together and returns the events of all of them, in order.
    ///
    /// # Errors
    ///
    /// The errors of [`StreamHandle::push`].
    pub async fn push_all(
        &mut self,
        chunks: impl IntoIterator<Item = impl Into<Chunk>>,
    ) -> Result<Vec<Event>, Error> {
        self.check_room()?;
        let before = self.writer.clone();
        let chunks: Vec<String> =
            chunks.into_iter().map(|it| self.writer.write(&it.into())).collect();
        let pushed = match &mut self.kind {
            Kind::Live(stream) => stream.push(chunks).await,
            Kind::PassThrough(stream) => Ok(stream.push(&chunks.join(","))),
        };
        if pushed.is_err() {
            self.writer = before;
        }
        pushed
    }

    /// The documents of the clean stream since the last call, for a stream opened with `emit`.
    pub fn take_emitted(&mut self) -> Vec<Document> {
        match &mut self.kind {
            Kind::Live(stream) => stream.take_emitted(),
            Kind::PassThrough(_) => Vec::new(),
        }
    }

    pub(crate) fn write(&mut self, chunk: &Chunk) -> String {
        self.writer.write(chunk)
    }

    /// The bytes of half a character at the end of the source, as a chunk.
    pub(crate) fn write_rest(&mut self) -> Option<String> {
        self.writer.end()
    }

    /// An empty queue that makes requests from written chunks.
    pub(crate) fn requests(&self) -> Requests {
        match &self.kind {
            Kind::Live(stream) => stream.requests(),
            Kind::PassThrough(_) => Requests::default(),
        }
    }

    /// The message so far.
    ///
    /// # Errors
    ///
    /// Any [`Error`]; after an error the stream is unchanged.
    pub async fn snapshot(&mut self) -> Result<SnapshotResult, Error> {
        self.check_room()?;
        match &mut self.kind {
            Kind::Live(stream) => stream.snapshot().await,
            Kind::PassThrough(stream) => Ok(stream.snapshot()),
        }
    }

    /// Ends the stream after the end of the response.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn close(self) -> Result<CloseResult, Error> {
        self.close_with(CloseParams::default()).await
    }

    /// Ends the stream because the user stopped it, without waiting for a sidecar that hangs.
    ///
    /// # Errors
    ///
    /// Any [`Error`]; [`Error::Timeout`] if there is no answer within 500 milliseconds. The
    /// stream is closed all the same.
    pub async fn cancel(self) -> Result<CloseResult, Error> {
        let unanswered = match &self.kind {
            Kind::Live(stream) => Some(stream.unanswered_close(CANCEL_TIMEOUT)),
            Kind::PassThrough(_) => None,
        };
        let reason = Some(CloseReason::Cancelled);
        let closed = self.close_with(CloseParams { reason, ..CloseParams::default() });
        match (select(pin!(closed), Delay::new(CANCEL_TIMEOUT)).await, unanswered) {
            (Either::Left((closed, _)), _) => closed,
            (Either::Right(((), closed)), None) => closed.await,
            (Either::Right(_), Some(error)) => Err(error),
        }
    }

    /// Ends the stream with what the host knows about its end. `stream_id` is filled in.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn close_with(self, params: CloseParams) -> Result<CloseResult, Error> {
        self.end(params).await.map(Closed::into_result)
    }

    /// Sends the close right after the pushes, without waiting for their answers.
    /// [`StreamHandle::end`] with the same params waits for all answers.
    pub(crate) fn send_close(&mut self, params: &CloseParams) -> Result<(), Error> {
        match &mut self.kind {
            Kind::Live(stream) => stream.send_close(params),
            Kind::PassThrough(_) => Ok(()),
        }
    }

    pub(crate) async fn end(mut self, params: CloseParams) -> Result<Closed, Error> {
        if let Some(rest) = self.write_rest() {
            self.submit(Request { items: rest, ends: true }).await;
        }
        match self.kind {
            Kind::Live(stream) => stream.close(&params).await,
            Kind::PassThrough(stream) => Ok(stream.close(&params)),
        }
    }

    /// Returns an error if the queue is full. Pipes do not ask: they always wait.
    fn check_room(&self) -> Result<(), Error> {
        match &self.kind {
            Kind::Live(stream) => stream.check_room(),
            Kind::PassThrough(_) => Ok(()),
        }
    }

    pub(crate) fn under_way(&self) -> usize {
        match &self.kind {
            Kind::Live(stream) => stream.under_way(),
            Kind::PassThrough(stream) => stream.under_way(),
        }
    }

    pub(crate) fn is_settled(&self) -> bool {
        match &self.kind {
            Kind::Live(stream) => stream.is_settled(),
            Kind::PassThrough(stream) => stream.under_way() > 0,
        }
    }

    pub(crate) async fn submit(&mut self, request: Request) {
        match &mut self.kind {
            Kind::Live(stream) => stream.submit(request).await,
            Kind::PassThrough(stream) => stream.submit(&request.items),
        }
    }

    pub(crate) async fn settled(&mut self) {
        if let Kind::Live(stream) = &mut self.kind {
            stream.settled().await;
        }
    }

    pub(crate) async fn answered(&mut self) -> Option<Result<Answer, Error>> {
        match &mut self.kind {
            Kind::Live(stream) => stream.answered().await,
            Kind::PassThrough(stream) => stream.answered().map(|events| Ok(events.into())),
        }
    }
}
