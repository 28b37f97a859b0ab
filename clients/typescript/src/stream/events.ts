// The events that the client returns. The sidecar may be newer than the client: an event with a
// type that is not in EVENT_TYPES becomes an `unknown-event` with the original inside, so that a
// `switch` over `type` can narrow the union.

import { EVENT_TYPES, type CloseResult, type Event, type PushResult } from "../protocol.js";

/** An event of a later version of the protocol; it may be ignored. */
export interface UnknownEvent {
  type: "unknown-event";
  seq: number;
  choice?: number;
  /** The event as the sidecar sent it. */
  event: Record<string, unknown>;
}

export type StreamEvent = Event | UnknownEvent;

/** The result of closing a stream. `chunks` has only documents; `isMarked`: the provider's end mark followed them. */
export interface ClosedStream extends Omit<CloseResult, "events" | "chunks"> {
  events: StreamEvent[];
  chunks?: readonly Record<string, unknown>[];
  isMarked?: boolean;
}

/** The result of a push: the events that are certain now, and with `emit` their documents. */
export interface Pushed {
  readonly events: StreamEvent[];
  readonly chunks?: readonly Record<string, unknown>[];
}

/** The sidecar's answer to several chunks. */
interface Answer extends Pushed {
  readonly lastSeqs?: readonly number[];
}

/** The results of several pushes, joined. */
export function together(all: readonly Pushed[]): Pushed {
  const [only] = all;
  if (all.length === 1 && only) return only;
  const chunks = all.flatMap((each) => each.chunks ?? []);
  const events = all.flatMap((each) => each.events);
  return { events, ...(all.some((each) => each.chunks) && { chunks }) };
}

/**
 * The results of several pushes, from one answer to the chunks of all: `lastSeqs` says where the
 * events of each chunk end. Documents go to the last push. An older sidecar has no `lastSeqs`;
 * then all events go to the last push too.
 */
export function apart(answer: Answer, pushes: readonly { readonly length: number }[]): Pushed[] {
  const { events, chunks, lastSeqs = [] } = answer;
  let [at, read] = [0, 0];
  const each: Pushed[] = pushes.map(({ length }) => {
    const start = at;
    const last = lastSeqs[(read += length) - 1] ?? 0;
    while ((events[at]?.seq ?? Infinity) <= last) at += 1;
    return { events: events.slice(start, at) };
  });
  const rest = each.pop()?.events ?? [];
  return [...each, { events: [...rest, ...events.slice(at)], ...(chunks && { chunks }) }];
}

/** The documents among the last chunks, which may end with `"[DONE]"`. */
export function documentsOf(chunks: readonly unknown[]): Record<string, unknown>[] {
  return chunks.filter((chunk): chunk is Record<string, unknown> => typeof chunk === "object" && chunk !== null);
}

const KNOWN: ReadonlySet<string> = new Set(EVENT_TYPES);

/** The events of an answer; events of unknown types are wrapped. */
export function eventsOf(answer: Pick<PushResult, "events">): StreamEvent[] {
  const { events } = answer;
  return events.every(isKnown) ? events : events.map((event) => (isKnown(event) ? event : wrapped(event)));
}

function isKnown(event: Event): boolean {
  return KNOWN.has(event.type);
}

function wrapped(event: Event): UnknownEvent {
  const { seq, choice } = event;
  const original: object = event;
  return {
    type: "unknown-event",
    seq,
    ...(choice === undefined ? {} : { choice }),
    event: { ...original },
  };
}
