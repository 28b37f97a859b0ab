//! Sidecars that are killed at their start and in the middle of a frame, and that freeze:
//! nobody who reads a stream sees anything of it, no process stays, and no host.
//!
//! An ordinary run has 12 such faults, `SIDECAR_KILLS=250 cargo test --test kills` has
//! 250. This very program plays the relays that have them (`support/relay.rs`) and the
//! hosts, which end without a word to their sidecars.

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

/// How many faults there are where nothing else is asked for: one of each kind.
const FAULTS: usize = 12;
/// Responses that go through one sidecar at the same time.
const STREAMS: usize = 4;
/// How long an answer may take, and how long a start, until a sidecar is taken for frozen.
/// One that is only slow is replaced as well, which costs time and no more.
const ANSWER: Duration = Duration::from_secs(10);
const START: Duration = Duration::from_secs(30);
/// Longer than anything takes, on a machine that is busy.
const LONG: Duration = Duration::from_secs(300);

fn main() {
    let words: Vec<String> = env::args().collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [_, "--be", "relay", home] => relay::run(home.as_ref()),
        [_, "--be", "host", home] => return host(home.as_ref()),
        [_, "--be", "forgetful", home] => return forgetful(home.as_ref()),
        _ => {}
    }
    let tests: [(&str, fn()); 5] = [
        ("nothing_is_lost_or_doubled_and_nobody_stays", nothing_is_lost_or_doubled),
        ("who_waited_first_goes_on_behind_a_hang", who_waited_first_goes_on),
        ("a_kill_at_a_restart_is_one_more_restart", a_kill_at_a_restart),
        ("restarts_that_are_used_up_are_told", restarts_that_are_used_up),
        ("a_host_that_forgets_shutdown_ends", a_host_that_forgets_shutdown),
    ];
    let trials = tests.map(|(name, run)| {
        Trial::test(name, move || {
            run();
            Ok::<(), Failed>(())
        })
    });
    // Without signals nothing can be killed so.
    let trials = if cfg!(unix) { trials.into() } else { Vec::new() };
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// A sidecar that has the faults of a plan.
fn faulty(home: &Path) -> Builder {
    let program = env::current_exe().unwrap();
    let words = [program.as_os_str(), "--be".as_ref(), "relay".as_ref(), home.as_os_str()];
    Sidecar::builder().command(words).restart_pause(Duration::ZERO)
}

fn text() -> OpenParams {
    OpenParams { wire: Some(Wire::Text), ..OpenParams::default() }
}

/// Two hosts at the same time, each with a sidecar of its own and half of the faults.
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
    tell(&faults, sums);
}

fn tell(faults: &[Fault], [restarts, responses, events]: [usize; 3]) {
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

/// Pipes responses through a sidecar until it has had all its faults, and then a last few.
fn host(home: &Path) {
    let mut chance = Chance(Plan::seed(home));
    let mut recordings = recordings();
    recordings.retain(|it| it.chunks.len() > 3);
    let builder = faulty(home).restarts(usize::MAX, LONG);
    let sidecar = builder.request_timeout(ANSWER).start_timeout(START).build();
    // The first start has no fault, may be slow, and is the only one not made again.
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
    // A turn of the executor between two chunks, so that each is a push of its own and
    // the streams mix.
    let chunks = stream::iter(recording.chunks()).then(async |chunk| {
        tokio::task::yield_now().await;
        chunk
    });
    let events: Vec<Result<Event, Error>> = stream.pipe(Box::pin(chunks)).collect().await;
    plain(&events.into_iter().map(|it| it.expect("nothing is seen")).collect::<Vec<_>>())
}

/// Behind the handshake and two opens, the process freezes inside of its first answer.
fn who_waited_first_goes_on() {
    let plan = Plan::new(&[Fault::frozen(3, 50)]);
    let builder = faulty(&plan.home).start_timeout(LONG).request_timeout(ANSWER);
    let sidecar = builder.restarts(usize::MAX, LONG).build();
    let mut first = block_on(sidecar.open(text())).unwrap();
    let mut second = block_on(sidecar.open(text())).unwrap();
    let (first, second) = block_on(join(first.push("a"), second.push("b")));
    assert_eq!((first.unwrap().len(), second.unwrap().len()), (1, 1));
    assert!(sidecar.restarts() > 0);
    wait_for_end(plan.hit()[0]);
}

/// A stream whose second push meets these ends of processes, one after the other.
fn push_into(plan: &Plan, restarts: usize) -> (Sidecar, Result<Vec<Event>, Error>) {
    let builder = faulty(&plan.home).start_timeout(LONG).request_timeout(LONG);
    let sidecar = builder.restarts(restarts, LONG).build();
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

fn restarts_that_are_used_up() {
    let plan = Plan::new(&[Fault::killed(3, 50), Fault::killed(0, 0), Fault::killed(0, 50)]);
    let Err(Error::GaveUp { restarts: 2, last, .. }) = push_into(&plan, 2).1 else {
        panic!("it was started too often");
    };
    let Error::Start { tried, .. } = *last else { panic!("{last}") };
    assert!(matches!(*tried[0].error, Error::Exited { .. }), "{tried:?}");
}

fn a_host_that_forgets_shutdown() {
    for fault in [None, Some(Fault::killed(3, 50)), Some(Fault::frozen(3, 50))] {
        let plan = Plan::new(fault.as_slice());
        let [process] = Host::start("forgetful", &plan).ended();
        let group = u32::try_from(process).unwrap();
        if fault.is_some_and(|it| it.end == End::Frozen) {
            signal("-KILL", &format!("-{group}")); // it is stopped, and cannot see the end
        }
        wait_for_end(group);
    }
}

/// Leaves a push under way and everything else as it is, and ends.
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
    println!("{}", sidecar.process_id().unwrap_or(first)); // that may be seen to be dead
    mem::forget(push);
    mem::forget(stream);
    mem::forget(sidecar);
}

/// A host in a process of its own.
struct Host(Child);

impl Host {
    fn start(role: &str, plan: &Plan) -> Self {
        let mut host = Command::new(env::current_exe().unwrap());
        host.args(["--be".as_ref(), role.as_ref(), plan.home.as_os_str()]);
        Self(host.stdout(Stdio::piped()).spawn().unwrap())
    }

    /// The numbers that it says at its end, behind which it must not stay.
    fn ended<const N: usize>(mut self) -> [usize; N] {
        let mut line = String::new();
        BufReader::new(self.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (tell, ended) = mpsc::channel();
        thread::spawn(move || tell.send(self.0.wait()));
        let status = ended.recv_timeout(LONG).expect("the host ends").unwrap();
        assert!(status.success(), "{status}");
        let numbers: Vec<usize> = line.split_whitespace().map(|it| it.parse().unwrap()).collect();
        numbers.try_into().unwrap()
    }
}

/// Waits until no process of the group is there any more.
fn wait_for_end(group: u32) {
    let began = Instant::now();
    while alive(group) {
        assert!(began.elapsed() < LONG, "the process group {group} stays");
    }
}
