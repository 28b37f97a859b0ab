//! A provider that refuses thinking whose seal does not fit accepts every request after an edit:
//! the layer of tower gives the sidecar the headers that it reads, and sets those that it returns.

mod support;

use std::{
    convert::Infallible,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use stream_sidecar::{protocol::EmitClaims, tower::SidecarLayer};
use support::{
    builder,
    layer::{LEAKING, layer, losing},
};
use tower::{ServiceBuilder, ServiceExt};

const BETA: &str = "thinking-binding-controls-2026-08-01";
const CLAUDE: &str = "https://api.anthropic.com/v1/messages";

/// The seals that fit each signed block of a conversation, in order.
fn fitting_seals(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().unwrap();
    let mut seals = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
        for (index, _) in blocks.iter().enumerate().filter(|(_, it)| it["signature"].is_string()) {
            let mut hasher = DefaultHasher::new();
            json!([messages[..at], blocks[..index]]).to_string().hash(&mut hasher);
            seals.push(format!("{:016x}", hasher.finish()));
        }
    }
    seals
}

/// A conversation in which `text` comes before thinking that is sealed to everything before it.
fn sealed(text: &str) -> Value {
    let user = json!({"role": "user", "content": "Sure?"});
    let thought = json!({"type": "thinking", "thinking": "Hm", "signature": ""});
    let blocks = json!([thought, {"type": "text", "text": text}]);
    let answer = json!({"role": "assistant", "content": blocks});
    let mut body = json!({
        "model": "claude-opus-5-5", "max_tokens": 9, "thinking": {"type": "adaptive"},
        "messages": [user, answer, user, answer, user],
    });
    for (at, place) in [1, 3].into_iter().enumerate() {
        let seal = fitting_seals(&body)[at].clone();
        body["messages"][place]["content"][0]["signature"] = seal.into();
    }
    body
}

/// Whether a provider that checks its seals refuses the request.
fn is_refused(body: &Value, betas: &[String]) -> bool {
    let binding = &body["thinking"]["block_binding"];
    if binding.is_object() {
        let is_named = betas.iter().any(|it| it.contains(BETA));
        return !is_named || binding["prefix_mismatch_behavior"] != "drop_block";
    }
    let blocks = body["messages"].as_array().unwrap().iter();
    let blocks = blocks.flat_map(|it| it["content"].as_array().into_iter().flatten());
    let seals: Vec<_> = blocks.filter_map(|it| it["signature"].as_str()).collect();
    seals != fitting_seals(body)
}

/// What a provider is sent: the bytes, and the values of `anthropic-beta`.
async fn sent_to_claude(
    layer: &SidecarLayer,
    body: &Value,
    fields: &[(&str, &str)],
) -> (String, Vec<String>) {
    let sent = Arc::new(Mutex::new(None));
    let kept = Arc::clone(&sent);
    let upstream = tower::service_fn(move |request: Request<Full<Bytes>>| {
        let kept = Arc::clone(&kept);
        async move {
            let (head, body) = request.into_parts();
            let betas = head.headers.get_all("anthropic-beta").iter();
            let betas = betas.map(|it| it.to_str().unwrap().to_owned()).collect::<Vec<_>>();
            let body = body.collect().await.unwrap().to_bytes().to_vec();
            *kept.lock().unwrap() = Some((String::from_utf8(body).unwrap(), betas));
            let response = Response::builder().header("content-type", "application/json");
            Ok::<_, Infallible>(response.body(Full::new(Bytes::from_static(b"{}"))).unwrap())
        }
    });
    let service = ServiceBuilder::new().layer(layer.clone()).service(upstream);
    let mut request = Request::post(CLAUDE);
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    service.oneshot(request.body(body.to_string().into()).unwrap()).await.unwrap();
    sent.lock().unwrap().take().unwrap()
}

#[tokio::test]
async fn a_provider_is_asked_to_drop_thinking_whose_seal_no_longer_fits() {
    let (layer, lost) = losing(layer());
    let body = sealed(LEAKING);
    assert!(!is_refused(&body, &[]), "it fits before the edit");
    let own = format!("{BETA}, one");
    let cases: [(&[(&str, &str)], String); 4] = [
        (&[("x-api-key", "k")], BETA.into()),
        (&[("Anthropic-Beta", "one")], format!("one,{BETA}")),
        (&[("anthropic-beta", "one"), ("anthropic-beta", "two")], format!("one, two,{BETA}")),
        (&[("anthropic-beta", &own)], own.clone()),
    ];
    for (fields, beta) in cases {
        let (received, betas) = sent_to_claude(&layer, &body, fields).await;
        let received: Value = serde_json::from_str(&received).unwrap();
        assert_eq!(received["messages"][1]["content"][1]["text"], "Because.");
        assert!(!is_refused(&received, &betas), "{betas:?}");
        assert_eq!(betas, [beta]);
    }
    let clean = sealed("Four.");
    assert_eq!(sent_to_claude(&layer, &clean, &[]).await, (clean.to_string(), vec![]));
    let signed = [("authorization", "AWS4-HMAC-SHA256 Credential=...")];
    assert_eq!(sent_to_claude(&layer, &body, &signed).await, (body.to_string(), vec![]));
    assert!(lost.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_call_that_stays_in_the_text_of_an_answer_stays_in_the_next_request() {
    let body = sealed("<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>Four.");
    for (claims, stays) in [(EmitClaims::Text, true), (EmitClaims::Drop, false)] {
        let layer = layer().claims(claims).unwrap();
        let (received, _) = sent_to_claude(&layer, &body, &[]).await;
        let received: Value = serde_json::from_str(&received).unwrap();
        assert_eq!(received == body, stays);
    }
}

#[tokio::test]
async fn an_older_sidecar_gets_no_headers_which_is_reported_once() {
    let older = "import stream_sidecar.protocol.handshake as it; it.HEADER_NAMES = None; \
                 from stream_sidecar.__main__ import main; main()";
    let command = [&*support::command()[0], "-c", older, "--stdio"];
    let (layer, lost) = losing(SidecarLayer::new(builder().command(command).build().unwrap()));
    for text in ["Four.", LEAKING, LEAKING] {
        let (received, betas) = sent_to_claude(&layer, &sealed(text), &[("x-api-key", "k")]).await;
        assert!(!is_refused(&serde_json::from_str(&received).unwrap(), &betas));
        assert!(betas.is_empty() && !received.contains("block_binding"), "{received}");
    }
    assert_eq!(*lost.lock().unwrap(), ["unsupported"]);
}
