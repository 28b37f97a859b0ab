//! `waiting FILE`: measures how long a stream waits while another stream makes a large push.
//! `FILE` has texts by name, as JSON. One stream pushes a text with one call; meanwhile the
//! other pushes short deltas, one by one. Prints JSON: for each name and round the milliseconds
//! of the longest `wait`, of the longest wait `alone`, and of the large push. Run by
//! `tests/bench/client_rust.py`.

use std::{collections::BTreeMap, env, fs, pin::pin, time::Instant};

use futures_executor::block_on;
use futures_util::future::{Either, select};
use serde_json::{Value, json};
use stream_sidecar::{OpenParams, Sidecar, StreamHandle, protocol::Wire};

const ROUNDS: usize = 5;
const ALONE: usize = 200;

fn main() {
    let file = env::args().nth(1).expect("a file");
    let texts = fs::read_to_string(file).expect("it is there");
    let texts: BTreeMap<String, String> = serde_json::from_str(&texts).expect("texts");
    let sidecar = block_on(Sidecar::builder().spawn()).expect("the sidecar starts");
    let rounds = |text: &str| (0..ROUNDS).map(|_| block_on(round(&sidecar, text))).collect();
    let found: BTreeMap<&str, Vec<Value>> =
        texts.iter().map(|(name, text)| (name.as_str(), rounds(text))).collect();
    println!("{}", json!(found));
}

async fn round(sidecar: &Sidecar, text: &str) -> Value {
    let params = OpenParams { wire: Some(Wire::Text), ..OpenParams::default() };
    let mut large = sidecar.open(params.clone()).await.expect("it opens");
    let mut small = sidecar.open(params).await.expect("it opens");
    let (mut alone, mut wait) = (0.0_f64, 0.0_f64);
    for _ in 0..ALONE {
        alone = alone.max(waited(&mut small).await);
    }
    let start = Instant::now();
    let took = {
        let mut pushed = pin!(large.push(text));
        loop {
            match select(&mut pushed, pin!(waited(&mut small))).await {
                Either::Left((events, other)) => {
                    events.expect("events");
                    let took = milliseconds(start);
                    wait = wait.max(other.await);
                    break took;
                }
                Either::Right((longer, _)) => wait = wait.max(longer),
            }
        }
    };
    large.close().await.expect("the end");
    small.close().await.expect("the end");
    json!({"wait": wait, "alone": alone, "took": took})
}

/// Milliseconds until a short delta is answered.
async fn waited(stream: &mut StreamHandle) -> f64 {
    let start = Instant::now();
    stream.push("twenty characters, a").await.expect("events");
    milliseconds(start)
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
