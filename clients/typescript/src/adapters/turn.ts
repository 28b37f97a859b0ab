// One choice of a stream as the adapters tell it. What the sidecar sends once and means for
// longer (a call's id and name, a source's url and title) stands in every event, and the
// end says which calls the client is to run: until then `executable` is provisional.

import type { ClosedStream, StreamEvent } from "../stream/events.js";
import type { Citation, Finish, Message, ToolCall, ToolCallDelta } from "../protocol.js";

/** The end of a turn, in place of its `finish`. */
export interface TurnEnd {
  readonly type: "turn-end";
  /** undefined: the stream broke off. */
  readonly finish: Finish | undefined;
  /** The blocks of the calls that the client is to run. */
  readonly executable: ReadonlySet<number>;
}

/** Finishes after which no call is run. */
const FAILED: ReadonlySet<string> = new Set(["malformed", "error", "cancelled"]);

/** Finishes that may have cut a call off, which the finished message alone can tell. */
const CUT: ReadonlySet<string> = new Set(["length", "context-length"]);

const NOT_OURS = "the call is not the client's to run";

export function isFailed(finish: Finish | undefined): boolean {
  return finish === undefined || FAILED.has(finish.reason);
}

/** The events of one choice, filled in as they come, and its end. */
export class Turn {
  readonly #choice: number;
  readonly #filler = new Filler();
  readonly #calls = new Map<number, ToolCall>();
  #finish: Finish | undefined;

  constructor(choice = 0) {
    this.#choice = choice;
  }

  /** The event as the adapters tell it; undefined: it is another choice's, or the finish. */
  of(event: StreamEvent): StreamEvent | undefined {
    const filled = this.#filler.of(event);
    if ((event.choice ?? 0) !== this.#choice) return undefined;
    if (filled.type === "tool-call" && filled.block !== undefined) this.#calls.set(filled.block, filled);
    if (filled.type === "retract") for (const block of filled.blocks) this.#calls.delete(block);
    if (filled.type !== "finish") return filled;
    this.#finish = filled;
    return undefined;
  }

  /** The calls that were not retracted. */
  get calls(): readonly ToolCall[] {
    return [...this.#calls.values()];
  }

  /**
   * The end. The last word on `executable` has the message of the closed stream; without
   * it, no call of a finish that may have cut it off is run.
   */
  end(closed?: Pick<ClosedStream, "message">): TurnEnd {
    const executable = executables(this.calls, this.#finish, messageOf(closed, this.#choice));
    return { type: "turn-end", finish: this.#finish, executable: new Set(executable) };
  }

  /** The end of a turn that broke off: no call is run. */
  brokenOff(): TurnEnd {
    return { type: "turn-end", finish: this.#finish, executable: new Set() };
  }
}

/**
 * The events of `stream.pipe(...)`, of one choice, and its end (see `Turn`). A source that
 * throws has no executable calls; its error is thrown behind the end.
 */
export async function* turn(
  events: AsyncIterable<StreamEvent>,
  choice: number,
): AsyncGenerator<StreamEvent | TurnEnd, void, void> {
  const told = new Turn(choice);
  let closed: unknown;
  try {
    for await (const event of returning(events, (value) => (closed = value))) {
      const filled = told.of(event);
      if (filled) yield filled;
    }
  } catch (error) {
    yield told.brokenOff();
    throw error;
  }
  yield told.end(closed as ClosedStream | undefined);
}

/** Whether the provider runs this call, or has run it. */
export function isOfServer({ executor, origin, state }: ToolCall): boolean {
  return executor === "server" && origin === "structured" && state === "complete";
}

/** Why a call that is not executable is not. */
export function objection({ state, origin, declared, name }: ToolCall): string {
  if (origin !== "structured") return "the call was found in the text";
  if (state !== "complete") return `the arguments are ${state}`;
  if (declared === false) return `no tool ${name} is declared`;
  return NOT_OURS;
}

/** The same of a call that was not final when the turn ended. */
export function objectionOfEnd(finish: Finish | undefined): string {
  if (finish === undefined) return "the turn broke off";
  return isFailed(finish) || CUT.has(finish.reason) ? `the turn ended with ${finish.reason}` : NOT_OURS;
}

/** Events that a source gives, and to `take` what it returns. */
async function* returning(events: AsyncIterable<StreamEvent>, take: (value: unknown) => void) {
  take(yield* events);
}

/** The choice's message in what the source has returned, if that was a closed stream. */
function messageOf(closed: Partial<ClosedStream> | undefined, choice: number): Message | undefined {
  const message = closed?.message;
  if (choice === 0) return message;
  return message?.choices?.find((each) => each.choice === choice);
}

function executables(calls: readonly ToolCall[], finish: Finish | undefined, message: Message | undefined): number[] {
  if (finish === undefined || isFailed(finish) || (!message && CUT.has(finish.reason))) return [];
  const found = blocksOf(calls);
  if (!message) return found;
  const settled = new Set(blocksOf(message.toolCalls));
  return found.filter((block) => settled.has(block));
}

function blocksOf(calls: readonly ToolCall[]): number[] {
  return calls.flatMap(({ block, executable }) => (executable && block !== undefined ? [block] : []));
}

/** Puts into an event what an earlier one of its call or its source has said. */
class Filler {
  readonly #calls = new Map<number, Pick<ToolCallDelta, "name"> & { toolCallId: string }>();
  readonly #sources = new Map<number, Pick<Citation, "url" | "title">>();

  of(event: StreamEvent): StreamEvent {
    switch (event.type) {
      case "tool-call-delta":
        return this.#delta(event);
      case "citation":
        return this.#citation(event);
      default:
        return event;
    }
  }

  #delta(event: ToolCallDelta): ToolCallDelta & { toolCallId: string } {
    const { block, toolCallId, name } = event;
    const known = this.#calls.get(block) ?? {
      toolCallId: toolCallId ?? `call-${block}`,
      ...(name === undefined ? {} : { name }),
    };
    this.#calls.set(block, known);
    return { ...event, ...known };
  }

  #citation(event: Citation & { source?: number }): Citation {
    if (event.source === undefined) return event;
    const first = this.#sources.get(event.source) ?? event;
    const { url = first.url, title = first.title } = event;
    const filled = { ...(url === undefined ? {} : { url }), ...(title === undefined ? {} : { title }) };
    this.#sources.set(event.source, filled);
    return { ...event, ...filled };
  }
}
