//! The names of the schema's items in Rust.

/// Fields and the name of their enumeration. A field without an entry shares the enumeration
/// that has the same values, or its enumeration is named after its type and its name.
const ENUMS: [(&str, &str, &str); 39] = [
    ("BlockEnd", "channel", "Channel"),
    ("Citation", "kind", "CitationKind"),
    ("Citation", "role", "CitationRole"),
    ("ClassifyParams", "wire", "Wire"),
    ("CloseParams", "reason", "CloseReason"),
    ("Diagnostic", "severity", "Severity"),
    ("Emit", "wire", "EmitWire"),
    ("ErrorData", "kind", "ErrorKind"),
    ("Finding", "kind", "FindingKind"),
    ("Finish", "reason", "FinishReason"),
    ("Metadata", "framing", "Framing"),
    ("NormalizeErrorResult", "kind", "ProviderErrorKind"),
    ("NormalizeErrorResult", "phase", "ErrorPhase"),
    ("NormalizeParams", "encoding", "Encoding"),
    ("Policy", "dialects", "DialectsWord"),
    ("PrepareParams", "claims", "RenderParamsClaims"),
    ("PrepareParams", "reasoning", "RenderParamsReasoning"),
    ("PrepareParams", "wire", "RenderParamsWire"),
    ("ProviderError", "phase", "ErrorPhase"),
    ("ReasoningDelta", "source", "ReasoningSource"),
    ("ReasoningPolicy", "asAnswer", "ReasoningAsAnswer"),
    ("ReasoningPolicy", "precedence", "ReasoningPrecedence"),
    ("ReasoningPolicy", "scope", "ReasoningScope"),
    ("ReasoningPolicy", "startsOpen", "ReasoningStart"),
    ("ReasoningPolicy", "unclosed", "UnclosedReasoning"),
    ("RenderParams", "claims", "RenderParamsClaims"),
    ("RenderParams", "reasoning", "RenderParamsReasoning"),
    ("RenderParams", "wire", "RenderParamsWire"),
    ("Retract", "reason", "RetractReason"),
    ("Tool", "executor", "Executor"),
    ("Tool", "kind", "ToolKind"),
    ("ToolCall", "argumentsFormat", "ArgumentsFormat"),
    ("ToolCall", "awaits", "Awaits"),
    ("ToolCall", "executor", "Executor"),
    ("ToolCall", "kindSource", "ToolKindSource"),
    ("ToolCall", "origin", "ToolCallOrigin"),
    ("ToolCall", "state", "ToolCallState"),
    ("ToolCallsPolicy", "mode", "ToolCallsMode"),
    ("ToolResultsPolicy", "mode", "ToolResultsMode"),
];

pub(crate) fn of_enum(owner: &str, key: &str) -> Option<&'static str> {
    ENUMS.iter().find(|it| (it.0, it.1) == (owner, key)).map(|it| it.2)
}

/// `openai-chat`, `kindSource` -> `OpenaiChat`, `KindSource`.
pub(crate) fn pascal(text: &str) -> String {
    let word = |word: &str| {
        let mut characters = word.chars();
        let first = characters.next().map(|it| it.to_ascii_uppercase());
        first.into_iter().chain(characters).collect::<String>()
    };
    text.split('-').map(word).collect()
}

/// `kindSource` -> `kind_source`.
pub(crate) fn snake(text: &str) -> String {
    let each = text.chars().flat_map(|it| {
        let border = it.is_ascii_uppercase().then_some('_');
        border.into_iter().chain([it.to_ascii_lowercase()])
    });
    let name: String = each.collect();
    if name == "type" { "r#type".into() } else { name }
}
