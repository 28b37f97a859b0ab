//! The examples run against a server that replays recorded responses.

#[allow(dead_code)] // its `main`
#[path = "../examples/agent.rs"]
mod agent;
#[allow(dead_code)]
#[cfg(feature = "tower")]
#[path = "../examples/async_openai.rs"]
mod async_openai;
#[allow(dead_code)]
#[cfg(feature = "tower")]
#[path = "../examples/reqwest_middleware.rs"]
mod reqwest_middleware;
mod support;

use std::{fs, sync::Mutex};

use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::json;
use stream_sidecar::{
    OpenParams,
    protocol::{Emit, EmitReasoning, EmitWire, FinishReason, Wire},
};
use support::{builder, project_tests, server::Server};

fn recorded(name: &str) -> Vec<u8> {
    fs::read(project_tests().join("wires/openai-chat").join(name)).unwrap()
}

#[tokio::test]
async fn the_agent_runs_the_models_calls_and_returns_its_answer() {
    let server = Server::start(vec![recorded("leaking.sse"), recorded("leaking-next.sse")]);
    let sidecar = builder().build().unwrap();
    let ran = Mutex::new(Vec::new());
    let run = |command: &str| {
        ran.lock().unwrap().push(command.to_owned());
        "main\n".to_owned()
    };
    let answer = agent::ask(&sidecar, &server.url, "Which branch?", run).await.unwrap();
    assert_eq!(answer.trim(), "You are on `main` 🌿.");
    assert_eq!(*ran.lock().unwrap(), ["git branch --show-current"]);

    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    let messages = asked[1]["messages"].as_array().unwrap();
    assert_eq!(messages[0], json!({"role": "user", "content": "Which branch?"}));
    let [said, result] = &messages[1..] else { panic!("{messages:?}") };
    let content = said["content"].as_str().unwrap();
    assert_eq!(content.trim(), "I will look at the branch 🌿 first.");
    assert_eq!(said["tool_calls"][0]["function"]["name"], "run_command");
    assert_eq!(said["tool_calls"][0]["id"], result["tool_call_id"]);
    assert_eq!((&result["role"], &result["content"]), (&json!("tool"), &json!("main\n")));
    assert!(!said.to_string().contains("think>"));
}

#[tokio::test]
async fn the_agent_reports_a_refusal_of_its_server() {
    let server = Server::start(Vec::new());
    let failed =
        agent::ask(&builder().build().unwrap(), &server.url, "Which branch?", str::to_owned).await;
    assert!(failed.unwrap_err().to_string().contains("500"));
}

#[cfg(feature = "tower")]
mod under_a_client {
    use ::async_openai::{config::OpenAIConfig, error::OpenAIError}; // the crate, not the example
    use stream_sidecar::tower::SidecarLayer;

    use super::{
        async_openai, builder, recorded, reqwest_middleware,
        support::{
            bodies::chat,
            server::{Answer, Server},
        },
    };

    fn layer() -> SidecarLayer {
        SidecarLayer::new(builder().build().unwrap())
    }

    fn refusing() -> Server {
        let words = r#"{"error": {"message": "who are you?", "type": "auth", "code": "key"}}"#;
        let status = "401 Unauthorized";
        let json = "Content-Type: application/json";
        Server::answering(vec![Answer { status, ..Answer::ok(json, words) }])
    }

    fn config(server: &Server) -> OpenAIConfig {
        OpenAIConfig::new().with_api_key("k").with_api_base(format!("{}/v1", server.url))
    }

    #[tokio::test]
    async fn async_openai_streams_clean_answers_and_reads_its_errors() {
        let server = Server::start(vec![recorded("leaking.sse")]);
        let client = async_openai::client(layer(), config(&server));
        let mut shown = String::new();
        let show = |text: &str| shown += text;
        let answer = async_openai::ask(&client, "Which branch?", show).await.unwrap();
        assert_eq!(answer.trim(), "I will look at the branch 🌿 first.");
        assert_eq!(shown, answer);
        assert_eq!(server.asked()[0]["messages"][0]["content"], "Which branch?");

        let client = async_openai::client(layer(), config(&refusing()));
        let failed = async_openai::ask(&client, "Which branch?", |_| ()).await.unwrap_err();
        let OpenAIError::ApiError(error) = failed else { panic!("{failed}") };
        assert!(error.to_string().contains("who are you?"), "{error}");
    }

    #[tokio::test]
    async fn a_client_with_middleware_streams_clean_answers_and_returns_their_status() {
        let server = Server::start(vec![chat("<think>why</think>Because.").into()]);
        let (client, url) = (reqwest_middleware::client(layer()), format!("{}/v1", server.url));
        let mut shown = Vec::new();
        let show = |slice: &[u8]| shown.extend_from_slice(slice);
        reqwest_middleware::ask(&client, &url, "Which branch?", show).await.unwrap();
        let shown = String::from_utf8(shown).unwrap();
        assert!(shown.contains(r#""Because.""#) && !shown.contains("think>"), "{shown}");
        assert_eq!(server.asked()[0]["messages"][0]["content"], "Which branch?");

        let url = format!("{}/v1", refusing().url);
        let failed = reqwest_middleware::ask(&client, &url, "Which branch?", |_| ()).await;
        assert!(failed.unwrap_err().to_string().contains("401"));
    }
}

/// A gateway: the body of one provider's response becomes the body of another's.
#[tokio::test]
async fn the_body_of_a_response_passes() {
    let server = Server::start(vec![recorded("leaking.sse")]);
    let sidecar = builder().build().unwrap();
    let response = reqwest::Client::new().post(&server.url).body("{}").send().await.unwrap();
    let reasoning = Some(EmitReasoning::Include);
    let emit = Some(Emit { wire: EmitWire::Anthropic, claims: None, reasoning, rewrite: None });
    let params = OpenParams { wire: Some(Wire::OpenaiChat), emit, ..Default::default() };
    let mut body = sidecar.open(params).await.unwrap().try_emit(response.bytes_stream());
    let mut sent = Vec::new();
    while let Some(slice) = body.next().await {
        let slice: Bytes = slice.unwrap();
        sent.extend_from_slice(&slice);
    }
    let sent = String::from_utf8(sent).unwrap();
    assert!(sent.starts_with("event: message_start\ndata: {"), "{sent}");
    assert!(sent.contains("thinking_delta") && sent.contains("event: message_stop"), "{sent}");
    let message = body.into_closed().unwrap().message;
    assert_eq!(message.finish.unwrap().reason, FinishReason::ToolCalls);
}
