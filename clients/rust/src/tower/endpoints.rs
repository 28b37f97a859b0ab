//! The endpoints whose responses can be cleaned: their wire, the fields of a request that
//! matter, and the format of the answer.

use http::{Method, Uri};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    body_format::BodyFormat,
    protocol::{AnyTool, EmitWire, Framing},
};

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

const ENDPOINTS: [(&str, EmitWire); 3] = [
    ("/chat/completions", EmitWire::OpenaiChat),
    ("/responses", EmitWire::OpenaiResponses),
    ("/messages", EmitWire::Anthropic),
];
const STREAMING: &str = "streamGenerateContent";

/// Whether the request goes to one of these endpoints.
pub(super) fn may_be_read(method: &Method, uri: &Uri) -> bool {
    method == Method::POST && wire_of(uri.path()).is_some()
}

fn wire_of(path: &str) -> Option<EmitWire> {
    let found = ENDPOINTS.into_iter().find(|(ending, _)| path.ends_with(ending));
    found.map(|it| it.1).or_else(|| model_in(path).map(|_| EmitWire::Gemini))
}

/// The model in a path of Gemini: `/models/NAME:generateContent`.
fn model_in(path: &str) -> Option<&str> {
    let (before, verb) = path.rsplit_once(':')?;
    let (_, model) = before.rsplit_once("/models/")?;
    let is_ours = verb == "generateContent" || verb == STREAMING;
    (is_ours && !model.is_empty() && !model.contains(['/', ':'])).then_some(model)
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
        let wire = wire_of(uri.path())?;
        if body.trim_ascii_start().first() != Some(&b'{') {
            return None;
        }
        let RequestFields { model, tools } = serde_json::from_slice(body).ok()?;
        let named = model_in(uri.path())
            .map(|it| percent_decode_str(it).decode_utf8().map_or_else(|_| it.into(), Into::into));
        let is_grouped = wire == EmitWire::Gemini;
        let tools = if is_grouped { tools.as_ref().and_then(declarations) } else { tools };
        Some(Self {
            wire,
            host: uri.host().map(Into::into),
            model: named.or_else(|| model?.as_str().map(Into::into)),
            tools: tools.and_then(declared),
            is_array: uri.path().ends_with(STREAMING),
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

/// The functions in Gemini's groups: `[{functionDeclarations: [...]}]`.
fn declarations(tools: &Value) -> Option<Value> {
    let groups = tools.as_array()?.iter();
    let all = groups.filter_map(|group| group["functionDeclarations"].as_array()).flatten();
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
