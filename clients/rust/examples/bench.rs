//! `bench ROUNDS ECHO...`: sends recorded streams, with a request for each chunk and two for
//! open and close, and prints the seconds of the best round as JSON. There are four ways:
//! [`pipe`](stream_sidecar::StreamHandle::pipe) and `push` of this crate, and the same frames
//! sent directly to a sidecar and to an echo. Run by `tests/bench/client_rust.py`.

use std::{
    env, fs,
    io::{BufReader, Write},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    time::Instant,
};

use futures_executor::block_on;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use stream_sidecar::{OpenParams, Sidecar, framing};

/// Strings are cut into pieces of this many characters.
const SLICE: usize = 200;

type Recording = (OpenParams, Vec<Value>);

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let rounds: usize = arguments[0].parse().expect("a number of rounds");
    let recordings = recordings();
    let requests: usize = recordings.iter().map(|it| it.1.len() + 2).sum();
    let sidecar = block_on(Sidecar::builder().spawn()).expect("the sidecar starts");
    let command = env::var(stream_sidecar::VARIABLE).expect("the sidecar's command");
    let mut bare = Peer::start(command.split(' '));
    bare.ask("initialize", &json!({}));
    let mut echo = Peer::start(arguments[1..].iter().map(String::as_str));
    let mut best = [f64::MAX; 4];
    for _ in 0..rounds {
        let taken = [
            seconds(|| recordings.iter().for_each(|it| block_on(piped(&sidecar, it)))),
            seconds(|| recordings.iter().for_each(|it| block_on(pushed(&sidecar, it)))),
            seconds(|| recordings.iter().for_each(|it| bare.converse(it))),
            seconds(|| recordings.iter().for_each(|it| echo.converse(it))),
        ];
        for (best, taken) in best.iter_mut().zip(taken) {
            *best = best.min(taken);
        }
    }
    let [pipe, push, bare, echo] = best;
    println!(
        "{}",
        json!({"requests": requests, "pipe": pipe, "push": push, "bare": bare, "echo": echo})
    );
}

fn seconds(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}

async fn piped(sidecar: &Sidecar, (options, chunks): &Recording) {
    let stream = sidecar.open(options.clone()).await.expect("it opens");
    let mut events = stream.pipe(stream::iter(chunks));
    while let Some(event) = events.next().await {
        event.expect("an event");
    }
}

async fn pushed(sidecar: &Sidecar, (options, chunks): &Recording) {
    let mut stream = sidecar.open(options.clone()).await.expect("it opens");
    for chunk in chunks {
        stream.push(chunk).await.expect("events");
    }
    stream.close().await.expect("the end");
}

/// A process at the other end of two pipes, which gets one request after the other.
struct Peer {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Peer {
    fn start<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let mut words = words.into_iter();
        let mut command = Command::new(words.next().expect("a program"));
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("it starts");
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        Self { process, output }
    }

    fn converse(&mut self, (options, chunks): &Recording) {
        let mut options = serde_json::to_value(options).expect("options");
        options["streamId"] = "s".into();
        self.ask("stream/open", &options);
        for chunk in chunks {
            self.ask("stream/push", &json!({"streamId": "s", "chunk": chunk}));
        }
        self.ask("stream/close", &json!({"streamId": "s"}));
    }

    fn ask(&mut self, method: &str, params: &Value) {
        let asked = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let input = self.process.stdin.as_mut().expect("a pipe");
        input.write_all(&framing::frame(asked.to_string().as_bytes())).expect("it reads");
        let answer = framing::read(&mut self.output).expect("a frame").expect("an answer");
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        assert!(answer.get("result").is_some(), "{answer}");
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.process.kill().and_then(|()| self.process.wait()).expect("it ends");
    }
}

fn recordings() -> Vec<Recording> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/wires");
    let entries = fs::read_dir(home).expect("the recordings are there");
    let folders = entries.map(|it| it.expect("an entry").path()).filter(|it| it.is_dir());
    let files = folders.flat_map(|it| fs::read_dir(it).expect("files"));
    let mut paths: Vec<_> = files.map(|it| it.expect("a file").path()).collect();
    paths.retain(|it| it.to_string_lossy().ends_with(".chunks.jsonl"));
    paths.sort();
    paths.iter().map(|it| recording(&fs::read_to_string(it).expect("text"))).collect()
}

fn recording(text: &str) -> Recording {
    let mut lines = text.lines().map(|it| serde_json::from_str::<Value>(it).expect("JSON"));
    let header = lines.next().expect("a header");
    let options = serde_json::from_value(header["options"].clone()).expect("options");
    (options, lines.flat_map(slices).collect())
}

fn slices(chunk: Value) -> Vec<Value> {
    let Value::String(text) = chunk else { return vec![chunk] };
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(SLICE).map(|it| it.iter().collect::<String>().into()).collect()
}
