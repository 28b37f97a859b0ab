//! Sidecars that misbehave, each played by this test program. Whatever they do, the host gets a
//! typed error in time.

mod support;

use std::{
    env, fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::exit,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use futures_executor::block_on;
use futures_util::{FutureExt, StreamExt, stream};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};
use stream_sidecar::{
    Builder, Chunk, Error, Event, LostReason, OpenParams, Sidecar, StreamHandle, framing,
    protocol::{CloseResult, Encoding, ErrorKind, Finish, FinishReason, HistoryParams, Wire},
};

/// How long the host waits for an answer that never arrives; every real answer is faster.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long the host waits for a real answer, on a busy machine.
const SLACK: Duration = Duration::from_secs(300);

fn main() {
    if let [_, mark, name] = &env::args().collect::<Vec<_>>()[..]
        && mark == "--be"
    {
        return play(name);
    }
    let tests: [(&str, fn()); 24] = [
        ("junk_instead_of_a_handshake", junk_instead_of_a_handshake),
        ("output_of_a_wrapper", output_of_a_wrapper),
        ("endless_junk", endless_junk),
        ("junk_later", junk_later),
        ("silence_at_the_start", silence_at_the_start),
        ("silence_later", silence_later),
        ("a_hang_is_replayed", a_hang_is_replayed),
        ("a_full_queue", a_full_queue),
        ("a_queue_that_a_hang_fills", a_queue_that_a_hang_fills),
        ("a_stream_that_every_process_hangs_on", a_stream_that_every_process_hangs_on),
        ("a_request_that_ends_every_process", a_request_that_ends_every_process),
        ("other_versions", other_versions),
        ("an_early_end", an_early_end),
        ("a_close_with_the_last_push", a_close_with_the_last_push),
        ("a_refused_push_with_a_close", a_refused_push_with_a_close),
        ("a_missing_program", a_missing_program),
        ("passing_through", passing_through),
        ("events_of_later_versions", events_of_later_versions),
        ("a_sidecar_that_makes_requests", a_sidecar_that_makes_requests),
        ("another_engine_after_a_crash", another_engine_after_a_crash),
        ("an_ignored_shutdown", an_ignored_shutdown),
        ("a_dropped_call_is_cancelled", a_dropped_call_is_cancelled),
        ("what_is_ignored_is_shown_once", what_is_ignored_is_shown_once),
        ("a_cancel_does_not_wait_for_a_hang", a_cancel_does_not_wait_for_a_hang),
    ];
    let trials = tests.map(|(name, run)| {
        Trial::test(name, move || {
            run();
            Ok::<(), Failed>(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit();
}

fn what_is_ignored_is_shown_once() {
    let (sender, warnings) = std::sync::mpsc::channel();
    let forward = move |text: &str| sender.send(text.to_owned()).unwrap();
    let sidecar = fake("ignores").on_warning(forward).build().unwrap();
    let streams = [(); 3].map(|()| block_on(sidecar.open(text())).unwrap());
    drop((streams, sidecar));
    let ignored = |path: &str| {
        format!("stream-sidecar: the sidecar does not know {path}, so it has no effect")
    };
    let expected = [ignored("policy.toolResult"), ignored("modle")];
    assert_eq!(warnings.try_iter().collect::<Vec<_>>(), expected);
}

fn a_cancel_does_not_wait_for_a_hang() {
    let sidecar = fake("hangs").build().unwrap();
    let mut stream = block_on(sidecar.open(text())).unwrap();
    assert!(Box::pin(stream.push("a")).now_or_never().is_none());
    match block_on(stream.cancel()) {
        Err(Error::Timeout { method: "stream/close", after, .. }) => assert!(after < PATIENCE),
        other => panic!("{other:?}"),
    }
}

fn fake(name: &str) -> Builder {
    let program = env::current_exe().unwrap();
    Sidecar::builder()
        .command([program.as_os_str(), "--be".as_ref(), name.as_ref()])
        .restarts(1, Duration::from_secs(600))
        .restart_pause(Duration::ZERO)
        .request_timeout(SLACK)
        .start_timeout(SLACK)
}

/// The name of a file, which tells the later processes of a fake what an earlier one did.
/// Dropping it removes the file.
struct Mark(PathBuf);

impl Mark {
    fn new() -> Self {
        static MARKS: AtomicUsize = AtomicUsize::new(0);
        let number = MARKS.fetch_add(1, Ordering::Relaxed);
        let name = format!("sidecar-fake-{}-{number}", std::process::id());
        Self(env::temp_dir().join(name))
    }

    fn make() {
        fs::write(env::var_os("FAKE_MARK").unwrap(), "").unwrap();
    }

    fn is_made() -> bool {
        Path::new(&env::var_os("FAKE_MARK").unwrap()).exists()
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn text() -> OpenParams {
    OpenParams { wire: Some(Wire::Text), ..OpenParams::default() }
}

/// The error of the only command that was tried.
fn start_error(builder: Builder) -> Error {
    match block_on(builder.spawn()) {
        Err(Error::Start { mut tried, .. }) if tried.len() == 1 => *tried.remove(0).error,
        other => panic!("{other:?}"),
    }
}

fn junk_instead_of_a_handshake() {
    match start_error(fake("junk")) {
        Error::Exited { stderr, .. } => {
            assert!(stderr.contains("Loading plugins"), "{stderr}");
            assert!(stderr.contains("a word on stderr"), "{stderr}");
        }
        other => panic!("{other:?}"),
    }
}

fn output_of_a_wrapper() {
    let (sender, log) = std::sync::mpsc::channel();
    let forward = move |text: &str| sender.send(text.to_owned()).unwrap();
    let sidecar = block_on(fake("said-before").on_stderr(forward).spawn()).unwrap();
    assert_eq!(log.recv().unwrap(), "(base) activated\n");
    assert_eq!(&*sidecar.stderr().unwrap(), "(base) activated\n");
}

fn endless_junk() {
    match start_error(fake("flood")) {
        Error::Protocol { message, .. } => assert!(message.contains("yyyy"), "{message}"),
        other => panic!("{other:?}"),
    }
}

fn junk_later() {
    let sidecar = block_on(fake("junk-later").spawn()).unwrap();
    match block_on(sidecar.open(text())).map(drop) {
        Err(Error::GaveUp { restarts: 1, last, .. }) => {
            assert!(matches!(*last, Error::Protocol { .. }), "{last:?}");
        }
        other => panic!("{other:?}"),
    }
}

fn silence_at_the_start() {
    let error = start_error(fake("silence").start_timeout(PATIENCE));
    assert!(matches!(error, Error::Timeout { method: "initialize", after: PATIENCE, .. }));
}

/// A stream continues in the next process while restarts are allowed; other requests fail.
fn silence_later() {
    let sidecar = fake("silence-later").request_timeout(PATIENCE).build().unwrap();
    match block_on(sidecar.open(text())).map(drop) {
        Err(Error::GaveUp { restarts: 1, last, .. }) => {
            assert!(matches!(*last, Error::Timeout { method: "stream/open", .. }), "{last:?}");
        }
        other => panic!("{other:?}"),
    }
    let sidecar = fake("silence-later").request_timeout(PATIENCE).build().unwrap();
    let error = block_on(sidecar.stats()).unwrap_err();
    assert!(matches!(error, Error::Timeout { method: "sidecar/stats", .. }), "{error:?}");
    assert_eq!(sidecar.restarts(), 0);
}

/// A fake that hangs on a push of "hang", in its first process.
fn hanging_once() -> (Builder, Mark) {
    let mark = Mark::new();
    let builder = fake("hangs-once").env("FAKE_MARK", &mark.0).request_timeout(PATIENCE);
    (builder.restarts(usize::MAX, SLACK), mark)
}

fn a_hang_is_replayed() {
    let (builder, _mark) = hanging_once();
    let sidecar = builder.build().unwrap();
    let mut stream = block_on(sidecar.open(text())).unwrap();
    assert_eq!(block_on(stream.push("a")).unwrap().len(), 4);
    assert_eq!(block_on(stream.push("hang")).unwrap().len(), 1, "only what is new");
    assert!(sidecar.restarts() > 0);
}

/// Nobody polls the push that hangs; the push after it notices the missing answer. With a full
/// queue, calls by hand are refused; pipes and ends of streams wait.
fn a_full_queue() {
    let (builder, _mark) = hanging_once();
    let sidecar = builder.max_concurrent_requests(1).max_queued_requests(1).build().unwrap();
    let [mut first, mut second, mut third, last, piped] =
        [(); 5].map(|()| block_on(sidecar.open(text())).unwrap());
    let mut still = Box::pin(first.push("hang"));
    assert!(still.as_mut().now_or_never().is_none());
    let mut waiting = Box::pin(second.push("b"));
    assert!(waiting.as_mut().now_or_never().is_none());
    let refused = block_on(third.push("c")).unwrap_err();
    assert!(matches!(refused, Error::QueueFull { limit: 1 }), "{refused}");
    assert_eq!((refused.kind(), refused.retryable()), ("queue-full", true));
    assert!(matches!(block_on(sidecar.stats()), Err(Error::QueueFull { .. })));
    assert!(matches!(block_on(sidecar.open(text())).map(drop), Err(Error::QueueFull { .. })));
    assert!(matches!(block_on(third.snapshot()), Err(Error::QueueFull { .. })));
    assert!(last.close().now_or_never().is_none(), "it waits");
    let source = futures_util::stream::iter(["d"]);
    let pipe = futures_util::StreamExt::collect::<Vec<_>>(piped.pipe(source));
    assert!(pipe.now_or_never().is_none(), "it waits");
    assert_eq!(block_on(still).unwrap().len(), 1);
    assert_eq!(block_on(waiting).unwrap().len(), 4);
    assert_eq!(block_on(third.push("c")).unwrap().len(), 4, "nothing of it was sent before");
}

fn a_queue_that_a_hang_fills() {
    let (builder, _mark) = hanging_once();
    let sidecar = builder.max_concurrent_requests(1).build().unwrap();
    let mut first = block_on(sidecar.open(text())).unwrap();
    let mut second = block_on(sidecar.open(text())).unwrap();
    let mut still = Box::pin(first.push("hang"));
    assert!(still.as_mut().now_or_never().is_none());
    assert_eq!(block_on(second.push("b")).unwrap().len(), 4);
    assert_eq!(block_on(still).unwrap().len(), 1, "nothing was lost");
}

/// The processes end so slowly that the limit of restarts within a period is never reached.
fn a_stream_that_every_process_hangs_on() {
    let builder = fake("hangs").restarts(2, Duration::ZERO).request_timeout(PATIENCE);
    let sidecar = builder.build().unwrap();
    let mut stream = block_on(sidecar.open(text())).unwrap();
    for _ in 0..2 {
        match block_on(stream.push("hang")) {
            Err(Error::StreamLost { reason, source, .. }) => {
                assert_eq!(reason, LostReason::Crashing { processes: 3 });
                assert!(matches!(*source, Error::Timeout { method: "stream/push", .. }));
            }
            other => panic!("{other:?}"),
        }
    }
}

fn a_request_that_ends_every_process() {
    let sidecar = fake("ends").restarts(2, Duration::ZERO).build().unwrap();
    let error = block_on(sidecar.stats()).unwrap_err();
    assert!(matches!(error, Error::Exited { .. }), "{error:?}");
    assert_eq!(sidecar.restarts(), 2, "it was asked once more, and one is there for others");
}

fn other_versions() {
    let cases = [("version-2", vec![2]), ("version-refused", vec![2, 3]), ("no-sidecar", vec![])];
    for (name, expected) in cases {
        match start_error(fake(name)) {
            Error::Version { wanted: 1, found } => assert_eq!(found, expected),
            other => panic!("{other:?}"),
        }
    }
}

fn an_early_end() {
    let error = start_error(fake("exit"));
    let (text, shown) = (error.to_string(), format!("{error:?}"));
    match error {
        Error::Exited { status, stderr } => {
            assert_eq!(status.unwrap().code(), Some(3));
            assert_eq!(stderr.len(), 64 << 10, "a tail of what was said");
            assert!(stderr.ends_with("No module named sidecar\n"));
        }
        other => panic!("{other:?}"),
    }
    assert!(text.contains("exit status: 3") && text.contains("No module named"), "{text}");
    assert!(text.len() < 1000 && shown.len() < 1000, "it can be shown: {shown}");
}

fn a_missing_program() {
    let builder = Sidecar::builder().command(["no-such-program-of-ours"]);
    assert!(matches!(start_error(builder), Error::Spawn { .. }));
}

fn passing_through() {
    let builder = || Sidecar::builder().command(["no-such-program-of-ours"]);
    let raw = |stream: StreamHandle, chunks: Vec<Chunk>| {
        assert!(stream.is_pass_through() && stream.opened().is_none());
        let mut pipe = stream.pipe(futures_util::stream::iter(chunks));
        let events: Vec<_> = block_on(futures_util::StreamExt::collect(&mut pipe));
        let tags = events.iter().map(|it| it.as_ref().unwrap().tag().to_owned());
        let tags: Vec<_> = tags.collect();
        let Some(Ok(Event::Diagnostic(warning))) = events.first() else { panic!("{events:?}") };
        assert_eq!(warning.code, "sidecar-unavailable");
        assert!(warning.message.contains("no-such-program-of-ours"), "{}", warning.message);
        (tags, pipe.into_closed().unwrap())
    };
    let sidecar = block_on(builder().pass_through(true).spawn()).expect("nothing to wait for");
    for encoding in [Encoding::Utf8, Encoding::Base64] {
        let params = OpenParams { encoding: Some(encoding), ..text() };
        let chunks = ["<think>a</think>", "", "b 🌿"].map(|it| Chunk::from(it.as_bytes()));
        let (tags, closed) = raw(block_on(sidecar.open(params)).unwrap(), chunks.into());
        assert_eq!(tags, ["diagnostic", "text-delta", "text-delta", "block-end", "finish"]);
        assert_eq!(closed.message.text.as_deref(), Some("<think>a</think>b 🌿"));
        assert_eq!((closed.stats.chunks, closed.stats.chars, closed.stats.events), (3, 19, 5));
        let Finish { reason, complete, .. } = closed.message.finish.unwrap();
        assert_eq!((reason, complete), (FinishReason::Unknown, false));
    }
    let document = || vec![Chunk::from(json!({"delta": "a"}))];
    let (_, closed) = raw(block_on(sidecar.open(text())).unwrap(), document());
    assert_eq!(closed.message.text.as_deref(), Some(r#"{"delta":"a"}"#));
    let read = |chunk: &Value, _: &OpenParams| chunk["delta"].as_str().unwrap().to_owned();
    let reading = builder().pass_through_with(read).build().unwrap();
    let (_, closed) = raw(block_on(reading.open(text())).unwrap(), document());
    assert_eq!(closed.message.text.as_deref(), Some("a"));
    let body = block_on(sidecar.open(text())).unwrap().emit(futures_util::stream::iter(["a", "b"]));
    let body: Vec<_> = block_on(futures_util::StreamExt::collect(body));
    assert_eq!(body.into_iter().flat_map(Result::unwrap).collect::<Vec<u8>>(), b"ab");
    assert!(block_on(sidecar.stats()).unwrap_err().is_start());
}

fn events_of_later_versions() {
    let sidecar = fake("later").build().unwrap();
    let mut stream = block_on(sidecar.open(text())).unwrap();
    let events = block_on(stream.push("a")).unwrap();
    let Event::Finish(finish) = &events[0] else { panic!("{events:?}") };
    assert_eq!(finish.reason, FinishReason::Other("bored".into()));
    for event in &events[1..] {
        assert!(matches!(event, Event::Unknown(_)), "{event:?}");
    }
    let tags: Vec<_> = events.iter().map(Event::tag).collect();
    assert_eq!(tags, ["finish", "hologram", "text-delta", ""]);
    let again = serde_json::to_value(&events).unwrap();
    assert_eq!(again, later_events(), "nothing of it is lost");
}

fn a_sidecar_that_makes_requests() {
    let sidecar = fake("asks").build().unwrap();
    drop(block_on(sidecar.open(text())).expect("it was answered, and went on"));
}

/// What a pipe of "a" and "b" gives: its events, or the error in place of one, and its end.
fn piped(name: &str) -> (Vec<Result<Event, Error>>, Option<CloseResult>) {
    let sidecar = fake(name).request_timeout(PATIENCE).build().unwrap();
    let mut pipe = block_on(sidecar.open(text())).unwrap().pipe(stream::iter(["a", "b"]));
    let events = block_on(pipe.by_ref().collect());
    assert_eq!(sidecar.restarts(), 0);
    (events, pipe.into_closed())
}

/// The fake answers the push only after it has got the close: a stream takes two round trips.
fn a_close_with_the_last_push() {
    let (events, closed) = piped("answers-after-close");
    let seqs: Vec<_> = events.into_iter().map(|it| it.unwrap().seq().unwrap()).collect();
    assert_eq!(seqs, [1, 2, 3]);
    assert_eq!(closed.unwrap().stats.pushes, 1);
}

/// It is the pipe's last item, as without the close.
fn a_refused_push_with_a_close() {
    let (events, closed) = piped("refuses-before-close");
    let [Err(Error::Rpc(refusal))] = &events[..] else { panic!("{events:?}") };
    assert_eq!((refusal.kind(), closed), (ErrorKind::LimitExceeded, None));
}

fn another_engine_after_a_crash() {
    let mark = Mark::new();
    let sidecar = fake("differs").env("FAKE_MARK", &mark.0).build().unwrap();
    let mut stream = block_on(sidecar.open(text())).unwrap();
    assert_eq!(block_on(stream.push("a")).unwrap().len(), 4);
    match block_on(stream.push("crash")) {
        Err(Error::StreamLost { reason, .. }) => {
            assert_eq!(reason.to_string(), "its replay gave 0 events, but 4 were delivered");
        }
        other => panic!("{other:?}"),
    }
}

fn an_ignored_shutdown() {
    let sidecar = block_on(fake("silence-later").request_timeout(PATIENCE).spawn()).unwrap();
    let error = block_on(sidecar.shutdown()).unwrap_err();
    assert!(matches!(error, Error::Timeout { method: "shutdown", .. }), "{error:?}");
    assert!(matches!(block_on(sidecar.list()), Err(Error::ShutDown)));
}

/// The fake answers only the cancelled request; the answer says which id was cancelled.
fn a_dropped_call_is_cancelled() {
    let sidecar = block_on(fake("cancel").spawn()).unwrap();
    let params = HistoryParams::default();
    assert!(sidecar.inspect(&params).now_or_never().is_none());
    match block_on(sidecar.repair(&params)).unwrap_err() {
        Error::Rpc(refusal) => assert_eq!(refusal.message, "cancelled was 2"),
        other => panic!("{other:?}"),
    }
}

// The other side

fn play(name: &str) {
    match name {
        "junk" => {
            eprintln!("a word on stderr");
            println!("Loading plugins ...");
            exit(1)
        }
        "flood" => loop {
            print!("{}", "y".repeat(1 << 16));
        },
        "silence" => forever(),
        "exit" => {
            for number in 0..20_000 {
                eprintln!("warning {number}");
            }
            eprintln!("No module named sidecar");
            exit(3)
        }
        "said-before" => {
            println!("(base) activated");
            while converse(name) {}
        }
        _ => while converse(name) {},
    }
}

/// Answers one message; false at the end of the input.
fn converse(name: &str) -> bool {
    let Ok(Some(body)) = framing::read(&mut io::stdin().lock()) else { return false };
    let message: Value = serde_json::from_slice(&body).unwrap();
    match (name, message["method"].as_str().unwrap_or("")) {
        ("version-refused", "initialize") => {
            let data =
                json!({"kind": "unsupported-version", "retryable": false, "supported": [2, 3]});
            say(
                &json!({"id": message["id"], "error": {"code": -31005, "message": "no", "data": data}}),
            );
        }
        ("no-sidecar", "initialize") => answer(&message, &json!({"capabilities": {}})),
        ("version-2", "initialize") => answer(&message, &hello(2)),
        ("ignores", "initialize") => {
            let mut hello = hello(1);
            hello["capabilities"]["experimental"]["streamSidecar"]["ignored"] =
                json!(["policy.toolResult"]);
            answer(&message, &hello);
        }
        ("ignores", "stream/open") => {
            let mut opened = opened(&message);
            opened["ignored"] = json!(["modle"]);
            answer(&message, &opened);
        }
        (_, "initialize") => answer(&message, &hello(1)),
        ("junk-later", "stream/open") => println!("Traceback (most recent call last):"),
        ("silence-later", "stream/open" | "shutdown") | ("hangs", "stream/push") => forever(),
        ("asks", "stream/open") => {
            say(&json!({"method": "window/logMessage", "params": {}}));
            say(&json!({"id": "q", "method": "workspace/configuration", "params": {}}));
            let reply = next_message();
            assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!("q"), &json!(-32601)));
            answer(&message, &opened(&message));
        }
        (_, "stream/open") => answer(&message, &opened(&message)),
        ("cancel", "message/inspect") => {
            let cancel = next_message();
            assert_eq!(cancel["method"], "$/cancelRequest");
            let next = next_message();
            let text = format!("cancelled was {}", cancel["params"]["id"]);
            let error = json!({"code": -32800, "message": text});
            say(&json!({"id": message["id"], "error": error}));
            say(&json!({"id": next["id"], "error": error}));
        }
        ("ends", "sidecar/stats") => exit(1),
        ("answers-after-close" | "refuses-before-close", "stream/push") => {
            let close = next_message();
            assert_eq!(close["method"], "stream/close");
            if name == "answers-after-close" {
                answer(&message, &pushed(&message, &json!([{"type": "later", "seq": 1}])));
            } else {
                say(&json!({"id": message["id"], "error": limit_exceeded()}));
            }
            answer(&close, &closed(&close));
        }
        ("hangs-once", "stream/push") if message.to_string().contains("hang") => {
            if !Mark::is_made() {
                Mark::make();
                forever()
            }
            answer(&message, &pushed(&message, &json!([{"type": "hologram", "seq": 5}])));
        }
        ("differs", "stream/push") if message.to_string().contains("crash") => {
            Mark::make();
            exit(1)
        }
        ("differs", "stream/push") if Mark::is_made() => {
            answer(&message, &pushed(&message, &json!([])));
        }
        (_, "stream/push") => answer(&message, &pushed(&message, &later_events())),
        _ => {}
    }
    true
}

fn next_message() -> Value {
    let body = framing::read(&mut io::stdin().lock()).unwrap().unwrap();
    serde_json::from_slice(&body).unwrap()
}

fn forever() -> ! {
    loop {
        let _ = io::stdin().lock().read(&mut [0; 1024]);
        thread::park_timeout(Duration::from_secs(1));
    }
}

fn say(message: &Value) {
    let mut message = message.clone();
    message["jsonrpc"] = "2.0".into();
    let mut output = io::stdout().lock();
    output.write_all(&framing::frame(message.to_string().as_bytes())).unwrap();
    output.flush().unwrap();
}

fn answer(message: &Value, result: &Value) {
    say(&json!({"id": message["id"], "result": result}));
}

fn limits() -> Value {
    json!({
        "maxStreams": 1, "maxMessageBytes": 1, "maxDocumentChars": 1, "maxHeldChars": 1,
        "maxCallChars": 1, "maxHeldBytes": 1, "idleTimeoutMs": 0
    })
}

fn hello(version: i64) -> Value {
    let ours = json!({
        "protocolVersion": version, "wires": [], "framings": [], "dialects": [], "events": [],
        "limits": limits()
    });
    json!({"capabilities": {"experimental": {"streamSidecar": ours}}})
}

fn opened(message: &Value) -> Value {
    json!({
        "streamId": message["params"]["streamId"], "wire": "text", "framing": "text",
        "profile": {"name": "default", "dialects": [], "startsOpen": false},
        "policy": {
            "reasoning": {
                "scope": "everywhere", "precedence": "merge", "startsOpen": "auto",
                "unclosed": "auto", "asAnswer": "never"
            },
            "toolResults": {"mode": "strip", "indicators": [], "known": []},
            "toolCalls": {"mode": "extract"}, "dialects": "auto",
            "echo": {"markers": [], "prefixes": []}, "message": {"parts": true}, "trace": false
        },
        "limits": limits()
    })
}

fn pushed(message: &Value, events: &Value) -> Value {
    let last = events.as_array().unwrap().last().map_or(0, |it| it["seq"].as_i64().unwrap());
    let stream = &message["params"]["streamId"];
    json!({"streamId": stream, "events": events, "lastSeq": last, "pushes": 1})
}

fn closed(message: &Value) -> Value {
    let mut result = serde_json::to_value(CloseResult::default()).unwrap();
    result["streamId"] = message["params"]["streamId"].clone();
    result["events"] = json!([{"type": "later", "seq": 2}, {"type": "later", "seq": 3}]);
    result
}

fn limit_exceeded() -> Value {
    json!({"code": -31004, "message": "no", "data": {"kind": "limit-exceeded", "retryable": false}})
}

fn later_events() -> Value {
    json!([
        {"type": "finish", "seq": 1, "reason": "bored", "emptyAnswer": false, "complete": true},
        {"type": "hologram", "seq": 2, "pixels": [1, 2]},
        {"type": "text-delta", "seq": 3, "block": "not a number", "text": "a"},
        {"seq": 4}
    ])
}
