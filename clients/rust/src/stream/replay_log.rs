//! The chunks that a stream has pushed, kept for a replay up to a limit.
//!
//! They are kept as JSON text in segments, each ready to be pushed. So a replay costs few
//! requests, and the memory is about the size of the chunks.

use std::sync::Arc;

use serde_json::Value;

use crate::budget::Budget;

/// The size of a push of a replay, in bytes: other streams wait no longer for it than for any
/// other push.
const SEGMENT_BYTES: usize = 8 << 10;

/// The chunks in order; none after they exceeded a limit.
#[derive(Debug)]
pub(crate) struct ReplayLog {
    segments: Vec<String>,
    bytes: usize,
    limit: usize,
    budget: Arc<Budget>,
    /// The limit that was exceeded.
    exceeded: Option<usize>,
}

/// How much is kept at some moment, for [`ReplayLog::shorten`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    segments: usize,
    of_last: usize,
    bytes: usize,
}

impl ReplayLog {
    pub(crate) fn new(limit: usize, budget: Arc<Budget>) -> Self {
        Self { segments: Vec::new(), bytes: 0, limit, budget, exceeded: None }
    }

    /// Keeps chunks, given as the items of a JSON array separated by commas.
    pub(crate) fn add(&mut self, items: &str) {
        if !self.fits(items.len() + 1) {
            self.forget();
            return;
        }
        match self.segments.last_mut() {
            Some(last) if last.len() + items.len() < SEGMENT_BYTES => {
                last.push(',');
                last.push_str(items);
            }
            _ => self.segments.push(items.to_owned()),
        }
    }

    fn fits(&mut self, bytes: usize) -> bool {
        if self.exceeded.is_none() && bytes > self.limit.saturating_sub(self.bytes) {
            self.exceeded = Some(self.limit);
        }
        if self.exceeded.is_none() && !self.budget.take(bytes) {
            self.exceeded = Some(self.budget.limit);
        }
        let fits = self.exceeded.is_none();
        self.bytes += if fits { bytes } else { 0 };
        fits
    }

    fn forget(&mut self) {
        self.segments = Vec::new();
        self.budget.give(std::mem::take(&mut self.bytes));
    }

    pub(crate) fn mark(&self) -> Mark {
        let of_last = self.segments.last().map_or(0, String::len);
        Mark { segments: self.segments.len(), of_last, bytes: self.bytes }
    }

    /// Removes the chunks added after the mark; does nothing after a limit was exceeded.
    pub(crate) fn shorten(&mut self, mark: Mark) {
        if self.exceeded.is_some() {
            return;
        }
        self.segments.truncate(mark.segments);
        if let Some(last) = self.segments.last_mut() {
            last.truncate(mark.of_last);
        }
        self.budget.give(self.bytes - mark.bytes);
        self.bytes = mark.bytes;
    }

    /// The limit that was exceeded; `None`: all chunks are kept.
    pub(crate) fn exceeded(&self) -> Option<usize> {
        self.exceeded
    }

    pub(crate) fn segment(&self, number: usize) -> Option<&str> {
        self.segments.get(number).map(String::as_str)
    }
}

impl Drop for ReplayLog {
    fn drop(&mut self) {
        self.forget();
    }
}

/// The params of `stream/push` with `items`, as JSON text.
pub(crate) fn push_params(stream_id: &str, items: &str) -> String {
    format!(r#"{{"streamId":{},"chunks":[{items}]}}"#, Value::from(stream_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(kept: &ReplayLog) -> String {
        (0..).map_while(|it| kept.segment(it)).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn pushed_chunks_are_kept() {
        let mut kept = ReplayLog::new(1 << 30, Arc::new(Budget::new(1 << 30)));
        let items: Vec<_> = (0..100_000).map(|it| format!("\"{it}\"")).collect();
        for each in &items {
            kept.add(each);
        }
        assert!(joined(&kept) == items.join(","));
        assert!(kept.segments.iter().all(|it| it.len() <= SEGMENT_BYTES));
        assert!(kept.segments.len() < 110);
    }

    #[test]
    fn beyond_the_limit_nothing_is_kept() {
        let mut kept = ReplayLog::new(10, Arc::new(Budget::new(100)));
        kept.add("1,2,3,4,5");
        assert_eq!(kept.exceeded(), None);
        kept.add("6");
        assert_eq!(kept.exceeded(), Some(10));
        assert_eq!(joined(&kept), "");
        kept.add("7");
        assert_eq!(kept.exceeded(), Some(10), "and it stays so");
    }

    #[test]
    fn chunks_after_a_mark_are_removed() {
        let budget = Arc::new(Budget::new(1 << 20));
        let mut kept = ReplayLog::new(1 << 20, Arc::clone(&budget));
        let empty = kept.mark();
        kept.add("1,2,3");
        let (mark, used) = (kept.mark(), budget.used());
        (0..10).for_each(|_| kept.add(&format!("\"{}\"", "x".repeat(SEGMENT_BYTES / 2))));
        kept.shorten(mark);
        assert_eq!((joined(&kept), budget.used()), ("1,2,3".to_owned(), used));
        kept.shorten(empty);
        assert_eq!((joined(&kept), budget.used()), (String::new(), 0));
        kept.add(&"1".repeat(2 << 20));
        kept.shorten(empty);
        assert_eq!((kept.exceeded(), budget.used()), (Some(1 << 20), 0));
    }

    #[test]
    fn all_streams_together_keep_at_most_their_budget() {
        let budget = Arc::new(Budget::new(10));
        let [mut one, mut other] = [(); 2].map(|()| ReplayLog::new(10, Arc::clone(&budget)));
        one.add("1,2,3");
        other.add("1,2,3");
        assert_eq!((one.exceeded(), other.exceeded(), budget.used()), (None, Some(10), 6));
        drop(one);
        assert_eq!(budget.used(), 0);
    }
}
