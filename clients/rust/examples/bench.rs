//! `bench ROUNDS ECHO...`: prints, as JSON, the seconds of the best round of recorded
//! streams through [`pipe`](stream_sidecar::StreamHandle::pipe), through `push` chunk by
//! chunk, and chunk by chunk through a bare echo, spoken to with the same frames and
//! nothing else. Run by `tests/bench/client_rust.py`.

use std::{
    env, fs,
    io::{BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    time::Instant,
};

use futures_executor::block_on;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use stream_sidecar::{OpenParams, Sidecar, framing};

/// Strings are cut into so many characters.
const SLICE: usize = 200;

type Recording = (OpenParams, Vec<Value>);

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let rounds: usize = arguments[0].parse().expect("a number of rounds");
    let recordings = recordings();
    let chunks: usize = recordings.iter().map(|it| it.1.len()).sum();
    let sidecar = block_on(Sidecar::builder().spawn()).expect("the sidecar starts");
    let mut echo = Echo::start(&arguments[1..]);
    let (mut pipe, mut push, mut bare) = (f64::MAX, f64::MAX, f64::MAX);
    for _ in 0..rounds {
        pipe = pipe.min(seconds(|| recordings.iter().for_each(|it| block_on(piped(&sidecar, it)))));
        push =
            push.min(seconds(|| recordings.iter().for_each(|it| block_on(pushed(&sidecar, it)))));
        bare = bare.min(seconds(|| recordings.iter().for_each(|it| echo.repeat(it))));
    }
    println!("{}", json!({"chunks": chunks, "pipe": pipe, "push": push, "echo": bare}));
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

struct Echo(Child);

impl Echo {
    fn start(words: &[String]) -> Self {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(command.spawn().expect("the echo starts"))
    }

    fn repeat(&mut self, (_, chunks): &Recording) {
        let input = self.0.stdin.as_mut().expect("a pipe");
        let mut output = BufReader::new(self.0.stdout.as_mut().expect("a pipe"));
        for chunk in chunks {
            let params = json!({"streamId": "rust-1", "chunks": [chunk]});
            let asked =
                json!({"jsonrpc": "2.0", "id": 1, "method": "stream/push", "params": params});
            input.write_all(&framing::frame(asked.to_string().as_bytes())).expect("it reads");
            let answer = framing::read(&mut output).expect("a frame").expect("an answer");
            serde_json::from_slice::<Value>(&answer).expect("JSON");
        }
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).expect("it ends");
    }
}

fn recordings() -> Vec<Recording> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/wires");
    let folders = fs::read_dir(home).expect("the recordings are there");
    let files = folders.flat_map(|it| fs::read_dir(it.expect("a folder").path()).expect("files"));
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
