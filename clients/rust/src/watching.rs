//! What a host can watch while the sidecar runs: its state, and its log.

use std::{
    fmt,
    panic::{self, AssertUnwindSafe},
    sync::{Arc, Weak},
};

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

    /// Calls the callback, if there is one; returns whether there is.
    pub(crate) fn call(&self, value: &T) -> bool {
        if let Some(function) = &self.0 {
            guarded(|| function(value));
        }
        self.0.is_some()
    }
}

/// Calls a function of the host. A panic in it affects nothing else: the panic hook has reported
/// it, and the thread that serves the sidecar goes on.
pub(crate) fn guarded(call: impl FnOnce()) {
    let _ = panic::catch_unwind(AssertUnwindSafe(call));
}

/// A callback for the states of a sidecar, until it is dropped.
#[must_use = "dropping it ends the callback"]
pub struct Subscription {
    _callback: Arc<OnState>,
}

type OnState = dyn Fn(&SidecarState) + Send + Sync;

/// The callbacks that a host has added, without those whose subscriptions were dropped.
#[derive(Default)]
pub(crate) struct Listeners(Vec<Weak<OnState>>);

impl Listeners {
    pub(crate) fn add(
        &mut self,
        callback: impl Fn(&SidecarState) + Send + Sync + 'static,
    ) -> Subscription {
        let callback: Arc<OnState> = Arc::new(callback);
        self.0.push(Arc::downgrade(&callback));
        Subscription { _callback: callback }
    }

    pub(crate) fn call(&mut self, state: SidecarState) {
        self.0.retain(|it| it.strong_count() > 0);
        for callback in self.0.iter().filter_map(Weak::upgrade) {
            guarded(|| callback(&state));
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Subscription")
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
