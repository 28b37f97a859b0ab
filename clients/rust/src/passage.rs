//! The requests to a provider and its responses, both cleaned on their way through a host.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    error::Error,
    handle::StreamHandle,
    protocol::{AnyTool, EmitReasoning, OpenParams, PolicyPatch, Wire},
    sidecar::Sidecar,
    watching::Callback,
};

const PREPARE: &str = "request/prepare";

/// Cleans the requests and responses of one provider: [`Passage::request`] returns the body to
/// send, and [`Passage::open`] the stream to pipe its response through.
///
/// ```no_run
/// # async fn pass(sidecar: stream_sidecar::Sidecar, body: bytes::Bytes) -> Result<(), stream_sidecar::Error> {
/// use stream_sidecar::{OpenParams, protocol::{Emit, EmitWire, Wire}};
///
/// let emit = Some(Emit { wire: EmitWire::OpenaiChat, claims: None, reasoning: None });
/// let params = OpenParams {
///     wire: Some(Wire::OpenaiChat), provider: Some("groq".into()), emit, ..Default::default()
/// };
/// let passage = sidecar.passage(params).on_lost(|error| eprintln!("{error}"));
/// let to_send = passage.request(body).await;
/// let response = passage.open().await?; // .try_emit(the provider's body)
/// # drop((to_send, response)); Ok(()) }
/// ```
#[derive(Debug)]
pub struct Passage {
    sidecar: Sidecar,
    params: OpenParams,
    prepares: bool,
    reported_old: Arc<AtomicBool>,
    /// Whether there was a warning, because nobody listens.
    warned: Arc<AtomicBool>,
    on_lost: Callback<Error>,
}

#[derive(Serialize)]
struct Asked<'a> {
    wire: &'a Wire,
    body: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a [AnyTool]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<&'a PolicyPatch>,
    #[serde(rename = "responseTemplate", skip_serializing_if = "Option::is_none")]
    response_template: Option<&'a Map<String, Value>>,
}

#[derive(Deserialize)]
struct Prepared {
    changed: bool,
    body: Option<Box<RawValue>>,
}

impl Sidecar {
    /// A [`Passage`], which cleans the requests and responses of one provider. `params.wire`
    /// must name its wire.
    #[must_use]
    pub fn passage(&self, params: OpenParams) -> Passage {
        Passage::new(self.clone(), params)
    }
}

impl Passage {
    pub(crate) fn new(sidecar: Sidecar, params: OpenParams) -> Self {
        let (reported_old, warned) = (Arc::default(), Arc::default());
        let on_lost = Callback::default();
        Self { sidecar, params, prepares: true, reported_old, warned, on_lost }
    }

    /// Whether requests are prepared. Default: `true`.
    #[must_use]
    pub fn prepare(mut self, prepares: bool) -> Self {
        self.prepares = prepares;
        self
    }

    /// `callback` gets the reason if a request is sent unprepared: the sidecar is lost, or
    /// refuses the request, or is too old (reported once). Default: the first reason is a
    /// [warning](crate::Builder::on_warning).
    #[must_use]
    pub fn on_lost(mut self, callback: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.on_lost = Callback::new(callback);
        self
    }

    /// The body to send, without text that leaked in earlier turns and without everything that
    /// the provider refuses. The same bytes come back if nothing needs to change, or if the
    /// request cannot be prepared.
    pub async fn request(&self, body: impl Into<Bytes>) -> Bytes {
        let body = body.into();
        if !self.prepares {
            return body;
        }
        match self.prepared(&body).await {
            Ok(prepared) => prepared.unwrap_or(body),
            Err(error) => {
                let is_old = matches!(error, Error::Unsupported { .. });
                let is_new = !is_old || !self.reported_old.swap(true, Ordering::Relaxed);
                if is_new
                    && !self.on_lost.call(&error)
                    && !self.warned.swap(true, Ordering::Relaxed)
                {
                    let text =
                        format!("requests are sent unprepared, and on_lost is not set: {error}");
                    self.sidecar.warnings().once(&text);
                }
                body
            }
        }
    }

    async fn prepared(&self, body: &[u8]) -> Result<Option<Bytes>, Error> {
        let Ok(body) = serde_json::from_slice::<&RawValue>(body) else { return Ok(None) };
        let Some(wire) = self.params.wire.as_ref().filter(|_| body.get().starts_with('{')) else {
            return Ok(None);
        };
        self.sidecar.start().await?;
        if !self.is_certain() {
            return Err(Error::Unsupported { method: PREPARE });
        }
        let OpenParams { provider, model, tools, policy, response_template, .. } = &self.params;
        let (provider, model) = (provider.as_deref(), model.as_deref());
        let (tools, policy) = (tools.as_deref(), policy.as_ref());
        let response_template = response_template.as_ref();
        let asked = Asked { wire, body, provider, model, tools, policy, response_template };
        let Prepared { changed, body } = self.sidecar.request(PREPARE, &asked).await?;
        Ok(body.filter(|_| changed).map(|it| String::from(Box::<str>::from(it)).into()))
    }

    /// Opens a stream for one response. If requests are prepared, the clean response includes
    /// reasoning that was found between tags (`emit.reasoning: include`), unless the params say
    /// otherwise.
    ///
    /// # Errors
    ///
    /// The errors of [`Sidecar::open`].
    pub async fn open(&self) -> Result<StreamHandle, Error> {
        self.sidecar.open(self.response_params().await).await
    }

    /// The params that [`Passage::open`] opens a stream with.
    pub(crate) async fn response_params(&self) -> OpenParams {
        let mut params = self.params.clone();
        if self.prepares
            && self.sidecar.start().await.is_ok()
            && self.is_certain()
            && let Some(emit) = &mut params.emit
        {
            emit.reasoning.get_or_insert(EmitReasoning::Include);
        }
        params
    }

    /// Passages that share `reported_old` report only once together that the sidecar is too old.
    #[cfg(feature = "tower")]
    pub(crate) fn reporting_old_once(mut self, reported_old: Arc<AtomicBool>) -> Self {
        self.reported_old = reported_old;
        self
    }

    /// Whether the running sidecar can prepare requests.
    fn is_certain(&self) -> bool {
        let known = self.sidecar.capabilities();
        let methods = known.as_ref().and_then(|it| it.methods.as_ref());
        methods.is_some_and(|it| it.iter().any(|method| method == PREPARE))
    }
}
