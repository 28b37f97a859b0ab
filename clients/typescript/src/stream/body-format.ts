// How an HTTP body is written from the documents of a clean response.

import type { Emit } from "../protocol.js";

export type EmittedWire = Emit["wire"];

/** The format of a body. */
export interface BodyFormat {
  readonly framing: "sse" | "json-array";
  document(chunk: Record<string, unknown>, isFirst: boolean): string;
  /** The text after the last document. `isMarked`: with the wire's end mark, if it has one. */
  end(isFirst: boolean, isMarked: boolean): string;
  /** The last document of an answer whose sidecar has failed: the one that the sidecar writes when the provider fails. */
  failure(message: string): Record<string, unknown>;
}

const DATA: BodyFormat = {
  framing: "sse",
  document: (chunk) => (isNamed(chunk) ? event(chunk.event, chunk.data) : `data: ${JSON.stringify(chunk)}\n\n`),
  end: () => "",
  failure: (message) => ({ error: { message, type: "network" } }),
};

const NAMED: BodyFormat = {
  ...DATA,
  document: (chunk) => (isNamed(chunk) ? event(chunk.event, chunk.data) : event(String(chunk["type"]), chunk)),
};

/** An event. A name with a line break would begin another event, and is left out. */
function event(name: string, data: unknown): string {
  const line = /[\r\n]/.test(name) ? "" : `event: ${name}\n`;
  return `${line}data: ${JSON.stringify(data)}\n\n`;
}

/** Whether this is a document without a type, under the name of its event. */
function isNamed(chunk: Record<string, unknown>): chunk is { event: string; data: unknown } {
  return typeof chunk["event"] === "string" && "data" in chunk && Object.keys(chunk).length === 2;
}

/** A JSON array, which Gemini sends if the request did not ask for server-sent events. */
export const ARRAY: BodyFormat = {
  framing: "json-array",
  document: (chunk, isFirst) => `${isFirst ? "[" : ","}${JSON.stringify(chunk)}\n`,
  end: (isFirst) => (isFirst ? "[]" : "]"),
  failure: geminiFailure,
};

function geminiFailure(message: string): Record<string, unknown> {
  return { error: { code: 500, message, status: "INTERNAL" } };
}

function responsesFailure(message: string): Record<string, unknown> {
  const told = { code: "network", message, param: null };
  return { type: "error", ...told, error: { type: "network", ...told } };
}

const SSE: Readonly<Record<string, BodyFormat>> = {
  "openai-chat": { ...DATA, end: (_isFirst, isMarked) => (isMarked ? "data: [DONE]\n\n" : "") },
  "openai-responses": { ...NAMED, failure: responsesFailure },
  anthropic: { ...NAMED, failure: (message) => ({ type: "error", error: { type: "api_error", message } }) },
  gemini: { ...DATA, failure: geminiFailure },
};

/** The format of a wire's server-sent events. */
export function sseOf(wire: string): BodyFormat {
  return SSE[wire] ?? DATA;
}
