//! The chunks that a stream has pushed, kept for a replay up to a bound.
//!
//! They are kept as JSON text in segments that can be pushed as they are, so that a
//! replay costs a few requests and the memory is about the bytes of the chunks.

use serde_json::Value;

/// A push of a replay has about so many bytes: far below the sidecar's limit, and
/// small enough that it is answered in time.
const SEGMENT_BYTES: usize = 256 << 10;

/// Chunks in order; or none, because they were more than may be kept.
#[derive(Debug)]
pub(crate) struct Kept {
    segments: Vec<String>,
    bytes: usize,
    limit: usize,
}

impl Kept {
    pub(crate) fn new(limit: usize) -> Self {
        Self { segments: Vec::new(), bytes: 0, limit }
    }

    /// Keeps chunks, given as the items of a JSON array with commas between.
    pub(crate) fn add(&mut self, items: &str) {
        self.bytes = self.bytes.saturating_add(items.len() + 1);
        if !self.is_whole() {
            self.segments = Vec::new();
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

    /// Whether nothing is missing.
    pub(crate) fn is_whole(&self) -> bool {
        self.bytes <= self.limit
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    pub(crate) fn segment(&self, number: usize) -> Option<&str> {
        self.segments.get(number).map(String::as_str)
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
        let mut kept = Kept::new(1 << 30);
        let items: Vec<_> = (0..100_000).map(|it| format!("\"{it}\"")).collect();
        for each in &items {
            kept.add(each);
        }
        assert!(joined(&kept) == items.join(","));
        assert!(kept.segments.iter().all(|it| it.len() <= SEGMENT_BYTES));
        assert!(kept.segments.len() < 10);
    }

    #[test]
    fn beyond_the_bound_nothing_is_kept() {
        let mut kept = Kept::new(10);
        kept.add("1,2,3,4,5");
        assert!(kept.is_whole());
        kept.add("6");
        assert!(!kept.is_whole());
        assert_eq!(joined(&kept), "");
        kept.add("7");
        assert!(!kept.is_whole(), "and it stays so");
    }
}
