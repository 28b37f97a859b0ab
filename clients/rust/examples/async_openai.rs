//! `async-openai`, whose middleware is a tower service, with clean answers:
//! `cargo run --example async_openai --features tower -- http://localhost:8000/v1 Hello`

use std::{env, error::Error, io::Write};

use async_openai::{
    Client,
    config::OpenAIConfig,
    error::OpenAIError,
    middleware::{HttpRequestFactory, retry::OpenAIRetryLayer},
    types::chat::{
        ChatCompletionRequestUserMessage, CreateChatCompletionRequest,
        CreateChatCompletionRequestArgs,
    },
};
use futures_util::StreamExt;
use http::{Request, Response};
use stream_sidecar::{Sidecar, tower::SidecarLayer};
use tower::{ServiceBuilder, ServiceExt};

/// A client whose requests go through the layer. The layer is below the retries, because each
/// attempt makes a new request.
#[must_use]
pub fn client(layer: SidecarLayer, config: OpenAIConfig) -> Client<OpenAIConfig> {
    let sender = reqwest::Client::new();
    let clean = ServiceBuilder::new().layer(layer).service_fn(move |it: Request<reqwest::Body>| {
        let sent = it.try_into().map(|request| sender.execute(request));
        async move { Ok::<_, reqwest::Error>(Response::<reqwest::Body>::from(sent?.await?)) }
    });
    let send = move |factory: HttpRequestFactory| {
        let clean = clean.clone();
        async move {
            let request = Request::<reqwest::Body>::try_from(factory.build().await?)?;
            let response = clean.oneshot(request).await?;
            Ok::<_, OpenAIError>(response.map(reqwest::Body::wrap).into())
        }
    };
    let service = ServiceBuilder::new().layer(OpenAIRetryLayer::default()).service_fn(send);
    Client::with_config(config).with_http_service(service)
}

/// Returns the answer; `show` gets each piece of it as it arrives.
///
/// # Errors
///
/// Errors of the model's server, or a stream that broke off.
pub async fn ask(
    client: &Client<OpenAIConfig>,
    question: &str,
    mut show: impl FnMut(&str),
) -> Result<String, OpenAIError> {
    let message = ChatCompletionRequestUserMessage::from(question);
    let request: CreateChatCompletionRequest = CreateChatCompletionRequestArgs::default()
        .model("qwen/qwen3-32b")
        .messages([message.into()])
        .build()?;
    let mut stream = client.chat().create_stream(request).await?;
    let mut answer = String::new();
    while let Some(chunk) = stream.next().await {
        for text in chunk?.choices.into_iter().filter_map(|choice| choice.delta.content) {
            show(&text);
            answer += &text;
        }
    }
    Ok(answer)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [url, question @ ..] = &words[..] else { return Err("URL QUESTION".into()) };
    let sidecar = Sidecar::builder().spawn().await?;
    let client = client(SidecarLayer::new(sidecar), OpenAIConfig::new().with_api_base(url));
    ask(&client, &question.join(" "), |text| {
        print!("{text}");
        let _ = std::io::stdout().flush();
    })
    .await?;
    Ok(())
}
