//! One request and its response, on their way through the sidecar.

use std::{
    fmt,
    sync::{Arc, atomic::AtomicBool},
};

use bytes::Bytes;
use futures_util::StreamExt;
use http::{
    HeaderMap, Request, Response,
    header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING},
    request, response,
};
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use super::{
    AnswerInfo, SidecarBody, cleaning::Cleaning, endpoints::Asked, kept_source::KeptSource,
};
use crate::{
    body_format::BodyFormat,
    error::Error,
    handle::StreamHandle,
    passage::Passage,
    pool::SidecarPool,
    protocol::{
        Emit, EmitClaims, Event, Framing, Message, NormalizeParams, OpenParams, PolicyPatch,
    },
    sidecar::Sidecar,
    stream,
    watching::Told,
};

/// Whom the host wants to be told of an answer; by default nobody.
type Hear<T> = Option<Arc<dyn Fn(&T, &AnswerInfo) + Send + Sync>>;

/// What a host has decided.
#[derive(Clone)]
pub(super) struct Options {
    pub(super) pool: SidecarPool,
    pub(super) claims: EmitClaims,
    pub(super) policy: Option<PolicyPatch>,
    pub(super) response_template: Option<Map<String, Value>>,
    pub(super) provider: Option<String>,
    pub(super) prepares: bool,
    pub(super) on_event: Hear<Event>,
    pub(super) on_message: Hear<Message>,
    pub(super) on_lost: Told<Error>,
    said_old: Arc<AtomicBool>,
}

impl Options {
    pub(super) fn new(pool: SidecarPool) -> Self {
        Self {
            pool,
            claims: EmitClaims::Drop,
            policy: None,
            response_template: None,
            provider: None,
            prepares: true,
            on_event: None,
            on_message: None,
            on_lost: Told::default(),
            said_old: Arc::default(),
        }
    }
}

pub(super) struct Exchange {
    options: Arc<Options>,
    sidecar: Sidecar,
    asked: Asked,
    answer: AnswerInfo,
    passage: Passage,
}

/// A whole response; of its body the text as it was written.
#[derive(Deserialize)]
struct Normalized {
    events: Vec<Event>,
    message: Message,
    body: Option<Box<RawValue>>,
}

/// What is said of a document that the wire does not know.
const UNREAD: [&str; 2] = ["malformed-chunk", "unknown-chunk"];

impl Exchange {
    pub(super) fn new(options: Arc<Options>, asked: Asked) -> Self {
        // Ids of promoted calls are made of it: two turns must not have one.
        let stream_id = stream::new_id();
        let sidecar = options.pool.of(&stream_id).clone();
        let claims = Some(options.claims.clone());
        let params = OpenParams {
            stream_id: Some(stream_id.clone()),
            wire: Some(asked.wire.as_str().into()),
            provider: options.provider.clone().or_else(|| asked.host.clone()),
            model: asked.model.clone(),
            tools: asked.tools.clone(),
            policy: options.policy.clone(),
            response_template: options.response_template.clone(),
            emit: Some(Emit { wire: asked.wire.clone(), claims, reasoning: None }),
            ..OpenParams::default()
        };
        let on_lost = options.on_lost.clone();
        let passage = sidecar.passage(params).prepare(options.prepares);
        let passage = passage.saying_old_once(Arc::clone(&options.said_old));
        let passage = passage.on_lost(move |error| {
            if !error.is_start() {
                on_lost.tell(error); // that there is no sidecar is said of the answer
            }
        });
        let answer = AnswerInfo { stream_id, model: asked.model.clone() };
        Self { options, sidecar, asked, answer, passage }
    }

    /// The request to send: without what leaked before, or with the very bytes that were given.
    pub(super) async fn request<B: From<Bytes>>(
        &self,
        mut head: request::Parts,
        body: Bytes,
    ) -> Request<B> {
        let prepared = self.passage.request(body.clone()).await;
        if prepared != body {
            head.headers.remove(CONTENT_LENGTH); // which is another one
        }
        Request::from_parts(head, prepared.into())
    }

    pub(super) async fn clean(self, response: Response<SidecarBody>) -> Response<SidecarBody> {
        let headers = response.headers();
        if !response.status().is_success() || is_encoded(headers) {
            return response;
        }
        let content_type = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let content_type = content_type.unwrap_or_default();
        match self.asked.format_of(content_type) {
            Some((framing, format)) => self.streamed(response, framing, format).await,
            None if content_type.starts_with("application/json") => self.whole(response).await,
            None => response,
        }
    }

    async fn streamed(
        self,
        response: Response<SidecarBody>,
        framing: Framing,
        format: BodyFormat,
    ) -> Response<SidecarBody> {
        let mut params = self.passage.response_params().await;
        params.framing = Some(framing);
        let stream = match self.sidecar.open(params).await.and_then(emitting) {
            Ok(stream) if stream.is_pass_through() => return response,
            Ok(stream) => stream,
            Err(error) => {
                self.tell_lost(&error);
                return response;
            }
        };
        let (head, body) = response.into_parts();
        let body = Cleaning::new(self, stream, body, format);
        answer(head, SidecarBody::streamed(body))
    }

    async fn whole(self, response: Response<SidecarBody>) -> Response<SidecarBody> {
        let (head, body) = response.into_parts();
        let mut source = KeptSource::new(body);
        let mut came = Vec::new();
        while let Some(Ok(slice)) = source.next().await {
            came.extend_from_slice(&slice);
        }
        if source.has_failed() {
            return Response::from_parts(head, SidecarBody::streamed(source.again()));
        }
        if let Ok(before @ Value::Object(_)) = serde_json::from_slice(&came)
            && let Some(body) = self.cleaned(&came).await
            && serde_json::from_str::<Value>(body.get()).ok() != Some(before)
        {
            return answer(head, SidecarBody::whole(String::from(Box::<str>::from(body)).into()));
        }
        Response::from_parts(head, SidecarBody::whole(came.into()))
    }

    /// The clean body; `None`: nothing was read of the one that came, or there is nobody to
    /// read it.
    async fn cleaned(&self, body: &[u8]) -> Option<Box<RawValue>> {
        let OpenParams { wire, provider, model, tools, policy, response_template, emit, .. } =
            self.passage.response_params().await;
        let params = NormalizeParams {
            body: String::from_utf8_lossy(body).into(),
            framing: Some(Framing::Json),
            stream_id: Some(self.answer.stream_id.clone()),
            encoding: None,
            wire,
            provider,
            model,
            tools,
            policy,
            response_template,
            emit,
        };
        let normalized = self.sidecar.request("message/normalize", &params).await;
        let Normalized { events, message, body } =
            normalized.inspect_err(|error| self.tell_lost(error)).ok()?;
        if body.is_none() || events.iter().any(is_unread) {
            return None;
        }
        for event in &events {
            self.hear_event(event);
        }
        self.hear_message(&message);
        body
    }

    pub(super) fn hear_event(&self, event: &Event) {
        if let Some(hear) = &self.options.on_event {
            hear(event, &self.answer);
        }
    }

    pub(super) fn hear_message(&self, message: &Message) {
        if let Some(hear) = &self.options.on_message {
            hear(message, &self.answer);
        }
    }

    pub(super) fn tell_lost(&self, error: &Error) {
        self.options.on_lost.tell(error);
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Exchange").field(&self.asked).finish()
    }
}

/// A stream whose documents are to be had; an error where the sidecar is too old for it.
fn emitting(stream: StreamHandle) -> Result<StreamHandle, Error> {
    if stream.opened().is_none_or(|it| it.emit.is_some()) {
        Ok(stream)
    } else {
        Err(Error::Unsupported { method: "stream/open with emit" })
    }
}

fn is_unread(event: &Event) -> bool {
    matches!(event, Event::Diagnostic(it) if UNREAD.contains(&it.code.as_str()))
}

/// Whether something below the body is to be taken off, which is not done here.
fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_ENCODING).is_some_and(|it| it != "identity")
}

/// The response with another body, whose length is not known.
fn answer(mut head: response::Parts, body: SidecarBody) -> Response<SidecarBody> {
    for name in [CONTENT_LENGTH, TRANSFER_ENCODING] {
        head.headers.remove(name);
    }
    Response::from_parts(head, body)
}
