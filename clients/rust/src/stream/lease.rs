//! A stream in a process, which is closed when its owner drops it.

use std::{sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::json;

use crate::{
    connection::link::{Connection, decode},
    error::{Error, Failure},
    protocol::{OpenParams, OpenResult},
    stream::replay_log::{ReplayLog, push_params},
};

/// A stream in a process. Dropping it closes the stream, without waiting for the answer.
pub(crate) struct Lease {
    connection: Arc<Connection>,
    stream_id: String,
    held: bool,
}

impl Lease {
    pub(crate) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// Opens the stream. `own`: nobody else can have a stream with this id in the process, so it
    /// is closed even if this future is dropped before the answer arrives.
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

    /// Pushes the kept chunks again; returns the last `seq`.
    pub(crate) async fn replay(&self, kept: &ReplayLog, timeout: Duration) -> Result<i64, Failure> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Replayed {
            last_seq: i64,
        }
        let mut last_seq = 0;
        for items in (0..).map_while(|number| kept.segment(number)) {
            let params = push_params(&self.stream_id, items);
            let answer = self.connection.ask_text("stream/push", &params, timeout)?.await?;
            last_seq = decode::<Replayed>(&answer, "stream/push")?.last_seq;
        }
        Ok(last_seq)
    }

    /// Records that the stream is closed already.
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
