//! What is pushed: a piece of a provider's response, as JSON text.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use crate::error::Error;

/// A piece of a provider's response, ready to be sent. Never empty: it is JSON.
#[derive(Debug, Clone)]
pub struct Chunk(Box<RawValue>);

impl Chunk {
    /// A slice of the response's text, cut anywhere between two characters.
    #[must_use]
    pub fn text(slice: &str) -> Self {
        Self::raw(&slice)
    }

    /// A slice of the response's bytes, cut anywhere. For streams that were opened with
    /// [`Encoding::Base64`](crate::protocol::Encoding::Base64).
    #[must_use]
    pub fn bytes(slice: &[u8]) -> Self {
        Self::raw(&STANDARD.encode(slice))
    }

    /// A document that the host has decoded already.
    ///
    /// # Errors
    ///
    /// [`Error::Json`] for what JSON cannot hold.
    pub fn document(document: &impl Serialize) -> Result<Self, Error> {
        let raw = serde_json::value::to_raw_value(document);
        raw.map(Self).map_err(|error| Error::json("a chunk", error))
    }

    /// The JSON text.
    #[must_use]
    pub fn as_json(&self) -> &str {
        self.0.get()
    }

    /// Values and strings always can be written.
    fn raw(value: &impl Serialize) -> Self {
        let raw = serde_json::value::to_raw_value(value);
        Self(raw.unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }
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

impl From<&Value> for Chunk {
    fn from(document: &Value) -> Self {
        Self::raw(document)
    }
}

impl From<Value> for Chunk {
    fn from(document: Value) -> Self {
        Self::raw(&document)
    }
}

impl From<Box<RawValue>> for Chunk {
    fn from(document: Box<RawValue>) -> Self {
        Self(document)
    }
}
