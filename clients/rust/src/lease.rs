//! A stream in a process, closed when nobody has it any more.

use std::sync::Arc;

use serde_json::json;

use crate::connection::Connection;

/// Dropping it closes the stream, without waiting for the answer.
pub(crate) struct Lease {
    connection: Arc<Connection>,
    stream_id: String,
    held: bool,
}

impl Lease {
    pub(crate) fn new(connection: Arc<Connection>, stream_id: String) -> Self {
        Self { connection, stream_id, held: true }
    }

    pub(crate) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// There is a stream to be closed.
    pub(crate) fn take(&mut self) {
        self.held = true;
    }

    /// There is no stream to be closed: it is closed, or somebody else's.
    pub(crate) fn release(&mut self) {
        self.held = false;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.held {
            let params = json!({"streamId": self.stream_id, "reason": "cancelled"});
            self.connection.forget("stream/close", &params.to_string());
        }
    }
}
