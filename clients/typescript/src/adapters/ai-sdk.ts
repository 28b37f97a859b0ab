// Events of a stream as the parts of a UI message stream of the Vercel AI SDK (5 to 7), for
// createUIMessageStreamResponse, useChat and readUIMessageStream. The module makes the parts
// itself and imports nothing from the SDK. The README has the table of events and parts.

import type { StreamEvent } from "../stream/events.js";
import type { BlockEnd, Citation, Finish } from "../protocol.js";
import { Calls } from "./ai-sdk-calls.js";
import { FINISH, type Json, type SidecarUIMessageChunk } from "./ai-sdk-chunks.js";
import { readableOf } from "./ends.js";
import { Step } from "./ai-sdk-step.js";
import { turn, type TurnEnd } from "./turn.js";

export type { Claim, SidecarUIMessageChunk } from "./ai-sdk-chunks.js";
export { sidecarMiddleware, withClaimApproval, type MiddlewareOptions, type SidecarMiddleware } from "./middleware.js";
export { ModelError, type ClaimPolicy } from "./model-parts.js";

export interface UIMessageStreamOptions {
  /** The id of the new message. */
  messageId?: string;
  /** The choice of the response that is shown. Default: 0. */
  choice?: number;
  /** false: reasoning is left out. */
  sendReasoning?: boolean;
  /** false: the client's tools are typed (`tool-NAME` parts); true, the default: `dynamic-tool`. */
  dynamicTools?: boolean;
  /** The signal of the stop button: after it has aborted, the message ends with `abort`. */
  signal?: AbortSignal;
  /**
   * true, for readers of version 7 and newer: after a reclassify or a retract, `reset-step` is
   * sent, and the corrected step again. false, the default: data parts report them.
   */
  resetStep?: boolean;
}

/** The events of `stream.pipe(...)` as the body of a UI message stream; pulls as it is read. */
export function uiMessageStreamOf(
  events: AsyncIterable<StreamEvent>,
  options: UIMessageStreamOptions = {},
): ReadableStream<SidecarUIMessageChunk> {
  return readableOf(uiMessageChunks(events, options), new AbortController());
}

/** The same as an iterable. */
export async function* uiMessageChunks(
  events: AsyncIterable<StreamEvent>,
  options: UIMessageStreamOptions = {},
): AsyncGenerator<SidecarUIMessageChunk, void, void> {
  const { choice = 0, messageId, signal, resetStep = false } = options;
  const parts = new Parts(options);
  const step = resetStep ? new Step() : undefined;
  yield { type: "start", ...(messageId === undefined ? {} : { messageId }) };
  yield { type: "start-step" };
  try {
    for await (const event of turn(events, choice)) {
      const made = parts.of(event);
      yield* step ? step.of(event, made) : made;
    }
  } catch (error) {
    yield* parts.failed(error, signal);
  }
}

class Parts {
  readonly #sendReasoning: boolean;
  /** Blocks of text and reasoning: true while they are open. */
  readonly #blocks = new Map<number, boolean>();
  readonly #calls: Calls;
  /** A reader of the SDK stops at an error, so errors are sent right before the end. */
  readonly #errors: SidecarUIMessageChunk[] = [];
  readonly #urls = new Set<string>();
  #sources = 0;

  constructor({ sendReasoning = true, dynamicTools = true }: UIMessageStreamOptions) {
    this.#sendReasoning = sendReasoning;
    this.#calls = new Calls({ dynamicTools, sendReasoning });
  }

  of(event: StreamEvent | TurnEnd): SidecarUIMessageChunk[] {
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
        return this.#calls.retract(event);
      case "tool-call-delta":
        return this.#calls.delta(event);
      case "tool-call":
        return this.#calls.call(event);
      case "tool-result":
        return this.#calls.result(event);
      case "citation":
        return this.#citation(event);
      case "error":
        this.#errors.push({ type: "error", errorText: event.message });
        return [];
      case "metadata":
      case "usage":
        return [this.#metadata(event)];
      case "turn-end":
        return this.#end(event);
      default: // diagnostics, and events of later versions
        return [];
    }
  }

  #delta(channel: "text" | "reasoning", event: { block: number; text: string }): SidecarUIMessageChunk[] {
    const id = String(event.block);
    const delta = { type: `${channel}-delta`, id, delta: event.text } as const;
    if (this.#blocks.get(event.block)) return [delta];
    this.#blocks.set(event.block, true);
    return [{ type: `${channel}-start`, id }, delta];
  }

  #blockEnd({ block, channel, signature, opaque, rawText }: BlockEnd): SidecarUIMessageChunk[] {
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

  #citation({ url, title, citedText }: Citation): SidecarUIMessageChunk[] {
    const key = url ?? title ?? citedText ?? "";
    if (this.#urls.has(key)) return [];
    this.#urls.add(key);
    const sourceId = `source-${++this.#sources}`;
    if (url !== undefined) return [{ type: "source-url", sourceId, url, ...(title === undefined ? {} : { title }) }];
    return [{ type: "source-document", sourceId, mediaType: "text/plain", title: title ?? citedText ?? sourceId }];
  }

  #metadata(event: Extract<StreamEvent, { type: "metadata" | "usage" }>): SidecarUIMessageChunk {
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

  /** The end of a stream that threw; its error may have been reported as an event already. */
  failed(error: unknown, signal: AbortSignal | undefined): SidecarUIMessageChunk[] {
    if (isAbort(error, signal)) return [{ type: "abort" }];
    return this.#errors.length > 0 ? [] : [{ type: "error", errorText: String((error as Error)?.message ?? error) }];
  }

  #end(end: TurnEnd): SidecarUIMessageChunk[] {
    return [...this.#calls.end(end), ...this.#errors, ...finishOf(end.finish)];
  }
}

/** Whether the user stopped the request. */
function isAbort(error: unknown, signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true || (error as { name?: unknown } | undefined)?.name === "AbortError";
}

function finishOf(finish: Finish | undefined): SidecarUIMessageChunk[] {
  if (!finish) return [];
  if (finish.reason === "cancelled") return [{ type: "abort" }];
  return [{ type: "finish-step" }, { type: "finish", finishReason: FINISH[finish.reason] ?? "other" }];
}

/** The fields that have a value; undefined if none has. */
function written(fields: Record<string, unknown>): { [key: string]: Json | undefined } | undefined {
  const found = Object.entries(fields).filter(([, value]) => value !== undefined);
  return found.length === 0 ? undefined : (Object.fromEntries(found) as { [key: string]: Json });
}
