//! The documents of a clean response, and how an HTTP body is written from them.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Deserialize, de::Error as _};
use serde_json::value::RawValue;

use crate::protocol::EmitWire;

/// A document of the clean stream, for a stream opened with `emit`.
pub type Document = serde_json::Map<String, serde_json::Value>;

/// A [`Document`] as JSON text: order of fields and spelling of numbers are the provider's.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Box<RawValue>")]
pub(crate) struct Emitted(Box<RawValue>);

impl TryFrom<Box<RawValue>> for Emitted {
    type Error = serde_json::Error;

    fn try_from(json: Box<RawValue>) -> Result<Self, Self::Error> {
        if json.get().starts_with('{') {
            Ok(Self(json))
        } else {
            Err(Self::Error::custom("a document is an object"))
        }
    }
}

impl Emitted {
    pub(crate) fn document(&self) -> Document {
        serde_json::from_str(self.0.get()).unwrap_or_default()
    }
}

/// The format of a body.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BodyFormat {
    /// Server-sent events.
    Events {
        /// Whether a document's `type` is the name of its event.
        named: bool,
        /// The text after the last event.
        mark: &'static str,
    },
    /// A JSON array, which Gemini sends if the request did not ask for server-sent events.
    #[cfg_attr(not(any(test, feature = "tower")), expect(dead_code))]
    Array,
}

impl BodyFormat {
    /// The format of a wire's server-sent events.
    pub(crate) fn events(wire: &EmitWire) -> Self {
        let named = matches!(wire, EmitWire::OpenaiResponses | EmitWire::Anthropic);
        let mark = if *wire == EmitWire::OpenaiChat { "data: [DONE]\n\n" } else { "" };
        Self::Events { named, mark }
    }
}

/// Writes one body, piece by piece.
#[derive(Debug)]
pub(crate) struct BodyWriter {
    format: BodyFormat,
    has_begun: bool,
}

impl BodyWriter {
    pub(crate) fn new(format: BodyFormat) -> Self {
        Self { format, has_begun: false }
    }

    pub(crate) fn write(&mut self, documents: &[Emitted]) -> String {
        documents.iter().fold(String::new(), |mut body, document| {
            match self.format {
                BodyFormat::Events { named, .. } => write_event(&mut body, &document.0, named),
                BodyFormat::Array => {
                    let before = if self.has_begun { "," } else { "[" };
                    body.extend([before, document.0.get(), "\n"]);
                }
            }
            self.has_begun = true;
            body
        })
    }

    /// The text after the last document. `is_marked`: with the wire's end mark, if it has one.
    pub(crate) fn end(&self, is_marked: bool) -> &'static str {
        match self.format {
            BodyFormat::Events { mark, .. } if is_marked => mark,
            BodyFormat::Events { .. } => "",
            BodyFormat::Array if self.has_begun => "]",
            BodyFormat::Array => "[]",
        }
    }
}

/// Writes one event. A document without a type comes with the name of its event: `{event, data}`.
fn write_event(body: &mut String, json: &RawValue, named: bool) {
    let fields: Fields = serde_json::from_str(json.get()).unwrap_or_default();
    let name_in =
        |field: &str| fields.get(field).and_then(|it| serde_json::from_str(it.get()).ok());
    let (name, data): (Option<String>, _) = match (name_in("event"), fields.get("data")) {
        (Some(name), Some(data)) if fields.len() == 2 => (Some(name), data.get()),
        _ => (name_in("type").filter(|_| named), json.get()),
    };
    // A name with a line break would begin another event.
    if let Some(name) = name.filter(|it| !it.contains(['\r', '\n'])) {
        body.extend(["event: ", &name, "\n"]);
    }
    body.extend(["data: ", data, "\n\n"]);
}

type Fields<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: BodyFormat, documents: &[&str], is_marked: bool) -> String {
        let raw = |it: &&str| Emitted(RawValue::from_string((*it).to_owned()).expect("JSON"));
        let documents: Vec<_> = documents.iter().map(raw).collect();
        let mut writer = BodyWriter::new(format);
        writer.write(&documents) + writer.end(is_marked)
    }

    #[test]
    fn documents_keep_the_order_of_their_fields_and_their_numbers() {
        let document = r#"{"type":"b","a":1.0,"big":123456789012345678901234567890}"#;
        let chat = BodyFormat::events(&EmitWire::OpenaiChat);
        let expected = format!("data: {document}\n\n");
        assert_eq!(written(chat, &[document], false), expected);
        assert_eq!(written(chat, &[document], true), expected.clone() + "data: [DONE]\n\n");
        let messages = BodyFormat::events(&EmitWire::Anthropic);
        assert_eq!(written(messages, &[document], true), format!("event: b\n{expected}"));
    }

    #[test]
    fn a_document_keeps_the_name_of_its_event() {
        let documents = [r#"{"event":"tick","data":{"b":1,"a":2}}"#, r#"{"event":1,"data":2}"#];
        let expected = "event: tick\ndata: {\"b\":1,\"a\":2}\n\ndata: {\"event\":1,\"data\":2}\n\n";
        assert_eq!(written(BodyFormat::events(&EmitWire::Gemini), &documents, true), expected);
    }

    #[test]
    fn a_type_with_a_line_break_names_no_event() {
        let document = r#"{"type":"a\n\ndata: 1"}"#;
        let messages = BodyFormat::events(&EmitWire::Anthropic);
        assert_eq!(written(messages, &[document], true), format!("data: {document}\n\n"));
    }

    #[test]
    fn any_number_of_documents_makes_an_array() {
        assert_eq!(written(BodyFormat::Array, &[], true), "[]");
        assert_eq!(written(BodyFormat::Array, &["{}", "{}"], true), "[{}\n,{}\n]");
    }
}
