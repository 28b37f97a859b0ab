//! How much may be in flight to the sidecar: a number of requests and of bytes.
//!
//! This is the bounded queue. Further requests wait here, in order, and are sent as soon as
//! enough earlier requests have been answered. This does not depend on anybody polling them:
//! a host's task that stops does not delay other tasks. A request that is larger than the
//! limit is sent when nothing else is in flight.

use std::collections::VecDeque;

use crate::config::QueueBounds;

/// Frames that wait to be sent, with the ids of their requests.
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

    /// Adds a frame; [`Gate::next`] returns it when it may be sent.
    pub(crate) fn add(&mut self, id: i64, frame: Vec<u8>) {
        self.waiting.push_back((id, frame));
    }

    /// The limit of waiting requests, if it is reached.
    pub(crate) fn full(&self) -> Option<usize> {
        let limit = self.bounds.waiting;
        (self.waiting.len() >= limit && !self.waiting.is_empty()).then_some(limit)
    }

    /// The next frame that may be sent. From then on it counts as in flight.
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

    /// Records that a request of `bytes` bytes was answered.
    pub(crate) fn answered(&mut self, bytes: usize) {
        self.requests -= 1;
        self.bytes -= bytes;
    }

    /// Removes a frame that was not sent yet.
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
    fn bytes_are_bounded_and_the_order_is_kept() {
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
    fn a_frame_above_the_limit_goes_alone() {
        let mut gate = gate(9, 100, &[1000, 1]);
        assert_eq!(gone(&mut gate), [1]);
        gate.answered(1000);
        assert_eq!(gone(&mut gate), [2]);
    }

    #[test]
    fn the_number_of_waiting_requests_is_bounded() {
        let mut gate = gate(1, 100, &[1, 1, 1]);
        assert_eq!(gone(&mut gate), [1]);
        assert_eq!(gate.full(), Some(2));
        gate.withdraw(3);
        assert_eq!(gate.full(), None);
    }

    #[test]
    fn a_withdrawn_request_delays_no_other() {
        let mut gate = gate(1, 100, &[1, 1, 1]);
        assert_eq!(gone(&mut gate), [1]);
        gate.withdraw(2);
        gate.answered(1);
        assert_eq!(gone(&mut gate), [3]);
    }
}
