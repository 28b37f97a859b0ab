//! Sidecars that are killed at their start or in the middle of a frame, or that freeze. The
//! readers of streams notice nothing, and no process of a sidecar or a host is left.
//!
//! An ordinary run has 12 such faults, `SIDECAR_KILLS=250 cargo test --test kills` has 250.
//! This test program also plays the relays with the faults (`support/relay.rs`) and the hosts,
//! which end without a shutdown of their sidecars.

mod support;

use std::{
    env,
    io::{BufRead, BufReader},
    mem,
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use futures_executor::block_on;
use futures_util::{
    FutureExt, StreamExt,
    future::{join, join_all},
    stream,
};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use stream_sidecar::{Builder, Error, Event, OpenParams, Sidecar, protocol::Wire};
use support::{
    Chance, Recording, plain, recordings,
    relay::{self, End, Fault, Place, Plan, alive, signal},
};

/// The default number of faults: one of each kind.
const FAULTS: usize = 12;
/// How many responses go through one sidecar at the same time.
const STREAMS: usize = 4;
/// How long an answer, and how long a start may take before a sidecar counts as frozen. A slow
/// sidecar is replaced too, which costs only time.
const ANSWER: Duration = Duration::from_secs(10);
const START: Duration = Duration::from_secs(30);
/// Longer than any step takes, on a busy machine.
const LONG: Duration = Duration::from_secs(300);

fn main() {
    let words: Vec<String> = env::args().collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [_, "--be", "relay", home] => relay::run(home.as_ref()),
        [_, "--be", "host", home] => return host(home.as_ref()),
        [_, "--be", "forgetful", home] => return forgetful(home.as_ref()),
        _ => {}
    }
    let tests: [(&str, fn()); 6] = [
        ("nothing_is_lost_or_doubled_and_no_process_is_left", nothing_is_lost_or_doubled),
        ("the_first_waiter_continues_after_a_hang", the_first_waiter_continues),
        ("a_kill_during_a_restart_counts_as_a_restart", a_kill_at_a_restart),
        ("exhausted_restarts_are_reported", exhausted_restarts),
        ("a_close_with_the_last_push_is_sent_again", a_close_is_sent_again),
        ("a_host_that_forgets_shutdown_ends", a_host_that_forgets_shutdown),
    ];
    let trials = tests.map(|(name, run)| {
        Trial::test(name, move || {
            run();
            Ok::<(), Failed>(())
        })
    });
    // Without signals no process can be killed like this.
    let trials = if cfg!(unix) { trials.into() } else { Vec::new() };
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// A sidecar with the faults of a plan.
fn faulty(home: &Path) -> Builder {
    let program = env::current_exe().unwrap();
    let words = [program.as_os_str(), "--be".as_ref(), "relay".as_ref(), home.as_os_str()];
    Sidecar::builder().command(words).restart_pause(Duration::ZERO)
}

fn text() -> OpenParams {
    OpenParams { wire: Some(Wire::Text), ..OpenParams::default() }
}

/// Two hosts at the same time, each with its own sidecar and half of the faults.
fn nothing_is_lost_or_doubled() {
    let count = env::var("SIDECAR_KILLS").map_or(FAULTS, |it| it.parse().unwrap());
    let mut chance = Chance(7);
    let shares = [count.div_ceil(2), count / 2].into_iter().enumerate();
    let faults = shares.map(|(half, share)| Fault::mixed(half, share, &mut chance));
    let plans: Vec<Plan> = faults.map(|it| Plan::new(&it)).collect();
    let hosts: Vec<Host> = plans.iter().map(|it| Host::start("host", it)).collect();
    let mut sums = [0; 3];
    for (plan, host) in plans.iter().zip(hosts) {
        let [process, figures @ ..] = host.ended::<4>();
        (0..3).for_each(|it| sums[it] += figures[it]);
        let hit = plan.hit();
        assert_eq!(hit.len(), plan.faults.len(), "all of them happened");
        hit.into_iter().chain([u32::try_from(process).unwrap()]).for_each(wait_for_end);
    }
    let faults: Vec<Fault> = plans.iter().flat_map(|it| it.faults.clone()).collect();
    print_summary(&faults, sums);
}

fn print_summary(faults: &[Fault], [restarts, responses, events]: [usize; 3]) {
    let count =
        |end, place| faults.iter().filter(|it| (it.end, it.place()) == (end, place)).count();
    println!(
        "{} kills: killed at the start {}, in mid-frame {}; frozen at the start {}, in \
         mid-frame {}, between frames {}. {restarts} restarts, {responses} responses, \
         {events} events: 0 lost, 0 doubled. No host and no sidecar stayed.",
        faults.len(),
        count(End::Killed, Place::Start),
        count(End::Killed, Place::Frame),
        count(End::Frozen, Place::Start),
        count(End::Frozen, Place::Frame),
        count(End::Frozen, Place::Between),
    );
}

/// Pipes responses through a sidecar until all its faults have happened, and then a few more.
fn host(home: &Path) {
    let mut chance = Chance(Plan::seed(home));
    let mut recordings = recordings();
    recordings.retain(|it| it.chunks.len() > 3);
    let builder = faulty(home).restarts(usize::MAX, LONG);
    let sidecar = builder.request_timeout(ANSWER).start_timeout(START).build().unwrap();
    // The first start has no fault and may be slow; it is the only start that is not retried.
    assert!((0..20).any(|_| block_on(sidecar.start()).is_ok()), "it starts");
    let (mut responses, mut events, mut over) = (0, 0, false);
    while !over {
        over = Plan::is_over(home);
        let chosen: Vec<&Recording> =
            (0..STREAMS).map(|_| &recordings[chance.below(recordings.len())]).collect();
        let flows = block_on(join_all(chosen.iter().map(|it| flow(&sidecar, it))));
        for (recording, delivered) in chosen.iter().zip(flows) {
            assert_eq!(delivered, recording.events, "{}", recording.name);
            (responses, events) = (responses + 1, events + delivered.len());
        }
    }
    let process = sidecar.process_id().unwrap();
    println!("{process} {} {responses} {events}", sidecar.restarts());
    mem::forget(sidecar);
}

async fn flow(sidecar: &Sidecar, recording: &Recording) -> Vec<Value> {
    let stream = sidecar.open(recording.options.clone()).await.expect("it opens");
    // A turn of the executor between two chunks, so that each chunk is one push and the
    // streams mix.
    let chunks = stream::iter(recording.chunks()).then(async |chunk| {
        tokio::task::yield_now().await;
        chunk
    });
    let events: Vec<Result<Event, Error>> = stream.pipe(Box::pin(chunks)).collect().await;
    plain(&events.into_iter().map(|it| it.expect("nothing is seen")).collect::<Vec<_>>())
}

/// After the handshake and two opens, the process freezes inside its first answer.
fn the_first_waiter_continues() {
    let plan = Plan::new(&[Fault::frozen(3, 50)]);
    let builder = faulty(&plan.home).start_timeout(LONG).request_timeout(ANSWER);
    let sidecar = builder.restarts(usize::MAX, LONG).build().unwrap();
    let mut first = block_on(sidecar.open(text())).unwrap();
    let mut second = block_on(sidecar.open(text())).unwrap();
    let (first, second) = block_on(join(first.push("a"), second.push("b")));
    assert_eq!((first.unwrap().len(), second.unwrap().len()), (1, 1));
    assert!(sidecar.restarts() > 0);
    wait_for_end(plan.hit()[0]);
}

/// A stream during whose second push these faults happen, one after the other.
fn push_into(plan: &Plan, restarts: usize) -> (Sidecar, Result<Vec<Event>, Error>) {
    let builder = faulty(&plan.home).start_timeout(LONG).request_timeout(LONG);
    let sidecar = builder.restarts(restarts, LONG).build().unwrap();
    let mut stream = block_on(sidecar.open(text())).unwrap();
    assert_eq!(block_on(stream.push("a")).unwrap().len(), 1);
    let events = block_on(stream.push("b"));
    assert_eq!(plan.hit().len(), plan.faults.len(), "all of them happened");
    (sidecar, events)
}

fn a_kill_at_a_restart() {
    let starts = [Fault::killed(0, 0), Fault::killed(0, 3), Fault::killed(0, 90)];
    let plan = Plan::new(&[&[Fault::killed(3, 50)], &starts[..]].concat());
    let (sidecar, events) = push_into(&plan, 4);
    let seqs: Vec<_> = events.unwrap().iter().filter_map(Event::seq).collect();
    assert_eq!((seqs, sidecar.restarts()), (vec![2], 4));
}

fn exhausted_restarts() {
    let plan = Plan::new(&[Fault::killed(3, 50), Fault::killed(0, 0), Fault::killed(0, 50)]);
    let Err(Error::GaveUp { restarts: 2, last, .. }) = push_into(&plan, 2).1 else {
        panic!("it was started too often");
    };
    let Error::Start { tried, .. } = *last else { panic!("{last}") };
    assert!(matches!(*tried[0].error, Error::Exited { .. }), "{tried:?}");
}

/// A pipe's close is sent with its last push. The process ends before, in or after the answer to
/// the push, or in the answer to the close.
fn a_close_is_sent_again() {
    let ends = [(2, 0), (2, 50), (3, 0), (3, 50)].map(|it| Fault::killed(it.0, it.1));
    let results = ends.map(|fault| {
        let plan = Plan::new(&[fault]);
        let builder = faulty(&plan.home).start_timeout(LONG).request_timeout(LONG);
        let sidecar = builder.restarts(1, LONG).build().unwrap();
        let chunks = stream::iter(["<think>a</think>", "b <", "c"]);
        let mut pipe = block_on(sidecar.open(text())).unwrap().pipe(chunks);
        let events: Vec<_> = block_on(pipe.by_ref().map(|it| it.unwrap()).collect());
        let closed = pipe.into_closed().unwrap();
        assert_eq!((plan.hit().len(), sidecar.restarts()), (1, 1));
        assert_eq!((closed.stats.pushes, closed.stats.chunks), (1, 3));
        assert_eq!(closed.message.text.as_deref(), Some("b <c"));
        plain(&events)
    });
    assert_eq!(results[0].last().unwrap()["reason"], "stop");
    assert!(results.iter().all(|it| *it == results[0]), "{results:?}");
}

fn a_host_that_forgets_shutdown() {
    for fault in [None, Some(Fault::killed(3, 50)), Some(Fault::frozen(3, 50))] {
        let plan = Plan::new(fault.as_slice());
        let [process] = Host::start("forgetful", &plan).ended();
        let group = u32::try_from(process).unwrap();
        if fault.is_some_and(|it| it.end == End::Frozen) {
            signal("-KILL", &format!("-{group}")); // a stopped process does not notice the host's end
        }
        wait_for_end(group);
    }
}

/// Ends with a push in flight, without closing anything.
fn forgetful(home: &Path) {
    let sidecar = block_on(faulty(home).start_timeout(LONG).spawn()).unwrap();
    let first = sidecar.process_id().unwrap();
    let mut stream = block_on(sidecar.open(text())).unwrap();
    block_on(stream.push("a")).unwrap();
    let mut push = Box::pin(stream.push("b"));
    let _ = push.as_mut().now_or_never();
    while !Plan::is_over(home) {
        thread::yield_now();
    }
    println!("{}", sidecar.process_id().unwrap_or(first)); // the test checks that it is dead
    mem::forget(push);
    mem::forget(stream);
    mem::forget(sidecar);
}

/// A host in a separate process.
struct Host(Child);

impl Host {
    fn start(role: &str, plan: &Plan) -> Self {
        let mut host = Command::new(env::current_exe().unwrap());
        host.args(["--be".as_ref(), role.as_ref(), plan.home.as_os_str()]);
        Self(host.stdout(Stdio::piped()).spawn().unwrap())
    }

    /// The numbers that the host prints at its end; it must exit after them.
    fn ended<const N: usize>(mut self) -> [usize; N] {
        let mut line = String::new();
        BufReader::new(self.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (sender, ended) = mpsc::channel();
        thread::spawn(move || sender.send(self.0.wait()));
        let status = ended.recv_timeout(LONG).expect("the host ends").unwrap();
        assert!(status.success(), "{status}");
        let numbers: Vec<usize> = line.split_whitespace().map(|it| it.parse().unwrap()).collect();
        numbers.try_into().unwrap()
    }
}

/// Waits until no process of the group is left.
fn wait_for_end(group: u32) {
    let began = Instant::now();
    while alive(group) {
        assert!(began.elapsed() < LONG, "the process group {group} stays");
    }
}
