//! Keeps a sidecar running: starts it when it is needed, and restarts it when it has ended,
//! with growing pauses and at most as often as allowed. This module knows no streams.
//!
//! A start runs on a separate thread, and all callers wait for its result. So a task that
//! asked for the start and is no longer polled delays no other task.

use std::{
    collections::VecDeque,
    ffi::OsString,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use futures_channel::oneshot;
use futures_executor::block_on;
use serde_json::Value;

use crate::{
    budget::Budget,
    config::Config,
    connection::{handshake, link::Connection, message_connection::OnLost},
    error::{Attempt, Error, Failure, StderrTail},
    process::{
        locate::{self, CommandLine},
        python,
    },
    protocol::Capabilities,
    watching::{Listeners, ServerInfo, SidecarState, Subscription},
};

const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Starts and restarts a sidecar. Dropping it ends the process.
pub(crate) struct Supervisor {
    pub(crate) config: Arc<Config>,
    budget: Arc<Budget>,
    shared: Arc<Shared>,
}

type Shared = Mutex<State>;
type Started = Result<Arc<Connection>, Error>;

#[derive(Default)]
struct State {
    phase: Phase,
    /// The command that started a sidecar.
    command: Option<CommandLine>,
    starts: usize,
    /// The times of the restarts within the last `within`.
    restarts: VecDeque<Instant>,
    /// The error that ended the last process, or kept it from starting.
    last: Option<Error>,
    status: Status,
    /// The host asked for the next start, which does not count against the limit of restarts.
    is_requested: bool,
    listeners: Listeners,
}

impl State {
    fn enter(&mut self, state: SidecarState, config: &Config) {
        if self.status.state != state {
            self.status.state = state;
            if state != SidecarState::Running {
                (self.status.process_id, self.status.server) = (None, None);
            }
            config.on_state.call(&state);
            self.listeners.call(state);
        }
    }
}

#[derive(Default)]
enum Phase {
    #[default]
    Idle,
    Starting {
        waiting: Vec<oneshot::Sender<Started>>,
        /// The process that is in its handshake.
        process: Option<Arc<Connection>>,
        /// The thread that starts it; it sleeps in a pause before a restart.
        thread: Thread,
    },
    Live(Arc<Connection>),
    Shut,
}

/// The state that a host can read without waiting.
#[derive(Debug, Clone, Default)]
pub(crate) struct Status {
    pub(crate) process_id: Option<u32>,
    pub(crate) restarts: usize,
    pub(crate) capabilities: Option<Arc<Capabilities>>,
    pub(crate) server: Option<ServerInfo>,
    pub(crate) state: SidecarState,
}

impl Supervisor {
    pub(crate) fn new(config: Config) -> Self {
        let budget = Arc::new(Budget::new(config.all_replay_bytes));
        Self { config: Arc::new(config), budget, shared: Arc::default() }
    }

    pub(crate) fn budget(&self) -> Arc<Budget> {
        Arc::clone(&self.budget)
    }

    pub(crate) fn stderr(&self) -> Option<StderrTail> {
        match &lock(&self.shared).phase {
            Phase::Live(connection) if connection.lost().is_none() => Some(connection.stderr()),
            _ => None,
        }
    }

    pub(crate) fn status(&self) -> Status {
        lock(&self.shared).status.clone()
    }

    /// Adds a callback for the states from now on.
    pub(crate) fn on_state(
        &self,
        callback: impl Fn(&SidecarState) + Send + Sync + 'static,
    ) -> Subscription {
        lock(&self.shared).listeners.add(callback)
    }

    /// Ends the process and starts a new one, in which open streams continue. A person asks for
    /// it, so it starts however often the sidecar was restarted, and those restarts no longer
    /// count.
    pub(crate) async fn restart(&self) -> Result<(), Error> {
        let (was_starting, live) = self.detach();
        if let Some(connection) = live {
            connection.end(&Error::Exited { status: None, stderr: connection.stderr() });
        }
        match self.connection().await {
            // The start that was under way had given up before it was asked for again.
            Err(Error::GaveUp { .. }) if was_starting => {
                self.detach();
                self.connection().await.map(drop)
            }
            started => started.map(drop),
        }
    }

    /// Detaches the process, so that its end is not reported as a loss, and makes the next start
    /// one that the host requested. A start that pauses goes on now: `true` if there is one.
    fn detach(&self) -> (bool, Option<Arc<Connection>>) {
        let mut state = lock(&self.shared);
        if matches!(state.phase, Phase::Shut) {
            return (false, None);
        }
        state.restarts.clear();
        if let Phase::Starting { thread, .. } = &state.phase {
            thread.unpark();
            state.is_requested = true;
            return (true, None);
        }
        state.is_requested = state.starts > 0;
        match mem::take(&mut state.phase) {
            Phase::Live(connection) => (false, Some(connection)),
            _ => (false, None),
        }
    }

    /// The live connection, or a new one.
    pub(crate) async fn connection(&self) -> Started {
        let (sender, started) = oneshot::channel();
        {
            let mut state = lock(&self.shared);
            match &mut state.phase {
                Phase::Shut => return Err(Error::ShutDown),
                Phase::Starting { waiting, .. } => waiting.push(sender),
                Phase::Live(connection) if connection.lost().is_none() => {
                    return Ok(Arc::clone(connection));
                }
                Phase::Idle | Phase::Live(_) => {
                    if let Phase::Live(connection) = &state.phase {
                        state.last = connection.lost();
                    }
                    let next = match state.command {
                        Some(_) => SidecarState::Restarting,
                        None => SidecarState::Starting,
                    };
                    state.enter(next, &self.config);
                    match self.begin() {
                        Ok(thread) => {
                            let waiting = vec![sender];
                            state.phase = Phase::Starting { waiting, process: None, thread };
                        }
                        Err(error) => {
                            state.phase = Phase::Idle;
                            return Err(error);
                        }
                    }
                }
            }
        }
        started.await.unwrap_or(Err(Error::ShutDown))
    }

    fn begin(&self) -> Result<Thread, Error> {
        let starter =
            Starter { config: Arc::clone(&self.config), shared: Arc::downgrade(&self.shared) };
        let thread = thread::Builder::new().name("sidecar-start".into());
        let thread = thread.spawn(move || starter.run());
        thread
            .map(|it| it.thread().clone())
            .map_err(|source| Error::Spawn { command: "a thread".into(), source: Arc::new(source) })
    }

    /// Asks the process to exit, and kills it if it does not. No process is started again.
    pub(crate) async fn shutdown(&self) -> Result<(), Error> {
        let Some(connection) = self.shut() else {
            return Ok(());
        };
        let timeout = self.config.shutdown_timeout;
        let asked = connection.request("shutdown", &Value::Null, timeout).await;
        let ended = match asked {
            Ok(_) => connection.exit(timeout).await,
            Err(failure) => failure,
        };
        connection.end(&Error::ShutDown);
        match ended {
            Failure::Lost(_) => Ok(()),
            Failure::Hung(error) | Failure::Failed(error) => Err(error),
        }
    }

    /// Returns the live connection to the caller; a process that is starting is ended.
    fn shut(&self) -> Option<Arc<Connection>> {
        let mut state = lock(&self.shared);
        state.enter(SidecarState::Lost, &self.config);
        let phase = mem::replace(&mut state.phase, Phase::Shut);
        drop(state);
        match phase {
            Phase::Live(connection) => Some(connection).filter(|it| it.lost().is_none()),
            Phase::Starting { process, .. } => {
                if let Some(process) = process {
                    process.end(&Error::ShutDown);
                }
                None
            }
            Phase::Idle | Phase::Shut => None,
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        if let Some(connection) = self.shut() {
            connection.end(&Error::ShutDown);
        }
    }
}

fn lock(shared: &Shared) -> MutexGuard<'_, State> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One start, with as many attempts as needed. It ends early if the supervisor was dropped.
struct Starter {
    config: Arc<Config>,
    shared: Weak<Shared>,
}

impl Starter {
    fn run(self) {
        let started = self.started();
        let Some(shared) = self.shared.upgrade() else {
            return;
        };
        let mut state = lock(&shared);
        let phase = match &started {
            Ok(connection) => Phase::Live(Arc::clone(connection)),
            Err(_) => Phase::Idle,
        };
        let Phase::Starting { .. } = state.phase else {
            return;
        };
        let Phase::Starting { waiting, .. } = mem::replace(&mut state.phase, phase) else {
            return;
        };
        state.last = started.as_ref().err().cloned().or(state.last.take());
        let is_there = started.as_ref().is_ok_and(|it| it.lost().is_none());
        let next = match &started {
            Ok(_) if is_there => SidecarState::Running,
            Ok(_) => SidecarState::Restarting,
            Err(_) => SidecarState::Lost,
        };
        state.enter(next, &self.config);
        drop(state);
        for sender in waiting {
            let _ = sender.send(started.clone());
        }
    }

    fn started(&self) -> Started {
        loop {
            let (pause, commands, served) = self.turn()?;
            self.pause(pause);
            match self.attempt(&commands) {
                Err(error) if served && error.is_passing() => {
                    let shared = self.shared.upgrade().ok_or(Error::ShutDown)?;
                    lock(&shared).last = Some(error);
                }
                started => return started,
            }
        }
    }

    /// Waits, unless the host asks for the start.
    fn pause(&self, pause: Duration) {
        let until = Instant::now() + pause;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Some(shared) = self.shared.upgrade().filter(|_| !left.is_zero()) else {
                return;
            };
            if mem::take(&mut lock(&shared).is_requested) {
                return;
            }
            drop(shared);
            thread::park_timeout(left);
        }
    }

    /// The pause before the next attempt, its commands, and whether a command has worked
    /// before; an error if there were too many restarts.
    fn turn(&self) -> Result<(Duration, Vec<CommandLine>, bool), Error> {
        let shared = self.shared.upgrade().ok_or(Error::ShutDown)?;
        let mut state = lock(&shared);
        let served = state.command.is_some();
        let mut pause = Duration::ZERO;
        state.starts += 1;
        if mem::take(&mut state.is_requested) {
            state.status.restarts += 1;
        } else if state.starts > 1 {
            let made = self.restarts(&mut state)?;
            if served {
                let doubled = 2u32.pow(u32::try_from(made).unwrap_or(16).min(16));
                pause = self.config.pause.saturating_mul(doubled).min(LONGEST_PAUSE);
            }
        }
        let commands = match &state.command {
            Some(command) => vec![command.clone()],
            None => self.candidates(),
        };
        Ok((pause, commands, served))
    }

    /// Counts a restart and returns how many there were before it.
    fn restarts(&self, state: &mut State) -> Result<usize, Error> {
        let Config { restarts, within, .. } = *self.config;
        let now = Instant::now();
        state.restarts.retain(|it| now.duration_since(*it) < within);
        let made = state.restarts.len();
        if made >= restarts {
            let last = match state.last.clone().unwrap_or(Error::ShutDown) {
                Error::GaveUp { last, .. } => last,
                other => Box::new(other),
            };
            let oldest = made.checked_sub(restarts).and_then(|it| state.restarts.get(it));
            let retry_after = oldest.map(|it| within.saturating_sub(now.duration_since(*it)));
            return Err(Error::GaveUp { restarts: made, within, retry_after, last });
        }
        state.restarts.push_back(now);
        state.status.restarts += 1;
        Ok(made)
    }

    fn candidates(&self) -> Vec<CommandLine> {
        let found = if self.config.commands.is_empty() {
            locate::candidates_here(self.config.downloads)
        } else {
            self.config.commands.clone()
        };
        let logging = self.config.log_level.iter().flat_map(|level| ["--log-level", level]);
        let logging: Vec<OsString> = logging.map(OsString::from).collect();
        let placed = |mut words: Vec<OsString>| {
            words.extend_from_slice(&logging);
            CommandLine { words, ..self.config.place.clone() }
        };
        found.into_iter().map(placed).collect()
    }

    fn attempt(&self, commands: &[CommandLine]) -> Started {
        let mut tried = Vec::new();
        for command in commands {
            match self.try_command(command) {
                Ok(connection) => return Ok(connection),
                // Other commands would not help: every sidecar refuses the same options, and
                // after a shutdown none is needed.
                Err(error @ (Error::Rpc(_) | Error::ShutDown)) => return Err(error),
                Err(error) => {
                    let command = command.to_string();
                    tried.push(Attempt { command, error: Box::new(error) });
                }
            }
        }
        Err(Error::Start { tried, python: python::problem(commands) })
    }

    fn try_command(&self, command: &CommandLine) -> Started {
        let on_stderr = self.config.on_stderr.clone();
        let bounds = self.config.bounds;
        let connection = Connection::start(command, on_stderr, bounds, self.on_lost())?;
        let connection = Arc::new(connection);
        self.set_handshaking(Some(&connection))?;
        let (capabilities, server) = block_on(handshake::shake_hands(&connection, &self.config))?;
        self.set_handshaking(None)?;
        self.config.warnings.ignored(capabilities.ignored.as_ref());
        let shared = self.shared.upgrade().ok_or(Error::ShutDown)?;
        let mut state = lock(&shared);
        state.command = Some(command.clone());
        state.status.process_id = Some(connection.process_id());
        state.status.capabilities = Some(Arc::new(capabilities));
        state.status.server = Some(server);
        Ok(connection)
    }

    /// The callback for a process in use that ends unexpectedly, or hangs.
    fn on_lost(&self) -> OnLost {
        let (shared, config) = (self.shared.clone(), Arc::clone(&self.config));
        Box::new(move |error| {
            let Some(shared) = shared.upgrade() else { return };
            let mut state = lock(&shared);
            if matches!(&state.phase, Phase::Live(it) if it.lost().is_some()) {
                state.enter(SidecarState::Restarting, &config);
                drop(state);
                config.on_lost.call(error);
            }
        })
    }

    /// Records the process in its handshake; an error if the supervisor was shut down.
    fn set_handshaking(&self, connection: Option<&Arc<Connection>>) -> Result<(), Error> {
        let shared = self.shared.upgrade().ok_or(Error::ShutDown)?;
        match &mut lock(&shared).phase {
            Phase::Starting { process, .. } => {
                *process = connection.cloned();
                Ok(())
            }
            _ => Err(Error::ShutDown),
        }
    }
}
