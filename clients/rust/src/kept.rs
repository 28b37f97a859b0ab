//! The chunks that a stream has pushed, kept for a replay up to a bound.
//!
//! They are kept as JSON text in segments that can be pushed as they are, so that a
//! replay costs a few requests and the memory is about the bytes of the chunks.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::Value;

/// A push of a replay has about so many bytes: it keeps other streams waiting no longer
/// than any push does.
const SEGMENT_BYTES: usize = 8 << 10;

/// The bytes that all streams may keep together.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: usize,
    used: AtomicUsize,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, used: AtomicUsize::new(0) }
    }

    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: usize) -> bool {
        let more = |used: usize| used.checked_add(bytes).filter(|it| *it <= self.limit);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    fn give(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Chunks in order; or none, because they were more than may be kept.
#[derive(Debug)]
pub(crate) struct Kept {
    segments: Vec<String>,
    bytes: usize,
    limit: usize,
    budget: Arc<Budget>,
    /// The limit that they went beyond.
    passed: Option<usize>,
}

/// How much is kept at some time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    segments: usize,
    of_last: usize,
    bytes: usize,
}

impl Kept {
    pub(crate) fn new(limit: usize, budget: Arc<Budget>) -> Self {
        Self { segments: Vec::new(), bytes: 0, limit, budget, passed: None }
    }

    /// Keeps chunks, given as the items of a JSON array with commas between.
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
        if self.passed.is_none() && bytes > self.limit.saturating_sub(self.bytes) {
            self.passed = Some(self.limit);
        }
        if self.passed.is_none() && !self.budget.take(bytes) {
            self.passed = Some(self.budget.limit);
        }
        let fits = self.passed.is_none();
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

    /// Forgets what was added behind the mark; nothing, where nothing is kept any more.
    pub(crate) fn shorten(&mut self, mark: Mark) {
        if self.passed.is_some() {
            return;
        }
        self.segments.truncate(mark.segments);
        if let Some(last) = self.segments.last_mut() {
            last.truncate(mark.of_last);
        }
        self.budget.give(self.bytes - mark.bytes);
        self.bytes = mark.bytes;
    }

    /// The limit that was passed; `None`: nothing is missing.
    pub(crate) fn passed(&self) -> Option<usize> {
        self.passed
    }

    pub(crate) fn segment(&self, number: usize) -> Option<&str> {
        self.segments.get(number).map(String::as_str)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.forget();
    }
}

/// The params of a push of `items`, as JSON text.
pub(crate) fn push_params(stream_id: &str, items: &str) -> String {
    format!(r#"{{"streamId":{},"chunks":[{items}]}}"#, Value::from(stream_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(kept: &Kept) -> String {
        (0..).map_while(|it| kept.segment(it)).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn what_is_kept_is_what_was_pushed() {
        let mut kept = Kept::new(1 << 30, Arc::new(Budget::new(1 << 30)));
        let items: Vec<_> = (0..100_000).map(|it| format!("\"{it}\"")).collect();
        for each in &items {
            kept.add(each);
        }
        assert!(joined(&kept) == items.join(","));
        assert!(kept.segments.iter().all(|it| it.len() <= SEGMENT_BYTES));
        assert!(kept.segments.len() < 110);
    }

    #[test]
    fn beyond_the_bound_nothing_is_kept() {
        let mut kept = Kept::new(10, Arc::new(Budget::new(100)));
        kept.add("1,2,3,4,5");
        assert_eq!(kept.passed(), None);
        kept.add("6");
        assert_eq!(kept.passed(), Some(10));
        assert_eq!(joined(&kept), "");
        kept.add("7");
        assert_eq!(kept.passed(), Some(10), "and it stays so");
    }

    #[test]
    fn what_came_behind_a_mark_is_forgotten() {
        let budget = Arc::new(Budget::new(1 << 20));
        let mut kept = Kept::new(1 << 20, Arc::clone(&budget));
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
        assert_eq!((kept.passed(), budget.used()), (Some(1 << 20), 0));
    }

    #[test]
    fn all_keep_no_more_than_their_budget() {
        let budget = Arc::new(Budget::new(10));
        let [mut one, mut other] = [(); 2].map(|()| Kept::new(10, Arc::clone(&budget)));
        one.add("1,2,3");
        other.add("1,2,3");
        assert_eq!((one.passed(), other.passed(), budget.used()), (None, Some(10), 6));
        drop(one);
        assert_eq!(budget.used(), 0);
    }
}
