//! The sidecar, for a host.

use std::sync::Arc;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use crate::{
    connection::{
        link::{Connection, decode},
        retry,
        supervisor::Supervisor,
    },
    error::{Error, Failure, StderrTail},
    process::locate::Located,
    protocol::{
        Capabilities, ClassifyParams, ClassifyResult, Encoding, HistoryParams, InspectResult,
        ListResult, Message, NormalizeErrorParams, NormalizeErrorResult, NormalizeParams,
        NormalizeResult, OpenParams, PrepareParams, PrepareResult, RenderParams, RenderResult,
        RepairResult, StatsResult, Turn,
    },
    stream::{handle::StreamHandle, pass_through::PassThrough, remote_stream::RemoteStream},
    warnings::Warnings,
    watching::{ServerInfo, SidecarState, Subscription},
};

/// A sidecar, which is started when it is needed, and restarted when its process ends.
///
/// Cheap to clone. All clones and their streams share one process. When the last of them is
/// dropped, the process is killed with its whole group. No particular runtime is needed.
#[derive(Clone)]
pub struct Sidecar {
    supervisor: Arc<Supervisor>,
}

impl Sidecar {
    pub(crate) fn new(supervisor: Supervisor) -> Self {
        Self { supervisor: Arc::new(supervisor) }
    }

    /// The commands that would be tried if the host names none, best first. Starts nothing.
    /// Printed, the result says what was found in each place.
    #[must_use]
    pub fn locate() -> Located {
        Located::here()
    }

    /// Starts the process if none is running, and waits for its handshake.
    ///
    /// # Errors
    ///
    /// [`Error::Start`] and [`Error::GaveUp`]; [`Error::Rpc`] if the sidecar refuses the
    /// builder's policy or limits.
    pub async fn start(&self) -> Result<(), Error> {
        self.supervisor.connection().await.map(drop)
    }

    /// Opens a stream: one response of one model.
    ///
    /// # Errors
    ///
    /// Any [`Error`]; [`Error::Rpc`] for invalid params and for a `stream_id` that is in use.
    pub async fn open(&self, params: OpenParams) -> Result<StreamHandle, Error> {
        let stands_in = self.supervisor.config.pass_through.clone().map(|it| (it, params.clone()));
        match (self.open_live(params).await, stands_in) {
            (Err(error), Some((read_text, params))) if error.is_start() => {
                self.warnings().passing_through(&error);
                Ok(StreamHandle::pass_through(PassThrough::new(params, read_text, error)))
            }
            (opened, _) => opened,
        }
    }

    /// [`Sidecar::open`], never without a sidecar.
    pub(crate) async fn open_live(&self, params: OpenParams) -> Result<StreamHandle, Error> {
        let is_base64 = params.encoding == Some(Encoding::Base64);
        let stream = RemoteStream::open(Arc::clone(&self.supervisor), params).await?;
        self.warnings().ignored(stream.opened().ignored.as_ref());
        Ok(StreamHandle::live(stream, is_base64))
    }

    /// The events and the message of a whole response.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn normalize(&self, params: &NormalizeParams) -> Result<NormalizeResult, Error> {
        self.request("message/normalize", params).await
    }

    /// A message and the results of its calls, in the form that the next request needs.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn render(&self, params: &RenderParams) -> Result<RenderResult, Error> {
        self.request("message/render", params).await
    }

    /// A whole request, cleaned, and without everything that its provider refuses.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn prepare(&self, params: &PrepareParams) -> Result<PrepareResult, Error> {
        self.request("request/prepare", params).await
    }

    /// The findings in stored messages: everything that does not belong in an answer.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn inspect(&self, params: &HistoryParams) -> Result<InspectResult, Error> {
        self.request("message/inspect", params).await
    }

    /// Stored messages, repaired: without everything that does not belong in an answer.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn repair(&self, params: &HistoryParams) -> Result<RepairResult, Error> {
        self.request("message/repair", params).await
    }

    /// Who runs calls that did not come through a stream, and what kind of tool they call.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn classify(&self, params: &ClassifyParams) -> Result<ClassifyResult, Error> {
        self.request("tool/classify", params).await
    }

    /// The meaning of the body of a failed HTTP request.
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

    /// The open streams of the process.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn list(&self) -> Result<ListResult, Error> {
        self.request("stream/list", &json!({})).await
    }

    /// The counters of the process since its start.
    ///
    /// # Errors
    ///
    /// Any [`Error`].
    pub async fn stats(&self) -> Result<StatsResult, Error> {
        self.request("sidecar/stats", &json!({})).await
    }

    /// Makes a request to any method without a stream, as `protocol.md` describes it. If the
    /// process ends during the request, it is made once more: it depends only on its params.
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
            asked.map_err(Failure::without_retry_of_hang)
        };
        decode(&retry::until_answered(&self.supervisor, 1, ask).await?, method)
    }

    /// Ends the process and waits for its end. Open streams are lost, and the process is not
    /// started again: further calls fail with [`Error::ShutDown`].
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`] if the process had to be killed.
    pub async fn shutdown(&self) -> Result<(), Error> {
        self.supervisor.shutdown().await
    }

    /// The capabilities of the sidecar, after its first start.
    #[must_use]
    pub fn capabilities(&self) -> Option<Arc<Capabilities>> {
        self.supervisor.status().capabilities
    }

    /// What a host should know although no call failed.
    pub(crate) fn warnings(&self) -> &Warnings {
        &self.supervisor.config.warnings
    }

    /// Calls `callback` with each new state, until the subscription is dropped. It must not block
    /// or call the sidecar.
    pub fn on_state(
        &self,
        callback: impl Fn(&SidecarState) + Send + Sync + 'static,
    ) -> Subscription {
        self.supervisor.on_state(callback)
    }

    /// The state of the sidecar; [`Sidecar::on_state`] reports each change.
    #[must_use]
    pub fn state(&self) -> SidecarState {
        self.supervisor.status().state
    }

    /// Name and version of the running sidecar.
    #[must_use]
    pub fn server_info(&self) -> Option<ServerInfo> {
        self.supervisor.status().server
    }

    /// Ends the process and starts a new one, in which open streams continue; also after the
    /// automatic restarts are used up ([`Error::GaveUp`]).
    ///
    /// # Errors
    ///
    /// The errors of [`Sidecar::start`].
    pub async fn restart(&self) -> Result<(), Error> {
        self.supervisor.restart().await
    }

    /// The id of the running process, which is also the id of its process group.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.supervisor.status().process_id
    }

    /// The last 64 kB that the running process wrote to standard error.
    #[must_use]
    pub fn stderr(&self) -> Option<StderrTail> {
        self.supervisor.stderr()
    }

    /// How many bytes of chunks all open streams keep for replays.
    #[must_use]
    pub fn kept_bytes(&self) -> usize {
        self.supervisor.budget().used()
    }

    /// How many restarts there were.
    #[must_use]
    pub fn restarts(&self) -> usize {
        self.supervisor.status().restarts
    }
}

/// Methods without a limit of work, which have `batch_timeout`.
const BATCHES: [&str; 3] = ["message/normalize", "message/inspect", "message/repair"];

impl std::fmt::Debug for Sidecar {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Sidecar").field(&self.supervisor.status()).finish()
    }
}

/// The form of a received message that `message/render` needs, with fewer fields.
impl TryFrom<&Message> for Turn {
    type Error = Error;

    /// # Errors
    ///
    /// [`Error::Json`] if a message made by the host is not valid.
    fn try_from(message: &Message) -> Result<Self, Error> {
        let turn = serde_json::to_value(message).and_then(serde_json::from_value);
        turn.map_err(|error| Error::json("a message to be rendered", error))
    }
}
