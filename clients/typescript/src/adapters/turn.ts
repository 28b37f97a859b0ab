// One choice of a stream, prepared for adapters. Fields that the sidecar sends only once (a
// call's id and name, a source's url and title) are filled in in every event. The end says
// which calls the client must run; until then `executable` is provisional.

import type { ClosedStream, StreamEvent } from "../stream/events.js";
import type { Citation, Finish, Message, ToolCall, ToolCallDelta } from "../protocol.js";

/** The end of a turn; it replaces the `finish`. */
export interface TurnEnd {
  readonly type: "turn-end";
  /** undefined: the stream broke off. */
  readonly finish: Finish | undefined;
  /** The blocks of the calls that the client must run. */
  readonly executable: ReadonlySet<number>;
}

/** Finish reasons after which no call is run. */
const FAILED: ReadonlySet<string> = new Set(["malformed", "error", "cancelled"]);

/** Finish reasons that may have cut a call off; only the finished message shows whether they did. */
const CUT: ReadonlySet<string> = new Set(["length", "context-length"]);

const NOT_OURS = "the client does not run this call";

export function isFailed(finish: Finish | undefined): boolean {
  return finish === undefined || FAILED.has(finish.reason);
}

/** The events of one choice, filled in as they arrive, and its end. */
export class Turn {
  readonly #choice: number;
  readonly #filler = new Filler();
  readonly #calls = new Map<number, ToolCall>();
  #finish: Finish | undefined;

  constructor(choice = 0) {
    this.#choice = choice;
  }

  /** The event, filled in; undefined for an event of another choice, and for the finish. */
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
   * The end. Calls must be executable in the message of the closed stream too. Without the
   * message, no call is run after a finish that may have cut a call off.
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
 * The events of one choice of `stream.pipe(...)`, and its end (see `Turn`). If the source throws,
 * no call is executable, and its error is thrown after the end.
 */
export async function* turn(
  events: AsyncIterable<StreamEvent>,
  choice: number,
): AsyncGenerator<StreamEvent | TurnEnd, void, void> {
  const current = new Turn(choice);
  let closed: unknown;
  try {
    for await (const event of returning(events, (value) => (closed = value))) {
      const filled = current.of(event);
      if (filled) yield filled;
    }
  } catch (error) {
    yield current.brokenOff();
    throw error;
  }
  yield current.end(closed as ClosedStream | undefined);
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

/** Why a call that was not complete at the end of the turn is not run. */
export function objectionOfEnd(finish: Finish | undefined): string {
  if (finish === undefined) return "the turn broke off";
  return isFailed(finish) || CUT.has(finish.reason) ? `the turn ended with ${finish.reason}` : NOT_OURS;
}

/** The events of a source; `onReturn` gets the value that the source returns. */
async function* returning(events: AsyncIterable<StreamEvent>, onReturn: (value: unknown) => void) {
  onReturn(yield* events);
}

/** The choice's message in the value returned by the source, if that is a closed stream. */
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

/** Fills in fields of an event from earlier events of the same call or source. */
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
