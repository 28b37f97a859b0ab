//! The layer of tower, above a client that sends real requests: leaked text moves to its
//! channel, everything else passes unchanged, and a failure on one side ends the other.

mod support;

use std::{
    convert::Infallible,
    future::ready,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use bytes::Bytes;
use futures_channel::mpsc::{UnboundedSender, unbounded};
use futures_util::{StreamExt, stream};
use http::{Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use serde_json::{Value, json};
use stream_sidecar::{
    Error, Event, OpenParams, Sidecar, SidecarPool,
    protocol::{Emit, EmitClaims, EmitReasoning, EmitWire, Framing},
    tower::{BoxError, SidecarBody, SidecarLayer},
};
use support::{
    Recording,
    bodies::{array, chat, chat_of, completion, gemini, messages, responses},
    builder,
    layer::{CHAT, JSON, LEAKING, Lost, ask, layer, losing, read, text},
    project_tests, recordings, relay,
    server::{Answer, End, Server},
};
use tower::{ServiceBuilder, ServiceExt};

type Told = (&'static str, fn(&str) -> String, &'static str, &'static str);

const EVENTS: &str = "Content-Type: text/event-stream";
const STREAMS: [Told; 5] = [
    (CHAT, chat, EVENTS, "openai-chat"),
    ("/v1/messages", messages, EVENTS, "anthropic"),
    ("/v1/responses", responses, EVENTS, "openai-responses"),
    ("/v1beta/models/m:streamGenerateContent?alt=sse", gemini, EVENTS, "gemini"),
    ("/v1beta/models/m:streamGenerateContent", array, JSON, "gemini"),
];

#[tokio::test]
async fn streams_come_out_clean_and_clean_ones_byte_for_byte() {
    let layer = layer();
    for (path, body, content_type, _) in STREAMS {
        let leaked = Answer::ok(content_type, body(LEAKING));
        let received = read(layer.clone(), path, leaked).await;
        assert!(
            received.contains("Because.") && !received.contains("think>"),
            "{path}: {received}"
        );
        let clean = body("Four is the answer. 🌿");
        let received = read(layer.clone(), path, Answer::ok(content_type, clean.clone())).await;
        assert_eq!(received, clean);
    }
}

#[tokio::test]
async fn an_end_mark_is_sent_if_one_was_received() {
    let marked = chat(LEAKING);
    let bare = marked.replace("data: [DONE]\n\n", "");
    let layer = layer();
    for (body, has_mark) in [(marked, true), (bare, false)] {
        let received = read(layer.clone(), CHAT, Answer::events(body)).await;
        assert_eq!(received.ends_with("data: [DONE]\n\n"), has_mark, "{received}");
    }
}

#[tokio::test]
async fn whole_answers_come_out_clean_and_clean_ones_byte_for_byte() {
    let layer = layer();
    let received = read(layer.clone(), CHAT, Answer::ok(JSON, completion(LEAKING))).await;
    let received: Value = serde_json::from_str(&received).unwrap();
    assert_eq!(received["choices"][0]["message"]["content"], "Because.");
    assert_eq!(read(layer, CHAT, Answer::ok(JSON, completion("Four."))).await, completion("Four."));
}

#[tokio::test]
async fn other_responses_pass_unchanged() {
    let sidecar = builder().build().unwrap();
    let layer = SidecarLayer::new(sidecar.clone());
    let zipped =
        Answer { fields: vec![EVENTS, "Content-Encoding: gzip"], ..Answer::events(chat(LEAKING)) };
    for (path, answer, body) in [
        ("/v1/embeddings", Answer::ok(JSON, completion(LEAKING)), completion(LEAKING)),
        (CHAT, Answer::ok("Content-Type: text/html", LEAKING), LEAKING.into()),
        (CHAT, zipped, chat(LEAKING)),
        (CHAT, Answer::ok(JSON, r#"{"foo": 1}"#), r#"{"foo": 1}"#.into()),
        (CHAT, Answer::ok(JSON, r#"{"choices": ["#), r#"{"choices": ["#.into()),
        (CHAT, Answer::ok(JSON, "[]"), "[]".into()),
        (CHAT, Answer::ok(JSON, ""), String::new()),
    ] {
        assert_eq!(read(layer.clone(), path, answer).await, body, "{path}");
    }
    assert_eq!(sidecar.stats().await.unwrap().streams.opened, 0);
}

#[tokio::test]
async fn errors_keep_their_status_their_body_and_their_retry_time() {
    let layer = layer();
    for (kind, words) in [(JSON, completion(LEAKING)), (EVENTS, chat(LEAKING))] {
        let fields = vec![kind, "Retry-After: 7"];
        let status = "429 Too Many Requests";
        let answer = Answer { status, fields, ..Answer::events(words.clone()) };
        let server = Server::answering(vec![answer]);
        let response = ask(layer.clone(), &format!("{}{CHAT}", server.url), "{}").await;
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(response.headers()["retry-after"], "7");
        assert_eq!(text(response).await, words);
    }
}

#[tokio::test]
async fn requests_are_sent_as_their_provider_accepts_them() {
    let turn = json!({"role": "assistant", "content": LEAKING});
    let numbers = r#""seed":7,"logit_bias":{"1":-0.5}"#;
    let leaked = format!(
        r#"{{"model": "m", {numbers}, "messages": [{{"role": "user", "content": "?"}}, {turn}, {{"role": "user", "content": "!"}}]}}"#
    );
    let clean = r#"{ "messages": [ {"role": "user", "content": "?"} ] }"#;
    let sent = async |layer: SidecarLayer, body: &str| {
        let server = Server::answering(vec![Answer::events(chat("Four."))]);
        text(ask(layer, &format!("{}{CHAT}", server.url), body).await).await;
        String::from_utf8(server.bytes().remove(0)).unwrap()
    };
    let layer = layer();
    let received = sent(layer.clone(), &leaked).await;
    assert!(
        received.contains(r#""content":"Because.""#) && received.contains(numbers),
        "{received}"
    );
    assert!(!received.contains("think>"), "{received}");
    for own in [clean, "", "[]", "no json"] {
        assert_eq!(sent(layer.clone(), own).await, own);
    }
    assert_eq!(sent(layer.prepare(false), &leaked).await, leaked);
}

#[tokio::test]
async fn calls_written_as_text_are_reported_and_dropped_kept_or_promoted() {
    let written = "<tool_call>\n{\"name\": \"look\", \"arguments\": {}}\n</tool_call>";
    let plain = layer();
    for body in [Answer::events(chat(written)), Answer::ok(JSON, completion(written))] {
        let reports = Lost::default();
        let (events, message) = (Arc::clone(&reports), Arc::clone(&reports));
        let layer = plain
            .clone()
            .on_event(move |event, answer| {
                if let Event::ToolCall(call) = event {
                    let received = format!("{} {:?}", call.name, answer.model);
                    events.lock().unwrap().push(received);
                }
            })
            .on_message(move |received, answer| {
                assert!(!answer.stream_id.is_empty());
                assert!(received.text.is_some(), "a listener gets the text");
                message.lock().unwrap().push(format!("{} calls", received.tool_calls.len()));
            });
        assert!(!read(layer, CHAT, body).await.contains("look"));
        assert_eq!(*reports.lock().unwrap(), [r#"look Some("m")"#, "1 calls"]);
    }
    let answer = || Answer::events(chat(written));
    let received = read(plain.clone().claims(EmitClaims::Text).unwrap(), CHAT, answer()).await;
    assert!(received.contains("<tool_call>"), "{received}");
    let promoted = plain.claims(EmitClaims::Promote).unwrap();
    let ids = async || {
        let received = read(promoted.clone(), CHAT, Answer::ok(JSON, completion(written))).await;
        let received: Value = serde_json::from_str(&received).unwrap();
        received["choices"][0]["message"]["tool_calls"][0]["id"].as_str().unwrap().to_owned()
    };
    assert_ne!(ids().await, ids().await, "two turns, two calls");
}

#[tokio::test]
async fn without_a_sidecar_everything_passes_unchanged() {
    let none = || Sidecar::builder().command(["/does/not/exist"]);
    for builder in [none(), none().pass_through(true)] {
        let (layer, lost) = losing(SidecarLayer::new(builder.build().unwrap()));
        assert_eq!(read(layer, CHAT, Answer::events(chat(LEAKING))).await, chat(LEAKING));
        assert_eq!(*lost.lock().unwrap(), ["sidecar-unavailable"]);
    }
    let (layer, lost) = losing(SidecarLayer::new(none().build().unwrap()));
    let answer = Answer::ok(JSON, completion(LEAKING));
    assert_eq!(read(layer, CHAT, answer).await, completion(LEAKING));
    assert_eq!(*lost.lock().unwrap(), ["sidecar-unavailable"]);
}

#[tokio::test]
async fn an_older_sidecar_is_reported_and_prepares_nothing() {
    let python = &support::command()[0];
    let script = project_tests().join("support/older_sidecar.py");
    let older =
        Sidecar::builder().command([python.into(), script.into_os_string()]).build().unwrap();
    let (layer, lost) = losing(SidecarLayer::new(older));
    for _ in 0..2 {
        let received = read(layer.clone(), CHAT, Answer::events(chat(LEAKING))).await;
        assert!(received.contains("Because.") && !received.contains("think>"), "{received}");
    }
    assert_eq!(*lost.lock().unwrap(), ["unsupported"], "it prepares no requests");
}

/// A streamed response, and the sender that feeds the slices of its body.
async fn fed(layer: SidecarLayer) -> (Response<SidecarBody>, UnboundedSender<Bytes>) {
    let (feed, slices) = unbounded();
    let frames = slices.map(|slice: Bytes| Ok::<_, Infallible>(Frame::data(slice)));
    let once = Arc::new(Mutex::new(Some(StreamBody::new(frames))));
    let upstream = tower::service_fn(move |_: Request<Full<Bytes>>| {
        let response = Response::builder().header("content-type", "text/event-stream");
        ready(Ok::<_, Infallible>(response.body(once.lock().unwrap().take().unwrap()).unwrap()))
    });
    let request = Request::post(format!("http://x{CHAT}")).body(Full::from("{}")).unwrap();
    let service = ServiceBuilder::new().layer(layer).service(upstream);
    (service.oneshot(request).await.unwrap(), feed)
}

/// The next slice of a body.
async fn next(response: &mut Response<SidecarBody>) -> Result<String, BoxError> {
    let frame = response.body_mut().frame().await.expect("it has not ended")?;
    Ok(String::from_utf8(frame.into_data().unwrap().into()).unwrap())
}

/// The first document of a stream, and the rest.
fn parted(body: &str) -> [Bytes; 2] {
    let (first, rest) = body.split_at(body.find("\n\n").unwrap() + 2);
    [first.to_owned().into(), rest.to_owned().into()]
}

fn kill(sidecar: &Sidecar) {
    relay::signal("-KILL", &sidecar.process_id().unwrap().to_string());
}

/// A sidecar that is not restarted.
fn without_restarts() -> Sidecar {
    builder().restarts(0, Duration::from_secs(300)).build().unwrap()
}

#[cfg(unix)]
#[tokio::test]
async fn a_process_killed_in_mid_stream_is_not_noticed() {
    let pool = SidecarPool::create(1, &builder()).unwrap();
    let (mut response, feed) = fed(SidecarLayer::new(pool.clone())).await;
    let [first, rest] = parted(&chat_of(&["<think>why ", "not</think>Because."]));
    feed.unbounded_send(first).unwrap();
    assert!(next(&mut response).await.unwrap().contains("why"));
    kill(&pool.sidecars()[0]);
    feed.unbounded_send(rest).unwrap();
    drop(feed);
    let received = text(response).await;
    assert!(!received.contains("why") && received.contains(r#""not""#), "{received}");
    assert!(received.contains("Because.") && received.ends_with("data: [DONE]\n\n"), "{received}");
    assert_eq!(pool.sidecars()[0].restarts(), 1);
}

#[cfg(unix)]
#[tokio::test]
async fn a_sidecar_lost_before_the_first_slice_lets_the_answer_pass() {
    let sidecar = without_restarts();
    let (layer, lost) = losing(SidecarLayer::new(sidecar.clone()));
    let (response, feed) = fed(layer).await;
    kill(&sidecar);
    for slice in parted(&chat(LEAKING)) {
        feed.unbounded_send(slice).unwrap();
    }
    drop(feed);
    assert_eq!(text(response).await, chat(LEAKING));
    assert_eq!(lost.lock().unwrap().len(), 1);
}

#[cfg(unix)]
#[tokio::test]
async fn a_sidecar_lost_later_breaks_the_answer_off() {
    let sidecar = without_restarts();
    let (layer, lost) = losing(SidecarLayer::new(sidecar.clone()));
    let (mut response, feed) = fed(layer).await;
    let [first, rest] = parted(&chat(LEAKING));
    feed.unbounded_send(first).unwrap();
    assert!(next(&mut response).await.unwrap().contains("why"));
    kill(&sidecar);
    feed.unbounded_send(rest).unwrap();
    drop(feed);
    let error = next(&mut response).await.unwrap_err().downcast::<Error>().unwrap();
    assert_eq!(*lost.lock().unwrap(), [error.kind()]);
    assert!(response.body_mut().frame().await.is_none());
}

#[tokio::test]
async fn an_upstream_that_breaks_off_breaks_the_answer_off() {
    let whole = chat(LEAKING);
    let half = whole.split("data: [DONE]").next().unwrap();
    let server =
        Server::answering(vec![Answer { end: End::Broken, ..Answer::events(half.as_bytes()) }]);
    let mut response = ask(layer(), &format!("{}{CHAT}", server.url), "{}").await;
    let (mut received, mut failure) = (String::new(), None);
    while let Some(frame) = response.body_mut().frame().await {
        match frame {
            Ok(frame) => received += str::from_utf8(&frame.into_data().unwrap()).unwrap(),
            Err(error) => failure = Some(error),
        }
    }
    assert!(failure.unwrap().downcast_ref::<reqwest::Error>().is_some(), "the client's own");
    assert!(received.contains("Because.") && !received.contains("[DONE]"), "{received}");
    assert!(!received.contains("error"), "it is not an error of the provider: {received}");
}

#[tokio::test]
async fn a_dropped_answer_drops_the_answer_below() {
    let (sender, gone) = mpsc::channel();
    let [first, _] = parted(&chat(LEAKING));
    let server =
        Server::answering(vec![Answer { end: End::Hanging(sender), ..Answer::events(first) }]);
    let sidecar = builder().build().unwrap();
    let layer = SidecarLayer::new(sidecar.clone());
    let mut response = ask(layer, &format!("{}{CHAT}", server.url), "{}").await;
    assert!(next(&mut response).await.unwrap().contains("why"));
    drop(response);
    tokio::task::spawn_blocking(move || gone.recv().unwrap()).await.unwrap();
    assert!(sidecar.list().await.unwrap().streams.is_empty());
}

/// The streamed body of a recording; `None` if its provider did not stream server-sent events.
fn body_of(recording: &Recording) -> Option<String> {
    let chunks: Vec<&str> = recording.chunks.iter().map(|it| it.get()).collect();
    let is_text = recording.options.framing == Some(Framing::Sse);
    if is_text && recording.options.encoding.is_none() {
        return Some(chunks.iter().map(|it| serde_json::from_str::<String>(it).unwrap()).collect());
    }
    let event = |it: &&str| format!("data: {it}\n\n");
    chunks.iter().all(|it| it.starts_with('{')).then(|| chunks.iter().map(event).collect())
}

/// The `data` of each event, except the end mark.
fn documents(body: &str) -> Vec<Value> {
    let data = body.lines().filter_map(|it| it.strip_prefix("data: "));
    data.filter_map(|it| serde_json::from_str(it).ok()).collect()
}

/// For every recording of a wire that can be written, the layer gives the documents that the
/// sidecar makes from it.
#[tokio::test]
async fn recordings_have_the_documents_of_the_sidecar() {
    let sidecar = builder().build().unwrap();
    let mut count = 0;
    for recording in recordings() {
        let Some(wire) = &recording.options.wire else { continue };
        let path = STREAMS.iter().find(|it| it.3 == wire.as_str()).map(|it| it.0);
        let (Some(path), Some(body)) = (path, body_of(&recording)) else { continue };
        let emit = Emit {
            wire: EmitWire::from(wire.as_str()),
            claims: None,
            reasoning: Some(EmitReasoning::Include),
            rewrite: None,
        };
        let params = OpenParams {
            wire: Some(wire.clone()),
            framing: Some(Framing::Sse),
            model: Some("m".into()),
            provider: Some("127.0.0.1".into()),
            emit: Some(emit),
            ..OpenParams::default()
        };
        let pipe = sidecar.open(params).await.unwrap().pipe_chunks(stream::iter([body.clone()]));
        let expected: Vec<Value> = pipe.map(|it| Value::Object(it.unwrap())).collect().await;
        let received = read(SidecarLayer::new(sidecar.clone()), path, Answer::events(body)).await;
        let (ours, theirs) = (documents(&received), as_in_a_body(expected));
        assert_eq!(with_equal_ids(&ours), with_equal_ids(&theirs), "{}", recording.path);
        count += 1;
    }
    assert!(count > 60, "{count}");
}

/// The documents as text. The ids that the sidecar makes for items differ from answer to answer,
/// so only their mark is left.
fn with_equal_ids(documents: &[Value]) -> String {
    let text = serde_json::to_string(documents).unwrap();
    let ends = text.split("_sidecar_").map(|it| it.trim_start_matches(char::is_alphanumeric));
    let first = text.split("_sidecar_").next().unwrap();
    ends.skip(1).fold(first.to_owned(), |all, it| all + "_sidecar_" + it)
}

/// The documents as they are in a body: a document without a type is under its event's name.
fn as_in_a_body(documents: Vec<Value>) -> Vec<Value> {
    let is_named = |it: &Value| {
        it.as_object().unwrap().len() == 2 && it["event"].is_string() && it.get("data").is_some()
    };
    documents.into_iter().map(|mut it| if is_named(&it) { it["data"].take() } else { it }).collect()
}
