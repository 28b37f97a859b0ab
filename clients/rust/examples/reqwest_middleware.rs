//! A `reqwest-middleware` client with clean answers, for libraries that accept one (such as rig):
//! `cargo run --example reqwest_middleware --features tower -- http://localhost:8000/v1 Hello`

use std::{env, error::Error, io::Write};

use futures_util::StreamExt;
use http::{Extensions, Request, Response};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Middleware, Next, Result};
use serde_json::json;
use stream_sidecar::{
    Sidecar,
    tower::{SidecarBody, SidecarLayer},
};
use tower::{Service, ServiceBuilder, ServiceExt};

/// A middleware that sends requests through a service. It must be the last middleware.
struct Sending<S>(S);

#[async_trait::async_trait]
impl<S> Middleware for Sending<S>
where
    S: Service<Request<reqwest::Body>, Response = Response<SidecarBody>, Error = reqwest::Error>,
    S: Clone + Send + Sync + 'static,
    S::Future: Send,
{
    async fn handle(
        &self,
        request: reqwest::Request,
        _: &mut Extensions,
        _: Next<'_>,
    ) -> Result<reqwest::Response> {
        let response = self.0.clone().oneshot(request.try_into()?).await?;
        Ok(response.map(reqwest::Body::wrap).into())
    }
}

/// Other middlewares are added before the one that sends.
#[must_use]
pub fn client(layer: SidecarLayer) -> ClientWithMiddleware {
    let sender = reqwest::Client::new();
    let base = sender.clone();
    let clean = ServiceBuilder::new().layer(layer).service_fn(move |it: Request<reqwest::Body>| {
        let sent = it.try_into().map(|request| sender.execute(request));
        async move { Ok::<_, reqwest::Error>(Response::<reqwest::Body>::from(sent?.await?)) }
    });
    ClientBuilder::new(base).with(Sending(clean)).build()
}

/// Reads the events of an answer; `show` gets each piece as it arrives.
///
/// # Errors
///
/// Errors of the model's server, or a stream that broke off.
pub async fn ask(
    client: &ClientWithMiddleware,
    base_url: &str,
    question: &str,
    mut show: impl FnMut(&[u8]),
) -> std::result::Result<(), Box<dyn Error>> {
    let messages = json!([{"role": "user", "content": question}]);
    let body = json!({"model": "qwen/qwen3-32b", "stream": true, "messages": messages});
    let response = client.post(format!("{base_url}/chat/completions")).json(&body).send().await?;
    let mut slices = response.error_for_status()?.bytes_stream();
    while let Some(slice) = slices.next().await {
        show(&slice?);
    }
    Ok(())
}

#[tokio::main]
async fn main() -> std::result::Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [url, question @ ..] = &words[..] else { return Err("URL QUESTION".into()) };
    let sidecar = Sidecar::builder().spawn().await?;
    let client = client(SidecarLayer::new(sidecar));
    let show = |slice: &[u8]| drop(std::io::stdout().write_all(slice));
    ask(&client, url, &question.join(" "), show).await
}
