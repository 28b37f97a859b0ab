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
    protocol::{AnyTool, EmitClaims, EmitReasoning, OpenParams, PolicyPatch, Wire},
    sidecar::Sidecar,
    stream::handle::StreamHandle,
    watching::Callback,
};

const PREPARE: &str = "request/prepare";
/// What a changed request cannot ask its provider for.
const HEADERS: &str = "requestHeaders (a changed request cannot ask to drop signed thinking)";

/// Cleans the requests and responses of one provider: [`Passage::request`] returns the body to
/// send, and [`Passage::open`] the stream to pipe its response through.
///
/// ```no_run
/// # async fn pass(sidecar: stream_sidecar::Sidecar, body: bytes::Bytes) -> Result<(), stream_sidecar::Error> {
/// use stream_sidecar::{OpenParams, protocol::{Emit, EmitWire, Wire}};
///
/// let emit = Some(Emit { wire: EmitWire::OpenaiChat, claims: None, reasoning: None, rewrite: None });
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
    headers: Option<Map<String, Value>>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    claims: Option<&'static str>,
}

#[derive(Deserialize)]
struct Prepared {
    changed: bool,
    body: Option<Box<RawValue>>,
    headers: Option<Map<String, Value>>,
}

/// Names and values, one value for each name.
type Headers = Vec<(String, String)>;

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
        self.sent(body.into(), None).await.0
    }

    /// As [`Passage::request`], for a host that can set headers: the body to send, and the
    /// headers to set, under the names that the host uses. `headers` are those of the request,
    /// of which the sidecar gets only the ones that it reads.
    ///
    /// If an edit breaks the signature of later thinking, the request asks its provider to drop
    /// that thinking, which needs a header.
    pub async fn request_with_headers<'a>(
        &self,
        body: impl Into<Bytes>,
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> (Bytes, Vec<(String, String)>) {
        self.sent(body.into(), Some(headers.into_iter().collect())).await
    }

    async fn sent(&self, body: Bytes, headers: Option<Vec<(&str, &str)>>) -> (Bytes, Headers) {
        if !self.prepares {
            return (body, Headers::new());
        }
        match self.prepared(&body, headers).await {
            Ok(prepared) => prepared.unwrap_or((body, Headers::new())),
            Err(error) => {
                self.report(&error);
                (body, Headers::new())
            }
        }
    }

    /// Reports an error; of an older sidecar only the first.
    fn report(&self, error: &Error) {
        let is_old = matches!(error, Error::Unsupported { .. });
        let is_new = !is_old || !self.reported_old.swap(true, Ordering::Relaxed);
        if is_new && !self.on_lost.call(error) && !self.warned.swap(true, Ordering::Relaxed) {
            let text = format!("requests are sent unprepared, and on_lost is not set: {error}");
            self.sidecar.warnings().once(&text);
        }
    }

    async fn prepared(
        &self,
        body: &[u8],
        headers: Option<Vec<(&str, &str)>>,
    ) -> Result<Option<(Bytes, Headers)>, Error> {
        let Ok(body) = serde_json::from_slice::<&RawValue>(body) else { return Ok(None) };
        let Some(wire) = self.params.wire.as_ref().filter(|_| body.get().starts_with('{')) else {
            return Ok(None);
        };
        self.sidecar.start().await?;
        if !self.is_certain() {
            return Err(Error::Unsupported { method: PREPARE });
        }
        let OpenParams { provider, model, tools, policy, response_template, emit, .. } =
            &self.params;
        // What stays in the text of an answer stays in the next request.
        let is_text = emit.as_ref().is_some_and(|it| it.claims == Some(EmitClaims::Text));
        let claims = is_text.then_some("include");
        let (provider, model) = (provider.as_deref(), model.as_deref());
        let (tools, policy) = (tools.as_deref(), policy.as_ref());
        let response_template = response_template.as_ref();
        let names = self.sidecar.capabilities().and_then(|it| it.request_headers.clone());
        let is_too_old = headers.is_some() && names.is_none();
        let headers = headers.zip(names).map(|(all, names)| selected(&all, &names));
        let asked = Asked {
            wire,
            body,
            headers,
            provider,
            model,
            tools,
            policy,
            response_template,
            claims,
        };
        let Prepared { changed, body, headers } = self.sidecar.request(PREPARE, &asked).await?;
        let Some(body) = body.filter(|_| changed) else { return Ok(None) };
        if is_too_old {
            self.report(&Error::Unsupported { method: HEADERS });
        }
        let to_set = headers.unwrap_or_default().into_iter();
        let to_set = to_set.filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())));
        Ok(Some((String::from(Box::<str>::from(body)).into(), to_set.collect())))
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

/// The headers with these names (in small letters), each as one string: several values are joined
/// with commas.
fn selected(all: &[(&str, &str)], names: &[String]) -> Map<String, Value> {
    let is_read = |name: &str| names.iter().any(|it| it.eq_ignore_ascii_case(name));
    let mut found: Vec<(&str, String)> = Vec::new();
    for (name, value) in all.iter().filter(|(name, _)| is_read(name)) {
        match found.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((_, values)) => *values = format!("{values}, {value}"),
            None => found.push((name, (*value).to_owned())),
        }
    }
    found.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}
