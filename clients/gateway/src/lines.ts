// The lines of the gateway's log: one phrase for each thing that can happen to a request.

/** What happened to a request, or to the gateway. */
export interface Phrase {
  readonly kind: PhraseKind;
  readonly text: string;
}

export type PhraseKind = keyof typeof PHRASES;

/** Kind -> the phrase; `what` says which, how many, or why. */
const PHRASES = {
  /** Text was removed from the answer. */
  removed: (what: string) => `removed ${what}`,
  /** The answer came whole, was read, and had nothing to remove. */
  nothing: () => "removed nothing",
  /** Text had been sent before it turned out that it should be removed. */
  late: (what: string) => `${what} had been sent before it turned out to be reasoning`,
  /** The request broke a rule of its provider, or had leaked text in earlier answers. */
  mended: (what: string) => `mended the request: ${what}`,
  /** The request breaks a rule of its provider that only the agent can keep. */
  unmended: (what: string) => `the provider may refuse the request: ${what}`,
  /** An answer or a request that should be cleaned passed as it came. */
  uncleaned: (why: string) => `NOT CLEANED, passed unchanged: ${why}`,
  /** The answer ended before its end. */
  cut: (why: string) => `CUT OFF: ${why}`,
  /** The provider reported an error in the answer. */
  failed: (why: string) => `the provider reported an error: ${why}`,
  /** The provider's status is an error. */
  error: () => "the provider answered with an error, which passed unchanged",
  /** The upstream gave no answer. */
  unanswered: (why: string) => `the upstream did not answer: ${why}`,
  /** The agent closed the connection before the end of the answer. */
  left: () => "the agent disconnected before the end",
  /** The endpoint is none whose answers are cleaned. */
  passed: () => "passed unchanged",
  /** The record of a request could not be written. */
  unrecorded: (why: string) => `NOT RECORDED: ${why}`,
  /** A web page of another site may not use the gateway. */
  refused: (why: string) => `REFUSED: ${why}`,
  /** There is no sidecar. */
  alone: () => "NO SIDECAR IS RUNNING: everything passes unchanged",
  /** Some of several sidecars are lost. */
  partly: (which: string) => `NOT ALL ANSWERS ARE CLEANED: ${which} sidecars are lost`,
} as const;

const LONGEST = 300;

/** The phrase of this kind. */
export function phrase(kind: PhraseKind, what = ""): Phrase {
  return { kind, text: PHRASES[kind](printable(what, LONGEST)) };
}

/** An error in words. One of several addresses that all refused has only a code. */
export function reasonOf(error: unknown): string {
  const { message, code } = Object(error) as { message?: unknown; code?: unknown };
  return String(message || code || error);
}

/** A text that others wrote, for one line of a terminal: without control characters, and not too long. */
export function printable(text: string, longest: number): string {
  const line = text.replaceAll(/[\p{C}\p{Z}]+/gu, " ").trim();
  const points = [...line.slice(0, 2 * longest + 2)];
  return points.length > longest ? `${points.slice(0, longest).join("")}...` : line;
}

/** A number with its noun: `1 call`, `2 calls`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** What has happened to a request that has ended. */
export interface TurnReport {
  readonly method: string;
  /** The path that the agent asked for, without its query. */
  readonly path: string;
  /** The status of the answer; absent if the agent left before it. */
  readonly status?: number;
  readonly phrases: readonly Phrase[];
  /** The beginning of what was removed, in one line. */
  readonly excerpt?: string;
}

/** The report as a line of the log. */
export function lineOf(report: TurnReport): string {
  return `${headOf(report)}: ${report.phrases.map(({ text }) => text).join("; ")}`;
}

/** `POST /v1/messages 200`. */
export function headOf({ method, path, status }: TurnReport): string {
  return [method, printable(path, LONGEST), status].filter((each) => each !== undefined).join(" ");
}
