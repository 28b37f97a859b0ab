//! SIGKILL at 200 seeded moments: the readers of streams notice nothing.
//!
//! The moments are places in the flow of chunks, so the kills hit everything that may be in
//! flight: a push, its answer, the close, another stream's replay. A quarter of the kills hit
//! twice: the next process is killed too, as soon as it runs.

#![cfg(unix)]

mod support;

use std::{
    collections::HashSet,
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_channel::mpsc;
use futures_util::{
    StreamExt,
    future::{Either, join_all, select},
    stream,
};
use serde_json::Value;
use stream_sidecar::{Chunk, Error, Event, LostReason, OpenParams, Sidecar, protocol::Wire};
use support::{
    Chance, Recording, builder, plain, recordings,
    relay::{alive, signal},
};

const STREAMS: usize = 50;
/// The number of streams of one sidecar.
const GROUP: usize = 10;
/// A quarter of these kills the next process too: 200 kills in all.
const MOMENTS: usize = 160;
const KILLS: usize = MOMENTS + MOMENTS / 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_sidecars_deliver_the_same_events() {
    let mut chance = Chance(7);
    let mut recordings = recordings();
    recordings.retain(|it| it.chunks.len() > 3);
    let mut groups = Vec::new();
    for seed in 0..STREAMS / GROUP {
        let choose = |_| recordings.swap_remove(chance.below(recordings.len()));
        let streams = (0..GROUP).map(choose).collect();
        groups.push(tokio::spawn(disturbed(streams, Chance(seed as u64))));
    }
    let kills: usize = join_all(groups).await.into_iter().map(Result::unwrap).sum();
    assert_eq!(kills, KILLS);
}

/// Pipes all of `streams` through one sidecar that is killed again and again; returns the
/// number of kills.
async fn disturbed(streams: Vec<Recording>, mut chance: Chance) -> usize {
    let sidecar = builder()
        .restarts(10 * KILLS, Duration::from_secs(3600))
        .restart_pause(Duration::ZERO)
        .build()
        .unwrap();
    let moments = MOMENTS * GROUP / STREAMS;
    let total: usize = streams.iter().map(|it| it.chunks.len() + 1).sum();
    let kills = (0..moments).map(|it| total * it / moments + chance.below(total / moments));
    let killer = Arc::new(Killer {
        sidecar: sidecar.clone(),
        moments: kills.collect(),
        reached: AtomicUsize::new(0),
        killed: Mutex::default(),
    });
    let flows = streams.iter().map(|it| flow(&sidecar, it, Arc::clone(&killer)));
    let delivered = join_all(flows).await;
    for (recording, events) in streams.iter().zip(delivered) {
        assert_eq!(events, recording.events, "{}", recording.name);
    }
    let kills = killer.killed.lock().unwrap().len();
    assert!(sidecar.restarts() + 1 >= kills, "each hit a process of its own");
    kills
}

async fn flow(sidecar: &Sidecar, recording: &Recording, killer: Arc<Killer>) -> Vec<Value> {
    let stream = sidecar.open(recording.options.clone()).await.expect("it opens");
    // One chunk at a time, with a turn of the scheduler between two: pushes are sent, answers
    // arrive, and the streams mix, whatever moment is hit.
    let end = [None];
    let source = stream::iter(recording.chunks().map(Some).chain(end)).then(move |chunk| {
        let killer = Arc::clone(&killer);
        async move {
            tokio::task::yield_now().await;
            killer.reach().await;
            chunk
        }
    });
    let source = source.filter_map(async |chunk| chunk);
    let pipe = stream.pipe(Box::pin(source));
    let events: Vec<Result<Event, Error>> = pipe.collect().await;
    plain(&events.into_iter().map(|it| it.expect("nothing is seen")).collect::<Vec<_>>())
}

/// Kills the process after a number of chunks.
struct Killer {
    sidecar: Sidecar,
    moments: Vec<usize>,
    reached: AtomicUsize,
    killed: Mutex<HashSet<u32>>,
}

impl Killer {
    async fn reach(&self) {
        let reached = self.reached.fetch_add(1, Ordering::SeqCst);
        let Some(number) = self.moments.iter().position(|it| *it == reached) else {
            return;
        };
        self.kill().await;
        if number % 4 == 0 {
            self.kill().await; // the next process, while the other streams are replayed into it
        }
    }

    /// Waits for a process that was not killed yet, and kills it.
    async fn kill(&self) {
        let id = loop {
            self.sidecar.start().await.expect("it starts again"); // not the process just killed
            let Some(id) = self.sidecar.process_id() else { continue };
            if self.killed.lock().unwrap().insert(id) {
                break id;
            }
        };
        kill(id);
    }
}

fn kill(id: u32) {
    signal("-KILL", &id.to_string());
}

fn text() -> OpenParams {
    OpenParams { wire: Some(Wire::Text), ..OpenParams::default() }
}

#[tokio::test]
async fn a_stream_too_long_for_a_replay_is_lost() {
    let sidecar = builder().replay_bytes(100).build().unwrap();
    let mut stream = sidecar.open(text()).await.unwrap();
    assert_eq!(stream.push("a".repeat(90)).await.unwrap().len(), 1);
    kill(sidecar.process_id().unwrap());
    assert_eq!(stream.push("b".repeat(90)).await.unwrap().len(), 1, "it was replayed");
    kill(sidecar.process_id().unwrap());
    for _ in 0..2 {
        let Err(Error::StreamLost { reason, source, .. }) = stream.push("c").await else {
            panic!("it was too long");
        };
        assert_eq!(reason, LostReason::ReplayLimit { limit: 100 });
        assert!(matches!(*source, Error::Exited { status: Some(_), .. }), "{source}");
    }
    assert_eq!(sidecar.open(text()).await.unwrap().push("Done.").await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_loss_is_reported_when_it_happens() {
    let (sender, mut reports) = mpsc::unbounded();
    let states = sender.clone();
    let sidecar = builder()
        .on_state(move |state| drop(states.unbounded_send(format!("{state:?}"))))
        .on_lost(move |error| drop(sender.unbounded_send(error.kind().to_owned())))
        .spawn()
        .await
        .unwrap();
    assert!(sidecar.stderr().is_some() && sidecar.server_info().is_some());
    kill(sidecar.process_id().unwrap());
    for expected in ["Starting", "Running", "Restarting", "connection-lost"] {
        assert_eq!(reports.next().await.unwrap(), expected);
    }
    assert_eq!((sidecar.process_id(), sidecar.server_info()), (None, None));
    let mut stream = sidecar.open(text()).await.unwrap();
    stream.push("a").await.unwrap();
    assert!(sidecar.kept_bytes() > 0);
    drop(stream);
    assert_eq!(sidecar.kept_bytes(), 0);
    sidecar.shutdown().await.unwrap();
    for expected in ["Running", "Lost"] {
        assert_eq!(reports.next().await.unwrap(), expected);
    }
}

#[tokio::test]
async fn too_many_restarts_are_refused_and_reported() {
    let sidecar = builder()
        .restarts(2, Duration::from_secs(3600))
        .restart_pause(Duration::ZERO)
        .build()
        .unwrap();
    let mut stream = sidecar.open(text()).await.unwrap();
    for _ in 0..2 {
        kill(sidecar.process_id().unwrap());
        stream.push("a").await.unwrap();
    }
    kill(sidecar.process_id().unwrap());
    let Err(Error::GaveUp { restarts, last, .. }) = stream.push("a").await else {
        panic!("it was started too often");
    };
    assert_eq!((restarts, sidecar.restarts()), (2, 2));
    assert!(matches!(*last, Error::Exited { .. }), "{last}");
    sidecar.restart().await.unwrap();
    stream.push("b").await.unwrap();
    let message = stream.close().await.unwrap().message;
    assert_eq!(message.text.as_deref(), Some("aab"), "a refused chunk does not count");
}

#[tokio::test]
async fn an_expired_stream_is_restored() {
    let limits = stream_sidecar::protocol::LimitsPatch {
        idle_timeout_ms: Some(2_000),
        ..Default::default()
    };
    let sidecar = builder().limits(limits).build().unwrap();
    let mut stream = sidecar.open(text()).await.unwrap();
    let mut events = stream.push("<think>a").await.unwrap();
    while !sidecar.list().await.unwrap().streams.is_empty() {
        tokio::task::yield_now().await;
    }
    events.extend(stream.push("</think>b").await.unwrap());
    let closed = stream.close().await.unwrap();
    events.extend(closed.events);
    let seqs: Vec<_> = events.iter().filter_map(Event::seq).collect();
    assert_eq!(seqs, (1..=i64::try_from(events.len()).unwrap()).collect::<Vec<_>>());
    assert_eq!(closed.message.reasoning.as_deref(), Some("a"));
    assert_eq!(sidecar.restarts(), 0);
}

#[tokio::test]
async fn dropping_the_last_handle_ends_the_whole_group() {
    // A launcher whose end does not end its child, as `uvx` under SIGKILL.
    let line = support::command().join(" ");
    let launcher = ["sh", "-c", &format!("exec 3<&0; {line} <&3 & wait")];
    let sidecar = builder().command(launcher).spawn().await.unwrap();
    let mut stream = sidecar.open(text()).await.unwrap();
    stream.push("a").await.unwrap();
    let group = sidecar.process_id().unwrap();
    assert!(alive(group));
    drop(sidecar);
    stream.push("b").await.expect("a stream keeps the process");
    drop(stream);
    while alive(group) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn chunks_are_sent_while_others_wait_for_answers() {
    let sidecar = builder().build().unwrap();
    let stream = sidecar.open(text()).await.unwrap();
    let mut pipe = stream.pipe(stream::iter((0..10_000).map(|it| Chunk::text(&format!("{it} ")))));
    let mut text = String::new();
    while let Some(event) = pipe.next().await {
        if let Event::TextDelta(delta) = event.unwrap() {
            text += &delta.text;
        }
    }
    let stats = &pipe.closed().unwrap().stats;
    assert_eq!(stats.chunks, 10_000);
    assert!(stats.pushes < 1000, "what is there at once goes at once: {}", stats.pushes);
    assert_eq!(pipe.closed().unwrap().message.text.as_ref(), Some(&text));
}

/// A text much longer than a slice, with characters of several bytes.
fn leaves(count: usize) -> String {
    "a🌿".repeat(count)
}

fn seqs(events: &[Event]) -> Vec<i64> {
    events.iter().filter_map(Event::seq).collect()
}

fn answer(events: &[Event]) -> String {
    let texts = events.iter().filter_map(|it| match it {
        Event::TextDelta(delta) => Some(delta.text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[tokio::test]
async fn during_a_large_push_others_have_their_turn_and_a_kill_is_not_noticed() {
    let sidecar = builder().restart_pause(Duration::ZERO).build().unwrap();
    let mut large = sidecar.open(text()).await.unwrap();
    let mut small = sidecar.open(text()).await.unwrap();
    let text = leaves(100_000);
    let events = {
        let mut pushed = pin!(large.push(format!("<think>{text}</think>{text}")));
        let others = pin!(async {
            for word in ["a", "b", "c"] {
                assert_eq!(answer(&small.push(word).await.unwrap()), word);
            }
            kill(sidecar.process_id().unwrap());
            assert_eq!(answer(&small.push("d").await.unwrap()), "d");
        });
        match select(&mut pushed, others).await {
            Either::Left(_) => panic!("it was answered in one piece"),
            Either::Right(_) => {}
        }
        pushed.await.unwrap()
    };
    assert_eq!(answer(&events), text);
    assert_eq!(seqs(&events), (1..=i64::try_from(events.len()).unwrap()).collect::<Vec<_>>());
    let closed = large.close().await.unwrap();
    assert_eq!(closed.message.reasoning.as_ref(), Some(&text));
    assert_eq!(closed.stats.pushes, 1, "for the host it is one");
}

#[tokio::test]
async fn a_large_push_that_is_dropped_is_still_applied() {
    let sidecar = builder().build().unwrap();
    let mut large = sidecar.open(text()).await.unwrap();
    let mut small = sidecar.open(text()).await.unwrap();
    let text = leaves(100_000);
    match select(pin!(large.push(text.as_str())), pin!(small.push("a"))).await {
        Either::Left(_) => panic!("it was answered in one piece"),
        Either::Right(_) => {}
    }
    let events = large.push("Done.").await.unwrap();
    assert_eq!(answer(&events), format!("{text}Done."));
    assert_eq!(large.close().await.unwrap().stats.pushes, 2);
}

#[tokio::test]
async fn a_push_with_a_refused_slice_changes_nothing() {
    let limits = stream_sidecar::protocol::LimitsPatch {
        max_held_bytes: Some(100_000),
        ..Default::default()
    };
    let sidecar = builder().limits(limits).build().unwrap();
    let wire = stream_sidecar::protocol::EmitWire::OpenaiChat;
    let emit =
        Some(stream_sidecar::protocol::Emit { wire, claims: None, reasoning: None, rewrite: None });
    let mut stream = sidecar.open(OpenParams { emit, ..text() }).await.unwrap();
    let mut events = stream.push("So: ").await.unwrap();
    let documents = stream.take_emitted().len();
    let kept = sidecar.kept_bytes();
    let call = format!(r#"Hi. <tool_call>{{"name": "f", "arguments": {{"a": "{}"#, leaves(20_000));
    let Err(Error::Rpc(refusal)) = stream.push(call).await else { panic!("it holds too much") };
    assert_eq!(refusal.kind().to_string(), "limit-exceeded");
    assert_eq!((sidecar.kept_bytes(), stream.take_emitted().len()), (kept, 0));
    events.extend(stream.push("there").await.unwrap());
    assert_eq!((answer(&events).as_str(), seqs(&events)), ("So: there", vec![1, 2]));
    assert!(documents > 0 && !stream.take_emitted().is_empty());
    let closed = stream.close().await.unwrap();
    assert_eq!((closed.message.text.as_deref(), closed.stats.pushes), (Some("So: there"), 2));
    assert_eq!(sidecar.list().await.unwrap().streams.len(), 0);
}

#[tokio::test]
async fn a_large_chunk_of_a_pipe_is_one_push() {
    let sidecar = builder().build().unwrap();
    let text = leaves(100_000);
    let stream = sidecar.open(self::text()).await.unwrap();
    let mut pipe = stream.pipe(stream::iter([Chunk::bytes(text.clone())]));
    while let Some(event) = pipe.next().await {
        event.unwrap();
    }
    let closed = pipe.closed().unwrap();
    assert_eq!((closed.message.text.as_ref(), closed.stats.pushes), (Some(&text), 1));
}
