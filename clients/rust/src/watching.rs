//! What a host is told while the sidecar works: its state, and what it logs.

use std::{fmt, sync::Arc};

/// What the sidecar is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SidecarState {
    /// Nothing was asked of it yet.
    #[default]
    Idle,
    /// It is started for the first time.
    Starting,
    /// It answers.
    Running,
    /// Its process is gone, and the next use makes another, or is making it.
    Restarting,
    /// It cannot be had, or was shut down.
    Lost,
}

/// Name and version of the sidecar that runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[non_exhaustive]
pub struct ServerInfo {
    /// `stream-sidecar`.
    pub name: String,
    /// Of the package.
    #[serde(default)]
    pub version: String,
}

/// Whom the host wants to be told; by default nobody.
pub(crate) struct Told<T: ?Sized>(Option<Tell<T>>);

type Tell<T> = Arc<dyn Fn(&T) + Send + Sync>;

impl<T: ?Sized> Told<T> {
    pub(crate) fn new(tell: impl Fn(&T) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tell)))
    }

    pub(crate) fn tell(&self, what: &T) {
        if let Some(tell) = &self.0 {
            tell(what);
        }
    }
}

impl<T: ?Sized> Clone for Told<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: ?Sized> Default for Told<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: ?Sized> fmt::Debug for Told<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "somebody" } else { "nobody" })
    }
}
