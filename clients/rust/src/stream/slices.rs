//! Makes requests of a limited size from pushed chunks.
//!
//! The pipe to the sidecar is first in, first out: during a long request all other streams
//! wait, and between two short requests they have their turn. So long strings are cut, and
//! short chunks that wait at the same time are joined only up to a limit.

use std::collections::VecDeque;

use crate::stream::chunk::raw;

/// Requests of a stream that are in flight at the same time, so that the process never waits.
pub(crate) const UNDER_WAY: usize = 2;
/// Code points of a slice, which is sent as one request.
const SLICE: usize = 2_048;
/// Bytes of a request with several chunks.
const REQUEST: usize = 8 << 10;

/// Chunks as JSON, separated by commas.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) items: String,
    /// Whether this request is the last of a push of the host.
    pub(crate) ends: bool,
}

/// Chunks that are not in flight yet, in order.
#[derive(Default)]
pub(crate) struct Requests {
    /// Whether strings are slices of a body or text, so that they may be cut anywhere.
    may_cut: bool,
    waiting: VecDeque<Item>,
}

/// A chunk, or a slice of a chunk, as JSON.
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

    /// Adds a chunk, as JSON.
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

/// The next request: as many chunks as fit together, or one slice. `ends` is false for a slice
/// that is not the last of its chunk.
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

/// The slices of a long string, and its last slice. `None` for other JSON, and for a string with
/// half a surrogate pair, which Rust's strings cannot hold.
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
    fn short_chunks_are_sent_together() {
        let chunks = ["a".into(), letters(SLICE), Value::Null];
        assert_eq!(requests(&chunks, true), [(chunks.to_vec(), true)]);
        let chunks = vec![letters(2_000); 9];
        let sizes: Vec<_> = requests(&chunks, true).iter().map(|it| it.0.len()).collect();
        assert_eq!(sizes, [4, 4, 1]);
    }

    #[test]
    fn slices_of_a_long_string_are_sent_alone() {
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
    fn slices_count_code_points_and_split_none() {
        let text = "é🌿\"\n".repeat(SLICE);
        let found = requests(&[text.as_str().into()], true);
        let slices: Vec<_> = found.iter().filter_map(|it| it.0[0].as_str()).collect();
        assert_eq!(slices.iter().map(|it| it.chars().count()).collect::<Vec<_>>(), [SLICE; 4]);
        assert_eq!(slices.concat(), text);
    }

    #[test]
    fn documents_and_half_characters_are_not_cut() {
        let document = serde_json::json!({"a": letters(9_000)});
        let chunks = [document];
        assert_eq!(requests(&chunks, true), [(chunks.to_vec(), true)]);
        let half = format!("\"{}\\ud83c\"", "a".repeat(SLICE));
        let mut requests = Requests::new(true);
        requests.add(half.clone());
        assert_eq!(requests.next(), Some(Request { items: half, ends: true }));
    }
}
