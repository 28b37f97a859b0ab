//! The sidecar as a host sees it.

use std::sync::Arc;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use crate::{
    connection::{Connection, decode},
    error::{Error, Failure, StderrTail},
    handle::StreamHandle,
    locate::Located,
    pass_through::PassThrough,
    protocol::{
        Capabilities, ClassifyParams, ClassifyResult, Encoding, HistoryParams, InspectResult,
        ListResult, NormalizeErrorParams, NormalizeErrorResult, NormalizeParams, NormalizeResult,
        OpenParams, PrepareParams, PrepareResult, RenderParams, RenderResult, RepairResult,
        StatsResult,
    },
    retry,
    stream::Stream,
    supervisor::Supervisor,
    watching::{ServerInfo, SidecarState},
};

/// A sidecar that is started when it is needed and again when its process ends.
///
/// Cheap to clone; all clones and all their streams share one process, which is killed
/// with its whole group when the last of them is dropped. Needs no particular runtime.
#[derive(Clone)]
pub struct Sidecar {
    supervisor: Arc<Supervisor>,
}

impl Sidecar {
    pub(crate) fn new(supervisor: Supervisor) -> Self {
        Self { supervisor: Arc::new(supervisor) }
    }

    /// Where a sidecar would be looked for when the host names no command, best first;
    /// starts nothing. Printed, it says what was found of each way.
    #[must_use]
    pub fn locate() -> Located {
        Located::here()
    }

    /// Starts the process, when none is running, and waits for its handshake.
    ///
    /// # Errors
    ///
    /// [`Error::Start`] and [`Error::GaveUp`]; [`Error::Rpc`] when it refuses the
    /// builder's policy or limits.
    pub async fn start(&self) -> Result<(), Error> {
        self.supervisor.connection().await.map(drop)
    }

    /// Opens a stream: one response of one model.
    ///
    /// # Errors
    ///
    /// Any [`Error`], among them [`Error::Rpc`] for params that do not fit and for a
    /// `stream_id` that is in use.
    pub async fn open(&self, params: OpenParams) -> Result<StreamHandle, Error> {
        let is_base64 = params.encoding == Some(Encoding::Base64);
        let stands_in = self.supervisor.config.pass_through.clone().map(|it| (it, params.clone()));
        match (Stream::open(Arc::clone(&self.supervisor), params).await, stands_in) {
            (Ok(stream), _) => Ok(StreamHandle::live(stream, is_base64)),
            (Err(error), Some((read_text, params))) if error.is_start() => {
                Ok(StreamHandle::pass_through(PassThrough::new(params, read_text, error)))
            }
            (Err(error), _) => Err(error),
        }
    }

    /// The events and the message of a whole response.
    ///
    /// # Errors
    ///
    /// Any [`Error`]; so do all the methods below.
    pub async fn normalize(&self, params: &NormalizeParams) -> Result<NormalizeResult, Error> {
        self.request("message/normalize", params).await
    }

    /// A message, and what its calls were answered, as the next request must carry them.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn render(&self, params: &RenderParams) -> Result<RenderResult, Error> {
        self.request("message/render", params).await
    }

    /// A whole request: clean, and freed of what its provider refuses.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn prepare(&self, params: &PrepareParams) -> Result<PrepareResult, Error> {
        self.request("request/prepare", params).await
    }

    /// What is malformed in stored messages.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn inspect(&self, params: &HistoryParams) -> Result<InspectResult, Error> {
        self.request("message/inspect", params).await
    }

    /// Stored messages without what is malformed in them.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn repair(&self, params: &HistoryParams) -> Result<RepairResult, Error> {
        self.request("message/repair", params).await
    }

    /// Of calls that came another way: who runs them, and what they do.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn classify(&self, params: &ClassifyParams) -> Result<ClassifyResult, Error> {
        self.request("tool/classify", params).await
    }

    /// What the body of a failed HTTP request means.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn normalize_error(
        &self,
        params: &NormalizeErrorParams,
    ) -> Result<NormalizeErrorResult, Error> {
        self.request("error/normalize", params).await
    }

    /// The streams that are open in the process.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn list(&self) -> Result<ListResult, Error> {
        self.request("stream/list", &json!({})).await
    }

    /// What the process has done since it was started.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn stats(&self) -> Result<StatsResult, Error> {
        self.request("sidecar/stats", &json!({})).await
    }

    /// Any method that belongs to no stream, as `protocol.md` has it. One that was under way
    /// when the process ended is asked once more: it depends on nothing but its params.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn request<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: &impl Serialize,
    ) -> Result<T, Error> {
        let config = &self.supervisor.config;
        let is_batch = BATCHES.contains(&method);
        let timeout = if is_batch { config.batch_timeout } else { config.request_timeout };
        let ask = async |connection: Arc<Connection>| {
            connection.check_room()?;
            let asked = connection.request(method, params, timeout).await;
            asked.map_err(Failure::of_its_own)
        };
        decode(&retry::until_answered(&self.supervisor, 1, ask).await?, method)
    }

    /// Ends the process and waits for its end. Streams that are open are lost, and
    /// nothing is started again: further calls are [`Error::ShutDown`].
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`] when it had to be killed.
    pub async fn shutdown(&self) -> Result<(), Error> {
        self.supervisor.shutdown().await
    }

    /// What the sidecar can do, once it was started.
    #[must_use]
    pub fn capabilities(&self) -> Option<Arc<Capabilities>> {
        self.supervisor.status().capabilities
    }

    /// What the sidecar is doing; [`Builder::on_state`](crate::Builder::on_state) tells each
    /// change.
    #[must_use]
    pub fn state(&self) -> SidecarState {
        self.supervisor.status().state
    }

    /// Name and version of the sidecar that runs.
    #[must_use]
    pub fn server_info(&self) -> Option<ServerInfo> {
        self.supervisor.status().server
    }

    /// Ends the process and starts another; open streams go on in it.
    ///
    /// # Errors
    ///
    /// As those of [`Sidecar::start`].
    pub async fn restart(&self) -> Result<(), Error> {
        self.supervisor.restart().await
    }

    /// The id of the process that runs, which is that of its group too.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.supervisor.status().process_id
    }

    /// The last 64 kB that the running process wrote to standard error.
    #[must_use]
    pub fn stderr(&self) -> Option<StderrTail> {
        self.supervisor.stderr()
    }

    /// Bytes of chunks that are kept for replays, of all open streams.
    #[must_use]
    pub fn kept_bytes(&self) -> usize {
        self.supervisor.budget().used()
    }

    /// How often a process was started again.
    #[must_use]
    pub fn restarts(&self) -> usize {
        self.supervisor.status().restarts
    }
}

/// They take as long as there is work.
const BATCHES: [&str; 3] = ["message/normalize", "message/inspect", "message/repair"];

impl std::fmt::Debug for Sidecar {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Sidecar").field(&self.supervisor.status()).finish()
    }
}
