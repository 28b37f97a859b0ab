//! smg: the reasoning parser of its gateway, for a model that opens its own tag.
//!
//! `drive_smg JOB RESULT`, see harness.py. Built in a package of its own.
use std::{env, fs, hint::black_box};

use cpu_time::ProcessTime;
use reasoning_parser::{ParserResult, Qwen3Parser, ReasoningParser};
use serde_json::{json, Value};

/// Deltas between two looks at the clock.
const BATCH: usize = 1_000;

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let job: Value = serde_json::from_str(&fs::read_to_string(&arguments[1]).unwrap()).unwrap();
    let list = |key: &str| job[key].as_array().unwrap().clone();
    let timed: Vec<Option<f64>> = list("timed").iter().map(time).collect();
    let split: Vec<(String, String)> = list("split").iter().map(split).collect();
    let result = json!({"timed": timed, "split": split});
    fs::write(&arguments[2], result.to_string()).unwrap();
}

/// Seconds of processor a delta in the best round, None when a round takes over `most`.
fn time(task: &Value) -> Option<f64> {
    let streams: Vec<_> = task["streams"].as_array().unwrap().iter().map(deltas_of).collect();
    let deltas: usize = streams.iter().map(Vec::len).sum();
    let (seconds, most) = (task["seconds"].as_f64().unwrap(), task["most"].as_f64().unwrap());
    let mut rounds: Vec<f64> = Vec::new();
    while rounds.iter().sum::<f64>() < seconds {
        rounds.push(round(&streams, most)?);
    }
    let best = rounds.iter().copied().fold(f64::INFINITY, f64::min);
    Some(best / deltas as f64)
}

fn deltas_of(list: &Value) -> Vec<String> {
    let text = |delta: &Value| delta.as_str().unwrap().to_owned();
    list.as_array().unwrap().iter().map(text).collect()
}

/// All streams, from making the parser of each to its end.
fn round(streams: &[Vec<String>], most: f64) -> Option<f64> {
    let begin = ProcessTime::now();
    for deltas in streams {
        let mut parser = Qwen3Parser::new();
        for batch in deltas.chunks(BATCH) {
            for delta in batch {
                black_box(push(&mut parser, delta));
            }
            if begin.elapsed().as_secs_f64() > most {
                return None;
            }
        }
        black_box(parser.flush().unwrap());
    }
    Some(begin.elapsed().as_secs_f64())
}

fn push(parser: &mut Qwen3Parser, delta: &str) -> ParserResult {
    parser.parse_reasoning_streaming_incremental(delta).unwrap()
}

/// Answer and reasoning of a stream.
fn split(deltas: &Value) -> (String, String) {
    let mut parser = Qwen3Parser::new();
    let (mut answer, mut reasoning) = (String::new(), String::new());
    let mut take = |given: ParserResult| {
        answer.push_str(&given.normal_text);
        reasoning.push_str(&given.reasoning_text);
    };
    for delta in deltas_of(deltas) {
        take(push(&mut parser, &delta));
    }
    take(parser.flush().unwrap());
    (answer, reasoning)
}
