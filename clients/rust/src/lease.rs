//! A stream in a process, closed when nobody has it any more.

use std::{sync::Arc, time::Duration};

use serde_json::json;

use crate::{
    connection::{Connection, decode},
    error::{Error, Failure},
    protocol::{OpenParams, OpenResult},
};

/// Dropping it closes the stream, without waiting for the answer.
pub(crate) struct Lease {
    connection: Arc<Connection>,
    stream_id: String,
    held: bool,
}

impl Lease {
    pub(crate) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// Opens the stream. `own`: nobody else can have one of this name there, so that it is
    /// closed even when nobody waits for the answer any more.
    pub(crate) async fn enter(
        connection: &Arc<Connection>,
        params: &OpenParams,
        stream_id: &str,
        own: bool,
        timeout: Duration,
    ) -> Result<(Self, OpenResult), Failure> {
        let (connection, stream_id) = (Arc::clone(connection), stream_id.to_owned());
        let mut lease = Self { connection, stream_id, held: own };
        let answer = lease.connection.request("stream/open", params, timeout).await;
        if matches!(answer, Err(Failure::Failed(Error::Rpc(_)))) {
            lease.held = false;
        }
        let opened = decode(&answer?, "stream/open")?;
        lease.held = true;
        Ok((lease, opened))
    }

    /// There is no stream to be closed any more.
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
