//! A layer of [tower] whose responses are clean: what the model leaked is in its place, and the
//! client above reads what its provider would have sent. Streams and whole responses of Chat
//! Completions, Responses, Messages and Gemini; everything else passes untouched: what is no
//! answer of that kind, and what no sidecar can be had for, or only one that answers nonsense.
//!
//! [tower]: https://docs.rs/tower

mod body;
mod cleaning;
mod endpoints;
mod exchange;
mod kept_source;

use std::{
    fmt,
    future::Future,
    mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::BodyExt;
use serde_json::{Map, Value};
use tower_layer::Layer;
use tower_service::Service;

pub use self::body::SidecarBody;
use self::{
    endpoints::{Asked, may_be_read},
    exchange::{Exchange, Options},
};
use crate::{
    error::Error,
    pool::SidecarPool,
    protocol::{EmitClaims, Event, Message, PolicyPatch},
    watching::Told,
};

/// What a body may break off with.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Which answer it is, among several at once.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnswerInfo {
    /// The name of the stream that the answer is read as.
    pub stream_id: String,
    /// The model that the request named.
    pub model: Option<String>,
}

/// Makes a [`SidecarService`] of a service that sends requests over HTTP.
#[derive(Clone)]
pub struct SidecarLayer {
    options: Arc<Options>,
}

impl SidecarLayer {
    /// By a [`Sidecar`](crate::Sidecar), or by a pool, which gives each answer to one of its
    /// processes.
    #[must_use]
    pub fn new(by: impl Into<SidecarPool>) -> Self {
        Self { options: Arc::new(Options::new(by.into())) }
    }

    /// What becomes of calls that the model wrote into its text. By default they are left out.
    #[must_use]
    pub fn claims(self, claims: EmitClaims) -> Self {
        self.with(|it| it.claims = claims)
    }

    /// What a host may decide.
    #[must_use]
    pub fn policy(self, policy: PolicyPatch) -> Self {
        self.with(|it| it.policy = Some(policy))
    }

    /// How the model writes, in place of what its name says.
    #[must_use]
    pub fn response_template(self, template: Map<String, Value>) -> Self {
        self.with(|it| it.response_template = Some(template))
    }

    /// Who answers, where the host of the address does not say it: behind a proxy `"groq"`.
    #[must_use]
    pub fn provider(self, provider: impl Into<String>) -> Self {
        self.with(|it| it.provider = Some(provider.into()))
    }

    /// Whether requests go out without what leaked in earlier turns, and without reasoning that
    /// their provider refuses. By default they do; a request without any goes out byte for byte.
    #[must_use]
    pub fn prepare(self, prepares: bool) -> Self {
        self.with(|it| it.prepares = prepares)
    }

    /// Gets each event of an answer, before the client sees what it means.
    #[must_use]
    pub fn on_event(self, hear: impl Fn(&Event, &AnswerInfo) + Send + Sync + 'static) -> Self {
        self.with(|it| it.on_event = Some(Arc::new(hear)))
    }

    /// Gets the message at the end of an answer: its `tool_calls` has those found in text, too.
    #[must_use]
    pub fn on_message(self, hear: impl Fn(&Message, &AnswerInfo) + Send + Sync + 'static) -> Self {
        self.with(|it| it.on_message = Some(Arc::new(hear)))
    }

    /// Gets why a response passes as it came or breaks off, and why a request goes out as it
    /// came: the sidecar is gone, refuses it or is too old, which is told once.
    #[must_use]
    pub fn on_lost(self, tell: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.with(|it| it.on_lost = Told::new(tell))
    }

    fn with(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(Arc::make_mut(&mut self.options));
        self
    }
}

impl fmt::Debug for SidecarLayer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("SidecarLayer").field(&self.options.pool).finish()
    }
}

impl<S> Layer<S> for SidecarLayer {
    type Service = SidecarService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        SidecarService { inner, options: Arc::clone(&self.options) }
    }
}

/// A service whose responses are clean; a [`SidecarLayer`] makes it.
///
/// A request that is read goes on with another body of its own type, which the type makes of
/// bytes. What reading it fails with is an error of the service below.
#[derive(Clone)]
pub struct SidecarService<S> {
    inner: S,
    options: Arc<Options>,
}

impl<S: fmt::Debug> fmt::Debug for SidecarService<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("SidecarService").field(&self.inner).finish()
    }
}

impl<S, Asking, Answering> Service<Request<Asking>> for SidecarService<S>
where
    S: Service<Request<Asking>, Response = Response<Answering>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: From<Asking::Error>,
    Asking: Body + From<Bytes> + Send + 'static,
    Asking::Data: Send,
    Answering: Body + Send + 'static,
    Answering::Error: Into<BoxError>,
{
    type Response = Response<SidecarBody>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Asking>) -> Self::Future {
        // The one that is ready goes, and a new one stays.
        let next = self.inner.clone();
        let mut inner = mem::replace(&mut self.inner, next);
        let options = Arc::clone(&self.options);
        Box::pin(async move {
            if !may_be_read(request.method(), request.uri()) {
                return Ok(inner.call(request).await?.map(SidecarBody::passing));
            }
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let Some(asked) = Asked::read(&head.uri, &body) else {
                let request = Request::from_parts(head, body.into());
                return Ok(inner.call(request).await?.map(SidecarBody::passing));
            };
            let exchange = Exchange::new(options, asked);
            let request = exchange.request(head, body).await;
            let response = inner.call(request).await?.map(SidecarBody::passing);
            Ok(exchange.clean(response).await)
        })
    }
}
