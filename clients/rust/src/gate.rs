//! How much may be under way to the sidecar: a number of requests and of bytes.
//!
//! This is the bounded queue. What does not fit waits here, in order, and goes as soon
//! as enough of what went before has been answered, whether anybody polls it then or
//! not: a host's task that stands still holds up nobody else. A request that is larger
//! than all that is allowed goes when nothing else is under way.

use std::collections::VecDeque;

/// How much may be under way at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueueBounds {
    pub(crate) requests: usize,
    pub(crate) bytes: usize,
    /// Requests that wait because of these; further ones are refused.
    pub(crate) waiting: usize,
}

/// Frames on their way out, by the ids of their requests.
pub(crate) struct Gate {
    bounds: QueueBounds,
    requests: usize,
    bytes: usize,
    waiting: VecDeque<(i64, Vec<u8>)>,
}

impl Gate {
    pub(crate) fn new(bounds: QueueBounds) -> Self {
        Self { bounds, requests: 0, bytes: 0, waiting: VecDeque::new() }
    }

    /// Takes a frame; [`Gate::next`] gives it back when it may go.
    pub(crate) fn add(&mut self, id: i64, frame: Vec<u8>) {
        self.waiting.push_back((id, frame));
    }

    /// How many wait already, when it is as many as may.
    pub(crate) fn full(&self) -> Option<usize> {
        let limit = self.bounds.waiting;
        (self.waiting.len() >= limit && !self.waiting.is_empty()).then_some(limit)
    }

    /// The next frame that may go. From then on it is under way.
    pub(crate) fn next(&mut self) -> Option<(i64, Vec<u8>)> {
        let (_, frame) = self.waiting.front()?;
        let fits =
            self.requests < self.bounds.requests && self.bytes + frame.len() <= self.bounds.bytes;
        if !fits && self.requests > 0 {
            return None;
        }
        self.requests += 1;
        self.bytes += frame.len();
        self.waiting.pop_front()
    }

    /// A request of so many bytes was answered.
    pub(crate) fn answered(&mut self, bytes: usize) {
        self.requests -= 1;
        self.bytes -= bytes;
    }

    /// Takes back what has not gone yet.
    pub(crate) fn withdraw(&mut self, id: i64) {
        self.waiting.retain(|it| it.0 != id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(requests: usize, bytes: usize, sizes: &[usize]) -> Gate {
        let mut gate = Gate::new(QueueBounds { requests, bytes, waiting: 2 });
        for (id, size) in (1..).zip(sizes) {
            gate.add(id, vec![0; *size]);
        }
        gate
    }

    fn gone(gate: &mut Gate) -> Vec<i64> {
        std::iter::from_fn(|| gate.next().map(|it| it.0)).collect()
    }

    #[test]
    fn nothing_passes_the_bound_and_nothing_overtakes() {
        let mut gate = gate(9, 100, &[60, 50, 1]);
        assert_eq!(gone(&mut gate), [1]);
        gate.answered(60);
        assert_eq!(gone(&mut gate), [2, 3]);
    }

    #[test]
    fn the_number_is_bounded_too() {
        let mut gate = gate(2, 100, &[0, 0, 0]);
        assert_eq!(gone(&mut gate), [1, 2]);
        gate.answered(0);
        assert_eq!(gone(&mut gate), [3]);
    }

    #[test]
    fn what_is_too_large_goes_alone() {
        let mut gate = gate(9, 100, &[1000, 1]);
        assert_eq!(gone(&mut gate), [1]);
        gate.answered(1000);
        assert_eq!(gone(&mut gate), [2]);
    }

    #[test]
    fn as_many_may_wait_as_are_allowed() {
        let mut gate = gate(1, 100, &[1, 1, 1]);
        assert_eq!(gone(&mut gate), [1]);
        assert_eq!(gate.full(), Some(2));
        gate.withdraw(3);
        assert_eq!(gate.full(), None);
    }

    #[test]
    fn what_is_withdrawn_holds_up_nobody() {
        let mut gate = gate(1, 100, &[1, 1, 1]);
        assert_eq!(gone(&mut gate), [1]);
        gate.withdraw(2);
        gate.answered(1);
        assert_eq!(gone(&mut gate), [3]);
    }
}
