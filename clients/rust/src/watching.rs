//! What a host can watch while the sidecar runs: its state, and its log.

use std::{fmt, sync::Arc};

/// The state of the sidecar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SidecarState {
    /// It was not used yet.
    #[default]
    Idle,
    /// It is being started for the first time.
    Starting,
    /// It is running.
    Running,
    /// Its process has ended; a new process is being started, or the next use will start it.
    Restarting,
    /// It could not be started, or was shut down.
    Lost,
}

/// Name and version of the running sidecar.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[non_exhaustive]
pub struct ServerInfo {
    /// `stream-sidecar`.
    pub name: String,
    /// The version of the package.
    #[serde(default)]
    pub version: String,
}

/// A callback of the host; by default there is none.
pub(crate) struct Callback<T: ?Sized>(Option<Function<T>>);

type Function<T> = Arc<dyn Fn(&T) + Send + Sync>;

impl<T: ?Sized> Callback<T> {
    pub(crate) fn new(function: impl Fn(&T) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(function)))
    }

    pub(crate) fn call(&self, value: &T) {
        if let Some(function) = &self.0 {
            function(value);
        }
    }
}

impl<T: ?Sized> Clone for Callback<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: ?Sized> Default for Callback<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: ?Sized> fmt::Debug for Callback<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "a callback" } else { "no callback" })
    }
}
