//! The endpoints whose responses can be cleaned: their wire, the fields of a request that
//! matter, and the format of the answer. `endpoints.json` is their table.

use std::sync::LazyLock;

use http::{Method, Uri};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    protocol::{AnyTool, EmitWire, Framing},
    stream::body_format::BodyFormat,
};

/// The table, a copy of `clients/schema/endpoints.json` that `cargo run -p xtask` makes.
static TABLE: LazyLock<Table> = LazyLock::new(|| {
    serde_json::from_str(include_str!("endpoints.json")).expect("the table can be read")
});

#[derive(Deserialize)]
struct Table {
    endpoints: Vec<Endpoint>,
}

#[derive(Deserialize)]
struct Endpoint {
    path: String,
    wire: EmitWire,
    framing: Option<Framing>,
    declarations: Option<String>,
}

impl Endpoint {
    /// The endpoint of a path, and the model that the path names.
    fn of(path: &str) -> Option<(&'static Self, &str)> {
        TABLE.endpoints.iter().find_map(|it| Some((it, it.model_in(path)?)))
    }

    /// The model that `path` names: empty if it names none, `None` if it leads elsewhere.
    fn model_in<'path>(&self, path: &'path str) -> Option<&'path str> {
        let Some((before, after)) = self.path.split_once("{model}") else {
            return path.ends_with(&self.path).then_some("");
        };
        let (start, model) = path.strip_suffix(after)?.rsplit_once('/')?;
        let is_name = !model.is_empty() && !model.contains(':');
        (is_name && start.ends_with(before.trim_end_matches('/'))).then_some(model)
    }
}

/// The parts of a request that say how to read its answer.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) wire: EmitWire,
    pub(super) host: Option<String>,
    pub(super) model: Option<String>,
    pub(super) tools: Option<Vec<AnyTool>>,
    /// Whether a response without server-sent events is a JSON array of documents.
    is_array: bool,
}

/// Whether the request goes to one of these endpoints.
pub(super) fn may_be_read(method: &Method, uri: &Uri) -> bool {
    method == Method::POST && Endpoint::of(uri.path()).is_some()
}

/// The fields of a request that are read.
#[derive(Deserialize)]
struct RequestFields {
    model: Option<Value>,
    tools: Option<Value>,
}

impl Asked {
    /// Reads a request; `None` if it has no known path or its body is not a JSON object.
    pub(super) fn read(uri: &Uri, body: &[u8]) -> Option<Self> {
        let (endpoint, named) = Endpoint::of(uri.path())?;
        if body.trim_ascii_start().first() != Some(&b'{') {
            return None;
        }
        let RequestFields { model, tools } = serde_json::from_slice(body).ok()?;
        let decoded =
            |it: &str| percent_decode_str(it).decode_utf8().map_or_else(|_| it.into(), Into::into);
        let tools = match &endpoint.declarations {
            Some(member) => tools.as_ref().and_then(|it| declarations(it, member)),
            None => tools,
        };
        Some(Self {
            wire: endpoint.wire.clone(),
            host: uri.host().map(Into::into),
            model: match named {
                "" => model.and_then(|it| it.as_str().map(Into::into)),
                named => Some(decoded(named)),
            },
            tools: tools.and_then(declared),
            is_array: endpoint.framing == Some(Framing::JsonArray),
        })
    }

    /// The format of a streamed response; `None` for one document, and for other responses.
    pub(super) fn format_of(&self, content_type: &str) -> Option<(Framing, BodyFormat)> {
        if content_type.starts_with("text/event-stream") {
            return Some((Framing::Sse, BodyFormat::events(&self.wire)));
        }
        self.is_array.then_some((Framing::JsonArray, BodyFormat::Array))
    }
}

/// The functions that are declared in groups: `[{member: [...]}]`.
fn declarations(tools: &Value, member: &str) -> Option<Value> {
    let groups = tools.as_array()?.iter();
    let all = groups.filter_map(|group| group[member].as_array()).flatten();
    let named = all.map(|it| json!({"name": it["name"], "description": it["description"]}));
    Some(named.collect())
}

/// The tools with a name. The provider's own tools (`{type: "web_search"}`) have none.
fn declared(tools: Value) -> Option<Vec<AnyTool>> {
    let Value::Array(tools) = tools else { return None };
    let is_named = |it: &Value| it["function"]["name"].is_string() || it["name"].is_string();
    let named = tools.into_iter().filter(is_named);
    Some(named.filter_map(|it| serde_json::from_value(it).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(uri: &str, body: &str) -> Option<Asked> {
        let uri: Uri = uri.parse().expect("an address");
        may_be_read(&Method::POST, &uri).then(|| Asked::read(&uri, body.as_bytes())).flatten()
    }

    #[test]
    fn endpoints_say_their_wire() {
        let wire = |uri: &str| read(uri, "{}").map(|it| it.wire.as_str().to_owned());
        for (path, expected) in [
            ("/v1/chat/completions?api-version=1", Some("openai-chat")),
            ("/openai/deployments/d/chat/completions", Some("openai-chat")),
            ("/v1/responses", Some("openai-responses")),
            ("/v1/messages", Some("anthropic")),
            ("/v1beta/models/gemini-3-pro:generateContent", Some("gemini")),
            ("/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse", Some("gemini")),
            ("/v1beta/models/gemini-3-pro:countTokens", None),
            ("/v1beta/models/a/b:generateContent", None),
            ("/v1/messages/count_tokens", None),
            ("/v1/responses/resp_1", None),
            ("/v1/models", None),
        ] {
            assert_eq!(wire(&format!("https://x{path}")).as_deref(), expected, "{path}");
        }
        assert!(!may_be_read(&Method::GET, &"https://x/v1/responses".parse().expect("one")));
    }

    #[test]
    fn a_request_says_its_model_and_the_tools_with_a_name() {
        let body = r#"{"model": "m", "tools": [{"type": "web_search"}, {"name": "a"},
            {"type": "function", "function": {"name": "b", "description": null}}]}"#;
        let asked = read("https://api.x/v1/chat/completions", body).expect("it can be read");
        assert_eq!((asked.host.as_deref(), asked.model.as_deref()), (Some("api.x"), Some("m")));
        assert_eq!(asked.tools.map(|it| it.len()), Some(2));
        let body =
            r#"{"tools": [{"functionDeclarations": [{"name": "a"}]}, {"googleSearch": {}}]}"#;
        let asked = read("https://x/models/a%20b:generateContent", body).expect("it can be read");
        assert_eq!(
            (asked.model.as_deref(), asked.tools.map(|it| it.len())),
            (Some("a b"), Some(1))
        );
        let asked = read("https://x/models/100%:generateContent", "{}").expect("it can be read");
        assert_eq!((asked.model.as_deref(), asked.tools), (Some("100%"), None));
        for body in ["", "[]", "null", "{", "<html>", "\u{feff}{}"] {
            assert!(read("https://x/v1/messages", body).is_none(), "{body}");
        }
    }
}
