//! One process: starts it, serves its pipes and ends it. This module knows no JSON.
//!
//! Three threads serve the three pipes, so the process never waits, whatever the host's tasks
//! do: its output is read immediately, and the last 64 kB of its standard error are kept. The
//! process leads a new process group (a job object on Windows), which is ended as a whole: the
//! children of a launcher (`uvx`) end with it.

use std::{
    collections::VecDeque,
    io::{self, BufRead, BufReader, Read, Write},
    process::{ChildStdin, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use process_wrap::std::{ChildWrapper, CommandWrap};

use crate::{error::StderrTail, framing, process::locate::CommandLine, watching::Callback};

const TAIL_BYTES: usize = 64 << 10;
const READ_BYTES: usize = 1 << 16;
/// Waiting frames are written together, up to about this size.
const WRITE_BYTES: usize = 1 << 16;
/// How long a process that closed its output may take to exit.
const GRACE: Duration = Duration::from_secs(1);
/// How long the rest of standard error may take after the process ended. It takes longer only
/// if a grandchild keeps the pipe open.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A running process. Dropping it kills the process and its group.
pub(crate) struct Process {
    child: Arc<Mutex<Child>>,
    stderr: Arc<Mutex<Tail>>,
    id: u32,
}

struct Child {
    handle: Box<dyn ChildWrapper>,
    ended: bool,
}

/// Gets the output of a process from the reading thread.
pub(crate) trait Listener: Send + 'static {
    /// The body of a frame. An error says what is wrong with the body, and ends the reading.
    fn body(&self, body: &[u8]) -> Result<(), String>;
    /// The output and the process have ended.
    fn end(&self, end: End);
}

/// How a process's output ended.
pub(crate) struct End {
    /// What was wrong, if the output was not the protocol; `None`: the output was closed.
    pub(crate) junk: Option<String>,
    pub(crate) status: Option<ExitStatus>,
    pub(crate) stderr: StderrTail,
}

/// The queue of frames for a process. It never waits: the [`Gate`](crate::connection::gate::Gate) limits
/// the frames in it.
pub(crate) struct Outbox(Sender<Vec<u8>>);

impl Outbox {
    pub(crate) fn new() -> (Self, Receiver<Vec<u8>>) {
        let (sender, frames) = mpsc::channel();
        (Self(sender), frames)
    }

    /// Errors are ignored: the end of a process is reported by [`Listener::end`].
    pub(crate) fn send(&self, frame: Vec<u8>) {
        let _ = self.0.send(frame);
    }
}

impl Process {
    /// Starts `command`, writes `frames` to it, and reports its output to `listener`.
    pub(crate) fn start(
        command: &CommandLine,
        on_stderr: Callback<str>,
        frames: Receiver<Vec<u8>>,
        listener: impl Listener,
    ) -> io::Result<Self> {
        command.check_directory()?;
        let mut handle = wrapped(command).spawn()?;
        let taken = (handle.stdin().take(), handle.stdout().take(), handle.stderr().take());
        let (Some(stdin), Some(stdout), Some(stderr)) = taken else {
            return Err(io::Error::other("the process has no pipes"));
        };
        let (said_all, last_words) = mpsc::channel();
        let process = Self {
            id: handle.id(),
            child: Arc::new(Mutex::new(Child { handle, ended: false })),
            stderr: Arc::default(),
        };
        let child = Arc::clone(&process.child);
        let log = Log { tail: Arc::clone(&process.stderr), callback: on_stderr };
        let noise = log.clone();
        spawn("stderr", move || drain(stderr, &log, &said_all))?;
        spawn("stdin", move || write(stdin, &frames))?;
        spawn("stdout", move || {
            let mut stdout = BufReader::with_capacity(READ_BYTES, stdout);
            let junk = listen(&mut stdout, &listener, &noise).err();
            let status = end(&child, junk.is_some());
            let _ = last_words.recv_timeout(LAST_WORDS);
            listener.end(End { junk, status, stderr: text(&noise.tail) });
        })?;
        Ok(process)
    }

    /// Kills the process and its group.
    pub(crate) fn kill(&self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if !child.ended {
            let _ = child.handle.start_kill();
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// The last 64 kB of the process's standard error.
    pub(crate) fn stderr(&self) -> StderrTail {
        text(&self.stderr)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn wrapped(command: &CommandLine) -> CommandWrap {
    let mut inner = command.to_command();
    inner.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut wrapped = CommandWrap::from(inner);
    #[cfg(unix)]
    wrapped.wrap(process_wrap::std::ProcessGroup::leader());
    #[cfg(windows)]
    wrapped.wrap(process_wrap::std::JobObject);
    wrapped
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(format!("sidecar-{name}")).spawn(run).map(drop)
}

/// Reads frames until the end; an error says what was wrong with a frame. Output before the
/// first frame goes to the log, as standard error does.
fn listen(stdout: &mut impl BufRead, listener: &impl Listener, log: &Log) -> Result<(), String> {
    let Some(begun) = unless_over(framing::skip_noise(stdout, |it| log.add(it)))? else {
        return Ok(());
    };
    let mut frames = begun.as_slice().chain(stdout);
    while let Some(body) = unless_over(framing::read(&mut frames))?.flatten() {
        listener.body(&body)?;
    }
    Ok(())
}

/// The value read; `None` at the end of the output, even inside a frame (a killed process).
fn unless_over<T>(read: io::Result<T>) -> Result<Option<T>, String> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(error.to_string()),
        read => Ok(read.ok()),
    }
}

/// Waits for the end of the process, kills it if it takes too long, and then kills its group.
fn end(child: &Mutex<Child>, at_once: bool) -> Option<ExitStatus> {
    let patience = Instant::now() + if at_once { Duration::ZERO } else { GRACE };
    let mut pause = Duration::from_millis(1);
    loop {
        let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = child.handle.try_wait().ok().flatten();
        if ended.is_some() || Instant::now() >= patience {
            let _ = child.handle.start_kill();
            child.ended = true;
            return ended.or_else(|| child.handle.wait().ok());
        }
        drop(child);
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Writes frames until all senders are dropped, then closes the process's input.
fn write(mut stdin: ChildStdin, frames: &Receiver<Vec<u8>>) {
    while let Ok(mut bytes) = frames.recv() {
        while bytes.len() < WRITE_BYTES
            && let Ok(more) = frames.try_recv()
        {
            bytes.extend_from_slice(&more);
        }
        if stdin.write_all(&bytes).is_err() {
            return;
        }
    }
}

/// The log of a process: its end is kept, and the host's callback gets all of it.
#[derive(Clone)]
struct Log {
    tail: Arc<Mutex<Tail>>,
    callback: Callback<str>,
}

impl Log {
    fn add(&self, bytes: &[u8]) {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
        self.callback.call(&String::from_utf8_lossy(bytes));
    }
}

fn drain(mut stderr: impl Read, log: &Log, said_all: &Sender<()>) {
    let mut bytes = [0; 4096];
    loop {
        match stderr.read(&mut bytes) {
            Ok(0) => break,
            Ok(count) => log.add(&bytes[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let _ = said_all.send(());
}

fn text(tail: &Mutex<Tail>) -> StderrTail {
    StderrTail(tail.lock().unwrap_or_else(PoisonError::into_inner).text())
}

/// The last [`TAIL_BYTES`] of a text.
#[derive(Default)]
struct Tail(VecDeque<u8>);

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
        let excess = self.0.len().saturating_sub(TAIL_BYTES);
        self.0.drain(..excess);
    }

    fn text(&self) -> Arc<str> {
        let bytes: Vec<u8> = self.0.iter().copied().collect();
        String::from_utf8_lossy(&bytes).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_end() {
        let mut tail = Tail::default();
        for number in 0..100_000 {
            tail.push(format!("{number}\n").as_bytes());
        }
        let text = tail.text();
        assert_eq!(text.len(), TAIL_BYTES);
        assert!(text.ends_with("99998\n99999\n"));
    }
}
