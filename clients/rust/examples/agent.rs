//! An agent's turn: what the model said, and the tools that it may run. The model's
//! responses are files here, a turn each, cut as a network would cut them:
//! `cargo run --example agent -- response.sse ...`
use std::{env, error::Error, fs};

use futures_util::{StreamExt, stream};
use stream_sidecar::{Event, OpenParams, Sidecar, protocol};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let sidecar = Sidecar::builder().spawn().await?;
    for path in env::args().skip(1) {
        let tool = protocol::Tool { name: "read_file".into(), ..Default::default() };
        let params = OpenParams { tools: Some(vec![tool.into()]), ..Default::default() };
        let body = fs::read(path)?;
        let mut events = sidecar.open(params).await?.pipe(stream::iter(body.chunks(64)));
        while let Some(event) = events.next().await {
            match event? {
                Event::ReasoningDelta(delta) => eprint!("{}", delta.text),
                Event::TextDelta(delta) => print!("{}", delta.text),
                Event::ProviderError(error) => eprintln!("{}: {}", error.kind, error.message),
                _ => {} // the message below has the rest
            }
        }
        let message = events.into_closed().expect("it came to its end").message;
        for call in message.tool_calls.iter().filter(|it| it.executable) {
            let path = call.input.as_ref().and_then(|it| it["path"].as_str());
            let content = path.map(fs::read_to_string);
            println!("\n{} {} -> {content:?}", call.name, call.arguments);
        }
    }
    Ok(sidecar.shutdown().await?)
}
