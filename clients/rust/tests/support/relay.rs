//! The real sidecar behind a relay that is killed, or freezes, at a chosen byte of a chosen
//! answer. So a fault happens at its place, however busy the machine is.
//!
//! The faults of a test are a plan, which is a folder. It has a file that lists the faults, and,
//! for each fault that happened, a file with the id of its process. Every process has the first
//! fault that has not happened yet; after the last fault, a process runs normally.

use std::{
    env, fmt, fs,
    io::{self, BufReader, Write},
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use stream_sidecar::framing;

use super::{Chance, command};

/// How one process of the sidecar ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    pub end: End,
    /// How many answers are whole; the first answer is the handshake.
    pub answers: usize,
    /// How much of the next answer is still written, in percent of its frame.
    pub percent: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By SIGKILL.
    Killed,
    /// By SIGSTOP: the process exists and writes nothing.
    Frozen,
}

/// Where in the flow of answers a process has its fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Start,
    Frame,
    Between,
}

impl Fault {
    pub fn killed(answers: usize, percent: usize) -> Self {
        Self { end: End::Killed, answers, percent }
    }

    pub fn frozen(answers: usize, percent: usize) -> Self {
        Self { end: End::Frozen, answers, percent }
    }

    pub fn place(self) -> Place {
        match self {
            Self { answers: 0, .. } => Place::Start,
            Self { percent: 0, .. } => Place::Between,
            _ => Place::Frame,
        }
    }

    /// Faults of all kinds in turn, starting with the first or the second half of the kinds, at
    /// random places. The first fault is not at a start, because a sidecar that never served is
    /// not restarted.
    pub fn mixed(half: usize, count: usize, chance: &mut Chance) -> Vec<Self> {
        (0..count).map(|number| Self::by_chance(6 * half + number, chance)).collect()
    }

    fn by_chance(number: usize, chance: &mut Chance) -> Self {
        let (answers, percent) = (1 + chance.below(40), 1 + chance.below(99));
        match number % 12 {
            0 | 3 | 6 | 9 => Self::killed(answers, percent),
            1 | 7 => Self::killed(0, 0),
            4 => Self::killed(0, percent),
            10 => Self::frozen(0, chance.below(2) * percent),
            2 | 8 => Self::frozen(answers, 0),
            _ => Self::frozen(answers, percent),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} {} {}", self.end, self.answers, self.percent)
    }
}

fn parsed(line: &str) -> Fault {
    let words: Vec<&str> = line.split(' ').collect();
    let end = if words[0] == "Killed" { End::Killed } else { End::Frozen };
    Fault { end, answers: words[1].parse().unwrap(), percent: words[2].parse().unwrap() }
}

/// The faults of one sidecar, in order. Dropping it removes its folder.
pub struct Plan {
    pub home: PathBuf,
    pub faults: Vec<Fault>,
}

static PLANS: AtomicUsize = AtomicUsize::new(0);

impl Plan {
    pub fn new(faults: &[Fault]) -> Self {
        let number = PLANS.fetch_add(1, Ordering::Relaxed);
        let home = env::temp_dir().join(format!("sidecar-plan-{}-{number}", process::id()));
        fs::create_dir_all(&home).unwrap();
        let lines: Vec<String> = faults.iter().map(Fault::to_string).collect();
        fs::write(home.join("faults"), lines.join("\n")).unwrap();
        Self { home, faults: faults.to_vec() }
    }

    /// A seed that depends only on the faults.
    pub fn seed(home: &Path) -> u64 {
        fs::read(home.join("faults")).unwrap().into_iter().map(u64::from).sum()
    }

    /// Whether all faults of the plan in `home` have happened.
    pub fn is_over(home: &Path) -> bool {
        next(home).1.is_none()
    }

    /// The processes that the faults happened to, each with its group.
    pub fn hit(&self) -> Vec<u32> {
        let marks = (0..next(&self.home).0).map(|number| mark(&self.home, number));
        marks.map(|it| fs::read_to_string(it).unwrap().parse().unwrap()).collect()
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.home);
    }
}

fn mark(home: &Path, number: usize) -> PathBuf {
    home.join(number.to_string())
}

/// How many faults have happened, and the next fault.
fn next(home: &Path) -> (usize, Option<Fault>) {
    let faults = fs::read_to_string(home.join("faults")).unwrap();
    let mut lines = faults.lines().enumerate();
    let next = lines.find(|it| !mark(home, it.0).exists());
    next.map_or((faults.lines().count(), None), |it| (it.0, Some(parsed(it.1))))
}

/// The test program as the relay of the plan in `home`.
pub fn run(home: &Path) -> ! {
    let (number, fault) = next(home);
    let mut words = command().into_iter();
    let mut sidecar = Command::new(words.next().unwrap())
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut requests = sidecar.stdin.take().unwrap();
    thread::spawn(move || io::copy(&mut io::stdin().lock(), &mut requests));
    let mut answers = BufReader::new(sidecar.stdout.take().unwrap());
    for count in 0.. {
        let Ok(Some(body)) = framing::read(&mut answers) else { break };
        let frame = framing::frame(&body);
        if let Some(fault) = fault.filter(|it| it.answers == count) {
            say(&frame[..frame.len() * fault.percent / 100]);
            // Written atomically, because the test waits for this file.
            let draft = home.join("draft");
            fs::write(&draft, process::id().to_string()).unwrap();
            fs::rename(draft, mark(home, number)).unwrap();
            meet(fault.end);
        }
        say(&frame);
    }
    process::exit(sidecar.wait().unwrap().code().unwrap_or(1))
}

fn say(bytes: &[u8]) {
    let mut output = io::stdout().lock();
    let _ = output.write_all(bytes).and_then(|()| output.flush());
}

fn meet(end: End) -> ! {
    let id = process::id();
    match end {
        End::Killed => signal("-KILL", &id.to_string()),
        End::Frozen => signal("-STOP", &format!("-{id}")), // the whole group
    }
    loop {
        thread::park();
    }
}

/// Sends a signal to a process, or to a group with a minus before its number.
pub fn signal(signal: &str, to: &str) {
    let _ = Command::new("kill").args([signal, "--", to]).output();
}

/// Whether any process of the group runs.
pub fn alive(group: u32) -> bool {
    let listed = Command::new("ps").args(["-A", "-o", "pgid=,stat="]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    listed.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some(&group.to_string()) && !words.next().unwrap_or("Z").starts_with('Z')
    })
}
