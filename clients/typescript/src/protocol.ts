// Made by scripts/generate-types.mjs from ../schema; changes belong there.

/**
 * One of these, distinguished by `type`.
 */
export type Block = TextBlock | ReasoningBlock | ToolCall | ToolResult;

/**
 * A tool as Chat Completions or Anthropic spell it, or a provider's own tool, named by its `type`.
 */
export type ProviderTool = {[k: string]: unknown} & (
  {type: unknown} | {function: unknown} | {custom: unknown} | {input_schema: unknown}
);

/**
 * One of these, distinguished by `type`.
 */
export type Event =
  | Metadata
  | TextDelta
  | ReasoningDelta
  | BlockEnd
  | Reclassify
  | Retract
  | ToolCallDelta
  | (ToolCall & {seq: number})
  | (ToolResult & {seq: number})
  | Citation
  | ProviderError
  | Usage
  | Diagnostic
  | Finish;

/**
 * Totals of all models together; `byModel` has the totals of each model.
 */
export interface AllCounters {
  messages: number;
  chunks: number;
  delimitersStripped: number;
  reasoningExtracted: number;
  toolResultsStripped: number;
  toolCallsFromText: number;
  malformedChunks: number;
  byModel: ModelCounters[];
}

/**
 * Totals of one model. `provider` or `model` is absent if neither the host nor the provider named it.
 */
export interface ModelCounters {
  messages: number;
  chunks: number;
  delimitersStripped: number;
  reasoningExtracted: number;
  toolResultsStripped: number;
  toolCallsFromText: number;
  malformedChunks: number;
  provider?: string;
  model?: string;
}

/**
 * Totals of all models together, and of each model.
 */
export interface AllRepairCounters {
  messages: number;
  changed: number;
  blocked: number;
  removed: {
    [k: string]: unknown;
  };
  byModel: ModelRepairCounters[];
}

/**
 * Totals of one model. A name is absent if neither the host nor the message gave it; both are absent for the models beyond 256, counted together.
 */
export interface ModelRepairCounters {
  messages: number;
  changed: number;
  blocked: number;
  removed: {
    [k: string]: unknown;
  };
  provider?: string;
  model?: string;
}

/**
 * The end of a block of text or reasoning.
 *
 * `signature` and `opaque` are provider state that must go back unchanged in the next turn; `rawText` is the original when signed reasoning was cleaned. `fields` names the provider's fields in which native reasoning came, and in which it goes back. `sealBroken`: the state is bound to text before it that was changed, so it must not go back. The event may come without deltas, and a second time: then the later fields count.
 */
export interface BlockEnd {
  type: "block-end";
  seq: number;
  choice?: number;
  block: number;
  channel: "text" | "reasoning" | (string & {});
  signature?: string;
  opaque?: unknown;
  rawText?: string;
  fields?: string[];
  sealBroken?: boolean;
}

/**
 * `capabilities.experimental.streamSidecar`: what this sidecar can do.
 *
 * `options` names the params of stream/open, with `emit.claims` for a field of `emit`. `requestHeaders`: the headers that request/prepare reads, in small letters. Older sidecars send neither `options` nor `methods` nor these. `ignored`: the paths of members of the `ConnectionOptions` that this version does not know.
 */
export interface Capabilities {
  protocolVersion: number;
  wires: string[];
  framings: string[];
  dialects: string[];
  events: string[];
  limits: Limits;
  methods?: string[];
  options?: string[];
  requestHeaders?: string[];
  ignored?: string[];
}

/**
 * Bounds of a connection and of each stream. Names have the unit at the end: `ms`, `bytes`, `chars` (code points).
 *
 * `maxHeldBytes` is for all streams of a connection together. `idleTimeoutMs` of 0 means that streams never expire.
 */
export interface Limits {
  maxStreams: number;
  maxMessageBytes: number;
  maxDocumentChars: number;
  maxHeldChars: number;
  maxCallChars: number;
  maxHeldBytes: number;
  idleTimeoutMs: number;
}

/**
 * A citation of a source. `start` and `end` are positions in the joined text of `blocks`.
 *
 * `exact` is false if the end had to be guessed. `source` numbers the choice's sources from 0: citations with the same URL, else the same document id, else the same title, have the same number. A `url` or `title` of more than 256 code points is complete only in the first citation of its source, in `raw` too.
 */
export interface Citation {
  type: "citation";
  seq: number;
  choice?: number;
  kind: "url" | "document" | "file" | "search-result" | "other" | (string & {});
  role: "claim" | "marker" | "insertion" | "block" | (string & {});
  exact: boolean;
  raw?: unknown;
  source: number;
  url?: string;
  title?: string;
  citedText?: string;
  blocks?: number[];
  start?: number;
  end?: number;
  startUtf16?: number;
  endUtf16?: number;
}

/**
 * Params of `tool/classify`: whole call items, as the provider spells them.
 */
export interface ClassifyParams {
  calls: {
    [k: string]: unknown;
  }[];
  wire?:
    | "auto"
    | "openai-chat"
    | "openai-responses"
    | "anthropic"
    | "gemini"
    | "ollama"
    | "bedrock-converse"
    | "cohere"
    | "mistral-conversations"
    | "workers-ai"
    | "text"
    | null;
  provider?: string | null;
  tools?: (Tool | ProviderTool)[] | null;
}

/**
 * A tool that the host declared to the model; `annotations` are MCP's hints.
 */
export interface Tool {
  name: string;
  description?: string | null;
  inputSchema?: unknown;
  annotations?: unknown;
  executor?: "client" | "server" | null;
  kind?:
    "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "switch-mode" | "other" | null;
}

/**
 * The calls in the order of the params; without `block` and `seq`.
 */
export interface ClassifyResult {
  calls: ToolCall[];
}

/**
 * A tool call. Each call is sent exactly once; `state` says whether it is complete.
 *
 * `arguments` is the raw text, `input` its parsed value or absent. `block` identifies the call in the stream (absent in the result of tool/classify). A call with `origin` `text` is a claim of the model and never `executable`.
 */
export interface ToolCall {
  type: "tool-call";
  seq?: number;
  choice?: number;
  block?: number;
  toolCallId: string;
  idSynthetic: boolean;
  name: string;
  arguments: string;
  argumentsFormat: "json" | "text" | (string & {});
  input?: {
    [k: string]: unknown;
  };
  state: "complete" | "truncated" | "invalid" | (string & {});
  executor: "client" | "server" | "unknown" | (string & {});
  origin: "structured" | "text" | "finish-message" | (string & {});
  channel: "text" | "reasoning" | (string & {});
  declared?: boolean;
  kind:
    | "read"
    | "edit"
    | "delete"
    | "move"
    | "search"
    | "execute"
    | "think"
    | "fetch"
    | "switch-mode"
    | "other"
    | (string & {});
  kindSource: "declared" | "table" | "annotation" | "name" | "default" | (string & {});
  mutating?: boolean;
  awaits: "client-result" | "client-approval" | "server-result" | "none" | (string & {});
  executable: boolean;
  dialect?: string;
  caller?: unknown;
  opaque?: unknown;
  raw?: unknown;
  span?: Span;
}

/**
 * A range of code points in the wire's channel, with removals.
 */
export interface Span {
  start: number;
  end: number;
}

/**
 * Params of `stream/close`. Without `reason`, the reason is `error` if `error` is given, and `eof` if not.
 */
export interface CloseParams {
  streamId: string;
  reason?: "eof" | "cancelled" | "error" | null;
  error?: FailedResponse | null;
}

/**
 * What the host knows about a response that failed: `status` is the HTTP status, `body` is text or a JSON value.
 */
export interface FailedResponse {
  status?: number | null;
  headers?: {
    [k: string]: unknown;
  } | null;
  body?: unknown;
}

/**
 * The last events of the stream, and the message that all its events add up to.
 */
export interface CloseResult {
  streamId: string;
  events: Event[];
  message: Message;
  stats: Stats;
  chunks?: unknown[];
}

/**
 * The message of `choice`; with several choices the first also has `choices`.
 *
 * `choices` has all choices, the first included. `sources` are the sources of the citations, each once, in the order of their numbers. `text`, `reasoning` and `blocks` are absent under `message.parts: false`.
 */
export interface Message {
  role: "assistant";
  text?: string;
  reasoning?: string;
  blocks?: Block[];
  toolCalls: ToolCall[];
  toolResults: ToolResult[];
  citations: Citation[];
  sources: Source[];
  errors: ProviderError[];
  usage?: Usage;
  finish?: Finish;
  metadata?: Metadata;
  choice?: number;
  choices?: Message[];
}

/**
 * A tool result in the model's output: of a tool that the provider ran (`server`), or written by the model into its text (`echo`).
 */
export interface ToolResult {
  type: "tool-result";
  seq?: number;
  choice?: number;
  block: number;
  content?: unknown;
  source: "server" | "echo" | (string & {});
  executed?: boolean;
  raw?: unknown;
  toolCallId?: string;
  name?: string;
  isError?: boolean;
  span?: Span;
}

/**
 * A source that several citations share. `citations`: how many; `excerpts`: the different texts that they cite.
 */
export interface Source {
  kind: "url" | "document" | "file" | "search-result" | "other" | (string & {});
  citations: number;
  excerpts: string[];
  url?: string;
  title?: string;
}

/**
 * The provider, or the connection to it, failed. `retryAfterMs` is in milliseconds.
 *
 * `partial` is true if visible text, reasoning or calls were sent before the error. `refusal`: what the provider refuses of the conversation, if the error is about it.
 */
export interface ProviderError {
  type: "error";
  seq: number;
  choice?: number;
  kind:
    | "auth"
    | "permission"
    | "billing"
    | "context-length"
    | "content-filter"
    | "rate-limit"
    | "overloaded"
    | "not-found"
    | "timeout"
    | "network"
    | "cancelled"
    | "invalid-request"
    | "server"
    | "unknown"
    | (string & {});
  message: string;
  retryable: boolean;
  phase: "before-stream" | "mid-stream" | (string & {});
  partial: boolean;
  raw?: unknown;
  code?: string | number;
  providerType?: string;
  httpStatus?: number;
  retryAfterMs?: number;
  refusal?: Refusal;
}

/**
 * What the provider refuses of the conversation: the name of the `rule`, the JSON Pointer `path` of the place in the request's body, and the call, as far as the provider's words name them.
 */
export interface Refusal {
  rule: string;
  path?: string;
  toolCallId?: string;
}

/**
 * Token totals so far. Each event replaces the one before; totals are not added up.
 *
 * `inputTokens` includes cached tokens, `outputTokens` includes reasoning.
 */
export interface Usage {
  type: "usage";
  seq: number;
  choice?: number;
  raw?: unknown;
  inputTokens?: number;
  outputTokens?: number;
  totalTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
}

/**
 * The end of one choice, always last; `raw` is the provider's own reason.
 *
 * `complete` is false when the transport ended before the provider did.
 */
export interface Finish {
  type: "finish";
  seq: number;
  choice?: number;
  reason:
    | "stop"
    | "tool-calls"
    | "length"
    | "context-length"
    | "content-filter"
    | "refusal"
    | "pause"
    | "malformed"
    | "error"
    | "cancelled"
    | "unknown"
    | (string & {});
  emptyAnswer: boolean;
  complete: boolean;
  raw?: string;
}

/**
 * What the provider says about the response, and the `wire` and `framing` that were detected. In a message, `hostProvider` is the provider that the host named, and `model` the host's if the response names none.
 */
export interface Metadata {
  type: "metadata";
  seq: number;
  choice?: number;
  id?: string;
  model?: string;
  provider?: string;
  created?: number;
  wire?:
    | "auto"
    | "openai-chat"
    | "openai-responses"
    | "anthropic"
    | "gemini"
    | "ollama"
    | "bedrock-converse"
    | "cohere"
    | "mistral-conversations"
    | "workers-ai"
    | "text"
    | (string & {});
  framing?: "auto" | "json" | "sse" | "ndjson" | "json-array" | "aws-eventstream" | "text" | (string & {});
  hostProvider?: string;
}

/**
 * Counters of one stream; `chars` and `heldPeak` in code points.
 */
export interface Stats {
  pushes: number;
  chunks: number;
  chars: number;
  events: number;
  delimitersStripped: number;
  reasoningExtracted: number;
  toolResultsStripped: number;
  toolCallsFromText: number;
  malformedChunks: number;
  heldPeak: number;
}

/**
 * `initializationOptions.streamSidecar`: limits and defaults for every stream.
 */
export interface ConnectionOptions {
  protocolVersion?: number | null;
  policy?: PolicyPatch | null;
  limits?: LimitsPatch | null;
}

/**
 * Everything a host may decide about one stream.
 *
 * `dialects`: `auto` means those of the profile and those that are safe for any model. `trace`: events made from text have a span, and every removal is a diagnostic.
 */
export interface PolicyPatch {
  reasoning?: ReasoningPolicyPatch | null;
  toolResults?: ToolResultsPolicyPatch | null;
  toolCalls?: ToolCallsPolicyPatch | null;
  dialects?: "auto" | string[] | null;
  echo?: EchoPolicyPatch | null;
  message?: MessagePolicyPatch | null;
  trace?: boolean | null;
}

/**
 * How reasoning in the text is found, and which channel gets it.
 *
 * `tags`: absent means the default tags and those of the profile. `scope`: where a delimiter counts; with `boundary`, an opener counts only at the start, at a line's start or right after closing punctuation. `asAnswer`: whether the last block of reasoning becomes the answer of a message that has no other.
 */
export interface ReasoningPolicyPatch {
  tags?: string[] | null;
  scope?: "outside-code" | "everywhere" | "boundary" | null;
  precedence?: "native-first" | "merge" | null;
  startsOpen?: "auto" | "open" | "closed" | null;
  unclosed?: "auto" | "reasoning" | "text" | null;
  asAnswer?: "never" | "when-empty" | null;
}

/**
 * Tool results that the model repeats at the start of the answer.
 *
 * `strip` takes them out, `report` leaves them and emits a diagnostic, `keep` does nothing. `known`: results the host passed to the model this turn, as strings or JSON.
 */
export interface ToolResultsPolicyPatch {
  mode?: "strip" | "report" | "keep" | null;
  indicators?: string[] | null;
  known?: unknown[] | null;
}

/**
 * What happens to calls written as text: `extract` sends them and removes their text, `report` sends them and leaves their text, `off` does neither.
 */
export interface ToolCallsPolicyPatch {
  mode?: "extract" | "report" | "off" | null;
}

/**
 * Formats that the host itself writes into prompts, and models imitate.
 *
 * Each is a literal that stands at a line's start, or the word `timestamp`. Of a marker the line, or the block up to its end, is removed. A prefix is removed only at the answer's start, without the rest of its line.
 */
export interface EchoPolicyPatch {
  markers?: string[] | null;
  prefixes?: string[] | null;
}

/**
 * If `parts` is false, the messages of close and snapshot have no text, reasoning and blocks.
 */
export interface MessagePolicyPatch {
  parts?: boolean | null;
}

/**
 * Bounds of a connection and of each stream. Names have the unit at the end: `ms`, `bytes`, `chars` (code points).
 *
 * `maxHeldBytes` is for all streams of a connection together. `idleTimeoutMs` of 0 means that streams never expire.
 */
export interface LimitsPatch {
  maxStreams?: number | null;
  maxMessageBytes?: number | null;
  maxDocumentChars?: number | null;
  maxHeldChars?: number | null;
  maxCallChars?: number | null;
  maxHeldBytes?: number | null;
  idleTimeoutMs?: number | null;
}

/**
 * A problem in the stream, or a note about it: `code` says which. `raw` is the input that the diagnostic is about.
 */
export interface Diagnostic {
  type: "diagnostic";
  seq: number;
  choice?: number;
  code: string;
  severity: "info" | "warning" | (string & {});
  message: string;
  raw?: unknown;
  span?: Span;
}

/**
 * Formats that the host itself writes into prompts, and models imitate.
 *
 * Each is a literal that stands at a line's start, or the word `timestamp`. Of a marker the line, or the block up to its end, is removed. A prefix is removed only at the answer's start, without the rest of its line.
 */
export interface EchoPolicy {
  markers: string[];
  prefixes: string[];
}

/**
 * `newText` replaces a span of the string at `path`; positions are those in the old string.
 */
export interface Edit {
  path: string;
  start: number;
  end: number;
  startUtf16: number;
  endUtf16: number;
  newText: string;
}

/**
 * Writes the clean stream as documents of `wire`, too.
 *
 * `claims`: calls found in the text are left out (`drop`), stay in the text where they stood (`text`), or become ordinary calls at the end (`promote`). `reasoning`: text between tags is left out (`drop`), goes to the wire's field for reasoning (`include`), or goes there only if the provider accepts it in the next request (`auto`). `rewrite`: documents of the stream's own wire that the wire's official SDKs cannot read are written from the events, too.
 */
export interface Emit {
  wire: "openai-chat" | "openai-responses" | "anthropic" | "gemini";
  claims?: "drop" | "text" | "promote" | null;
  reasoning?: "auto" | "drop" | "include" | null;
  rewrite?: boolean | null;
}

/**
 * Writes the clean stream as documents of `wire`, too.
 *
 * `claims`: calls found in the text are left out (`drop`), stay in the text where they stood (`text`), or become ordinary calls at the end (`promote`). `reasoning`: text between tags is left out (`drop`), goes to the wire's field for reasoning (`include`), or goes there only if the provider accepts it in the next request (`auto`). `rewrite`: documents of the stream's own wire that the wire's official SDKs cannot read are written from the events, too.
 */
export interface EmitOutput {
  wire: "openai-chat" | "openai-responses" | "anthropic" | "gemini" | (string & {});
  claims: "drop" | "text" | "promote" | (string & {});
  reasoning?: "auto" | "drop" | "include" | (string & {});
  rewrite?: boolean;
}

/**
 * What a program needs to know about an error.
 */
export interface ErrorData {
  kind:
    | "parse-error"
    | "invalid-request"
    | "method-not-found"
    | "internal-error"
    | "not-initialized"
    | "cancelled"
    | "invalid-params"
    | "stream-not-found"
    | "stream-exists"
    | "sequence-error"
    | "limit-exceeded"
    | "unsupported-version"
    | (string & {});
  retryable: boolean;
}

/**
 * Something that does not belong in the answer.
 *
 * `path` is a JSON Pointer into the message.
 */
export interface Finding {
  kind:
    "reasoning" | "delimiter" | "tool-result" | "tool-call" | "marker" | "white-space" | "surrogate" | (string & {});
  path: string;
  start: number;
  end: number;
  startUtf16: number;
  endUtf16: number;
  text: string;
}

/**
 * Params of `message/inspect` and `message/repair`: the messages of one session.
 *
 * `workDoneToken` (string or integer): progress is reported under this token.
 */
export interface HistoryParams {
  messages: unknown[];
  tools?: (Tool | ProviderTool)[] | null;
  model?: string | null;
  provider?: string | null;
  policy?: PolicyPatch | null;
  responseTemplate?: {
    [k: string]: unknown;
  } | null;
}

/**
 * One result for each of `messages`, in their order.
 */
export interface InspectResult {
  results: Inspection[];
}

/**
 * The findings in one item. `malformed`: repair would change the item, or would be blocked.
 */
export interface Inspection {
  malformed: boolean;
  findings: Finding[];
}

/**
 * Open streams, oldest first.
 */
export interface ListResult {
  streams: StreamRow[];
}

/**
 * An open stream. `openedAt` is ISO 8601 in UTC; `chars` counts the code points of string chunks.
 */
export interface StreamRow {
  streamId: string;
  wire:
    | "auto"
    | "openai-chat"
    | "openai-responses"
    | "anthropic"
    | "gemini"
    | "ollama"
    | "bedrock-converse"
    | "cohere"
    | "mistral-conversations"
    | "workers-ai"
    | "text"
    | (string & {});
  openedAt: string;
  pushes: number;
  chars: number;
  lastSeq: number;
  metadata?: unknown;
}

/**
 * A report of what is missing in the request, or changed, and why. `block`: the number of the block; absent for something from the host, such as a result.
 */
export interface Lost {
  block?: number;
  what:
    | "text"
    | "reasoning"
    | "state"
    | "tool-call"
    | "tool-call-id"
    | "name"
    | "arguments"
    | "tool-result"
    | "unknown"
    | (string & {});
  why: string;
}

/**
 * A report of what was removed or changed at `path` of a request, and why.
 */
export interface LostPart {
  path: string;
  what: string;
  why: string;
}

/**
 * If `parts` is false, the messages of close and snapshot have no text, reasoning and blocks.
 */
export interface MessagePolicy {
  parts: boolean;
}

/**
 * Params of `stream/list` and `sidecar/stats`: an empty object.
 */
export interface NoParams {
  [k: string]: unknown;
}

/**
 * Params of `error/normalize`: a failed HTTP response; `body` is text or a JSON value.
 */
export interface NormalizeErrorParams {
  body: unknown;
  status?: number | null;
  headers?: {
    [k: string]: unknown;
  } | null;
  provider?: string | null;
}

/**
 * The fields of an `error` event, without `seq` and `choice`.
 */
export interface NormalizeErrorResult {
  kind:
    | "auth"
    | "permission"
    | "billing"
    | "context-length"
    | "content-filter"
    | "rate-limit"
    | "overloaded"
    | "not-found"
    | "timeout"
    | "network"
    | "cancelled"
    | "invalid-request"
    | "server"
    | "unknown"
    | (string & {});
  message: string;
  retryable: boolean;
  phase: "before-stream" | "mid-stream" | (string & {});
  partial: boolean;
  raw?: unknown;
  code?: string | number;
  providerType?: string;
  httpStatus?: number;
  retryAfterMs?: number;
  refusal?: Refusal;
}

/**
 * Params of `message/normalize`: a whole response in `body`. `streamId` is only used to make ids for calls without an id; it refers to no open stream.
 */
export interface NormalizeParams {
  body: unknown;
  wire?:
    | "auto"
    | "openai-chat"
    | "openai-responses"
    | "anthropic"
    | "gemini"
    | "ollama"
    | "bedrock-converse"
    | "cohere"
    | "mistral-conversations"
    | "workers-ai"
    | "text"
    | null;
  framing?: "auto" | "json" | "sse" | "ndjson" | "json-array" | "aws-eventstream" | "text" | null;
  encoding?: "utf-8" | "base64" | null;
  provider?: string | null;
  model?: string | null;
  tools?: (Tool | ProviderTool)[] | null;
  policy?: PolicyPatch | null;
  responseTemplate?: {
    [k: string]: unknown;
  } | null;
  emit?: Emit | null;
  streamId?: string | null;
}

/**
 * The events and the message of the response. `body` is the clean response as one document of the wire that `emit` names.
 */
export interface NormalizeResult {
  events: Event[];
  message: Message;
  stats: Stats;
  body?: {
    [k: string]: unknown;
  };
}

/**
 * Params of `stream/open`; stream/list returns `metadata` unchanged.
 */
export interface OpenParams {
  streamId?: string | null;
  wire?:
    | "auto"
    | "openai-chat"
    | "openai-responses"
    | "anthropic"
    | "gemini"
    | "ollama"
    | "bedrock-converse"
    | "cohere"
    | "mistral-conversations"
    | "workers-ai"
    | "text"
    | null;
  framing?: "auto" | "json" | "sse" | "ndjson" | "json-array" | "aws-eventstream" | "text" | null;
  encoding?: "utf-8" | "base64" | null;
  provider?: string | null;
  model?: string | null;
  tools?: (Tool | ProviderTool)[] | null;
  policy?: PolicyPatch | null;
  responseTemplate?: {
    [k: string]: unknown;
  } | null;
  emit?: Emit | null;
  metadata?: unknown;
}

/**
 * The stream as it was opened; `wire` and `framing` are `auto` until they are detected. `ignored`: the paths of members of the params that this version does not know.
 */
export interface OpenResult {
  streamId: string;
  wire:
    | "auto"
    | "openai-chat"
    | "openai-responses"
    | "anthropic"
    | "gemini"
    | "ollama"
    | "bedrock-converse"
    | "cohere"
    | "mistral-conversations"
    | "workers-ai"
    | "text"
    | (string & {});
  framing: "auto" | "json" | "sse" | "ndjson" | "json-array" | "aws-eventstream" | "text" | (string & {});
  profile: Profile;
  policy: Policy;
  limits: Limits;
  emit?: EmitOutput;
  ignored?: string[];
}

/**
 * How a family of models writes. `dialects`: keys of `DIALECTS`. `startsOpen`: the chat template writes the opener of reasoning, so the model may write only the closer (text rule 9.3).
 */
export interface Profile {
  name: string;
  dialects: string[];
  startsOpen: boolean;
}

/**
 * Everything a host may decide about one stream.
 *
 * `dialects`: `auto` means those of the profile and those that are safe for any model. `trace`: events made from text have a span, and every removal is a diagnostic.
 */
export interface Policy {
  reasoning: ReasoningPolicy;
  toolResults: ToolResultsPolicy;
  toolCalls: ToolCallsPolicy;
  dialects: "auto" | (string & {}) | string[];
  echo: EchoPolicy;
  message: MessagePolicy;
  trace: boolean;
}

/**
 * How reasoning in the text is found, and which channel gets it.
 *
 * `tags`: absent means the default tags and those of the profile. `scope`: where a delimiter counts; with `boundary`, an opener counts only at the start, at a line's start or right after closing punctuation. `asAnswer`: whether the last block of reasoning becomes the answer of a message that has no other.
 */
export interface ReasoningPolicy {
  tags?: string[];
  scope: "outside-code" | "everywhere" | "boundary" | (string & {});
  precedence: "native-first" | "merge" | (string & {});
  startsOpen: "auto" | "open" | "closed" | (string & {});
  unclosed: "auto" | "reasoning" | "text" | (string & {});
  asAnswer: "never" | "when-empty" | (string & {});
}

/**
 * Tool results that the model repeats at the start of the answer.
 *
 * `strip` takes them out, `report` leaves them and emits a diagnostic, `keep` does nothing. `known`: results the host passed to the model this turn, as strings or JSON.
 */
export interface ToolResultsPolicy {
  mode: "strip" | "report" | "keep" | (string & {});
  indicators: string[];
  known: unknown[];
}

/**
 * What happens to calls written as text: `extract` sends them and removes their text, `report` sends them and leaves their text, `off` does neither.
 */
export interface ToolCallsPolicy {
  mode: "extract" | "report" | "off" | (string & {});
}

/**
 * Params of `request/prepare`: the `body` of a request that the host is about to send. `model` and `tools` are by default those of the body. `headers`: the request's, as the host will send them.
 */
export interface PrepareParams {
  wire: "openai-chat" | "openai-responses" | "anthropic" | "gemini" | "ollama" | "bedrock-converse" | "cohere";
  body: {
    [k: string]: unknown;
  };
  headers?: {
    [k: string]: unknown;
  } | null;
  provider?: string | null;
  model?: string | null;
  tools?: (Tool | ProviderTool)[] | null;
  policy?: PolicyPatch | null;
  responseTemplate?: {
    [k: string]: unknown;
  } | null;
  claims?: "drop" | "include" | null;
  reasoning?: "auto" | "all" | "none" | null;
}

/**
 * `body` is the body to send. If nothing `changed`, `body` is absent and the host sends its own. `headers`: those that the host must set.
 */
export interface PrepareResult {
  changed: boolean;
  lost: LostPart[];
  body?: {
    [k: string]: unknown;
  };
  headers?: {
    [k: string]: unknown;
  };
}

/**
 * Params of `stream/push`: either `chunk` or `chunks`. `pushSeq` is the number of this push in its stream, from 1.
 */
export interface PushParams {
  streamId: string;
  chunk?: unknown;
  chunks?: unknown[] | null;
  pushSeq?: number | null;
}

/**
 * Params of `stream/events` after a push notification that was refused.
 */
export interface PushRefusal {
  streamId?: string;
  error: ResponseError;
}

/**
 * The `error` of an answer; `message` explains it without the other fields.
 */
export interface ResponseError {
  code: number;
  message: string;
  data: ErrorData;
}

/**
 * The events of one push. `pushes` counts the pushes of the stream so far, this push included; `chunks` are documents of the wire that `emit` names. `lastSeqs` of a push of `chunks`: the `seq` of the stream's last event after each chunk.
 */
export interface PushResult {
  streamId: string;
  events: Event[];
  lastSeq: number;
  pushes: number;
  chunks?: {
    [k: string]: unknown;
  }[];
  lastSeqs?: number[];
}

/**
 * A block of reasoning with the provider state that belongs to it.
 *
 * `fields`: the provider's fields in which native reasoning came. `sealBroken`: the state is bound to text before it that was changed.
 */
export interface ReasoningBlock {
  type: "reasoning";
  block: number;
  text: string;
  source?: string;
  signature?: string;
  opaque?: unknown;
  rawText?: string;
  fields?: string[];
  sealBroken?: boolean;
}

/**
 * A piece of reasoning. `source`: it came in a field of the provider (`native`), or was marked in the text (`tag`).
 */
export interface ReasoningDelta {
  type: "reasoning-delta";
  seq: number;
  choice?: number;
  block: number;
  text: string;
  source: "native" | "tag" | (string & {});
  span?: Span;
}

/**
 * Moves `blocks`, whose deltas were already sent, to the channel `to`.
 */
export interface Reclassify {
  type: "reclassify";
  seq: number;
  choice?: number;
  blocks: number[];
  to: "text" | "reasoning" | (string & {});
}

/**
 * What was removed from the string at `path`, and where it was.
 */
export interface Removal {
  kind:
    "reasoning" | "delimiter" | "tool-result" | "tool-call" | "marker" | "white-space" | "surrogate" | (string & {});
  path: string;
  start: number;
  end: number;
  text: string;
}

/**
 * Params of `message/render`: a `message` from stream/close, and the `results` of its calls. `model` is by default the model that wrote the message.
 */
export interface RenderParams {
  message: Turn;
  wire: "openai-chat" | "openai-responses" | "anthropic" | "gemini" | "ollama" | "bedrock-converse" | "cohere";
  provider?: string | null;
  model?: string | null;
  results?: TurnResult[] | null;
  claims?: "drop" | "include" | null;
  reasoning?: "auto" | "all" | "none" | null;
}

/**
 * The message. Without `blocks` it consists of its `reasoning`, its `text`, its calls and its results. It has no other `role`.
 */
export interface Turn {
  role?: "assistant" | null;
  text?: string | null;
  reasoning?: string | null;
  blocks?: TurnBlock[] | null;
  toolCalls?: TurnBlock[] | null;
  toolResults?: TurnBlock[] | null;
  citations?: TurnCitation[] | null;
  metadata?: TurnMetadata | null;
  finish?: TurnFinish | null;
}

/**
 * A block of a message, of any `type`; fields of other types have defaults.
 */
export interface TurnBlock {
  type: string;
  block?: number | null;
  text?: string | null;
  refusal?: boolean | null;
  source?: string | null;
  signature?: string | null;
  opaque?: unknown;
  rawText?: string | null;
  fields?: string[] | null;
  sealBroken?: boolean | null;
  toolCallId?: string | null;
  idSynthetic?: boolean | null;
  name?: string | null;
  arguments?: string | null;
  argumentsFormat?: string | null;
  executor?: string | null;
  awaits?: string | null;
  origin?: string | null;
  caller?: unknown;
  raw?: unknown;
  content?: unknown;
}

/**
 * A citation of the message; `source` is the number of its source.
 */
export interface TurnCitation {
  raw?: unknown;
  source?: number | null;
  blocks?: number[] | null;
}

/**
 * The model that wrote the message, the provider that the response names, and the one that the host asked. If the host asked a router, `hostProvider` is the router, and `provider` the one that it asked.
 */
export interface TurnMetadata {
  model?: string | null;
  provider?: string | null;
  hostProvider?: string | null;
}

/**
 * How the message ended.
 */
export interface TurnFinish {
  reason?: string | null;
}

/**
 * The result of a tool of the host; `content` is text, a list of parts or any other JSON value.
 */
export interface TurnResult {
  toolCallId: string;
  content: unknown;
  isError?: boolean | null;
}

/**
 * The messages to append to those of the last request; `lost`: what they lack.
 */
export interface RenderResult {
  messages: {
    [k: string]: unknown;
  }[];
  lost: Lost[];
}

/**
 * The repair of one item. `blocked`: nothing would be left, so the item is unchanged. `bound`: a text is unchanged, because a seal after it is bound to it; `stays`: what was found in such texts.
 *
 * `message` is the item without the removals. It is absent if it cannot be written back exactly (protocol.md, "JSON"). `dropped` are the parts that became empty and were removed. The other fields hold what the engine took out: reasoning, echoes, calls.
 */
export interface Repair {
  changed: boolean;
  blocked: boolean;
  message?: unknown;
  edits: Edit[];
  removed: Removal[];
  dropped: string[];
  reasoning?: string;
  toolResults?: ToolResult[];
  toolCalls?: ToolCall[];
  bound?: boolean;
  stays?: Removal[];
}

/**
 * One result for each of `messages`, in their order.
 */
export interface RepairResult {
  results: Repair[];
}

/**
 * Removes `blocks` (text, reasoning or calls) that were already sent: the provider sent the same content in a better form, or the text at `span` follows again, read as the answer.
 */
export interface Retract {
  type: "retract";
  seq: number;
  choice?: number;
  blocks: number[];
  reason: "duplicate-of-native" | "duplicate-of-structured" | "read-as-text" | (string & {});
  span?: Span;
}

/**
 * Params of `stream/snapshot`.
 */
export interface SnapshotParams {
  streamId: string;
}

/**
 * The message that the events 1 to `lastSeq` add up to.
 */
export interface SnapshotResult {
  message: Message;
  stats: Stats;
  lastSeq: number;
}

/**
 * Result of `sidecar/stats`; `uptimeMs`: milliseconds since the connection began.
 */
export interface StatsResult {
  uptimeMs: number;
  streams: StreamCounts;
  counters: AllCounters;
  repairs: AllRepairCounters;
}

/**
 * Numbers of streams: `open` now, the others since the connection began.
 */
export interface StreamCounts {
  open: number;
  opened: number;
  closed: number;
  expired: number;
}

/**
 * A block of the visible answer, with its provider state if there is any. `refusal`: it is the model's refusal to answer.
 */
export interface TextBlock {
  type: "text";
  block: number;
  text: string;
  opaque?: unknown;
  refusal?: boolean;
}

/**
 * A piece of the visible answer. `refusal`: the provider marked it as the model's refusal to answer.
 */
export interface TextDelta {
  type: "text-delta";
  seq: number;
  choice?: number;
  block: number;
  text: string;
  span?: Span;
  refusal?: boolean;
}

/**
 * A fragment of the arguments of a structured call. It is sent once the name of the call is known. Only the first delta of a block has the id and the name, because they may be long.
 */
export interface ToolCallDelta {
  type: "tool-call-delta";
  seq: number;
  choice?: number;
  block: number;
  argumentsDelta: string;
  toolCallId?: string;
  name?: string;
}

/** The version of the protocol that these types are of. */
export const PROTOCOL_VERSION = 1;

/** What each method takes and gives. */
export interface Methods {
  "stream/open": { params: OpenParams; result: OpenResult };
  "stream/push": { params: PushParams; result: PushResult };
  "stream/close": { params: CloseParams; result: CloseResult };
  "stream/snapshot": { params: SnapshotParams; result: SnapshotResult };
  "stream/list": { params: NoParams; result: ListResult };
  "message/normalize": { params: NormalizeParams; result: NormalizeResult };
  "message/render": { params: RenderParams; result: RenderResult };
  "request/prepare": { params: PrepareParams; result: PrepareResult };
  "message/inspect": { params: HistoryParams; result: InspectResult };
  "message/repair": { params: HistoryParams; result: RepairResult };
  "tool/classify": { params: ClassifyParams; result: ClassifyResult };
  "error/normalize": { params: NormalizeErrorParams; result: NormalizeErrorResult };
  "sidecar/stats": { params: NoParams; result: StatsResult };
}

/** The types of the events that this client knows. */
export const EVENT_TYPES = [
  "metadata",
  "text-delta",
  "reasoning-delta",
  "block-end",
  "reclassify",
  "retract",
  "tool-call-delta",
  "tool-call",
  "tool-result",
  "citation",
  "error",
  "usage",
  "diagnostic",
  "finish",
] as const;

/** The codes of the sidecar's error answers, by their kind. */
export const ERROR_CODES = {
  "parse-error": -32700,
  "invalid-request": -32600,
  "method-not-found": -32601,
  "internal-error": -32603,
  "not-initialized": -32002,
  "cancelled": -32800,
  "invalid-params": -32602,
  "stream-not-found": -31001,
  "stream-exists": -31002,
  "sequence-error": -31003,
  "limit-exceeded": -31004,
  "unsupported-version": -31005,
} as const;

/** @internal The shapes of options of a host (src/checks.ts). */
export const SHAPES = {
  PolicyPatch: {"type":"object","properties":{"reasoning":{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string"}},"scope":{"enum":["outside-code","everywhere","boundary"]},"precedence":{"enum":["native-first","merge"]},"startsOpen":{"enum":["auto","open","closed"]},"unclosed":{"enum":["auto","reasoning","text"]},"asAnswer":{"enum":["never","when-empty"]}}},"toolResults":{"type":"object","properties":{"mode":{"enum":["strip","report","keep"]},"indicators":{"type":"array","items":{"type":"string"}},"known":{"type":"array"}}},"toolCalls":{"type":"object","properties":{"mode":{"enum":["extract","report","off"]}}},"dialects":{"anyOf":[{"enum":["auto"]},{"type":"array","items":{"type":"string"}}]},"echo":{"type":"object","properties":{"markers":{"type":"array","items":{"type":"string"}},"prefixes":{"type":"array","items":{"type":"string"}}}},"message":{"type":"object","properties":{"parts":{"type":"boolean"}}},"trace":{"type":"boolean"}}},
  LimitsPatch: {"type":"object","properties":{"maxStreams":{"type":"integer","minimum":1},"maxMessageBytes":{"type":"integer","minimum":1},"maxDocumentChars":{"type":"integer","minimum":1},"maxHeldChars":{"type":"integer","minimum":1},"maxCallChars":{"type":"integer","minimum":1},"maxHeldBytes":{"type":"integer","minimum":1},"idleTimeoutMs":{"type":"integer","minimum":0}}},
};
