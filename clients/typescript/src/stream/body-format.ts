// How the documents of a clean response are the body of one over HTTP.

import type { Emit } from "../protocol.js";

export type EmittedWire = Emit["wire"];

/** How documents are written into a body. */
export interface BodyFormat {
  readonly framing: "sse" | "json-array";
  document(chunk: Record<string, unknown>, isFirst: boolean): string;
  /** What follows the last document. `isMarked`: also the wire's end mark, where it has one. */
  end(isFirst: boolean, isMarked: boolean): string;
}

const DATA: BodyFormat = {
  framing: "sse",
  document: (chunk) => (isNamed(chunk) ? event(chunk.event, chunk.data) : `data: ${JSON.stringify(chunk)}\n\n`),
  end: () => "",
};

const NAMED: BodyFormat = {
  ...DATA,
  document: (chunk) => (isNamed(chunk) ? event(chunk.event, chunk.data) : event(String(chunk["type"]), chunk)),
};

function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A document that says no type, with the name of its event. */
function isNamed(chunk: Record<string, unknown>): chunk is { event: string; data: unknown } {
  return typeof chunk["event"] === "string" && "data" in chunk && Object.keys(chunk).length === 2;
}

/** Gemini's, where no server-sent events were asked for. */
export const ARRAY: BodyFormat = {
  framing: "json-array",
  document: (chunk, isFirst) => `${isFirst ? "[" : ","}${JSON.stringify(chunk)}\n`,
  end: (isFirst) => (isFirst ? "[]" : "]"),
};

const SSE: Readonly<Record<string, BodyFormat>> = {
  "openai-chat": { ...DATA, end: (_isFirst, isMarked) => (isMarked ? "data: [DONE]\n\n" : "") },
  "openai-responses": NAMED,
  anthropic: NAMED,
  gemini: DATA,
};

/** The server-sent events of a wire. */
export function sseOf(wire: string): BodyFormat {
  return SSE[wire] ?? DATA;
}
