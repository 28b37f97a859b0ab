//! The body of a response, cleaned or passed on.

use std::{
    fmt,
    pin::Pin,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use bytes::{Buf, Bytes};
use futures_core::Stream;
use futures_util::StreamExt;
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};

use crate::error::Error;

/// The error that a body may break off with.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of a response from a [`SidecarService`](super::SidecarService).
///
/// It breaks off with the error of the body below, or with an [`Error`](crate::Error) if the
/// sidecar was lost in the middle. Dropping it drops the body below.
pub struct SidecarBody(Mutex<Inner>); // a mutex, because some clients need a `Sync` body

type Inner = UnsyncBoxBody<Bytes, BoxError>;

impl SidecarBody {
    /// A body that passes unchanged.
    pub(super) fn passing<B>(body: B) -> Self
    where
        B: Body + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let bytes =
            |frame: Frame<B::Data>| frame.map_data(|mut data| data.copy_to_bytes(data.remaining()));
        Self::new(body.map_frame(bytes).map_err(Into::into))
    }

    pub(super) fn whole(body: Bytes) -> Self {
        Self::new(Full::new(body).map_err(Into::into))
    }

    pub(super) fn streamed(
        slices: impl Stream<Item = Result<Bytes, BoxError>> + Send + 'static,
    ) -> Self {
        Self::new(StreamBody::new(slices.map(|it| it.map(Frame::data))))
    }

    /// A body that breaks off at once.
    pub(super) fn failing(error: Error) -> Self {
        Self::streamed(futures_util::stream::iter([Err(error.into())]))
    }

    fn new(body: impl Body<Data = Bytes, Error = BoxError> + Send + 'static) -> Self {
        Self(Mutex::new(body.boxed_unsync()))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Body for SidecarBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let inner = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        Pin::new(inner).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner().size_hint()
    }
}

impl fmt::Debug for SidecarBody {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SidecarBody")
    }
}
