//! The body of a response, kept so that it can be read from its beginning again: after a
//! failure the response passes unchanged.

use std::{
    mem,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_core::Stream;
use futures_util::StreamExt;
use http_body_util::BodyDataStream;

use super::body::{BoxError, SidecarBody};

/// A stream of the body's slices; all clones share the same source.
#[derive(Clone)]
pub(super) struct KeptSource(Arc<Mutex<Kept>>);

struct Kept {
    body: BodyDataStream<SidecarBody>,
    /// The slices so far; `None`: they are no longer kept.
    slices: Option<Vec<Bytes>>,
    failure: Option<BoxError>,
}

impl KeptSource {
    pub(super) fn new(body: SidecarBody) -> Self {
        let body = BodyDataStream::new(body);
        Self(Arc::new(Mutex::new(Kept { body, slices: Some(Vec::new()), failure: None })))
    }

    /// Stops keeping the slices.
    pub(super) fn forget(&self) {
        self.kept().slices = None;
    }

    /// Whether the body broke off.
    pub(super) fn has_failed(&self) -> bool {
        self.kept().failure.is_some()
    }

    /// The error that the body broke off with; returned only once.
    pub(super) fn failure(&self) -> Option<BoxError> {
        self.kept().failure.take()
    }

    /// The kept slices, then the rest of the body.
    pub(super) fn again(&self) -> impl Stream<Item = Result<Bytes, BoxError>> + Send + use<> {
        let mut kept = self.kept();
        let slices = mem::take(&mut kept.slices).unwrap_or_default();
        let failure = kept.failure.take();
        let source = Arc::clone(&self.0);
        drop(kept);
        let is_over = failure.is_some();
        let rest = futures_util::stream::poll_fn(move |context| {
            if is_over {
                return Poll::Ready(None);
            }
            lock(&source).body.poll_next_unpin(context)
        });
        let came = slices.into_iter().map(Ok).chain(failure.map(Err));
        futures_util::stream::iter(came).chain(rest)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        lock(&self.0)
    }
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The slices as they arrive. A failure is kept, and returned as its text.
impl Stream for KeptSource {
    type Item = Result<Bytes, String>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut kept = self.kept();
        let Some(given) = ready!(kept.body.poll_next_unpin(context)) else {
            return Poll::Ready(None);
        };
        Poll::Ready(Some(match given {
            Ok(slice) => {
                kept.slices.iter_mut().for_each(|it| it.push(slice.clone()));
                Ok(slice)
            }
            Err(error) => {
                let words = error.to_string();
                kept.failure = Some(error);
                Err(words)
            }
        }))
    }
}
