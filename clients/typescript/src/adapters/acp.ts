// Events of a stream as `session/update`s of the Agent Client Protocol, version 1 or 2; the
// table is in clients/README.md, "Agent Client Protocol". The module makes the updates itself
// and imports nothing from the SDK. After the end of a turn, a `pending` call must be run by
// the agent, or runs at the provider; every other call has failed, and its `_meta` says why,
// or has a result.

import type { StreamEvent } from "../stream/events.js";
import type { Finish, Retract, ToolCall, ToolCallDelta, ToolResult, Usage } from "../protocol.js";
import { locationsOf } from "./acp-locations.js";
import type { Call, ClaimMeta, SessionUpdate, SessionUpdateV2, ToolKind } from "./acp-updates.js";
import { Upserts } from "./acp-upserts.js";
import { isFailed, isOfServer, objection, objectionOfEnd, turn, type TurnEnd } from "./turn.js";

export type { SessionUpdate, SessionUpdateV2, ToolKind } from "./acp-updates.js";

export type StopReason = "end_turn" | "max_tokens" | "refusal" | "cancelled";

export interface SessionUpdateOptions {
  /** Every id starts with it. It must be unique for the stream within the session, as `stream.id` is. */
  prefix: string;
  /** The choice of the response that the updates are made from. Default: 0. */
  choice?: number;
  /** The session's folder, which relative paths of calls start from. Without it, they have no `locations`. */
  cwd?: string;
  /** How many tokens the model's context holds. Without it there is no update for `usage`. */
  contextSize?: number;
  /**
   * Gets the events that have no update: events for the agent itself (`citation`,
   * `diagnostic`, `block-end` ...), and `reclassify`, `retract` and `finish`. `idOf` returns
   * the id that updates use for a block.
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
 * The stop reason for the answer to `session/prompt`. undefined: the turn is not over
 * (`tool-calls`, `pause`), or it failed (`error`, `malformed`).
 */
export function stopReason({ reason }: Pick<Finish, "reason">): StopReason | undefined {
  return reason in STOP_REASONS ? STOP_REASONS[reason] : "end_turn";
}

/**
 * The updates for the events of `stream.pipe(...)`, to be sent one by one. With `version: 2`
 * they are of that version, a draft in which earlier updates can be replaced.
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
    const original = event.type === "turn-end" ? event.finish : event;
    const isOther = original && (made.length === 0 || !COVERED.has(original.type));
    if (isOther) options.onOther?.(original, (block) => updates.idOf(block));
  }
}

/** Types of events whose updates have all their information. */
const COVERED: ReadonlySet<string> = new Set([
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
  /** Calls that have an update, by block; undefined: only the call's beginning is known. */
  readonly #calls = new Map<number, ToolCall | undefined>();
  /** Blocks of the calls that are `pending`. */
  readonly #pending = new Set<number>();
  /** Blocks of the calls that have a result, which may arrive before its call. */
  readonly #answered = new Set<number>();
  /** Blocks of structured calls by the provider's id; if an id repeats, the last block. */
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

  /** Only the first delta has an update: none exists for a piece of the arguments. */
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

  /** Nothing for a result without a call, and for a result that the model wrote itself. */
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

  /**
   * Fails the calls that nobody will run. Unless the turn failed, a call that the provider runs
   * stays pending, because its result may arrive in a later turn.
   */
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
  const more = { ...(origin === undefined ? {} : { origin }), ...(declared === undefined ? {} : { declared }) };
  return { streamSidecar: { claim: true, reason, ...more } };
}
