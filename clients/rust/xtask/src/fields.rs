//! What the doc comments of fields and enumerations say: the schema describes types
//! only, and the tables of `protocol.md` are for people. One that is not here gets its
//! own name in words, so that a new field needs nothing.

use crate::names::snake;

pub(crate) fn about(owner: &str, name: &str) -> String {
    let special = SPECIAL
        .iter()
        .find(|it| (it.0, it.1) == (owner, name))
        .map(|it| it.2);
    let common = || FIELDS.iter().find(|it| it.0 == name).map(|it| it.1);
    special
        .or_else(common)
        .map_or_else(|| in_words(name), Into::into)
}

pub(crate) fn about_enum(name: &str) -> String {
    let known = ENUMS.iter().find(|it| it.0 == name).map(|it| it.1);
    known.map_or_else(|| in_words(name), Into::into)
}

/// `kindSource` -> `Kind source.`
fn in_words(name: &str) -> String {
    let words = snake(name)
        .trim_start_matches("r#")
        .trim_start_matches('_')
        .replace('_', " ");
    let mut characters = words.chars();
    let first = characters.next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(characters).chain(['.']).collect()
}

const SPECIAL: &[(&str, &str, &str)] = &[
    ("Citation", "kind", "What is cited."),
    (
        "CloseParams",
        "error",
        "What the host knows of the failure: `status`, `headers`, `body`.",
    ),
    (
        "Diagnostic",
        "raw",
        "What was taken out of the stream, if something was.",
    ),
    ("Finish", "raw", "The provider's own word."),
    ("Finish", "reason", "Why the model stopped."),
    (
        "NormalizeErrorParams",
        "body",
        "The body, as text or decoded.",
    ),
    ("NormalizeErrorParams", "status", "The HTTP status."),
    (
        "NormalizeParams",
        "body",
        "The response: decoded, or a string as `framing` says.",
    ),
    (
        "OpenParams",
        "metadata",
        "The host's own; comes back in `stream/list`.",
    ),
    (
        "OpenParams",
        "streamId",
        "The stream's name; made up where it is absent.",
    ),
    ("PushParams", "chunks", "Several chunks in place of one."),
    ("Retract", "reason", "Where the same came better."),
    ("Source", "citations", "How many citations cite it."),
    ("Source", "kind", "What it is."),
    ("StatsResult", "streams", "Numbers of streams."),
    ("StreamRow", "metadata", "What `stream/open` was given."),
    ("Tool", "executor", "Who runs it."),
    ("Tool", "kind", "What it does; beats what its name says."),
    ("ToolCall", "kind", "What it does."),
    ("ToolCall", "raw", "The provider's item."),
    ("ToolResult", "source", "Where it comes from."),
    ("TextDelta", "text", "The piece; never empty."),
];

const FIELDS: &[(&str, &str)] = &[
    ("annotations", "Hints of the Model Context Protocol."),
    (
        "arguments",
        "Exactly what the model wrote; `{}` where it wrote nothing.",
    ),
    ("argumentsDelta", "The fragment; may be empty."),
    ("argumentsFormat", "What `arguments` is."),
    ("awaits", "What the conversation waits for."),
    (
        "block",
        "The number of a piece of the message, from 0 across all choices.",
    ),
    ("blocks", "Numbers of blocks."),
    ("body", "The body."),
    ("byModel", "The same for each model."),
    (
        "cacheReadTokens",
        "Input tokens that were read from a cache.",
    ),
    (
        "cacheWriteTokens",
        "Input tokens that were written to a cache.",
    ),
    ("caller", "Who called: a program that the provider runs."),
    ("calls", "Calls."),
    ("channel", "Where it stands."),
    ("chars", "Code points of the string chunks."),
    (
        "choice",
        "The provider's index of the choice; absent for 0.",
    ),
    ("choices", "All choices, where there are several."),
    ("chunk", "A string or a decoded document."),
    ("chunks", "Documents, or slices of text."),
    ("citations", "Citations."),
    ("citedText", "The words that are cited."),
    ("closed", "Streams that were closed."),
    ("code", "The code."),
    (
        "complete",
        "False when the transport ended before the provider did.",
    ),
    ("content", "What the tool gave."),
    ("counters", "Totals over all messages that have ended."),
    ("created", "Seconds since 1970."),
    ("data", "What a program wants to know."),
    (
        "declared",
        "Whether its name is among the tools; absent where none were given.",
    ),
    ("delimitersStripped", "Delimiters that were removed."),
    ("description", "What it is for."),
    ("dialect", "Of a call written as text."),
    (
        "dialects",
        "Families of models whose way of writing is known.",
    ),
    (
        "emptyAnswer",
        "No visible character that is not blank, and no call.",
    ),
    (
        "encoding",
        "Whether string chunks are text, or base64 of the raw bytes.",
    ),
    ("end", "The position behind the last code point."),
    ("endUtf16", "`end` in UTF-16 units."),
    ("error", "What was wrong."),
    ("errors", "Errors of the provider."),
    ("events", "Events, in order."),
    ("exact", "False: the place had to be guessed."),
    ("excerpts", "Its different cited texts."),
    ("executable", "Whether the host may run it."),
    ("executed", "Whether a tool ran; absent: not known."),
    ("executor", "Who runs it."),
    (
        "expired",
        "Streams that were forgotten because nobody used them.",
    ),
    ("finish", "How it ended."),
    ("framing", "How string chunks are read."),
    ("framings", "The values of `framing` that are known."),
    ("headers", "Headers of the HTTP response."),
    (
        "heldPeak",
        "The most code points that were held back at the end of a document.",
    ),
    ("httpStatus", "The HTTP status."),
    ("id", "The response's id."),
    (
        "idSynthetic",
        "The provider gave no id, so that one was made.",
    ),
    (
        "idleTimeoutMs",
        "Milliseconds without a request for a stream; 0: no bound.",
    ),
    (
        "input",
        "The arguments parsed; absent where they are not a JSON object.",
    ),
    ("inputSchema", "JSON Schema of the arguments."),
    ("inputTokens", "Input tokens, with cached ones."),
    ("isError", "Whether the tool failed."),
    ("kind", "The kind of error."),
    ("kindSource", "What says so."),
    ("lastSeq", "`seq` of the stream's last event so far."),
    ("limits", "The limits in force."),
    ("malformedChunks", "Pieces of input that could not be used."),
    ("maxCallChars", "The arguments of one call, in code points."),
    (
        "maxDocumentChars",
        "One document of the provider, in code points.",
    ),
    ("maxHeldChars", "Text that is held back, in code points."),
    (
        "maxMessageBytes",
        "The body of one message of the host, in bytes.",
    ),
    ("maxStreams", "Open streams."),
    ("message", "The message."),
    ("messages", "Messages that have ended."),
    ("metadata", "What the provider said of the response."),
    ("model", "The model's name, in any spelling."),
    (
        "mutating",
        "Whether it changes something; absent: not known.",
    ),
    ("name", "The name."),
    (
        "opaque",
        "Provider state that must go back unchanged, of any shape.",
    ),
    ("open", "Streams that are open."),
    ("opened", "Streams that were opened."),
    ("openedAt", "When it was opened: ISO 8601, UTC."),
    ("origin", "How it was told."),
    ("outputTokens", "Output tokens, with those of reasoning."),
    ("partial", "Text, reasoning or calls had been sent before."),
    (
        "parts",
        "False: text, reasoning and blocks are left out and not kept.",
    ),
    ("phase", "When it failed."),
    ("policy", "What a host may decide."),
    (
        "precedence",
        "What becomes of tagged reasoning beside a field for it.",
    ),
    ("profile", "What was chosen by the model's name."),
    ("protocolVersion", "The version of the protocol."),
    ("provider", "The provider's name."),
    ("providerType", "The provider's type of error."),
    (
        "pushSeq",
        "The number of this push: 1, 2, 3 ...; checked when it is given.",
    ),
    ("pushes", "Pushes of the stream so far."),
    ("raw", "The provider's document."),
    (
        "rawText",
        "The original, where signed reasoning had to be cleaned.",
    ),
    ("reason", "Why it ends."),
    ("reasoning", "Reasoning."),
    (
        "reasoningExtracted",
        "Tagged blocks of reasoning that were closed.",
    ),
    ("reasoningTokens", "Output tokens of reasoning."),
    ("retryAfterMs", "Milliseconds to wait before that."),
    ("retryable", "Whether the same request may succeed later."),
    ("role", "The role."),
    ("scope", "Where a delimiter counts."),
    (
        "seq",
        "Its number in the stream: 1, 2, 3 ... without a gap.",
    ),
    ("signature", "Provider state that must go back unchanged."),
    (
        "source",
        "Whether it was a field of the provider or text between tags.",
    ),
    ("sources", "What the citations cite, each once."),
    ("span", "Where it stood in the channel; under `trace` only."),
    ("start", "The position of the first code point."),
    ("startUtf16", "`start` in UTF-16 units."),
    ("startsOpen", "Whether the text begins inside reasoning."),
    ("state", "Whether it came whole."),
    ("stats", "Counters."),
    ("streamId", "The stream's name."),
    ("tags", "Opening delimiters of reasoning."),
    ("text", "The text."),
    ("title", "The title."),
    ("to", "The channel that they belong to."),
    (
        "toolCallId",
        "The provider's id of the call; may repeat within a response.",
    ),
    ("toolCalls", "Calls, with the final word on each."),
    (
        "toolCallsFromText",
        "Calls that were taken out of the text.",
    ),
    ("toolResults", "Results of tools."),
    (
        "toolResultsStripped",
        "Results that were taken out of the text.",
    ),
    (
        "tools",
        "The tools that were declared to the model; empty: none were.",
    ),
    ("totalTokens", "All tokens."),
    (
        "trace",
        "Whether events have a `span`, and every removal a diagnostic.",
    ),
    ("unclosed", "What becomes of reasoning that never closes."),
    ("uptimeMs", "Milliseconds since the connection began."),
    ("url", "Its URL."),
    ("usage", "Token counts."),
    ("wire", "The format of the provider."),
    ("wires", "The values of `wire` that are known."),
];

const ENUMS: &[(&str, &str)] = &[
    ("ArgumentsFormat", "What the arguments of a call are."),
    ("Awaits", "What the conversation waits for after a call."),
    ("Channel", "The visible answer or the reasoning."),
    ("CitationKind", "What is cited."),
    ("CitationRole", "What the place of a citation is."),
    ("CloseReason", "Why the host closes a stream."),
    ("Encoding", "What string chunks are made of."),
    ("ErrorKind", "The kinds of refused requests."),
    ("ErrorPhase", "When the provider failed."),
    ("Executor", "Who runs a tool."),
    ("FinishReason", "Why the model stopped."),
    ("Framing", "How string chunks are read."),
    ("ProviderErrorKind", "The kinds of failures of a provider."),
    (
        "ReasoningPrecedence",
        "What becomes of tagged reasoning beside a field for it.",
    ),
    ("ReasoningScope", "Where a reasoning delimiter counts."),
    (
        "ReasoningSource",
        "A field of the provider, or text between tags.",
    ),
    (
        "ReasoningStart",
        "Whether the text begins inside reasoning.",
    ),
    ("RetractReason", "Where the same came better."),
    ("Severity", "How odd it was."),
    ("ToolCallOrigin", "How a call was told."),
    ("ToolCallState", "Whether a call came whole."),
    (
        "ToolKind",
        "What a tool does: the kinds of the Agent Client Protocol.",
    ),
    ("ToolKindSource", "What says of which kind a tool is."),
    ("ToolResultSource", "Where a result comes from."),
    (
        "UnclosedReasoning",
        "What becomes of reasoning that never closes.",
    ),
    ("Wire", "The format of a provider."),
];
