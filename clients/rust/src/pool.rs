//! Several processes for many streams. A stream belongs to one process, chosen by its id, so
//! its chunks keep their order. Each process is supervised separately: if a process ends, the
//! streams of the other processes are not delayed.

use std::sync::Arc;

use futures_util::future::join_all;

use crate::{
    builder::Builder,
    checks,
    error::Error,
    protocol::OpenParams,
    sidecar::Sidecar,
    stream::{handle::StreamHandle, remote_stream},
};

/// Sidecars that share the streams: a hash of a stream's id chooses its sidecar.
///
/// Cheap to clone; all clones share the processes.
///
/// ```
/// use stream_sidecar::{Sidecar, SidecarPool};
///
/// let pool = SidecarPool::create(4, &Sidecar::builder())?;
/// assert_eq!(pool.sidecars().len(), 4);
/// # Ok::<(), stream_sidecar::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SidecarPool {
    sidecars: Arc<[Sidecar]>,
}

impl SidecarPool {
    /// A pool of these sidecars.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] if there is no sidecar.
    pub fn new(sidecars: impl IntoIterator<Item = Sidecar>) -> Result<Self, Error> {
        let sidecars: Arc<[Sidecar]> = sidecars.into_iter().collect();
        if sidecars.is_empty() {
            return Err(checks::wrong("workers", "must be at least 1, not 0"));
        }
        Ok(Self { sidecars })
    }

    /// A pool of `workers` sidecars with the same options; each is started at its first use.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] if `workers` is 0, or if an option cannot have its value.
    pub fn create(workers: usize, options: &Builder) -> Result<Self, Error> {
        let sidecars: Result<Vec<_>, _> = (0..workers).map(|_| options.clone().build()).collect();
        Self::new(sidecars?)
    }

    /// The sidecars, one for each process.
    #[must_use]
    pub fn sidecars(&self) -> &[Sidecar] {
        &self.sidecars
    }

    /// The sidecar of a stream: the same sidecar for the same id. A request without a stream
    /// may go to any of the sidecars.
    #[must_use]
    pub fn of(&self, stream_id: &str) -> &Sidecar {
        let place = u64::from(hash(stream_id)) % self.sidecars.len() as u64;
        &self.sidecars[usize::try_from(place).unwrap_or_default()]
    }

    /// Opens a stream in its sidecar, as [`Sidecar::open`] does.
    ///
    /// # Errors
    ///
    /// The errors of [`Sidecar::open`].
    pub async fn open(&self, mut params: OpenParams) -> Result<StreamHandle, Error> {
        let stream_id = params.stream_id.get_or_insert_with(remote_stream::new_id);
        self.of(stream_id).open(params).await
    }

    /// Shuts down all sidecars, as [`Sidecar::shutdown`] does.
    ///
    /// # Errors
    ///
    /// The first error of a sidecar, after all of them have ended.
    pub async fn shutdown(&self) -> Result<(), Error> {
        join_all(self.sidecars.iter().map(Sidecar::shutdown)).await.into_iter().collect()
    }
}

impl From<Sidecar> for SidecarPool {
    fn from(sidecar: Sidecar) -> Self {
        Self { sidecars: [sidecar].into() }
    }
}

/// FNV-1a with 32 bits, as in the TypeScript client.
fn hash(text: &str) -> u32 {
    let step = |found: u32, byte: u8| (found ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, step)
}
