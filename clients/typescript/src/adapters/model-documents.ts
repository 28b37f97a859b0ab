// The parts of a model of the Vercel AI SDK as documents of the wire openai-chat, for models
// without raw chunks. Example: `{type: "text-delta", delta: "<think>"}` becomes
// `{choices: [{index: 0, delta: {content: "<think>"}}]}`.

import type { FinishReason } from "./ai-sdk-chunks.js";
import type { Content, StreamPart } from "./language-model.js";
import { sealsIn } from "./provider-state.js";

const FINISH: Readonly<Record<FinishReason, string>> = {
  stop: "stop",
  length: "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
  error: "error",
  other: "unknown",
};

export class ModelDocuments {
  /** The indexes of the calls whose input has begun. */
  readonly #calls = new Map<string, number>();
  readonly #ofProvider = new Set<string>();

  /** The documents for a part; none if the sidecar does not need the part. */
  of(part: StreamPart): unknown[] {
    switch (part.type) {
      case "text-delta":
        return [delta({ content: part.delta })];
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return [...(part.delta ? [delta({ reasoning_content: part.delta })] : []), ...sealed(part)];
      case "tool-input-start":
        return this.#begin(part);
      case "tool-input-delta":
        return this.#more(part);
      case "tool-call":
        return this.#whole(part);
      case "error":
        return [{ error: { message: messageOf(part.error) } }];
      case "finish":
        return [delta({}, FINISH[part.finishReason?.unified ?? "other"])];
      default:
        return [];
    }
  }

  #begin({ id = "", toolName, providerExecuted }: StreamPart): unknown[] {
    if (providerExecuted) this.#ofProvider.add(id);
    return providerExecuted ? [] : [this.#call(id, toolName, "")];
  }

  #more({ id = "", delta: text }: StreamPart): unknown[] {
    const index = this.#calls.get(id);
    return index === undefined ? [] : [delta({ tool_calls: [{ index, function: { arguments: text } }] })];
  }

  /** A call whose input did not arrive in pieces. */
  #whole({ toolCallId = "", toolName, input, providerExecuted }: StreamPart): unknown[] {
    const isKnown = this.#calls.has(toolCallId) || this.#ofProvider.has(toolCallId);
    return isKnown || providerExecuted ? [] : [this.#call(toolCallId, toolName, input ?? "")];
  }

  #call(id: string, name: string | undefined, text: string): unknown {
    const index = this.#calls.size;
    this.#calls.set(id, index);
    return delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: text } }] });
  }
}

function delta(fields: object, finish_reason: string | null = null): unknown {
  return { choices: [{ index: 0, delta: fields, finish_reason }] };
}

/** The seals of reasoning, which the sidecar has to know: some are broken by a removal before them. */
function sealed({ providerMetadata }: StreamPart): unknown[] {
  return sealsIn(providerMetadata).map((signature) =>
    delta({ thinking_blocks: [{ type: "thinking", thinking: "", signature }] }),
  );
}

function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof message === "string" ? message : typeof error === "string" ? error : JSON.stringify(error ?? null);
}

/** A whole answer as the parts of a stream. */
export function* partsOf(content: readonly Content[]): Generator<StreamPart> {
  for (const [index, part] of content.entries()) {
    const { text = "", ...rest } = part;
    if (part.type !== "text" && part.type !== "reasoning") {
      yield rest;
      continue;
    }
    const id = String(index);
    const { providerMetadata } = part;
    yield { type: `${part.type}-start`, id, ...(providerMetadata && { providerMetadata }) };
    yield { type: `${part.type}-delta`, id, delta: text };
    yield { type: `${part.type}-end`, id };
  }
}
