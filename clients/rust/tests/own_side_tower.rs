//! What the layer of tower says of a host's mistakes and of raw answers, and what it leaves alone:
//! the errors that the host gets without it.

mod support;

use std::{
    convert::Infallible,
    future::ready,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use bytes::Bytes;
use futures_channel::mpsc::unbounded;
use futures_util::StreamExt;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{Full, StreamBody};
use serde_json::json;
use stream_sidecar::{Sidecar, tower::SidecarLayer};
use support::{
    bodies::{chat, completion},
    layer::{CHAT, JSON, LEAKING, client_of, layer, losing, read, text, warning},
    server::{Answer, End, Server},
};
use tower::{ServiceBuilder, ServiceExt};

#[test]
fn a_layer_checks_its_options() {
    let policy = serde_json::from_value(json!({"toolCalls": {"mode": "x"}})).unwrap();
    let errors = [
        layer().claims("data".into()).unwrap_err().to_string(),
        layer().policy(policy).unwrap_err().to_string(),
    ];
    assert!(errors[0].contains(r#"claims must be one of ["drop", "text", "promote"], not "data""#));
    assert!(errors[1].contains("policy.tool_calls.mode must be one of"), "{errors:?}");
}

#[tokio::test]
async fn a_layer_that_passes_raw_answers_warns_once_if_nobody_listens() {
    let none = || Sidecar::builder().command(["/does/not/exist"]);
    for builder in [none(), none().pass_through(true)] {
        let (layer, warnings) = warning(builder);
        for _ in 0..2 {
            let received = read(layer.clone(), CHAT, Answer::events(chat(LEAKING))).await;
            assert_eq!(received, chat(LEAKING));
        }
        let warnings = warnings.lock().unwrap();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains("responses pass uncleaned"), "{warnings:?}");
    }
}

#[tokio::test]
async fn callbacks_that_panic_change_no_answer() {
    let layer = layer().on_event(|_, _| panic!("on_event")).on_message(|_, _| panic!("on_message"));
    for answer in [Answer::events(chat(LEAKING)), Answer::ok(JSON, completion(LEAKING))] {
        let received = read(layer.clone(), CHAT, answer).await;
        assert!(received.contains("Because.") && !received.contains("think>"), "{received}");
    }
}

#[tokio::test]
async fn types_of_bodies_are_compared_without_case() {
    let layer = layer();
    for (kind, body) in [
        ("Content-Type: Text/Event-Stream; Charset=UTF-8", chat(LEAKING)),
        ("Content-Type: Application/JSON", completion(LEAKING)),
    ] {
        let fields = vec![kind, "Content-Encoding: Identity"];
        let answer = Answer { fields, ..Answer::events(body) };
        let received = read(layer.clone(), CHAT, answer).await;
        assert!(!received.contains("think>") && received.contains("Because."), "{received}");
    }
}

#[tokio::test]
async fn a_body_above_32_mib_passes_and_is_reported() {
    let (layer, lost) = losing(layer());
    let slice = Bytes::from(vec![b'a'; 1 << 20]);
    let (feed, slices) = unbounded();
    let frames = slices.map(|slice: Bytes| Ok::<_, Infallible>(Frame::data(slice)));
    let once = Arc::new(Mutex::new(Some(StreamBody::new(frames))));
    for _ in 0..34 {
        feed.unbounded_send(slice.clone()).unwrap();
    }
    drop(feed);
    let upstream = tower::service_fn(move |_: Request<Full<Bytes>>| {
        let response = Response::builder().header("content-type", "application/json");
        ready(Ok::<_, Infallible>(response.body(once.lock().unwrap().take().unwrap()).unwrap()))
    });
    let request = Request::post(format!("http://x{CHAT}")).body(Full::from("{}")).unwrap();
    let service = ServiceBuilder::new().layer(layer).service(upstream);
    let response = service.oneshot(request).await.unwrap();
    assert_eq!(text(response).await.len(), 34 << 20);
    assert_eq!(*lost.lock().unwrap(), ["unsupported"]);
}

#[tokio::test]
async fn an_event_of_9_mb_passes_with_its_finish_reason() {
    let image = "A".repeat(9 << 20);
    let event = json!({"choices": [{"index": 0, "delta": {"content": "Here.", "image": image},
        "finish_reason": "stop"}]});
    let body = format!("data: {event}\n\ndata: [DONE]\n\n");
    let received = read(layer(), CHAT, Answer::events(body)).await;
    assert!(received.contains(&image) && received.contains(r#""finish_reason":"stop""#));
    assert!(received.ends_with("data: [DONE]\n\n"));
}

/// What an application gets: its text, and the kind of its error.
async fn outcome(layer: Option<SidecarLayer>, url: &str, limit: Duration) -> (bool, String) {
    let own = reqwest::Client::builder().timeout(limit).build().unwrap();
    let kind = |error: &reqwest::Error| {
        let kinds = [error.is_timeout(), error.is_connect(), error.is_request(), error.is_status()];
        format!("{kinds:?}")
    };
    let request = own.post(url).body("{}").build().unwrap();
    let response = match layer {
        None => own.execute(request).await,
        Some(layer) => {
            let request = Request::<reqwest::Body>::try_from(request).unwrap();
            let sent = client_of(own, layer).oneshot(request).await;
            sent.map(|it| it.map(reqwest::Body::wrap).into())
        }
    };
    let mut response = match response {
        Ok(response) => response,
        Err(error) => return (false, kind(&error)),
    };
    let mut received = Vec::new();
    let ended = loop {
        match response.chunk().await {
            Ok(Some(slice)) => received.extend_from_slice(&slice),
            Ok(None) => break "an end".to_owned(),
            Err(error) => break kind(&error),
        }
    };
    (String::from_utf8_lossy(&received).contains("Because."), ended)
}

/// The same rows without and with the layer.
#[tokio::test]
async fn faults_stay_what_they_are() {
    const LONG: Duration = Duration::from_secs(300);
    const SHORT: Duration = Duration::from_secs(10);
    type Make = fn(mpsc::Sender<()>) -> Answer;
    let whole: Make = |_| Answer::events(chat("Because."));
    let refused: Make = |_| Answer { status: "503 Busy", ..Answer::events("Because.") };
    let cut: Make = |_| Answer { end: End::Broken, ..Answer::events(unmarked()) };
    let hangs: Make = |gone| Answer { end: End::Hanging(gone), ..Answer::events(unmarked()) };
    let layer = layer();
    for (name, make, limit) in [
        ("whole", whole, LONG),
        ("refused", refused, LONG),
        ("cut", cut, LONG),
        ("time", hangs, SHORT),
    ] {
        let mut rows = Vec::new();
        for layer in [None, Some(layer.clone())] {
            let server = Server::answering(vec![make(mpsc::channel().0)]);
            rows.push(outcome(layer, &format!("{}{CHAT}", server.url), limit).await);
        }
        assert_eq!(rows[0], rows[1], "{name}");
        assert!(rows[0].0, "{name}");
    }
    let nobody = format!("http://127.0.0.1:1{CHAT}");
    let without = outcome(None, &nobody, LONG).await;
    assert_eq!(without, outcome(Some(layer), &nobody, LONG).await);
}

fn unmarked() -> String {
    chat("Because.").replace("data: [DONE]\n\n", "")
}
