// Events of a stream as `session/update`s of the Agent Client Protocol, version 1, as
// protocol.md, "Agent Client Protocol", tells. Makes the updates itself and imports
// nothing of the SDK.

import type { StreamEvent } from "../events.js";
import type { Finish, ToolCall, ToolCallDelta, ToolResult, Usage } from "../protocol.js";

export type ToolKind =
  "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "switch_mode" | "other";

interface Call {
  toolCallId: string;
  title?: string;
  name?: string;
  kind?: ToolKind;
  status?: "pending" | "in_progress" | "completed" | "failed";
  rawInput?: unknown;
  rawOutput?: unknown;
}

/** The updates that the adapter makes: a subset of the protocol's own SessionUpdate. */
export type SessionUpdate =
  | {
      sessionUpdate: "agent_message_chunk" | "agent_thought_chunk";
      content: { type: "text"; text: string };
      messageId: string;
    }
  | ({ sessionUpdate: "tool_call" } & Call & { title: string })
  | ({ sessionUpdate: "tool_call_update" } & Call)
  | { sessionUpdate: "usage_update"; used: number; size: number };

export type StopReason = "end_turn" | "max_tokens" | "refusal" | "cancelled";

export interface SessionUpdateOptions {
  /** Begins every id: unique for the stream within the session, as `stream.id` is. */
  prefix: string;
  /** Which choice of the response is told. 0. */
  choice?: number;
  /** The tokens that the model's context holds; without it `usage` cannot be told. */
  contextSize?: number;
  /**
   * Gets the events that have no update: those for the agent itself (`citation`,
   * `diagnostic`, `block-end` ...), and `reclassify` and `retract`, which take back what
   * was told; `idOf` gives the ids of the updates that were made of a block.
   */
  onOther?: (event: StreamEvent, idOf: (block: number) => string) => void;
}

const KINDS: Readonly<Record<string, ToolKind>> = {
  read: "read",
  edit: "edit",
  delete: "delete",
  move: "move",
  search: "search",
  execute: "execute",
  think: "think",
  fetch: "fetch",
  "switch-mode": "switch_mode",
};

const STOP_REASONS: Readonly<Record<string, StopReason | undefined>> = {
  "tool-calls": undefined,
  pause: undefined,
  length: "max_tokens",
  "context-length": "max_tokens",
  refusal: "refusal",
  "content-filter": "refusal",
  cancelled: "cancelled",
  error: undefined,
  malformed: undefined,
};

/**
 * What to answer to `session/prompt`. undefined: nothing yet: the turn goes on
 * (`tool-calls`, `pause`), or it failed (`error`, `malformed`).
 */
export function stopReason({ reason }: Pick<Finish, "reason">): StopReason | undefined {
  return reason in STOP_REASONS ? STOP_REASONS[reason] : "end_turn";
}

/** The updates of the events of `stream.pipe(...)`, to be sent one by one. */
export async function* sessionUpdates(
  events: AsyncIterable<StreamEvent>,
  options: SessionUpdateOptions,
): AsyncGenerator<SessionUpdate, void, void> {
  const updates = new Updates(options);
  for await (const event of events) {
    if ((event.choice ?? 0) !== (options.choice ?? 0)) continue;
    const update = updates.of(event);
    if (update) yield update;
    else options.onOther?.(event, (block) => updates.idOf(block));
  }
}

class Updates {
  readonly #prefix: string;
  readonly #contextSize: number | undefined;
  readonly #announced = new Set<number>();
  /** Blocks of calls by the provider's id: the last one that had it. */
  readonly #blocks = new Map<string, number>();

  constructor({ prefix, contextSize }: SessionUpdateOptions) {
    this.#prefix = prefix;
    this.#contextSize = contextSize;
  }

  idOf(block: number): string {
    return `${this.#prefix}-${block}`;
  }

  of(event: StreamEvent): SessionUpdate | undefined {
    switch (event.type) {
      case "text-delta":
        return this.#chunk("agent_message_chunk", event);
      case "reasoning-delta":
        return this.#chunk("agent_thought_chunk", event);
      case "tool-call-delta":
        return this.#callDelta(event);
      case "tool-call":
        return this.#call(event);
      case "tool-result":
        return this.#result(event);
      case "usage":
        return this.#usage(event);
      default:
        return undefined;
    }
  }

  #chunk(
    sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
    { block, text }: { block: number; text: string },
  ): SessionUpdate {
    return { sessionUpdate, content: { type: "text", text }, messageId: this.idOf(block) };
  }

  /** Only the first is told: there is no update for a piece of the arguments. */
  #callDelta({ block, toolCallId, name }: ToolCallDelta): SessionUpdate | undefined {
    if (this.#announced.has(block)) return undefined;
    this.#announce(block, toolCallId);
    const called = name === undefined ? {} : { name };
    return {
      sessionUpdate: "tool_call",
      toolCallId: this.idOf(block),
      title: name ?? "tool",
      status: "pending",
      ...called,
    };
  }

  #call({ block = -1, toolCallId, name, kind, state, input, arguments: text }: ToolCall): SessionUpdate {
    const sessionUpdate = this.#announced.has(block) ? "tool_call_update" : "tool_call";
    this.#announce(block, toolCallId);
    return {
      sessionUpdate,
      toolCallId: this.idOf(block),
      title: name,
      name,
      kind: KINDS[kind] ?? "other",
      status: state === "complete" ? "pending" : "failed",
      rawInput: input ?? text,
    };
  }

  /** A result without its call has nothing to update. */
  #result({ toolCallId, content, isError }: ToolResult): SessionUpdate | undefined {
    const block = toolCallId === undefined ? undefined : this.#blocks.get(toolCallId);
    if (block === undefined) return undefined;
    const status = isError ? "failed" : "completed";
    return { sessionUpdate: "tool_call_update", toolCallId: this.idOf(block), status, rawOutput: content ?? null };
  }

  #usage({ totalTokens }: Usage): SessionUpdate | undefined {
    if (totalTokens === undefined || this.#contextSize === undefined) return undefined;
    return { sessionUpdate: "usage_update", used: totalTokens, size: this.#contextSize };
  }

  #announce(block: number, toolCallId: string): void {
    this.#announced.add(block);
    this.#blocks.set(toolCallId, block);
  }
}
