//! One request and its response, passed through the sidecar.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use futures_util::StreamExt;
use http::{
    HeaderMap, HeaderName, Request, Response, StatusCode,
    header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING},
    request, response,
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{
    body::SidecarBody,
    cleaning::Cleaning,
    endpoints::Asked,
    kept_source::KeptSource,
    listening::{Listening, too_long},
    options::{AnswerInfo, Options},
};
use crate::{
    adapters::passage::Passage,
    error::Error,
    protocol::{Emit, Event, Framing, Message, NormalizeParams, OpenParams},
    sidecar::Sidecar,
    stream::{body_format::BodyFormat, handle::StreamHandle, remote_stream},
};

pub(super) struct Exchange {
    sidecar: Sidecar,
    asked: Asked,
    listening: Arc<Listening>,
    passage: Passage,
}

/// A whole response, with its body as JSON text.
#[derive(Deserialize)]
struct Normalized {
    events: Vec<Event>,
    message: Message,
    body: Option<Box<RawValue>>,
}

/// The longest whole body that is read, in bytes; a longer one passes unread.
const LONGEST_BODY: usize = 32 << 20;

/// Codes of diagnostics about documents that the wire does not know.
const UNREAD: [&str; 2] = ["malformed-chunk", "unknown-chunk"];

impl Exchange {
    pub(super) fn new(options: Arc<Options>, asked: Asked, headers: &HeaderMap) -> Self {
        // Ids of promoted calls contain the stream's id, so two turns must not share it.
        let stream_id = remote_stream::new_id();
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
            emit: Some(Emit {
                wire: asked.wire.clone(),
                claims,
                reasoning: None,
                rewrite: options.rewrite.then_some(true),
            }),
            ..OpenParams::default()
        };
        let losses = options.losses.clone();
        let warnings = sidecar.warnings().clone();
        let prepares = options.prepares && !covers_body(headers);
        let passage = sidecar.passage(params).prepare(prepares);
        let passage = passage.reporting_old_once(Arc::clone(&options.reported_old));
        let passage = passage.on_lost(move |error| {
            if !error.is_start() {
                losses.report(error, &warnings); // a missing sidecar is reported with the answer
            }
        });
        let answer = AnswerInfo { stream_id, model: asked.model.clone() };
        let listening = Arc::new(Listening::new(options, answer, sidecar.warnings().clone()));
        Self { sidecar, asked, listening, passage }
    }

    /// The request to send, with its prepared body, or with the same bytes.
    pub(super) async fn request<B: From<Bytes>>(
        &self,
        mut head: request::Parts,
        body: Bytes,
    ) -> Request<B> {
        let fields = head.headers.iter();
        let fields = fields.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        let (prepared, to_set) = self.passage.request_with_headers(body.clone(), fields).await;
        if prepared != body {
            head.headers.remove(CONTENT_LENGTH); // the length has changed
        }
        for (name, value) in to_set {
            if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse()) {
                head.headers.insert(name, value);
            }
        }
        Request::from_parts(head, prepared.into())
    }

    /// The answer to a request that is not sent, because its response could not be cleaned.
    pub(super) async fn unsent(&self) -> Option<Response<SidecarBody>> {
        if self.listening.passes() {
            return None;
        }
        let error = self.sidecar.start().await.err()?;
        let mut response = Response::new(SidecarBody::whole(Bytes::new()));
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        Some(self.uncleaned(error, response))
    }

    /// The response, which could not be cleaned; its body breaks off if it must not pass.
    fn uncleaned(&self, error: Error, response: Response<SidecarBody>) -> Response<SidecarBody> {
        self.listening.lost(&error);
        if self.listening.passes() {
            return response;
        }
        answer(response.into_parts().0, SidecarBody::failing(error))
    }

    pub(super) async fn clean(self, response: Response<SidecarBody>) -> Response<SidecarBody> {
        if !response.status().is_success() {
            return response;
        }
        let headers = response.headers();
        if is_encoded(headers) {
            self.listening.unread("an encoded response");
            return response;
        }
        let content_type = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let content_type = content_type.unwrap_or_default().trim().to_ascii_lowercase();
        match self.asked.format_of(&content_type) {
            Some((framing, format)) => self.streamed(response, framing, format).await,
            None if content_type.starts_with("application/json") => self.whole(response).await,
            None => {
                self.listening.unread(&format!("a response of the type {content_type:?}"));
                response
            }
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
        params.policy = self.listening.policy(params.policy);
        let stream = match self.sidecar.open_live(params).await.and_then(emitting) {
            Ok(stream) => stream,
            Err(error) => return self.uncleaned(error, response),
        };
        let (head, body) = response.into_parts();
        let body = Cleaning::new(self.listening, stream, body, format);
        answer(head, SidecarBody::streamed(body))
    }

    async fn whole(self, response: Response<SidecarBody>) -> Response<SidecarBody> {
        let (head, body) = response.into_parts();
        let mut source = KeptSource::new(body, usize::MAX); // bounded by `LONGEST_BODY`
        let mut came = Vec::new();
        while let Some(Ok(slice)) = source.next().await {
            came.extend_from_slice(&slice);
            if came.len() > LONGEST_BODY {
                let problem = "a whole response of more than 32 MiB is not read".into();
                let response = Response::from_parts(head, SidecarBody::streamed(source.again()));
                return self.uncleaned(Error::Uncleaned { problem }, response);
            }
        }
        if source.has_failed() {
            return Response::from_parts(head, SidecarBody::streamed(source.again()));
        }
        let before = serde_json::from_slice(&came).ok().filter(Value::is_object);
        let cleaned = if before.is_some() { self.cleaned(&came).await } else { Ok(None) };
        let error = match cleaned {
            Ok(Some(body)) if serde_json::from_str(body.get()).ok() != before => {
                let body = String::from(Box::<str>::from(body));
                return answer(head, SidecarBody::whole(body.into()));
            }
            cleaned => cleaned.err(),
        };
        let response = Response::from_parts(head, SidecarBody::whole(came.into()));
        match error {
            Some(error) => self.uncleaned(error, response),
            None => response,
        }
    }

    /// The clean body; `None` if the sidecar could not read the body.
    async fn cleaned(&self, body: &[u8]) -> Result<Option<Box<RawValue>>, Error> {
        let OpenParams { wire, provider, model, tools, policy, response_template, emit, .. } =
            self.passage.response_params().await;
        let params = NormalizeParams {
            body: String::from_utf8_lossy(body).into(),
            framing: Some(Framing::Json),
            stream_id: Some(self.listening.answer.stream_id.clone()),
            encoding: None,
            wire,
            provider,
            model,
            tools,
            policy,
            response_template,
            emit,
        };
        let Normalized { events, message, body } =
            self.sidecar.request("message/normalize", &params).await?;
        if !self.listening.passes()
            && let Some(error) = events.iter().find_map(too_long)
        {
            return Err(error);
        }
        if body.is_none() || events.iter().any(is_unread) {
            for event in &events {
                self.listening.loss(event);
            }
            return Ok(None);
        }
        for event in &events {
            self.listening.event(event);
        }
        self.listening.message(&message);
        Ok(body)
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Exchange").field(&self.asked).finish()
    }
}

/// The stream, or an error if the sidecar is too old to emit the documents of the clean stream.
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

/// Whether the body is compressed or otherwise encoded; such a body is not read here.
fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_ENCODING).is_some_and(|it| !it.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Whether a signature of AWS covers the body, which must not change then.
fn covers_body(headers: &HeaderMap) -> bool {
    headers.get(AUTHORIZATION).is_some_and(|it| it.as_bytes().starts_with(b"AWS4-HMAC"))
}

/// The response with a new body of unknown length.
fn answer(mut head: response::Parts, body: SidecarBody) -> Response<SidecarBody> {
    for name in [CONTENT_LENGTH, TRANSFER_ENCODING] {
        head.headers.remove(name);
    }
    Response::from_parts(head, body)
}
