// What happens to the requests of a gateway: what is removed from the answers, what is mended in
// the requests, and how they end. One line for each request, and the figures of all.

import type { IncomingMessage, ServerResponse } from "node:http";
import { SidecarError, type PrepareResult, type Stats, type StreamEvent } from "stream-sidecar";
import type { SidecarFetchOptions } from "stream-sidecar/fetch";
import { counted, lineOf, phrase, printable, reasonOf, type Phrase, type TurnReport } from "./lines.js";

/** Totals of removals, by kind. */
export interface Removed {
  /** Characters (UTF-16 code units) of reasoning between tags. */
  reasoningCharacters: number;
  /** Calls that the model wrote as text. */
  calls: number;
  /** Results that the model wrote. */
  results: number;
  /** Tags and other delimiters. */
  delimiters: number;
}

/** Totals of a gateway's requests. */
export interface Figures {
  /** Requests that have no end yet. */
  open: number;
  /** Requests that have ended, also each of the following. */
  ended: number;
  /** Answers that ended before their end, by the provider's fault. */
  cut: number;
  /** Requests without an answer of the upstream. */
  unanswered: number;
  /** Answers or requests that should be cleaned, and passed as they came. */
  uncleaned: number;
  /** Requests that were changed for their provider. */
  mended: number;
}

const COUNTED = ["cut", "unanswered", "uncleaned", "mended"] as const;
const LONGEST_EXCERPT = 80;
const UNREADABLE = "it is no answer that can be read";

/** All requests of a gateway. */
export class Turns {
  readonly figures: Figures = { open: 0, ended: 0, cut: 0, unanswered: 0, uncleaned: 0, mended: 0 };
  readonly removed: Removed = { reasoningCharacters: 0, calls: 0, results: 0, delimiters: 0 };
  readonly #onTurn: (line: string, report: TurnReport) => void;

  constructor(onTurn: (line: string, report: TurnReport) => void) {
    this.#onTurn = onTurn;
  }

  /** A request begins; its turn ends when the reply is closed. */
  begin({ method = "", url = "" }: IncomingMessage, reply: ServerResponse): Turn {
    const turn = new Turn();
    this.figures.open += 1;
    reply.once("close", () => {
      const [path = ""] = url.split("?");
      const status = reply.headersSent && { status: reply.statusCode };
      const report = { method, path, ...status, ...turn.report(reply) };
      this.#count(turn, report);
      this.#onTurn(lineOf(report), report);
    });
    return turn;
  }

  #count({ removed }: Turn, { phrases }: TurnReport): void {
    this.figures.open -= 1;
    this.figures.ended += 1;
    for (const kind of COUNTED) if (phrases.some((each) => each.kind === kind)) this.figures[kind] += 1;
    for (const kind of Object.keys(removed) as (keyof Removed)[]) this.removed[kind] += removed[kind];
  }
}

/** One request. */
export class Turn {
  readonly removed: Removed = { reasoningCharacters: 0, calls: 0, results: 0, delimiters: 0 };
  #isExpected = false;
  #isRead = false;
  #keepsCalls = false;
  #late = 0;
  #excerpt = "";
  #mends: Phrase[] = [];
  #loss: string | undefined;
  #end: Phrase | undefined;

  /** The request goes to an endpoint whose answers are cleaned. With `claims: "text"` calls stay in the text. */
  expect(claims: SidecarFetchOptions["claims"]): void {
    this.#isExpected = true;
    this.#keepsCalls = claims === "text";
  }

  /** An event of the answer. */
  event(event: StreamEvent): void {
    if (event.type === "reasoning-delta" && event.source === "tag") {
      this.removed.reasoningCharacters += event.text.length;
      this.#show(event.text);
    } else if (event.type === "tool-call" && event.origin === "text" && !this.#keepsCalls) {
      this.removed.calls += 1;
      this.#show(` ${event.name}(${event.arguments}) `);
    } else if (event.type === "tool-result" && event.source !== "server") {
      this.removed.results += 1;
      this.#show(` ${JSON.stringify(event.content)} `);
    } else if (event.type === "diagnostic" && event.code === "emitted-before") {
      this.#late += 1;
    } else if (event.type === "diagnostic" && event.code === "missing-terminator") {
      this.#end ??= phrase("cut", event.message);
    } else if (event.type === "error") {
      this.#end ??= phrase(event.kind === "network" ? "cut" : "failed", event.message);
    }
  }

  /** The answer was read to its end. */
  readonly stats = ({ delimitersStripped }: Pick<Stats, "delimitersStripped">): void => {
    this.#isRead = true;
    this.removed.delimiters += delimitersStripped;
  };

  /** The request was prepared. */
  readonly prepared = ({ changed, lost }: Pick<PrepareResult, "changed" | "lost">): void => {
    const reasons = lost.map(({ what, why }) => `${what}: ${why}`);
    const parts = [...new Set(reasons)].map((reason) => {
      const { length } = reasons.filter((each) => each === reason);
      return length > 1 ? `${length} x ${reason}` : reason;
    });
    // Removed text, joined turns and the like are no losses.
    const what = parts.join(", ") || "earlier turns go without leaks, and in a form that the provider accepts";
    if (changed || lost.length > 0) this.#mends = [phrase(changed ? "mended" : "unmended", what)];
  };

  /** The answer, a part of it, or the request passes as it came. */
  lost(error: unknown): void {
    this.#loss ??= reasonOf(error);
  }

  /** The upstream gave no answer. */
  unanswered(error: unknown): void {
    this.#end = phrase("unanswered", reasonOf(error));
  }

  /** What happened, when the reply is closed. */
  report(reply: ServerResponse): Pick<TurnReport, "phrases" | "excerpt"> {
    const end = this.#endOf(reply);
    const loss = this.#loss === undefined ? [] : [phrase("uncleaned", this.#loss)];
    const late = this.#late > 0 ? [phrase("late", counted(this.#late, "passage"))] : [];
    const told = [...end, ...loss, ...this.#removals(), ...late];
    const phrases = told.length > 0 ? told : [this.#silent(reply.statusCode)];
    const excerpt = printable(this.#excerpt, LONGEST_EXCERPT);
    return { phrases: [...phrases, ...this.#mends], ...(excerpt && { excerpt }) };
  }

  /** What to say of an answer that came whole if there is nothing else to say of it. */
  #silent(status: number): Phrase {
    if (this.#isRead) return phrase("nothing");
    return this.#isExpected && status === 200 ? phrase("uncleaned", UNREADABLE) : phrase("passed");
  }

  /** How the answer ended, unless it came whole. */
  #endOf(reply: ServerResponse): Phrase[] {
    if (this.#end?.kind === "unanswered") return [this.#end];
    if (reply.errored) return [phrase("cut", breakOf(reply.errored))];
    if (!reply.writableFinished) return [phrase("left")];
    if (reply.statusCode >= 400) return [phrase("error")];
    return this.#end ? [this.#end] : [];
  }

  #removals(): Phrase[] {
    const { reasoningCharacters, calls, results, delimiters } = this.removed;
    const parts = [
      ...(reasoningCharacters > 0 ? [`${counted(reasoningCharacters, "character")} of reasoning`] : []),
      ...(calls > 0 ? [counted(calls, "call written as text", "calls written as text")] : []),
      ...(results > 0 ? [counted(results, "result that the model wrote", "results that the model wrote")] : []),
    ];
    // Delimiters around what was removed are not worth a word.
    if (parts.length === 0 && delimiters > 0) parts.push(counted(delimiters, "delimiter"));
    return parts.length > 0 ? [phrase("removed", parts.join(", "))] : [];
  }

  #show(text: string): void {
    if (this.#excerpt.length < 2 * LONGEST_EXCERPT) this.#excerpt += text.slice(0, 2 * LONGEST_EXCERPT);
  }
}

/** Why an answer was cut off. */
function breakOf(error: Error): string {
  return `${error instanceof SidecarError ? "the sidecar failed" : "the provider's answer broke off"}: ${reasonOf(error)}`;
}
