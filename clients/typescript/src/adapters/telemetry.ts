// A response as attributes and messages of OpenTelemetry's semantic conventions for GenAI.
// Counts of removed text have names that start with `stream_sidecar.`. The functions are pure:
// the host has the span and the clock. clients/README.md, "OpenTelemetry", has the table.

import type { CloseResult, Finish, Message, ToolCall, ToolResult } from "../protocol.js";

export type AttributeValue = string | number | string[];

/** A part of a message in `gen_ai.output.messages`. */
export type Part =
  | { type: "text" | "reasoning"; content: string }
  | { type: "tool_call"; id: string; name: string; arguments: unknown }
  | { type: "server_tool_call"; id?: string; name?: string; server_tool_call: { type: string; arguments: unknown } }
  | {
      type: "server_tool_call_response";
      id?: string;
      name?: string;
      server_tool_call_response: { type: string; content: unknown };
    };

export interface OutputMessage {
  role: "assistant";
  parts: Part[];
  finish_reason?: string;
}

export interface TelemetryOptions {
  /** Seconds from the request to the first chunk of its response. */
  timeToFirstChunk?: number;
  /** Whether the messages are included as JSON: the text of the conversation, which may be confidential. Default: false. */
  content?: boolean;
}

/** Finish reasons that have another name in the conventions. */
const REASONS: Readonly<Record<string, string>> = {
  "tool-calls": "tool_call",
  "context-length": "length",
  "content-filter": "content_filter",
  refusal: "content_filter",
  malformed: "error",
  cancelled: "error",
};

/** The attributes of a finished response, for its span. */
export function telemetryAttributes(
  { message, stats }: Pick<CloseResult, "message" | "stats">,
  { timeToFirstChunk, content = false }: TelemetryOptions = {},
): Record<string, AttributeValue> {
  const { metadata, usage } = message;
  const choices = choicesOf(message);
  const reasons = choices.flatMap(({ finish }) => (finish ? [reasonOf(finish)] : []));
  const attributes = {
    "gen_ai.response.id": metadata?.id,
    "gen_ai.response.model": metadata?.model,
    "gen_ai.response.finish_reasons": reasons.length > 0 ? reasons : undefined,
    "gen_ai.response.time_to_first_chunk": timeToFirstChunk,
    "gen_ai.usage.input_tokens": usage?.inputTokens,
    "gen_ai.usage.output_tokens": usage?.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage?.cacheReadTokens,
    "gen_ai.usage.cache_creation.input_tokens": usage?.cacheWriteTokens,
    "gen_ai.usage.reasoning.output_tokens": usage?.reasoningTokens,
    "stream_sidecar.delimiters_stripped": stats.delimitersStripped,
    "stream_sidecar.reasoning_extracted": stats.reasoningExtracted,
    "stream_sidecar.malformed_chunks": stats.malformedChunks,
    "stream_sidecar.tool_results_stripped": choices
      .flatMap(({ toolResults }) => toolResults)
      .filter(({ source }) => source === "echo").length,
    "stream_sidecar.tool_calls_from_text": choices
      .flatMap(({ toolCalls }) => toolCalls)
      .filter(({ origin }) => origin === "text").length,
    "gen_ai.output.messages": content ? JSON.stringify(outputMessages(message)) : undefined,
  };
  const known = Object.entries(attributes).filter((each): each is [string, AttributeValue] => each[1] !== undefined);
  return Object.fromEntries(known);
}

/** The value of `gen_ai.output.messages`: a message for each choice. */
export function outputMessages(message: Message): OutputMessage[] {
  return choicesOf(message).map(({ blocks = [], toolCalls, finish }) => {
    const calls = new Map(toolCalls.map((call) => [call.block, call]));
    const parts = blocks.flatMap((block) => {
      if (block.type === "tool-call") return partsOfCall(calls.get(block.block) ?? block);
      if (block.type === "tool-result") return partsOfResult(block);
      return block.text === "" ? [] : [{ type: block.type, content: block.text }];
    });
    return { role: "assistant", parts, ...(finish && { finish_reason: reasonOf(finish) }) };
  });
}

function choicesOf(message: Message): Message[] {
  return message.choices ?? [message];
}

function reasonOf({ reason }: Finish): string {
  return REASONS[reason] ?? reason;
}

/** The part for a call; none for a call that nobody runs. */
function partsOfCall(call: ToolCall): Part[] {
  const { toolCallId: id, name, executor, executable } = call;
  const input = call.input ?? call.arguments;
  if (executor === "server") {
    const details = { type: name || "tool", arguments: input };
    return [{ type: "server_tool_call", id, name, server_tool_call: details }];
  }
  return executable ? [{ type: "tool_call", id, name, arguments: input }] : [];
}

/** The part for a result; none for a result that the model repeated. */
function partsOfResult({ source, toolCallId, name, content }: ToolResult): Part[] {
  if (source !== "server") return [];
  const names = { ...(toolCallId !== undefined && { id: toolCallId }), ...(name !== undefined && { name }) };
  const details = { type: name || "tool", content: content ?? null };
  return [{ type: "server_tool_call_response", ...names, server_tool_call_response: details }];
}
