//! Several processes for many streams: each stream belongs to one of them, by its id, and
//! keeps its order there. Each process is supervised by itself, so that one that ends holds
//! up no other's streams.

use std::sync::Arc;

use futures_util::future::join_all;

use crate::{
    builder::Builder, error::Error, handle::StreamHandle, protocol::OpenParams, sidecar::Sidecar,
    stream,
};

/// Sidecars that share streams: a stream goes to one of them by a hash of its id.
///
/// Cheap to clone; all clones share the processes.
///
/// ```
/// use stream_sidecar::{Sidecar, SidecarPool};
///
/// let pool = SidecarPool::create(4, &Sidecar::builder());
/// assert_eq!(pool.sidecars().len(), 4);
/// ```
#[derive(Debug, Clone)]
pub struct SidecarPool {
    sidecars: Arc<[Sidecar]>,
}

impl SidecarPool {
    /// A pool of these sidecars.
    ///
    /// # Panics
    ///
    /// Without a sidecar.
    #[must_use]
    pub fn new(sidecars: impl IntoIterator<Item = Sidecar>) -> Self {
        let sidecars: Arc<[Sidecar]> = sidecars.into_iter().collect();
        assert!(!sidecars.is_empty(), "a pool needs a sidecar");
        Self { sidecars }
    }

    /// Sidecars of the same options, each of which is started when it is first needed.
    ///
    /// # Panics
    ///
    /// Where `workers` is 0.
    #[must_use]
    pub fn create(workers: usize, options: &Builder) -> Self {
        Self::new((0..workers).map(|_| options.clone().build()))
    }

    /// One a process.
    #[must_use]
    pub fn sidecars(&self) -> &[Sidecar] {
        &self.sidecars
    }

    /// The sidecar of a stream: the same one for the same id. A request that belongs to no
    /// stream may go to any.
    #[must_use]
    pub fn of(&self, stream_id: &str) -> &Sidecar {
        let place = u64::from(hash(stream_id)) % self.sidecars.len() as u64;
        &self.sidecars[usize::try_from(place).unwrap_or_default()]
    }

    /// As [`Sidecar::open`].
    ///
    /// # Errors
    ///
    /// As those of [`Sidecar::open`].
    pub async fn open(&self, mut params: OpenParams) -> Result<StreamHandle, Error> {
        let stream_id = params.stream_id.get_or_insert_with(stream::new_id);
        self.of(stream_id).open(params).await
    }

    /// Ends all of them, as [`Sidecar::shutdown`].
    ///
    /// # Errors
    ///
    /// The first that one of them has, when all have ended.
    pub async fn shutdown(&self) -> Result<(), Error> {
        join_all(self.sidecars.iter().map(Sidecar::shutdown)).await.into_iter().collect()
    }
}

impl From<Sidecar> for SidecarPool {
    fn from(sidecar: Sidecar) -> Self {
        Self::new([sidecar])
    }
}

/// FNV-1a of 32 bits, as the other client has it.
fn hash(text: &str) -> u32 {
    let step = |found: u32, byte: u8| (found ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, step)
}
