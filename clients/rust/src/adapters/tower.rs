//! A layer of [tower] that cleans responses: leaked text is moved to its channel, and the client
//! above reads the format of its provider. It cleans streams and whole responses of Chat
//! Completions, Responses, Messages and Gemini. Everything else passes unchanged: other
//! responses, and all responses if no sidecar can be started.
//!
//! [tower]: https://docs.rs/tower

mod body;
mod cleaning;
mod endpoints;
mod exchange;
mod kept_source;
mod listening;
mod options;

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

pub use self::{
    body::{BoxError, SidecarBody},
    options::{AnswerInfo, Unavailable},
};
use self::{
    endpoints::{Asked, may_be_read},
    exchange::Exchange,
    options::{Losses, Options},
};
use crate::{
    checks,
    error::Error,
    pool::SidecarPool,
    protocol::{EmitClaims, Event, Message, PolicyPatch},
    watching::Callback,
};

/// Wraps a service that sends requests over HTTP in a [`SidecarService`].
#[derive(Clone)]
pub struct SidecarLayer {
    options: Arc<Options>,
}

impl SidecarLayer {
    /// A layer that cleans with a [`Sidecar`](crate::Sidecar), or with a pool, which gives each
    /// answer to one of its processes.
    #[must_use]
    pub fn new(sidecars: impl Into<SidecarPool>) -> Self {
        Self { options: Arc::new(Options::new(sidecars.into())) }
    }

    /// What happens to calls that the model wrote into its text. By default they are left out.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for a word that the protocol does not have.
    pub fn claims(self, claims: EmitClaims) -> Result<Self, Error> {
        checks::known("claims", Some(&claims))?;
        Ok(self.with(|it| it.claims = claims))
    }

    /// Documents that the provider's official SDKs cannot read are written anew.
    #[must_use]
    pub fn rewrite(self, rewrites: bool) -> Self {
        self.with(|it| it.rewrite = rewrites)
    }

    /// The policy for every answer.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for a word that the protocol does not have.
    pub fn policy(self, policy: PolicyPatch) -> Result<Self, Error> {
        checks::policy(&policy)?;
        Ok(self.with(|it| it.policy = Some(policy)))
    }

    /// A response template, which says how the model writes; it replaces the model's profile.
    #[must_use]
    pub fn response_template(self, template: Map<String, Value>) -> Self {
        self.with(|it| it.response_template = Some(template))
    }

    /// The provider, if the host of the address does not show it: `"groq"` for a proxy of Groq.
    #[must_use]
    pub fn provider(self, provider: impl Into<String>) -> Self {
        self.with(|it| it.provider = Some(provider.into()))
    }

    /// Whether requests are prepared: sent without text that leaked in earlier turns, and without
    /// reasoning that the provider refuses. Default: `true`. A request that needs no change is
    /// sent byte for byte.
    #[must_use]
    pub fn prepare(self, prepares: bool) -> Self {
        self.with(|it| it.prepares = prepares)
    }

    /// `callback` gets each event of an answer, before the client gets the text made from it.
    #[must_use]
    pub fn on_event(self, callback: impl Fn(&Event, &AnswerInfo) + Send + Sync + 'static) -> Self {
        self.with(|it| it.on_event = Some(Arc::new(callback)))
    }

    /// `callback` gets the message at the end of an answer. Its `tool_calls` include the calls
    /// found in the text.
    #[must_use]
    pub fn on_message(
        self,
        callback: impl Fn(&Message, &AnswerInfo) + Send + Sync + 'static,
    ) -> Self {
        self.with(|it| it.on_message = Some(Arc::new(callback)))
    }

    /// What happens to a response that cannot be cleaned because there is no sidecar, or because
    /// it is too old, refuses the response or breaks. Default: it passes unchanged.
    #[must_use]
    pub fn unavailable(self, unavailable: Unavailable) -> Self {
        self.with(|it| it.unavailable = unavailable)
    }

    /// `callback` gets the reason if a response passes unchanged or breaks off, or if a request
    /// is sent unprepared: the sidecar is lost, or refuses it, or is too old (reported once), or
    /// the response is too long, encoded, or of another type. Default: the first reason is a
    /// [warning](crate::Builder::on_warning) of the sidecar.
    #[must_use]
    pub fn on_lost(self, callback: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.with(|it| it.losses = Losses::reporting_to(Callback::new(callback)))
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

/// A service with clean responses, made by a [`SidecarLayer`].
///
/// To read a request, the service collects its body, and sends a new body of the same type, made
/// from bytes. If reading the body fails, that error is converted to the error of the service
/// below.
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
        // The service that was polled ready makes this call; its clone stays for the next.
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
            let exchange = Exchange::new(options, asked, &head.headers);
            if let Some(response) = exchange.unsent().await {
                return Ok(response);
            }
            let request = exchange.request(head, body).await;
            let response = inner.call(request).await?.map(SidecarBody::passing);
            Ok(exchange.clean(response).await)
        })
    }
}
