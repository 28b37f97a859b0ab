// Events as the client hands them out. The sidecar may be newer than the client: an event
// of a type that is not in EVENT_TYPES arrives as an `unknown-event` with the original
// inside, so that the union stays one that a `switch` over `type` can narrow.

import { EVENT_TYPES, type CloseResult, type Event, type PushResult } from "../protocol.js";

/** An event of a later version of the protocol; it may be passed over. */
export interface UnknownEvent {
  type: "unknown-event";
  seq: number;
  choice?: number;
  /** As the sidecar sent it. */
  event: Record<string, unknown>;
}

export type StreamEvent = Event | UnknownEvent;

/** What closing a stream gives; of `chunks` the documents. `isMarked`: the provider's end mark stood behind them. */
export interface ClosedStream extends Omit<CloseResult, "events" | "chunks"> {
  events: StreamEvent[];
  chunks?: readonly Record<string, unknown>[];
  isMarked?: boolean;
}

/** What a push gives: the events that are certain now, and with `emit` the documents of them. */
export interface Pushed {
  readonly events: StreamEvent[];
  readonly chunks?: readonly Record<string, unknown>[];
}

/** What is answered to several chunks. */
interface Answer extends Pushed {
  readonly lastSeqs?: readonly number[];
}

/** What several pushes gave, as what one gave. */
export function together(all: readonly Pushed[]): Pushed {
  const [only] = all;
  if (all.length === 1 && only) return only;
  const chunks = all.flatMap((each) => each.chunks ?? []);
  const events = all.flatMap((each) => each.events);
  return { events, ...(all.some((each) => each.chunks) && { chunks }) };
}

/**
 * What each of several pushes gives, of the one answer to the chunks of all: `lastSeqs` says
 * where each chunk's events end, and documents go to the last. So do all events where the
 * sidecar is an older one, which does not say it.
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

/** The documents among the last chunks, behind which there may be a `"[DONE]"`. */
export function documentsOf(chunks: readonly unknown[]): Record<string, unknown>[] {
  return chunks.filter((chunk): chunk is Record<string, unknown> => typeof chunk === "object" && chunk !== null);
}

const KNOWN: ReadonlySet<string> = new Set(EVENT_TYPES);

/** The events of an answer, those of unknown types wrapped. */
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
