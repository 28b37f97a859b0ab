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
    /// How many more bytes may be kept.
    room: usize,
    failure: Option<BoxError>,
}

impl KeptSource {
    /// `most`: the bytes that are kept; of a longer body nothing is.
    pub(super) fn new(body: SidecarBody, most: usize) -> Self {
        let body = BodyDataStream::new(body);
        let kept = Kept { body, slices: Some(Vec::new()), room: most, failure: None };
        Self(Arc::new(Mutex::new(kept)))
    }

    /// Whether everything that came can be read again.
    pub(super) fn is_whole(&self) -> bool {
        self.kept().slices.is_some()
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

impl Kept {
    fn keep(&mut self, slice: &Bytes) {
        match self.room.checked_sub(slice.len()) {
            Some(room) => self.room = room,
            None => self.slices = None,
        }
        self.slices.iter_mut().for_each(|it| it.push(slice.clone()));
    }
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
                kept.keep(&slice);
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

#[cfg(test)]
mod tests {
    use futures_executor::block_on;

    use super::*;

    #[test]
    fn a_body_can_be_read_again_up_to_its_bound() {
        for (most, is_whole) in [(6, true), (5, false)] {
            let slices = ["abc", "def"].map(Bytes::from);
            let came = futures_util::stream::iter(slices.clone().map(Ok));
            let mut source = KeptSource::new(SidecarBody::streamed(came), most);
            let read = |it: Vec<Result<Bytes, BoxError>>| it.into_iter().map(Result::unwrap);
            while block_on(source.next()).is_some() {}
            assert_eq!(source.is_whole(), is_whole);
            let again: Vec<Bytes> = read(block_on(source.again().collect())).collect();
            assert_eq!(again, if is_whole { slices.to_vec() } else { Vec::new() });
        }
    }
}
