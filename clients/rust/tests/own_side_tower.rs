//! What the layer of tower says of a host's mistakes and of answers that pass uncleaned, and what
//! it leaves alone: the errors that the host gets without it.

mod support;

use std::{
    convert::Infallible,
    future::{pending, ready},
    io,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use futures_channel::mpsc::unbounded;
use futures_util::{FutureExt, StreamExt, stream};
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use serde_json::{Value, json};
use stream_sidecar::{
    Error, Event, Sidecar,
    tower::{BoxError, SidecarBody, SidecarLayer, Unavailable},
};
use support::{
    bodies::{chat, chat_of, completion},
    builder,
    layer::{CHAT, JSON, LEAKING, ask, client_of, layer, losing, read, text, warning},
    server::{Answer, End, Server},
};
use tower::{Service, ServiceBuilder, ServiceExt, util::BoxCloneService};

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
    let none = Sidecar::builder().command(["/does/not/exist"]).build().unwrap();
    let layer = SidecarLayer::new(none).on_lost(|_| panic!("on_lost"));
    assert_eq!(read(layer, CHAT, Answer::events(chat(LEAKING))).await, chat(LEAKING));
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
async fn a_response_that_is_not_read_passes_and_is_reported() {
    let zipped = || Answer {
        fields: vec!["Content-Type: text/event-stream", "Content-Encoding: gzip"],
        ..Answer::events(LEAKING)
    };
    let html = || Answer::ok("Content-Type: text/html", LEAKING);
    for (answer, what) in
        [(&zipped as &dyn Fn() -> Answer, "encoded"), (&html, r#"the type "text/html""#)]
    {
        let (listening, lost) = losing(layer().unavailable(Unavailable::Fail));
        assert_eq!(read(listening, CHAT, answer()).await, LEAKING);
        assert_eq!(*lost.lock().unwrap(), ["unsupported"]);
        let (silent, warnings) = warning(builder());
        for _ in 0..2 {
            assert_eq!(read(silent.clone(), CHAT, answer()).await, LEAKING);
        }
        let warnings = warnings.lock().unwrap();
        assert!(warnings.len() == 1 && warnings[0].contains(what), "{warnings:?}");
    }
}

/// The kind of the error that a body breaks off with at once.
async fn failure(response: Response<SidecarBody>) -> String {
    let error = response.into_body().collect().await.unwrap_err();
    error.downcast::<Error>().unwrap().kind().to_owned()
}

#[tokio::test]
async fn a_response_that_must_not_pass_breaks_off() {
    let none = Sidecar::builder().command(["/does/not/exist"]).build().unwrap();
    let (strict, lost) = losing(SidecarLayer::new(none).unavailable(Unavailable::Fail));
    let server = Server::start(vec![chat(LEAKING).into()]);
    let response = ask(strict, &format!("{}{CHAT}", server.url), "{}").await;
    assert_eq!(response.status(), 503);
    assert_eq!(failure(response).await, "sidecar-unavailable");
    assert_eq!(*lost.lock().unwrap(), ["sidecar-unavailable"]);
    assert!(server.asked().is_empty(), "it is not sent");

    let older = "from stream_sidecar.protocol.methods import METHODS as it; \
                 it.pop('stream/open'); it.pop('message/normalize'); \
                 from stream_sidecar.__main__ import main; main()";
    let command = [&*support::command()[0], "-c", older, "--stdio"];
    let refusing = builder().command(command).build().unwrap();
    let strict = SidecarLayer::new(refusing).prepare(false).unavailable(Unavailable::Fail);
    for answer in [Answer::events(chat(LEAKING)), Answer::ok(JSON, completion(LEAKING))] {
        let server = Server::answering(vec![answer]);
        let response = ask(strict.clone(), &format!("{}{CHAT}", server.url), "{}").await;
        assert_eq!(response.status(), 200);
        assert_ne!(failure(response).await, "sidecar-unavailable");
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

/// An answer of one slice, without a server.
async fn sent(layer: SidecarLayer, content_type: &'static str, body: Bytes) -> Bytes {
    let upstream = tower::service_fn(move |_: Request<Full<Bytes>>| {
        let response = Response::builder().header("content-type", content_type);
        ready(Ok::<_, Infallible>(response.body(Full::new(body.clone())).unwrap()))
    });
    let request = Request::post(format!("http://x{CHAT}")).body(Full::from("{}")).unwrap();
    let service = ServiceBuilder::new().layer(layer).service(upstream);
    service.oneshot(request).await.unwrap().into_body().collect().await.unwrap().to_bytes()
}

#[tokio::test]
async fn a_long_document_passes_and_its_unread_text_is_reported() {
    let finishes = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&finishes);
    let (layer, lost) = losing(layer().on_event(move |event, _| {
        if let Event::Finish(finish) = event {
            kept.lock().unwrap().push(finish.reason.to_string());
        }
    }));
    let long = "A".repeat(9 << 20);
    let events = |content: &str| {
        let delta = json!({"content": content, "image": long});
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": "stop"}]);
        Bytes::from(format!("data: {}\n\ndata: [DONE]\n\n", json!({"choices": choices})))
    };
    let whole = |content: &str| {
        let mut document: Value = serde_json::from_str(&completion(content)).unwrap();
        document["choices"][0]["message"]["image"] = json!(long);
        Bytes::from(document.to_string())
    };
    let kinds = ["text/event-stream", "application/json"];
    for (kind, body) in kinds.into_iter().zip([events(""), whole("")]) {
        assert!(sent(layer.clone(), kind, body.clone()).await == body, "{kind}");
    }
    assert!(lost.lock().unwrap().is_empty(), "they have no text");
    for (kind, body) in kinds.into_iter().zip([events(LEAKING), whole(LEAKING)]) {
        assert!(sent(layer.clone(), kind, body.clone()).await == body, "{kind}");
    }
    assert_eq!(*lost.lock().unwrap(), ["unsupported"; 2]);
    assert_eq!(*finishes.lock().unwrap(), ["stop"; 4]);
}

/// The content type of an answer, and how many slices of it come before the fault; `None`: not
/// even its head.
const CASES: [(&str, Option<usize>); 4] = [
    ("text/event-stream", None),
    ("text/event-stream", Some(0)),
    ("text/event-stream", Some(1)),
    ("application/json", Some(1)),
];

const FAULTS: [io::ErrorKind; 4] = [
    io::ErrorKind::ConnectionReset,
    io::ErrorKind::TimedOut,
    io::ErrorKind::UnexpectedEof,
    io::ErrorKind::ConnectionAborted,
];

type Failing =
    BoxCloneService<Request<Full<Bytes>>, Response<UnsyncBoxBody<Bytes, io::Error>>, BoxError>;

/// A service whose connection fails.
fn failing(fault: io::ErrorKind, content_type: &'static str, slices: Option<usize>) -> Failing {
    let error = move || io::Error::new(fault, format!("the connection's {fault}"));
    BoxCloneService::new(tower::service_fn(move |_: Request<Full<Bytes>>| {
        let events = chat_of(&["Four ", "of them."]);
        let first = match content_type {
            "application/json" => "{\"choices\": [",
            _ => events.split_inclusive("\n\n").next().unwrap(),
        };
        let came = slices.map_or(0, |it| it * first.len());
        let frame = Frame::data(Bytes::copy_from_slice(&first.as_bytes()[..came]));
        let frames = stream::iter([Ok(frame), Err(error())]);
        let response = Response::builder().header("content-type", content_type);
        let response = response.body(StreamBody::new(frames).boxed_unsync()).unwrap();
        ready(slices.map(|_| response).ok_or_else(|| error().into()))
    }))
}

/// What a host gets: the bytes, and the kind and the words of the error.
async fn received<B>(
    service: impl Service<Request<Full<Bytes>>, Response = Response<B>, Error = BoxError>,
) -> (String, String)
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    let described = |error: BoxError| {
        let error = error.downcast::<io::Error>().expect("the error of the connection");
        format!("{:?} {error}", error.kind())
    };
    let request = Request::post(format!("http://x{CHAT}")).body(Full::from("{}")).unwrap();
    let mut body = match service.oneshot(request).await {
        Ok(response) => response.into_body(),
        Err(error) => return (String::new(), described(error)),
    };
    let mut received = Vec::new();
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => received.extend(frame.into_data().unwrap()),
            Err(error) => return (String::from_utf8(received).unwrap(), described(error.into())),
        }
    }
    panic!("the connection failed");
}

/// The same rows without and with the layer.
#[tokio::test]
async fn faults_of_a_connection_stay_what_they_are() {
    let layer = layer();
    for (content_type, slices) in CASES {
        for fault in FAULTS {
            let service = || failing(fault, content_type, slices);
            let without = received(service()).await;
            let with =
                received(ServiceBuilder::new().layer(layer.clone()).service(service())).await;
            assert_eq!(with, without, "{content_type} {slices:?}");
        }
    }
}

/// A host that drops the future of a request, as at a time limit of its own, drops the request.
#[tokio::test]
async fn a_dropped_request_drops_the_request_below() {
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let upstream = tower::service_fn(move |_: Request<Full<Bytes>>| {
        let held = Arc::clone(&held);
        async move {
            pending::<()>().await;
            drop(held);
            Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
        }
    });
    let request = Request::post(format!("http://x{CHAT}")).body(Full::from("{}")).unwrap();
    let service = ServiceBuilder::new().layer(layer().prepare(false)).service(upstream);
    let mut asked = Box::pin(service.oneshot(request));
    assert!(asked.as_mut().now_or_never().is_none());
    assert_eq!(Arc::strong_count(&alive), 3, "it is under way");
    drop(asked);
    assert_eq!(Arc::strong_count(&alive), 1, "nothing of the request is left");
}

/// What an application with a real client gets: its text, and the kind of its error.
async fn outcome(layer: Option<SidecarLayer>, url: &str) -> (bool, String) {
    let own = reqwest::Client::new();
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
async fn faults_of_a_real_client_stay_what_they_are() {
    let whole: fn() -> Answer = || Answer::events(chat("Because."));
    let refused: fn() -> Answer = || Answer { status: "503 Busy", ..Answer::events("Because.") };
    let cut: fn() -> Answer = || {
        let unmarked = chat("Because.").replace("data: [DONE]\n\n", "");
        Answer { end: End::Broken, ..Answer::events(unmarked) }
    };
    let layer = layer();
    for (name, make) in [("whole", whole), ("refused", refused), ("cut", cut)] {
        let mut rows = Vec::new();
        for layer in [None, Some(layer.clone())] {
            let server = Server::answering(vec![make()]);
            rows.push(outcome(layer, &format!("{}{CHAT}", server.url)).await);
        }
        assert_eq!(rows[0], rows[1], "{name}");
        assert!(rows[0].0, "{name}");
    }
    let nobody = format!("http://127.0.0.1:1{CHAT}");
    assert_eq!(outcome(None, &nobody).await, outcome(Some(layer), &nobody).await);
}
