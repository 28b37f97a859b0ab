//! The layer of tower, over a client that sends real requests: what leaks is in its place,
//! what does not goes as it came, and what breaks on one side ends the other.

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
    builder, project_tests, recordings, relay,
    server::{Answer, End, Server},
};
use tower::{Service, ServiceBuilder, ServiceExt};

/// What an application has: the layer above the client that it would have without.
fn client(
    layer: SidecarLayer,
) -> impl Service<Request<reqwest::Body>, Response = Response<SidecarBody>, Error = reqwest::Error>
{
    let client = reqwest::Client::new();
    ServiceBuilder::new().layer(layer).service_fn(move |request: Request<reqwest::Body>| {
        let sent = request.try_into().map(|request| client.execute(request));
        async move { Ok::<_, reqwest::Error>(Response::<reqwest::Body>::from(sent?.await?)) }
    })
}

fn layer() -> SidecarLayer {
    SidecarLayer::new(builder().build())
}

async fn ask(layer: SidecarLayer, url: &str, body: &str) -> Response<SidecarBody> {
    let request = Request::post(url).body(body.to_owned().into()).unwrap();
    client(layer).oneshot(request).await.unwrap()
}

async fn text(response: Response<SidecarBody>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().into()).unwrap()
}

/// What an application reads of this answer.
async fn read(layer: SidecarLayer, path: &str, answer: Answer) -> String {
    let server = Server::answering(vec![answer]);
    text(ask(layer, &format!("{}{path}", server.url), r#"{"model":"m","stream":true}"#).await).await
}

type Lost = Arc<Mutex<Vec<String>>>;

/// With the kinds of what was lost.
fn losing(layer: SidecarLayer) -> (SidecarLayer, Lost) {
    let lost = Lost::default();
    let kept = Arc::clone(&lost);
    (layer.on_lost(move |error| kept.lock().unwrap().push(error.kind().into())), lost)
}

const LEAKING: &str = "<think>why</think>Because.";
const CHAT: &str = "/v1/chat/completions";

type Told = (&'static str, fn(&str) -> String, &'static str, &'static str);

const EVENTS: &str = "Content-Type: text/event-stream";
const JSON: &str = "Content-Type: application/json; charset=utf-8";
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
        let told = read(layer.clone(), path, leaked).await;
        assert!(told.contains("Because.") && !told.contains("think>"), "{path}: {told}");
        let clean = body("Four is the answer. 🌿");
        let told = read(layer.clone(), path, Answer::ok(content_type, clean.clone())).await;
        assert_eq!(told, clean);
    }
}

#[tokio::test]
async fn an_end_mark_goes_out_where_one_came() {
    let marked = chat(LEAKING);
    let bare = marked.replace("data: [DONE]\n\n", "");
    let layer = layer();
    for (body, has_mark) in [(marked, true), (bare, false)] {
        let told = read(layer.clone(), CHAT, Answer::events(body)).await;
        assert_eq!(told.ends_with("data: [DONE]\n\n"), has_mark, "{told}");
    }
}

#[tokio::test]
async fn whole_answers_come_out_clean_and_clean_ones_byte_for_byte() {
    let layer = layer();
    let told = read(layer.clone(), CHAT, Answer::ok(JSON, completion(LEAKING))).await;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["choices"][0]["message"]["content"], "Because.");
    assert_eq!(read(layer, CHAT, Answer::ok(JSON, completion("Four."))).await, completion("Four."));
}

#[tokio::test]
async fn what_is_no_answer_of_a_model_passes_as_it_came() {
    let sidecar = builder().build();
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
async fn errors_keep_their_status_their_words_and_when_to_try_again() {
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
async fn requests_go_out_as_their_provider_takes_them() {
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
    let told = sent(layer.clone(), &leaked).await;
    assert!(told.contains(r#""content":"Because.""#) && told.contains(numbers), "{told}");
    assert!(!told.contains("think>"), "{told}");
    for own in [clean, "", "[]", "no json"] {
        assert_eq!(sent(layer.clone(), own).await, own);
    }
    assert_eq!(sent(layer.prepare(false), &leaked).await, leaked);
}

#[tokio::test]
async fn calls_that_were_written_as_text_are_heard_left_out_left_in_or_promoted() {
    let written = "<tool_call>\n{\"name\": \"look\", \"arguments\": {}}\n</tool_call>";
    let plain = layer();
    for body in [Answer::events(chat(written)), Answer::ok(JSON, completion(written))] {
        let heard = Lost::default();
        let (events, message) = (Arc::clone(&heard), Arc::clone(&heard));
        let layer = plain
            .clone()
            .on_event(move |event, answer| {
                if let Event::ToolCall(call) = event {
                    let told = format!("{} {:?}", call.name, answer.model);
                    events.lock().unwrap().push(told);
                }
            })
            .on_message(move |told, answer| {
                assert!(!answer.stream_id.is_empty());
                message.lock().unwrap().push(format!("{} calls", told.tool_calls.len()));
            });
        assert!(!read(layer, CHAT, body).await.contains("look"));
        assert_eq!(*heard.lock().unwrap(), [r#"look Some("m")"#, "1 calls"]);
    }
    let answer = || Answer::events(chat(written));
    let told = read(plain.clone().claims(EmitClaims::Text), CHAT, answer()).await;
    assert!(told.contains("<tool_call>"), "{told}");
    let promoted = plain.claims(EmitClaims::Promote);
    let ids = async || {
        let told = read(promoted.clone(), CHAT, Answer::ok(JSON, completion(written))).await;
        let told: Value = serde_json::from_str(&told).unwrap();
        told["choices"][0]["message"]["tool_calls"][0]["id"].as_str().unwrap().to_owned()
    };
    assert_ne!(ids().await, ids().await, "two turns, two calls");
}

#[tokio::test]
async fn without_a_sidecar_everything_passes_as_it_came() {
    let none = || Sidecar::builder().command(["/does/not/exist"]);
    for (builder, kinds) in
        [(none(), vec!["sidecar-unavailable"]), (none().pass_through(true), vec![])]
    {
        let (layer, lost) = losing(SidecarLayer::new(builder.build()));
        assert_eq!(read(layer, CHAT, Answer::events(chat(LEAKING))).await, chat(LEAKING));
        assert_eq!(*lost.lock().unwrap(), kinds);
    }
    let (layer, lost) = losing(SidecarLayer::new(none().build()));
    let answer = Answer::ok(JSON, completion(LEAKING));
    assert_eq!(read(layer, CHAT, answer).await, completion(LEAKING));
    assert_eq!(*lost.lock().unwrap(), ["sidecar-unavailable"]);
}

#[tokio::test]
async fn an_older_sidecar_lets_everything_pass_and_is_told_of() {
    let python = &support::command()[0];
    let script = project_tests().join("support/older_sidecar.py");
    let older = Sidecar::builder().command([python.into(), script.into_os_string()]).build();
    let (layer, lost) = losing(SidecarLayer::new(older));
    for _ in 0..2 {
        let told = read(layer.clone(), CHAT, Answer::events(chat(LEAKING))).await;
        assert!(told.contains("Because.") && !told.contains("think>"), "{told}");
    }
    assert_eq!(*lost.lock().unwrap(), ["unsupported"], "it prepares no requests");
}

/// A response of a stream, of which the slices come that are fed.
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

/// The first document of a stream, and what follows it.
fn parted(body: &str) -> [Bytes; 2] {
    let (first, rest) = body.split_at(body.find("\n\n").unwrap() + 2);
    [first.to_owned().into(), rest.to_owned().into()]
}

fn kill(sidecar: &Sidecar) {
    relay::signal("-KILL", &sidecar.process_id().unwrap().to_string());
}

/// One that is not started again.
fn mortal() -> Sidecar {
    builder().restarts(0, Duration::from_secs(300)).build()
}

#[cfg(unix)]
#[tokio::test]
async fn a_process_that_is_killed_in_mid_stream_is_not_seen() {
    let pool = SidecarPool::create(1, &builder());
    let (mut response, feed) = fed(SidecarLayer::new(pool.clone())).await;
    let [first, rest] = parted(&chat_of(&["<think>why ", "not</think>Because."]));
    feed.unbounded_send(first).unwrap();
    assert!(next(&mut response).await.unwrap().contains("why"));
    kill(&pool.sidecars()[0]);
    feed.unbounded_send(rest).unwrap();
    drop(feed);
    let told = text(response).await;
    assert!(!told.contains("why") && told.contains(r#""not""#), "{told}");
    assert!(told.contains("Because.") && told.ends_with("data: [DONE]\n\n"), "{told}");
    assert_eq!(pool.sidecars()[0].restarts(), 1);
}

#[cfg(unix)]
#[tokio::test]
async fn a_sidecar_that_is_lost_before_it_gave_anything_lets_the_answer_pass() {
    let sidecar = mortal();
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
async fn a_sidecar_that_is_lost_later_breaks_the_answer_off() {
    let sidecar = mortal();
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
    let (mut told, mut failure) = (String::new(), None);
    while let Some(frame) = response.body_mut().frame().await {
        match frame {
            Ok(frame) => told += str::from_utf8(&frame.into_data().unwrap()).unwrap(),
            Err(error) => failure = Some(error),
        }
    }
    assert!(failure.unwrap().downcast_ref::<reqwest::Error>().is_some(), "the client's own");
    assert!(told.contains("Because.") && !told.contains("[DONE]"), "{told}");
    assert!(!told.contains("error"), "it is no error of the provider: {told}");
}

#[tokio::test]
async fn an_answer_that_is_dropped_drops_the_one_below() {
    let (tell, gone) = mpsc::channel();
    let [first, _] = parted(&chat(LEAKING));
    let server =
        Server::answering(vec![Answer { end: End::Hanging(tell), ..Answer::events(first) }]);
    let sidecar = builder().build();
    let layer = SidecarLayer::new(sidecar.clone());
    let mut response = ask(layer, &format!("{}{CHAT}", server.url), "{}").await;
    assert!(next(&mut response).await.unwrap().contains("why"));
    drop(response);
    tokio::task::spawn_blocking(move || gone.recv().unwrap()).await.unwrap();
    assert!(sidecar.list().await.unwrap().streams.is_empty());
}

/// A recording as the body that its provider streams; `None`: it is no such stream.
fn body_of(recording: &Recording) -> Option<String> {
    let chunks: Vec<&str> = recording.chunks.iter().map(|it| it.get()).collect();
    let is_text = recording.options.framing == Some(Framing::Sse);
    if is_text && recording.options.encoding.is_none() {
        return Some(chunks.iter().map(|it| serde_json::from_str::<String>(it).unwrap()).collect());
    }
    let event = |it: &&str| format!("data: {it}\n\n");
    chunks.iter().all(|it| it.starts_with('{')).then(|| chunks.iter().map(event).collect())
}

/// The `data` of each event but the end mark's.
fn documents(body: &str) -> Vec<Value> {
    let data = body.lines().filter_map(|it| it.strip_prefix("data: "));
    data.filter_map(|it| serde_json::from_str(it).ok()).collect()
}

/// Every recording of a wire that can be written is what the sidecar makes of it, document
/// for document.
#[tokio::test]
async fn recordings_come_out_as_the_sidecar_gives_them() {
    let sidecar = builder().build();
    let mut count = 0;
    for recording in recordings() {
        let Some(wire) = &recording.options.wire else { continue };
        let path = STREAMS.iter().find(|it| it.3 == wire.as_str()).map(|it| it.0);
        let (Some(path), Some(body)) = (path, body_of(&recording)) else { continue };
        let emit = Emit {
            wire: EmitWire::from(wire.as_str()),
            claims: None,
            reasoning: Some(EmitReasoning::Include),
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
        let told = read(SidecarLayer::new(sidecar.clone()), path, Answer::events(body)).await;
        assert_eq!(documents(&told), named_apart(expected), "{}", recording.path);
        count += 1;
    }
    assert!(count > 60, "{count}");
}

/// Documents that say no type are told with the name of their event.
fn named_apart(documents: Vec<Value>) -> Vec<Value> {
    let is_named = |it: &Value| {
        it.as_object().unwrap().len() == 2 && it["event"].is_string() && it.get("data").is_some()
    };
    documents.into_iter().map(|mut it| if is_named(&it) { it["data"].take() } else { it }).collect()
}
