//! An agent of two turns: the model asks for a tool, the tool runs, and the model answers.
//! The loop sees clean responses, whatever the model's server leaks, and sends back what the
//! provider needs: `cargo run --example agent -- http://localhost:8000/v1 "Which branch?"`

use std::{env, error::Error, process::Command};

use futures_util::StreamExt;
use serde_json::{Value, json};
use stream_sidecar::{
    Event, OpenParams, Sidecar,
    protocol::{Message, RenderParams, RenderParamsWire, Tool, Turn, TurnResult, Wire},
};

const MODEL: &str = "qwen3-32b";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [base_url, prompt] = &words[..] else { return Err("agent BASE_URL PROMPT".into()) };
    let sidecar = Sidecar::builder().spawn().await?;
    println!("\n{}", ask(&sidecar, base_url, prompt, run).await?);
    Ok(sidecar.shutdown().await?)
}

fn run(command: &str) -> String {
    let output = Command::new("sh").args(["-c", command]).output();
    output.map_or_else(|error| error.to_string(), |it| String::from_utf8_lossy(&it.stdout).into())
}

/// Sends requests until the model calls no more tools; returns its last answer.
///
/// # Errors
///
/// Errors of the model's server, or of the sidecar.
pub async fn ask(
    sidecar: &Sidecar,
    base_url: &str,
    prompt: &str,
    run: impl Fn(&str) -> String,
) -> Result<String, Box<dyn Error>> {
    let mut messages = vec![json!({"role": "user", "content": prompt})];
    loop {
        let message = turn(sidecar, base_url, &messages).await?;
        let results = results(&message, &run);
        if results.is_empty() {
            return Ok(message.text.unwrap_or_default());
        }
        let said = RenderParams {
            wire: RenderParamsWire::OpenaiChat,
            provider: None,
            model: Some(MODEL.into()),
            message: Turn::try_from(&message)?,
            results: Some(results),
            claims: None,
            reasoning: None,
        };
        let next = sidecar.render(&said).await?.messages;
        messages.extend(next.into_iter().map(Value::Object));
    }
}

/// One response of the model; its reasoning is shown as it arrives.
async fn turn(
    sidecar: &Sidecar,
    base_url: &str,
    messages: &[Value],
) -> Result<Message, Box<dyn Error>> {
    let command = json!({"type": "object", "properties": {"command": {"type": "string"}}});
    let tool = json!({"name": "run_command", "parameters": command});
    let asked = json!({
        "model": MODEL, "stream": true, "messages": messages,
        "tools": [{"type": "function", "function": tool}],
    });
    let client = reqwest::Client::new();
    let response = client.post(format!("{base_url}/chat/completions")).json(&asked).send().await?;
    let body = response.error_for_status()?.bytes_stream();

    let params = OpenParams {
        wire: Some(Wire::OpenaiChat),
        model: Some(MODEL.into()),
        tools: Some(vec![Tool { name: "run_command".into(), ..Default::default() }.into()]),
        ..Default::default()
    };
    let mut events = sidecar.open(params).await?.try_pipe(body);
    while let Some(event) = events.next().await {
        match event? {
            Event::ReasoningDelta(delta) => eprint!("{}", delta.text),
            Event::Error(error) => return Err(error.message.into()),
            _ => {} // the message has the rest
        }
    }
    Ok(events.into_closed().expect("it came to its end").message)
}

/// The results of the calls that the agent may run.
fn results(message: &Message, run: impl Fn(&str) -> String) -> Vec<TurnResult> {
    let calls = message.tool_calls.iter().filter(|call| call.executable);
    let ran = calls.map(|call| {
        let command = call.input.as_ref().and_then(|it| it.get("command")?.as_str());
        let content = command.map_or("no command".into(), &run);
        let tool_call_id = call.tool_call_id.clone();
        TurnResult { tool_call_id, content: content.into(), ..Default::default() }
    });
    ran.collect()
}
