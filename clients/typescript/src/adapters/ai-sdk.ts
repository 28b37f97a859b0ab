// Events of a stream as the parts of a UI message stream of the Vercel AI SDK (5 and 6),
// for createUIMessageStreamResponse, useChat and readUIMessageStream. Makes the parts
// itself and imports nothing of the SDK. The README has the mapping as a table.

import type { StreamEvent } from "../events.js";
import type { BlockEnd, Citation, Finish, ToolCall, ToolCallDelta, ToolResult } from "../protocol.js";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };

/** What only the sidecar knows of a part, under its name. */
type Metadata = { streamSidecar: { [key: string]: Json | undefined } };

type FinishReason = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";

interface Tool {
  toolCallId: string;
  providerExecuted?: boolean;
  dynamic?: boolean;
}

/** The parts that the adapter makes: a subset of the SDK's own UIMessageChunk. */
export type UIMessageChunk =
  | { type: "start"; messageId?: string }
  | { type: "start-step" | "finish-step" }
  | { type: "text-start" | "reasoning-start" | "text-end" | "reasoning-end"; id: string; providerMetadata?: Metadata }
  | { type: "text-delta" | "reasoning-delta"; id: string; delta: string }
  | ({ type: "tool-input-start"; toolName: string } & Tool)
  | { type: "tool-input-delta"; toolCallId: string; inputTextDelta: string }
  | ({ type: "tool-input-available"; toolName: string; input: unknown; providerMetadata: Metadata } & Tool)
  | ({
      type: "tool-input-error";
      toolName: string;
      input: unknown;
      errorText: string;
      providerMetadata: Metadata;
    } & Tool)
  | ({ type: "tool-output-available"; output: unknown } & Tool)
  | ({ type: "tool-output-error"; errorText: string } & Tool)
  | { type: "source-url"; sourceId: string; url: string; title?: string }
  | { type: "source-document"; sourceId: string; mediaType: string; title: string }
  | { type: `data-${"reclassify" | "retract" | "block-state" | "tool-result"}`; data: unknown }
  | { type: "message-metadata"; messageMetadata: unknown }
  | { type: "error"; errorText: string }
  | { type: "finish"; finishReason: FinishReason }
  | { type: "abort" };

export interface UIMessageStreamOptions {
  /** The id of the new message. */
  messageId?: string;
  /** Which choice of the response is shown. 0. */
  choice?: number;
  /** false: reasoning is left out. */
  sendReasoning?: boolean;
  /** false: the client's tools are typed (`tool-NAME` parts); true, the default: `dynamic-tool`. */
  dynamicTools?: boolean;
}

const FINISH: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  "context-length": "length",
  "content-filter": "content-filter",
  refusal: "content-filter",
  "tool-calls": "tool-calls",
  malformed: "error",
  error: "error",
};

/** The events of `stream.pipe(...)` as the body of a UI message stream; pulls as it is read. */
export function toUIMessageStream(
  events: AsyncIterable<StreamEvent>,
  options: UIMessageStreamOptions = {},
): ReadableStream<UIMessageChunk> {
  const chunks = uiMessageChunks(events, options);
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await chunks.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

/** The same as an iterable. */
export async function* uiMessageChunks(
  events: AsyncIterable<StreamEvent>,
  options: UIMessageStreamOptions = {},
): AsyncGenerator<UIMessageChunk, void, void> {
  const { choice = 0, messageId } = options;
  const parts = new Parts(options);
  yield { type: "start", ...(messageId === undefined ? {} : { messageId }) };
  yield { type: "start-step" };
  for await (const event of events) if ((event.choice ?? 0) === choice) yield* parts.of(event);
}

class Parts {
  readonly #sendReasoning: boolean;
  readonly #dynamic: boolean;
  /** Blocks of text and reasoning: true while they are open. */
  readonly #blocks = new Map<number, boolean>();
  /** Ids of calls by block, and the blocks of the ids that are taken. */
  readonly #calls = new Map<number, string>();
  readonly #taken = new Map<string, number>();
  readonly #urls = new Set<string>();
  #sources = 0;

  constructor({ sendReasoning = true, dynamicTools = true }: UIMessageStreamOptions) {
    this.#sendReasoning = sendReasoning;
    this.#dynamic = dynamicTools;
  }

  of(event: StreamEvent): UIMessageChunk[] {
    switch (event.type) {
      case "text-delta":
        return this.#delta("text", event);
      case "reasoning-delta":
        return this.#sendReasoning ? this.#delta("reasoning", event) : [];
      case "block-end":
        return this.#blockEnd(event);
      case "reclassify":
        return [{ type: "data-reclassify", data: { ids: event.blocks.map(String), to: event.to } }];
      case "retract":
        return [{ type: "data-retract", data: this.#retracted(event.blocks) }];
      case "tool-call-delta":
        return this.#callDelta(event);
      case "tool-call":
        return [this.#call(event)];
      case "tool-result":
        return [this.#result(event)];
      case "citation":
        return this.#citation(event);
      case "error":
        return [{ type: "error", errorText: event.message }];
      case "metadata":
      case "usage":
        return [this.#metadata(event)];
      case "finish":
        return this.#finish(event);
      default: // diagnostics, and what a later version sends
        return [];
    }
  }

  #delta(channel: "text" | "reasoning", event: { block: number; text: string }): UIMessageChunk[] {
    const id = String(event.block);
    const delta = { type: `${channel}-delta`, id, delta: event.text } as const;
    if (this.#blocks.get(event.block)) return [delta];
    this.#blocks.set(event.block, true);
    return [{ type: `${channel}-start`, id }, delta];
  }

  #blockEnd({ block, channel, signature, opaque, rawText }: BlockEnd): UIMessageChunk[] {
    const isReasoning = channel === "reasoning";
    if (isReasoning && !this.#sendReasoning) return [];
    const state = written({ signature, opaque, rawText });
    const end = {
      type: isReasoning ? "reasoning-end" : "text-end",
      id: String(block),
      ...(state && { providerMetadata: { streamSidecar: state } }),
    } as const;
    const isOpen = this.#blocks.get(block);
    this.#blocks.set(block, false);
    if (isOpen) return [end];
    if (!state) return [];
    if (isOpen === false) return [{ type: "data-block-state", data: { id: end.id, ...state } }];
    return [{ type: isReasoning ? "reasoning-start" : "text-start", id: end.id }, end];
  }

  #retracted(blocks: readonly number[]): { ids: string[]; toolCallIds: string[] } {
    const toolCallIds = blocks.flatMap((block) => this.#calls.get(block) ?? []);
    return { ids: blocks.filter((block) => !this.#calls.has(block)).map(String), toolCallIds };
  }

  /** The provider's id, unless another call of this message has it already. */
  #idOf(block: number, toolCallId: string): string {
    const known = this.#calls.get(block);
    if (known !== undefined) return known;
    const id = this.#taken.has(toolCallId) ? `${toolCallId}#${block}` : toolCallId;
    this.#calls.set(block, id);
    this.#taken.set(id, block);
    return id;
  }

  #callDelta({ block, toolCallId, name = "", argumentsDelta }: ToolCallDelta): UIMessageChunk[] {
    const isFirst = !this.#calls.has(block);
    const id = this.#idOf(block, toolCallId);
    const delta = { type: "tool-input-delta", toolCallId: id, inputTextDelta: argumentsDelta } as const;
    if (!isFirst) return [delta];
    return [{ type: "tool-input-start", toolCallId: id, toolName: name, dynamic: this.#dynamic }, delta];
  }

  #call(call: ToolCall): UIMessageChunk {
    const { block = -1, toolCallId, name, state, executor, kind, executable, awaits } = call;
    const part = {
      toolCallId: this.#idOf(block, toolCallId),
      toolName: name,
      dynamic: this.#dynamic,
      providerExecuted: executor === "server",
      providerMetadata: { streamSidecar: { block, kind, executable, awaits } },
    };
    if (state === "complete") return { type: "tool-input-available", input: call.input ?? call.arguments, ...part };
    return { type: "tool-input-error", input: call.arguments, errorText: `the arguments are ${state}`, ...part };
  }

  /** An output needs the call it belongs to; without one the result is data. */
  #result({ toolCallId, name, content, isError, source }: ToolResult): UIMessageChunk {
    if (source !== "server" || toolCallId === undefined || !this.#taken.has(toolCallId)) {
      return { type: "data-tool-result", data: { toolCallId, name, content, isError, source } };
    }
    const part = { toolCallId, dynamic: this.#dynamic, providerExecuted: true };
    return isError
      ? { type: "tool-output-error", errorText: textOf(content), ...part }
      : { type: "tool-output-available", output: content ?? null, ...part };
  }

  #citation({ url, title, citedText }: Citation): UIMessageChunk[] {
    const key = url ?? title ?? citedText ?? "";
    if (this.#urls.has(key)) return [];
    this.#urls.add(key);
    const sourceId = `source-${++this.#sources}`;
    if (url !== undefined) return [{ type: "source-url", sourceId, url, ...(title === undefined ? {} : { title }) }];
    return [{ type: "source-document", sourceId, mediaType: "text/plain", title: title ?? citedText ?? sourceId }];
  }

  #metadata(event: Extract<StreamEvent, { type: "metadata" | "usage" }>): UIMessageChunk {
    if (event.type === "metadata") {
      const { id, model, provider, created } = event;
      return {
        type: "message-metadata",
        messageMetadata: { response: written({ id, model, provider, created }) ?? {} },
      };
    }
    const { type: _type, seq: _seq, choice: _choice, raw: _raw, ...usage } = event;
    return { type: "message-metadata", messageMetadata: { usage } };
  }

  #finish({ reason }: Finish): UIMessageChunk[] {
    if (reason === "cancelled") return [{ type: "abort" }];
    return [{ type: "finish-step" }, { type: "finish", finishReason: FINISH[reason] ?? "other" }];
  }
}

/** The fields that have a value; undefined when none has. */
function written(fields: Record<string, unknown>): { [key: string]: Json | undefined } | undefined {
  const found = Object.entries(fields).filter(([, value]) => value !== undefined);
  return found.length === 0 ? undefined : (Object.fromEntries(found) as { [key: string]: Json });
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content ?? null);
}
