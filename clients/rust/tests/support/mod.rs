//! Shared by the tests: the sidecar's command, the recordings, a random generator.

#![allow(dead_code)] // each test file is a separate program and uses only a part

pub mod bodies;
#[cfg(feature = "tower")]
pub mod layer;
pub mod relay;
pub mod server;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use stream_sidecar::{Builder, Chunk, Event, OpenParams, Sidecar};

/// The project's folder of tests.
pub fn project_tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests")
}

/// The words of the command that starts the sidecar of this checkout.
pub fn command() -> Vec<String> {
    let python = std::env::var("SIDECAR_TEST_PYTHON").unwrap_or_else(|_| "python3".into());
    [&python, "-m", "stream_sidecar", "--stdio"].map(str::to_owned).into()
}

/// A builder for the sidecar of this checkout, with time limits for a busy machine.
pub fn builder() -> Builder {
    let long = Duration::from_secs(300);
    Sidecar::builder()
        .command(command())
        .start_timeout(long)
        .request_timeout(long)
        .shutdown_timeout(long)
}

/// A recorded response.
pub struct Recording {
    pub name: String,
    /// The path without an ending: `anthropic/body`.
    pub path: String,
    pub options: OpenParams,
    pub chunks: Vec<Box<RawValue>>,
    pub events: Vec<Value>,
}

/// All of `tests/wires/*/*.chunks.jsonl`, with their events.
pub fn recordings() -> Vec<Recording> {
    let mut paths = files(&project_tests().join("wires"), ".chunks.jsonl");
    paths.sort();
    assert!(paths.len() > 100, "the recordings are there");
    paths.iter().map(|it| recording(it)).collect()
}

fn recording(path: &Path) -> Recording {
    #[derive(Deserialize)]
    struct Header {
        options: OpenParams,
    }
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let header: Header = serde_json::from_str(lines.next().unwrap()).unwrap();
    let golden = path.to_str().unwrap().replace(".chunks.", ".events.");
    let golden = fs::read_to_string(golden).unwrap();
    let wire = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
    let name = path.file_name().unwrap().to_str().unwrap().replace(".chunks.jsonl", "");
    Recording {
        path: format!("{wire}/{name}"),
        name,
        options: header.options,
        chunks: lines.map(|it| serde_json::from_str(it).unwrap()).collect(),
        events: without_made_ids(golden.lines().map(|it| serde_json::from_str(it).unwrap())),
    }
}

impl Recording {
    pub fn chunks(&self) -> impl Iterator<Item = Chunk> + Send + 'static + use<> {
        self.chunks.clone().into_iter().map(Chunk::from)
    }
}

/// Events as JSON, for comparison with the recorded events.
pub fn plain(events: &[Event]) -> Vec<Value> {
    without_made_ids(events.iter().map(|it| serde_json::to_value(it).unwrap()))
}

/// Replaces ids that contain the stream's id, which differs in each run.
fn without_made_ids(events: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut events: Vec<Value> = events.collect();
    let made: Vec<Value> = events
        .iter()
        .filter(|it| it["idSynthetic"] == true)
        .map(|it| it["toolCallId"].clone())
        .collect();
    for event in &mut events {
        if event.get("toolCallId").is_some_and(|it| made.contains(it)) {
            event["toolCallId"] = "made".into();
        }
    }
    events
}

pub fn files(home: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(home).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.to_str().unwrap().ends_with(ending) {
            found.push(path);
        }
    }
    found
}

/// Pseudo-random numbers, the same in every run (`SplitMix64`).
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((bits ^ (bits >> 31)) >> 1).unwrap() % bound
    }
}
