//! What is pushed, in requests of a bounded size.
//!
//! The pipe to the sidecar is first in, first out: a request that takes long keeps all
//! other streams waiting, and between two short ones they have their turn. So long strings
//! are cut, and short chunks that are there at the same time go together only so far.

use std::collections::VecDeque;

use crate::chunk::raw;

/// Requests of a stream that are under way at once: the process never waits.
pub(crate) const UNDER_WAY: usize = 2;
/// Code points of a slice, which is a request of its own.
const SLICE: usize = 2_048;
/// Bytes of a request of several chunks.
const REQUEST: usize = 8 << 10;

/// Chunks as JSON, with commas between.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) items: String,
    /// Whether what the host pushed at once ends with it.
    pub(crate) ends: bool,
}

/// Chunks that are not under way, in order.
#[derive(Default)]
pub(crate) struct Requests {
    /// Whether a string is a slice of something, so that it may be cut anywhere.
    may_cut: bool,
    waiting: VecDeque<Item>,
}

/// A chunk or a slice of one, as JSON.
enum Item {
    Chunk(String),
    Slice(String),
    LastSlice(String),
}

impl Requests {
    pub(crate) fn new(may_cut: bool) -> Self {
        Self { may_cut, waiting: VecDeque::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Takes a chunk, as JSON.
    pub(crate) fn add(&mut self, chunk: String) {
        match self.may_cut.then(|| slices(&chunk)).flatten() {
            None => self.waiting.push_back(Item::Chunk(chunk)),
            Some((slices, last)) => {
                self.waiting.extend(slices.into_iter().map(Item::Slice));
                self.waiting.push_back(Item::LastSlice(last));
            }
        }
    }
}

/// As many chunks as go together, or a slice; in a request that does not end, it is not the
/// last of its chunk.
impl Iterator for Requests {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        let mut items = match self.waiting.pop_front()? {
            Item::Slice(items) => return Some(Request { items, ends: false }),
            Item::LastSlice(items) => return Some(Request { items, ends: true }),
            Item::Chunk(items) => items,
        };
        while let Some(Item::Chunk(chunk)) = self.waiting.front() {
            if items.len() + chunk.len() > REQUEST {
                break;
            }
            items.push(',');
            items.push_str(chunk);
            self.waiting.pop_front();
        }
        Some(Request { items, ends: true })
    }
}

/// A long string in slices, the last one beside the others; `None`: it is none, or has half
/// a character in it, which no text here can hold.
fn slices(json: &str) -> Option<(Vec<String>, String)> {
    if json.len() <= SLICE || !json.starts_with('"') {
        return None;
    }
    let text: String = serde_json::from_str(json).ok()?;
    let written = |slice: &str| raw(&slice).get().to_owned();
    let (mut slices, mut rest) = (Vec::new(), text.as_str());
    while let Some((end, _)) = rest.char_indices().nth(SLICE) {
        slices.push(written(&rest[..end]));
        rest = &rest[end..];
    }
    (!slices.is_empty()).then(|| (slices, written(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn requests(chunks: &[Value], may_cut: bool) -> Vec<(Vec<Value>, bool)> {
        let mut requests = Requests::new(may_cut);
        for chunk in chunks {
            requests.add(chunk.to_string());
        }
        let values = |it: &str| serde_json::from_str(&format!("[{it}]")).expect("JSON");
        let found = requests.by_ref().map(|it| (values(&it.items), it.ends)).collect();
        assert!(requests.is_empty());
        found
    }

    fn letters(size: usize) -> Value {
        "a".repeat(size).into()
    }

    #[test]
    fn what_is_short_goes_together() {
        let chunks = ["a".into(), letters(SLICE), Value::Null];
        assert_eq!(requests(&chunks, true), [(chunks.to_vec(), true)]);
        let chunks = vec![letters(2_000); 9];
        let sizes: Vec<_> = requests(&chunks, true).iter().map(|it| it.0.len()).collect();
        assert_eq!(sizes, [4, 4, 1]);
    }

    #[test]
    fn a_long_string_goes_in_slices_and_they_go_alone() {
        let chunks = ["b".into(), letters(2 * SLICE + 1), "c".into()];
        let expected = [
            (vec!["b".into()], true),
            (vec![letters(SLICE)], false),
            (vec![letters(SLICE)], false),
            (vec![letters(1)], true),
            (vec!["c".into()], true),
        ];
        assert_eq!(requests(&chunks, true), expected);
        assert_eq!(requests(&chunks, false), [(chunks.to_vec(), true)]);
    }

    #[test]
    fn code_points_count_and_none_is_torn() {
        let text = "é🌿\"\n".repeat(SLICE);
        let found = requests(&[text.as_str().into()], true);
        let slices: Vec<_> = found.iter().filter_map(|it| it.0[0].as_str()).collect();
        assert_eq!(slices.iter().map(|it| it.chars().count()).collect::<Vec<_>>(), [SLICE; 4]);
        assert_eq!(slices.concat(), text);
    }

    #[test]
    fn what_is_no_text_is_not_cut() {
        let document = serde_json::json!({"a": letters(9_000)});
        let chunks = [document];
        assert_eq!(requests(&chunks, true), [(chunks.to_vec(), true)]);
        let half = format!("\"{}\\ud83c\"", "a".repeat(SLICE));
        let mut requests = Requests::new(true);
        requests.add(half.clone());
        assert_eq!(requests.next(), Some(Request { items: half, ends: true }));
    }
}
