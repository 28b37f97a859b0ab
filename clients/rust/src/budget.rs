//! How much may be under way to the sidecar: a number of requests and of bytes.
//!
//! This is the bounded queue: whoever wants to send waits here, in the order of asking,
//! until enough of what was sent before has been answered. A request that is larger than
//! the whole budget goes when nothing else is under way.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_channel::oneshot;

/// A bound, shared by everybody who sends to one process.
pub(crate) struct Budget {
    max_requests: usize,
    max_bytes: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    requests: usize,
    bytes: usize,
    waiting: VecDeque<(usize, oneshot::Sender<Permit>)>,
}

/// The right to have so many bytes under way, given back when it is dropped.
pub(crate) struct Permit {
    budget: Option<Arc<Budget>>,
    bytes: usize,
}

impl Budget {
    pub(crate) fn new(max_requests: usize, max_bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            max_requests,
            max_bytes,
            state: Mutex::default(),
        })
    }

    /// Waits until `bytes` may be sent; `None` when the budget was closed.
    pub(crate) async fn acquire(self: &Arc<Self>, bytes: usize) -> Option<Permit> {
        let turn = {
            let mut state = self.lock();
            if state.waiting.is_empty() && self.fits(&state, bytes) {
                return Some(self.grant(&mut state, bytes));
            }
            let (sender, turn) = oneshot::channel();
            state.waiting.push_back((bytes, sender));
            turn
        };
        turn.await.ok()
    }

    /// Sends everybody home who waits.
    pub(crate) fn close(&self) {
        let waiting = std::mem::take(&mut self.lock().waiting);
        drop(waiting); // wakes them, without the lock
    }

    fn fits(&self, state: &State, bytes: usize) -> bool {
        let alone = state.requests == 0;
        alone || (state.requests < self.max_requests && state.bytes + bytes <= self.max_bytes)
    }

    fn grant(self: &Arc<Self>, state: &mut State, bytes: usize) -> Permit {
        state.requests += 1;
        state.bytes += bytes;
        Permit {
            budget: Some(Arc::clone(self)),
            bytes,
        }
    }

    fn release(self: &Arc<Self>, bytes: usize) {
        let mut state = self.lock();
        state.requests -= 1;
        state.bytes -= bytes;
        while let Some((wanted, _)) = state.waiting.front()
            && self.fits(&state, *wanted)
        {
            let Some((wanted, sender)) = state.waiting.pop_front() else {
                return;
            };
            let permit = self.grant(&mut state, wanted);
            if let Err(mut unwanted) = sender.send(permit) {
                unwanted.budget = None; // nobody waits any more: taken back right here
                state.requests -= 1;
                state.bytes -= wanted;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(budget) = self.budget.take() {
            budget.release(self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn nobody_passes_the_bound_and_nobody_overtakes() {
        let budget = Budget::new(3, 100);
        let first = budget.acquire(60).now_or_never().flatten().unwrap();
        let mut large = Box::pin(budget.acquire(50));
        assert!((&mut large).now_or_never().is_none());
        let mut small = Box::pin(budget.acquire(1));
        assert!((&mut small).now_or_never().is_none(), "it came later");
        drop(first);
        assert!(large.now_or_never().flatten().is_some());
        assert!(small.now_or_never().flatten().is_some());
    }

    #[test]
    fn the_number_is_bounded_too() {
        let budget = Budget::new(2, 100);
        let held: Vec<_> = (0..2)
            .map(|_| budget.acquire(0).now_or_never().flatten())
            .collect();
        assert!(held.iter().all(Option::is_some));
        assert!(budget.acquire(0).now_or_never().is_none());
    }

    #[test]
    fn what_is_too_large_goes_alone() {
        let budget = Budget::new(2, 100);
        assert!(budget.acquire(1000).now_or_never().flatten().is_some());
    }

    #[test]
    fn who_went_away_blocks_nobody() {
        let budget = Budget::new(1, 100);
        let held = budget.acquire(1).now_or_never().flatten().unwrap();
        for _ in 0..1000 {
            let mut gone = Box::pin(budget.acquire(1));
            assert!((&mut gone).now_or_never().is_none());
        }
        drop(held);
        assert!(budget.acquire(1).now_or_never().flatten().is_some());
    }

    #[test]
    fn closing_ends_the_waiting() {
        let budget = Budget::new(1, 100);
        let _held = budget.acquire(1).now_or_never().flatten();
        let mut waits = Box::pin(budget.acquire(1));
        assert!((&mut waits).now_or_never().is_none());
        budget.close();
        assert!(matches!(waits.now_or_never(), Some(None)));
    }
}
