//! The layer of tower above a real client, for tests.

use std::sync::{Arc, Mutex};

use http::{Request, Response};
use http_body_util::BodyExt;
use stream_sidecar::tower::{SidecarBody, SidecarLayer};
use tower::{Service, ServiceBuilder, ServiceExt};

use super::{
    builder,
    server::{Answer, Server},
};

/// The service of an application: its client, with the layer above it.
pub fn client_of(
    client: reqwest::Client,
    layer: SidecarLayer,
) -> impl Service<Request<reqwest::Body>, Response = Response<SidecarBody>, Error = reqwest::Error>
{
    ServiceBuilder::new().layer(layer).service_fn(move |request: Request<reqwest::Body>| {
        let sent = request.try_into().map(|request| client.execute(request));
        async move { Ok::<_, reqwest::Error>(Response::<reqwest::Body>::from(sent?.await?)) }
    })
}

pub fn layer() -> SidecarLayer {
    SidecarLayer::new(builder().build().unwrap())
}

pub async fn ask(layer: SidecarLayer, url: &str, body: &str) -> Response<SidecarBody> {
    let request = Request::post(url).body(body.to_owned().into()).unwrap();
    client_of(reqwest::Client::new(), layer).oneshot(request).await.unwrap()
}

pub async fn text(response: Response<SidecarBody>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().into()).unwrap()
}

/// The body that an application reads for this answer.
pub async fn read(layer: SidecarLayer, path: &str, answer: Answer) -> String {
    let server = Server::answering(vec![answer]);
    text(ask(layer, &format!("{}{path}", server.url), r#"{"model":"m","stream":true}"#).await).await
}

pub type Lost = Arc<Mutex<Vec<String>>>;

/// The layer, and the kinds of the errors that `on_lost` got.
pub fn losing(layer: SidecarLayer) -> (SidecarLayer, Lost) {
    let lost = Lost::default();
    let kept = Arc::clone(&lost);
    (layer.on_lost(move |error| kept.lock().unwrap().push(error.kind().into())), lost)
}

pub const LEAKING: &str = "<think>why</think>Because.";
pub const CHAT: &str = "/v1/chat/completions";

/// The layer, and the warnings of its sidecar.
pub fn warning(builder: stream_sidecar::Builder) -> (SidecarLayer, Lost) {
    let warnings = Lost::default();
    let kept = Arc::clone(&warnings);
    let builder = builder.on_warning(move |text| kept.lock().unwrap().push(text.into()));
    (SidecarLayer::new(builder.build().unwrap()), warnings)
}
pub const JSON: &str = "Content-Type: application/json; charset=utf-8";
