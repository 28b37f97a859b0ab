//! A chunk: a piece of a provider's response that is pushed, and how it is written.

use std::mem;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use crate::error::Error;

/// A piece of a provider's response: a slice of its body, or a decoded document.
///
/// Slices of an HTTP body are `Bytes`, `Vec<u8>` or `&[u8]`. They may be cut anywhere, even in
/// the middle of a character; the stream knows how to send them (as text, or as base64).
#[derive(Debug, Clone)]
pub struct Chunk(Piece);

#[derive(Debug, Clone)]
enum Piece {
    Json(Box<RawValue>),
    Bytes(Bytes),
}

impl Chunk {
    /// A slice of the response's text, cut anywhere between two characters.
    #[must_use]
    pub fn text(slice: &str) -> Self {
        Self(Piece::Json(raw(&slice)))
    }

    /// A slice of the response's bytes, cut anywhere.
    #[must_use]
    pub fn bytes(slice: impl Into<Bytes>) -> Self {
        Self(Piece::Bytes(slice.into()))
    }

    /// A document that the host has decoded already.
    ///
    /// # Errors
    ///
    /// [`Error::Json`] if the document cannot be written as JSON.
    pub fn document(document: &impl Serialize) -> Result<Self, Error> {
        let raw = serde_json::value::to_raw_value(document);
        raw.map(Self::from).map_err(|error| Error::json("a chunk", error))
    }
}

/// The JSON text of a value or a string, which can always be written.
pub(crate) fn raw(value: &impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Writes the chunks of one stream as JSON. Bytes become base64 if the stream was opened with
/// it, or else text: an incomplete character at the end then waits for the next slice.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChunkWriter {
    is_base64: bool,
    rest: Vec<u8>,
}

impl ChunkWriter {
    pub(crate) fn new(is_base64: bool) -> Self {
        Self { is_base64, rest: Vec::new() }
    }

    /// Returns the chunk as JSON, which is never empty.
    pub(crate) fn write(&mut self, chunk: &Chunk) -> String {
        match &chunk.0 {
            Piece::Json(json) => json.get().to_owned(),
            Piece::Bytes(slice) if self.is_base64 => raw(&STANDARD.encode(slice)).get().to_owned(),
            Piece::Bytes(slice) => raw(&self.decode(slice)).get().to_owned(),
        }
    }

    /// Returns U+FFFD if the stream ended inside a character.
    pub(crate) fn end(&mut self) -> Option<String> {
        let rest = mem::take(&mut self.rest);
        (!rest.is_empty()).then(|| raw(&"\u{FFFD}").get().to_owned())
    }

    /// Decodes UTF-8; invalid bytes become U+FFFD.
    fn decode(&mut self, slice: &[u8]) -> String {
        let mut data = mem::take(&mut self.rest);
        data.extend_from_slice(slice);
        let mut text = String::with_capacity(data.len());
        let mut runs = data.utf8_chunks().peekable();
        while let Some(run) = runs.next() {
            text.push_str(run.valid());
            if runs.peek().is_none() && is_cut(run.invalid()) {
                self.rest = run.invalid().to_vec();
            } else if !run.invalid().is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        text
    }
}

/// Whether these bytes are the beginning of a character.
fn is_cut(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

impl From<&str> for Chunk {
    fn from(slice: &str) -> Self {
        Self::text(slice)
    }
}

impl From<String> for Chunk {
    fn from(slice: String) -> Self {
        Self::text(&slice)
    }
}

impl From<Bytes> for Chunk {
    fn from(slice: Bytes) -> Self {
        Self::bytes(slice)
    }
}

impl From<Vec<u8>> for Chunk {
    fn from(slice: Vec<u8>) -> Self {
        Self::bytes(slice)
    }
}

impl From<&[u8]> for Chunk {
    fn from(slice: &[u8]) -> Self {
        Self::bytes(slice.to_vec())
    }
}

impl From<&Value> for Chunk {
    fn from(document: &Value) -> Self {
        raw(document).into()
    }
}

impl From<Value> for Chunk {
    fn from(document: Value) -> Self {
        raw(&document).into()
    }
}

impl From<Box<RawValue>> for Chunk {
    fn from(document: Box<RawValue>) -> Self {
        Self(Piece::Json(document))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(body: &[u8], size: usize, is_base64: bool) -> String {
        let mut writer = ChunkWriter::new(is_base64);
        let mut items: Vec<String> =
            body.chunks(size).map(|slice| writer.write(&Chunk::from(slice))).collect();
        items.extend(writer.end());
        items.iter().map(|item| serde_json::from_str::<String>(item).expect("a string")).collect()
    }

    #[test]
    fn bytes_become_text_wherever_they_are_cut() {
        let body = "a🌿é".as_bytes();
        for size in 1..=body.len() {
            assert_eq!(written(body, size, false), "a🌿é");
        }
    }

    #[test]
    fn invalid_bytes_are_replaced_in_text_and_base64_is_only_used_if_chosen() {
        for size in 1..5 {
            assert_eq!(written(b"a\xffb\xf0\x9f", size, false), "a\u{FFFD}b\u{FFFD}");
        }
        assert_eq!(written(b"abc", 3, true), "YWJj");
    }
}
