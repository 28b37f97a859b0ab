//! The recordings of `tests/wires` through the real sidecar, without a runtime.

mod support;

use std::sync::{Arc, Mutex};

use futures_executor::block_on;
use futures_util::{StreamExt, stream};
use serde_json::json;
use stream_sidecar::{
    Chunk, Error, Event, Sidecar, SidecarState,
    protocol::{
        ClassifyParams, Emit, EmitWire, Encoding, Executor, FindingKind, FinishReason, Framing,
        HistoryParams, NormalizeErrorParams, NormalizeParams, OpenParams, PolicyPatch,
        ProviderErrorKind, ReasoningPolicyPatch, ToolCallsMode, ToolCallsPolicyPatch, Wire,
    },
};
use support::{Recording, builder, plain, recordings};

#[test]
fn every_recording_gives_its_events() {
    let sidecar = builder().build().unwrap();
    let check = async |it: &Recording| {
        let mut stream = sidecar.open(it.options.clone()).await?;
        let mut events = Vec::new();
        for chunk in it.chunks() {
            events.extend(stream.push(chunk).await?);
        }
        events.extend(stream.close().await?.events);
        assert_eq!(plain(&events), it.events, "{}", it.name);
        assert!(!events.iter().any(|it| matches!(it, Event::Unknown(_))));
        Ok::<_, Error>(())
    };
    for each in recordings() {
        block_on(check(&each)).unwrap();
    }
    assert_eq!(sidecar.restarts(), 0);
    assert!(block_on(sidecar.list()).unwrap().streams.is_empty());
    block_on(sidecar.shutdown()).unwrap();
}

#[test]
fn all_recordings_at_once_through_pipes() {
    let sidecar = builder().build().unwrap();
    let flow = async |it: Recording| {
        let stream = sidecar.open(it.options.clone()).await?;
        let mut pipe = stream.pipe(stream::iter(it.chunks()));
        let mut events = Vec::new();
        while let Some(event) = pipe.next().await {
            events.push(event?);
        }
        assert_eq!(plain(&events), it.events, "{}", it.name);
        let closed = pipe.into_closed().expect("it was closed");
        assert_eq!(closed.stats.events, i64::try_from(events.len()).unwrap());
        Ok::<_, Error>(())
    };
    let flows = recordings().into_iter().map(flow);
    let ended = block_on(stream::iter(flows).buffer_unordered(64).collect::<Vec<_>>());
    assert!(ended.iter().all(Result::is_ok), "{ended:?}");
}

#[test]
fn one_call_of_each_method() {
    let policy = PolicyPatch {
        reasoning: Some(ReasoningPolicyPatch {
            tags: Some(vec!["plan".into()]),
            ..Default::default()
        }),
        ..Default::default()
    };
    block_on(async {
        let sidecar = builder().policy(policy).spawn().await?;
        let capabilities = sidecar.capabilities().expect("it was started");
        assert_eq!(capabilities.protocol_version, stream_sidecar::PROTOCOL_VERSION);

        let body = json!("<plan>2 + 2</plan>Four.");
        let params = NormalizeParams { body, wire: Some(Wire::Text), ..Default::default() };
        let message = sidecar.normalize(&params).await?.message;
        assert_eq!((message.text.as_deref(), message.reasoning.as_deref()), (Some("Four."), Some("2 + 2")));
        assert_eq!(message.finish.unwrap().reason, FinishReason::Stop);

        let call = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}});
        let calls = vec![call.as_object().cloned().unwrap()];
        let classified = sidecar.classify(&ClassifyParams { calls, ..Default::default() }).await?;
        assert_eq!(classified.calls[0].executor, Executor::Server);

        let params = NormalizeErrorParams { body: json!("Slow down."), status: Some(429), ..Default::default() };
        let error = sidecar.normalize_error(&params).await?;
        assert_eq!((error.kind, error.retryable), (ProviderErrorKind::RateLimit, true));

        assert_eq!(sidecar.stats().await?.counters.messages, 1);
        sidecar.shutdown().await?;
        assert!(matches!(sidecar.stats().await, Err(Error::ShutDown)));
        Ok::<_, Error>(())
    })
    .unwrap();
}

#[test]
fn a_host_watches_the_sidecar_and_restarts_it() {
    let states = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&states);
    let sidecar =
        builder().on_state(move |state| seen.lock().unwrap().push(*state)).build().unwrap();
    assert_eq!((sidecar.state(), sidecar.server_info()), (SidecarState::Idle, None));
    block_on(async {
        let params = OpenParams { wire: Some(Wire::Text), ..Default::default() };
        let mut stream = sidecar.open(params).await?;
        let before = sidecar.process_id();
        stream.push("<think>why</th").await?;
        sidecar.restart().await?;
        assert_ne!(sidecar.process_id(), before);
        assert_eq!(sidecar.server_info().unwrap().name, "stream-sidecar");
        stream.push("ink>Because.").await?;
        assert_eq!(stream.close().await?.message.text.as_deref(), Some("Because."));
        sidecar.shutdown().await
    })
    .unwrap();
    let expected = ["Starting", "Running", "Restarting", "Running", "Lost"];
    assert_eq!(
        states.lock().unwrap().iter().map(|it| format!("{it:?}")).collect::<Vec<_>>(),
        expected
    );
}

#[cfg(unix)]
#[test]
fn the_log_arrives_live_and_the_environment_is_limited() {
    for (names, wanted) in
        [(&["PATH"][..], "none a -- --log-level info"), (&["PATH", "HOME"], "some a")]
    {
        let log = Arc::new(Mutex::new(String::new()));
        let said = Arc::clone(&log);
        let started = Sidecar::builder()
            .command(["sh", "-c", r#"echo "${HOME:+some}${HOME:-none} $A -- $*" >&2"#, "sh"])
            .env("A", "a")
            .inherit_env(names)
            .log_level("info")
            .on_stderr(move |text| said.lock().unwrap().push_str(text));
        assert!(block_on(started.spawn()).is_err());
        let log = log.lock().unwrap().replace(&std::env::var("HOME").unwrap_or_default(), "");
        assert!(log.contains(wanted), "{log}");
    }
}

#[test]
fn stored_messages() {
    let policy = PolicyPatch {
        dialects: Some(vec!["hermes".to_owned()].into()),
        tool_calls: Some(ToolCallsPolicyPatch { mode: Some(ToolCallsMode::Extract) }),
        ..Default::default()
    };
    let content = "<think>😀</think>Four.</think>";
    let messages = vec![json!({"role": "assistant", "content": content}), json!(null)];
    let params = HistoryParams { messages, policy: Some(policy), ..Default::default() };
    block_on(async {
        let sidecar = builder().build().unwrap();
        let inspected = sidecar.inspect(&params).await?.results;
        assert_eq!(inspected.iter().map(|it| it.malformed).collect::<Vec<_>>(), [true, false]);
        let found = inspected[0].findings.iter().map(|it| (&it.kind, it.start_utf16, it.end));
        let expected = [(&FindingKind::Reasoning, 0, 16), (&FindingKind::Delimiter, 22, 29)];
        assert_eq!(found.collect::<Vec<_>>(), expected);

        let repaired = sidecar.repair(&params).await?.results;
        assert_eq!(repaired[0].message.as_ref().unwrap()["content"], "Four.");
        assert_eq!(repaired[0].reasoning.as_deref(), Some("😀"));
        assert_eq!(repaired[0].removed[1].text, "</think>");
        assert_eq!(repaired[1].message, Some(json!(null)), "null is a message, too");
        assert_eq!(sidecar.stats().await?.repairs.changed, 1);
        Ok::<_, Error>(())
    })
    .unwrap();
}

#[test]
fn bytes_and_failures_of_the_source() {
    let sidecar = builder().build().unwrap();
    let check = async |encoding: Option<Encoding>| {
        let params = OpenParams { wire: Some(Wire::Text), encoding, ..Default::default() };
        let stream = sidecar.open(params).await?;
        let bytes = "<think>é</think>ü".as_bytes();
        let source = bytes.chunks(1).map(|it| Ok(Chunk::from(it)));
        let source = source.chain([Err("connection reset"), Ok(Chunk::from(b"never".to_vec()))]);
        let mut pipe = stream.try_pipe(stream::iter(source));
        let mut kinds = Vec::new();
        while let Some(event) = pipe.next().await {
            kinds.push(event?.tag().to_owned());
        }
        assert_eq!(kinds[kinds.len() - 2..], ["error", "finish"]);
        let message = pipe.into_closed().unwrap().message;
        assert_eq!((message.text.as_deref(), message.reasoning.as_deref()), (Some("ü"), Some("é")));
        assert_eq!(message.errors[0].message, "connection reset");
        assert!(!message.finish.unwrap().complete);
        Ok::<_, Error>(())
    };
    for encoding in [None, Some(Encoding::Utf8), Some(Encoding::Base64)] {
        block_on(check(encoding)).unwrap();
    }
}

const BROKEN: [&str; 21] = [
    "error decoding response body",               // reqwest
    "connection closed before message completed", // hyper
    "unexpected EOF",                             // Go
    "http2: client connection lost",
    "stream error: stream ID 1; INTERNAL_ERROR",
    "read tcp 10.0.0.2:51234->1.2.3.4:443: read: connection reset by peer",
    "peer closed connection without sending complete message body (incomplete chunked read)",
    "IncompleteRead(0 bytes read)",                     // requests
    "InvalidChunkLength(got length b'', 0 bytes read)", // urllib3
    "Response ended prematurely",
    "Response payload is not completed", // aiohttp
    "Server disconnected",
    "The network connection was lost.", // Safari
    "Load failed",
    "network error",                                  // Chrome
    "Error in input stream",                          // Firefox
    "error reading a body from connection",           // Deno
    "The socket connection was closed unexpectedly.", // Bun
    "terminated",                                     // Node.js
    "other side closed",
    "Premature close",
];

#[test]
fn transports_that_break_off() {
    let sidecar = builder().build().unwrap();
    block_on(async {
        for words in BROKEN {
            let params = OpenParams { wire: Some(Wire::OpenaiChat), ..Default::default() };
            let half = json!({"choices": [{"index": 0, "delta": {"content": "Hel"}}]});
            let source = stream::iter([Ok(Chunk::from(half)), Err(words)]);
            let mut pipe = sidecar.open(params).await?.try_pipe(source);
            while let Some(event) = pipe.next().await {
                event?;
            }
            let [error] = &pipe.into_closed().unwrap().message.errors[..] else {
                panic!("one error for {words}");
            };
            assert_eq!(
                (&error.kind, error.retryable),
                (&ProviderErrorKind::Network, true),
                "{words}"
            );
            assert_eq!(error.message, words);
        }
        Ok::<_, Error>(())
    })
    .unwrap();
}

const LEAK: &str = "<think>é</think>Four.";

fn emitting() -> OpenParams {
    let emit =
        Some(Emit { wire: EmitWire::OpenaiChat, claims: None, reasoning: None, rewrite: None });
    OpenParams { wire: Some(Wire::Text), emit, ..Default::default() }
}

#[test]
fn the_documents_of_a_clean_response() {
    let sidecar = builder().build().unwrap();
    let chunks = || LEAK.as_bytes().chunks(3);
    let [by_hand, piped] = block_on(async {
        let mut stream = sidecar.open(emitting()).await?;
        let mut by_hand = Vec::new();
        for chunk in chunks() {
            stream.push(chunk).await?;
            by_hand.extend(stream.take_emitted());
        }
        let last = stream.close().await?.chunks.expect("it was opened to emit");
        by_hand.extend(last.iter().filter_map(|chunk| chunk.as_object().cloned()));
        let stream = sidecar.open(emitting()).await?;
        let piped: Result<Vec<_>, _> = stream
            .pipe_chunks(stream::iter(chunks()))
            .collect::<Vec<_>>()
            .await
            .into_iter()
            .collect();
        Ok::<_, Error>([by_hand, piped?])
    })
    .unwrap();
    for documents in [by_hand, piped] {
        let texts = documents.iter().filter_map(|it| it["choices"][0]["delta"]["content"].as_str());
        assert_eq!(texts.collect::<String>(), "Four.");
    }
}

#[test]
fn the_body_of_a_clean_response() {
    let sidecar = builder().build().unwrap();
    let body = block_on(async {
        let stream = sidecar.open(emitting()).await?;
        let mut emitted = stream.emit(stream::iter(LEAK.as_bytes().chunks(3)));
        let mut body = Vec::new();
        while let Some(slice) = emitted.next().await {
            body.extend_from_slice(&slice?);
        }
        let closed = emitted.into_closed().expect("it has ended");
        assert_eq!(closed.message.text.as_deref(), Some("Four."));
        Ok::<_, Error>(String::from_utf8(body).expect("it is JSON"))
    })
    .unwrap();
    assert!(body.starts_with("data: {") && body.ends_with("data: [DONE]\n\n"), "{body}");
    assert!(body.contains(r#""reasoning_content":"é""#) && !body.contains("think>"), "{body}");
}

#[test]
fn refusals_are_typed_and_leave_the_stream_unchanged() {
    let sidecar = builder().build().unwrap();
    block_on(async {
        let named = OpenParams {
            stream_id: Some("s".into()),
            wire: Some(Wire::Text),
            ..Default::default()
        };
        let mut stream = sidecar.open(named.clone()).await?;
        assert_eq!(stream.opened().unwrap().framing, Framing::Text);
        let Err(Error::Rpc(refusal)) = sidecar.open(named.clone()).await else {
            panic!("it is in use")
        };
        assert_eq!(refusal.kind().as_str(), "stream-exists");
        assert!(!refusal.retryable());
        let unknown = OpenParams { wire: Some("telepathy".into()), ..Default::default() };
        let Err(Error::Rpc(refusal)) = sidecar.open(unknown).await else { panic!("it is unknown") };
        assert_eq!(refusal.data["path"], "params.wire");

        assert_eq!(stream.push("Hi").await?.len(), 1);
        assert_eq!(stream.snapshot().await?.message.text.as_deref(), Some("Hi"));
        drop(stream);
        assert!(sidecar.list().await?.streams.is_empty(), "dropping closes");
        assert_eq!(
            sidecar.open(named).await?.cancel().await?.message.finish.unwrap().reason,
            FinishReason::Cancelled
        );
        Ok::<_, Error>(())
    })
    .unwrap();
}

#[test]
fn a_dropped_call_loses_nothing() {
    use futures_util::FutureExt;
    let sidecar: Sidecar = builder().build().unwrap();
    block_on(async {
        let params = OpenParams { wire: Some(Wire::Text), ..Default::default() };
        let mut stream = sidecar.open(params).await?;
        let mut events = Vec::new();
        for number in 0..100 {
            // Polled once and dropped: sent, and not waited for.
            if let Some(given) = stream.push(format!("{number} ")).now_or_never() {
                events.extend(given?);
            }
        }
        let closed = stream.close().await?;
        events.extend(closed.events);
        let seqs: Vec<_> = events.iter().filter_map(Event::seq).collect();
        let all: Vec<_> = (1..=i64::try_from(events.len()).unwrap()).collect();
        assert_eq!(seqs, all);
        let text: String = (0..100).map(|it| format!("{it} ")).collect();
        assert_eq!(closed.message.text, Some(text));
        Ok::<_, Error>(())
    })
    .unwrap();
}
