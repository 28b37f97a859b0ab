// Events of a stream as `session/update`s of the Agent Client Protocol, version 1, or 2 if
// that is asked for, as clients/README.md, "Agent Client Protocol", tells. Makes the updates
// itself and imports nothing of the SDK. What is `pending` when the turn has ended is to be run by the agent,
// or runs at the provider's; every other call has failed, and its `_meta` says why.

import type { StreamEvent } from "../stream/events.js";
import type { Finish, Retract, ToolCall, ToolCallDelta, ToolResult, Usage } from "../protocol.js";
import { locationsOf } from "./acp-locations.js";
import type { Call, ClaimMeta, SessionUpdate, SessionUpdateV2, ToolKind } from "./acp-updates.js";
import { Upserts } from "./acp-upserts.js";
import { isFailed, isOfServer, objection, objectionOfEnd, turn, type TurnEnd } from "./turn.js";

export type { SessionUpdate, SessionUpdateV2, ToolKind } from "./acp-updates.js";

export type StopReason = "end_turn" | "max_tokens" | "refusal" | "cancelled";

export interface SessionUpdateOptions {
  /** Begins every id: unique for the stream within the session, as `stream.id` is. */
  prefix: string;
  /** Which choice of the response is told. 0. */
  choice?: number;
  /** The session's folder, in which relative paths of calls are; without it they have no `locations`. */
  cwd?: string;
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

/**
 * The updates of the events of `stream.pipe(...)`, to be sent one by one. With
 * `version: 2` they are those of that version, a draft: what was told can be taken back.
 */
export function sessionUpdates(
  events: AsyncIterable<StreamEvent>,
  options: SessionUpdateOptions & { version: 2 },
): AsyncGenerator<SessionUpdateV2, void, void>;
export function sessionUpdates(
  events: AsyncIterable<StreamEvent>,
  options: SessionUpdateOptions & { version?: 1 },
): AsyncGenerator<SessionUpdate, void, void>;
export async function* sessionUpdates(
  events: AsyncIterable<StreamEvent>,
  options: SessionUpdateOptions & { version?: 1 | 2 },
): AsyncGenerator<SessionUpdate | SessionUpdateV2, void, void> {
  const updates = new Updates(options);
  const upserts = options.version === 2 ? new Upserts((block) => updates.idOf(block)) : undefined;
  for await (const event of turn(events, options.choice ?? 0)) {
    const made = updates.of(event);
    yield* upserts?.of(event, made) ?? made;
    const told = event.type === "turn-end" ? event.finish : event;
    if (told && (made.length === 0 || !TOLD.has(told.type))) options.onOther?.(told, (block) => updates.idOf(block));
  }
}

/** Events of which the updates say everything. */
const TOLD: ReadonlySet<string> = new Set([
  "text-delta",
  "reasoning-delta",
  "tool-call-delta",
  "tool-call",
  "tool-result",
  "usage",
]);

class Updates {
  readonly #prefix: string;
  readonly #contextSize: number | undefined;
  readonly #cwd: string | undefined;
  /** Calls that were told, by block; undefined: only the beginning is known. */
  readonly #calls = new Map<number, ToolCall | undefined>();
  /** Those that are neither run nor given up. */
  readonly #pending = new Set<number>();
  /** Those that have a result, which may come before its call. */
  readonly #answered = new Set<number>();
  /** Blocks of structured calls by the provider's id: the last one that had it. */
  readonly #blocks = new Map<string, number>();

  constructor({ prefix, contextSize, cwd }: SessionUpdateOptions) {
    this.#prefix = prefix;
    this.#contextSize = contextSize;
    this.#cwd = cwd;
  }

  idOf(block: number): string {
    return `${this.#prefix}-${block}`;
  }

  of(event: StreamEvent | TurnEnd): SessionUpdate[] {
    switch (event.type) {
      case "text-delta":
        return [this.#chunk("agent_message_chunk", event)];
      case "reasoning-delta":
        return [this.#chunk("agent_thought_chunk", event)];
      case "tool-call-delta":
        return this.#callDelta(event);
      case "tool-call":
        return [this.#call(event)];
      case "tool-result":
        return this.#result(event);
      case "usage":
        return this.#usage(event);
      case "retract":
        return this.#retract(event);
      case "turn-end":
        return this.#end(event);
      default:
        return [];
    }
  }

  #chunk(
    sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
    { block, text }: { block: number; text: string },
  ): SessionUpdate {
    return { sessionUpdate, content: { type: "text", text }, messageId: this.idOf(block) };
  }

  /** Only the first is told: there is no update for a piece of the arguments. */
  #callDelta({ block, toolCallId = "", name }: ToolCallDelta): SessionUpdate[] {
    if (this.#calls.has(block)) return [];
    this.#calls.set(block, undefined);
    this.#pending.add(block);
    this.#blocks.set(toolCallId, block);
    const called = name === undefined ? {} : { name };
    const call = { toolCallId: this.idOf(block), title: name ?? "tool", status: "pending", ...called } as const;
    return [{ sessionUpdate: "tool_call", ...call }];
  }

  #call(call: ToolCall): SessionUpdate {
    const { block = -1, toolCallId, name, kind, input, arguments: text } = call;
    const sessionUpdate = this.#calls.has(block) ? "tool_call_update" : "tool_call";
    const isAnswered = this.#answered.has(block);
    const isPending = call.executable || isOfServer(call);
    const locations = locationsOf(call, this.#cwd);
    this.#calls.set(block, call);
    if (isPending && !isAnswered) this.#pending.add(block);
    else this.#pending.delete(block);
    if (call.origin === "structured") this.#blocks.set(toolCallId, block);
    return {
      sessionUpdate,
      toolCallId: this.idOf(block),
      title: name,
      name,
      kind: KINDS[kind] ?? "other",
      rawInput: input ?? text,
      ...(locations.length > 0 && { locations }),
      ...(isAnswered ? {} : statusOf(call, isPending)),
    };
  }

  /** A result without its call has nothing to update, and one that the model wrote is none. */
  #result({ toolCallId, content, isError, source }: ToolResult): SessionUpdate[] {
    const block = toolCallId === undefined ? undefined : this.#blocks.get(toolCallId);
    if (block === undefined || source !== "server") return [];
    this.#pending.delete(block);
    this.#answered.add(block);
    const result = {
      status: isError ? "failed" : "completed",
      rawOutput: content ?? null,
      ...(typeof content === "string" && { content: [shown(content)] }),
    } as const;
    return [{ sessionUpdate: "tool_call_update", toolCallId: this.idOf(block), ...result }];
  }

  #usage({ totalTokens }: Usage): SessionUpdate[] {
    if (totalTokens === undefined || this.#contextSize === undefined) return [];
    return [{ sessionUpdate: "usage_update", used: totalTokens, size: this.#contextSize }];
  }

  #retract({ blocks, reason }: Retract): SessionUpdate[] {
    const calls = blocks.filter((block) => this.#calls.has(block));
    return calls.map((block) => this.#fail(block, `the call was retracted: ${reason}`));
  }

  /** What the provider runs may answer in a later turn, unless this one has failed. */
  #end({ finish, executable }: TurnEnd): SessionUpdate[] {
    const isKept = (block: number) => {
      const call = this.#calls.get(block);
      return executable.has(block) || (call !== undefined && isOfServer(call) && !isFailed(finish));
    };
    const given = [...this.#pending].filter((block) => !isKept(block));
    return given.map((block) => this.#fail(block, objectionOfEnd(finish)));
  }

  #fail(block: number, reason: string): SessionUpdate {
    const _meta = metaOf(reason, this.#calls.get(block));
    this.#pending.delete(block);
    return { sessionUpdate: "tool_call_update", toolCallId: this.idOf(block), status: "failed", _meta };
  }
}

/** A result as an editor shows it. */
function shown(text: string) {
  return { type: "content" as const, content: { type: "text" as const, text } };
}

function statusOf(call: ToolCall, isPending: boolean): Pick<Call, "status" | "_meta"> {
  return isPending ? { status: "pending" } : { status: "failed", _meta: metaOf(objection(call), call) };
}

function metaOf(reason: string, call: Pick<ToolCall, "origin" | "declared"> | undefined): ClaimMeta {
  const { origin, declared } = call ?? {};
  const told = { ...(origin === undefined ? {} : { origin }), ...(declared === undefined ? {} : { declared }) };
  return { streamSidecar: { claim: true, reason, ...told } };
}
