// What a host's own loop sees when it stops an answer, or when the answer breaks: the same with
// the sidecar and without it, in the SDKs of OpenAI, Anthropic and Google and in the AI SDK.

import Anthropic from "@anthropic-ai/sdk";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { GoogleGenAI } from "@google/genai";
import { streamText, wrapLanguageModel } from "ai";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sidecarMiddleware } from "../src/adapters/ai-sdk.js";
import { sidecarFetch } from "../src/adapters/fetch.js";
import { Sidecar } from "../src/index.js";
import { REAL } from "./support.js";

/** Where the host stops, or the answer breaks; `limit` is an abort with the reason of a time limit. */
const FAULTS = ["none", "before", "within", "limit", "after", "cut", "timeout"] as const;
type Fault = (typeof FAULTS)[number];

const WORDS = ["One", "two", "three"];
const WIRES = {
  openai: {
    start: [chat({ role: "assistant", content: "" })],
    word: (content: string) => chat({ content }),
    end: [chat({}, "stop"), "data: [DONE]\n\n"],
  },
  anthropic: {
    start: [
      event("message_start", {
        message: {
          ...{ id: "m", type: "message", role: "assistant", model: "claude", content: [], stop_reason: null },
          ...{ stop_sequence: null, usage: { input_tokens: 1, output_tokens: 0 } },
        },
      }),
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ],
    word: (text: string) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
    end: [
      event("content_block_stop", { index: 0 }),
      event("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 3 } }),
      event("message_stop", {}),
    ],
  },
  gemini: {
    start: [],
    word: (text: string) => generated({ content: { role: "model", parts: [{ text }] } }),
    end: [generated({ content: { role: "model", parts: [{ text: "" }] }, finishReason: "STOP" })],
  },
};

function chat(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`;
}

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function generated(candidate: object): string {
  return `data: ${JSON.stringify({ candidates: [{ index: 0, ...candidate }] })}\n\n`;
}

let fault: Fault = "none";
/** Called when a request has arrived that gets no answer. */
let arrived = () => {};

/** A provider that breaks as `fault` says; where the host stops, it waits for that. */
function answer(request: IncomingMessage, reply: ServerResponse): void {
  request.resume();
  if (fault === "before" || fault === "timeout") return arrived();
  const path = request.url ?? "";
  const wire = WIRES[path.includes("messages") ? "anthropic" : path.includes("chat") ? "openai" : "gemini"];
  reply.writeHead(200, { "content-type": "text/event-stream" });
  for (const each of wire.start) reply.write(each);
  const [first = "", ...others] = WORDS;
  reply.write(wire.word(first));
  if (fault === "within" || fault === "limit") return;
  for (const each of others) reply.write(wire.word(each));
  if (fault === "after") return;
  if (fault === "cut") reply.write(": the end\n\n", () => reply.destroy());
  else reply.end(wire.end.join(""));
}

let server: Server;
let sidecar: Sidecar;
let base: string;
beforeAll(async () => {
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  sidecar = await Sidecar.spawn(REAL);
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await sidecar.shutdown();
});

/** A loop of a host: `signal` stops it, `show` gets the text. */
type Loop = (with_: Parts) => Promise<unknown>;

interface Parts {
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
  readonly show: (text: string) => void;
  readonly note: (what: string) => void;
  readonly isClean: boolean;
}

const ASKED = { messages: [{ role: "user" as const, content: "?" }] };
/** A time limit of the SDK itself, for an answer that does not come. */
const limited = () => (fault === "timeout" ? { timeout: 100 } : {});

function openai({ fetch }: Parts): OpenAI {
  return new OpenAI({ baseURL: `${base}/v1`, apiKey: "k", maxRetries: 0, fetch, ...limited() });
}

function anthropic({ fetch }: Parts): Anthropic {
  return new Anthropic({ baseURL: base, apiKey: "k", maxRetries: 0, fetch, ...limited() });
}

function compatible(fetch: typeof globalThis.fetch) {
  return createOpenAICompatible({ name: "local", baseURL: `${base}/v1`, apiKey: "k", fetch })("m");
}

function named(error: unknown): string {
  const { name, constructor, message } = error as Error;
  return `${constructor.name} ${name}: ${message}`;
}

const overall: (middleware: boolean) => Loop =
  (hasMiddleware) =>
  async ({ fetch, signal, show, note, isClean }) => {
    const native = compatible(hasMiddleware ? globalThis.fetch : fetch);
    const isWrapped = hasMiddleware && isClean;
    const model = isWrapped ? wrapLanguageModel({ model: native, middleware: sidecarMiddleware(sidecar) }) : native;
    const abortSignal = fault === "timeout" ? AbortSignal.timeout(100) : signal;
    const onError = ({ error }: { error: unknown }) => note(`onError ${named(error)}`);
    const onAbort = () => note("onAbort");
    const result = streamText({ model, prompt: "?", maxRetries: 0, abortSignal, onError, onAbort });
    for await (const part of result.fullStream) {
      if (part.type === "text-delta") show(part.text);
      else note(part.type);
    }
  };

const LOOPS: Readonly<Record<string, Loop>> = {
  "openai create": async (parts) => {
    const asked = { model: "m", stream: true as const, ...ASKED };
    const stream = await openai(parts).chat.completions.create(asked, { signal: parts.signal });
    for await (const { choices } of stream) parts.show(choices[0]?.delta.content ?? "");
  },
  "openai stream": async (parts) => {
    const runner = openai(parts).chat.completions.stream({ model: "m", ...ASKED }, { signal: parts.signal });
    runner.on("abort", (error) => parts.note(`abort ${named(error)}`));
    runner.on("error", (error) => parts.note(`error ${named(error)}`));
    runner.on("content", (delta) => parts.show(delta));
    parts.note(JSON.stringify((await runner.finalChatCompletion()).choices[0]?.finish_reason));
  },
  "anthropic create": async (parts) => {
    const asked = { model: "claude", max_tokens: 9, stream: true as const, ...ASKED };
    const stream = await anthropic(parts).messages.create(asked, { signal: parts.signal });
    for await (const each of stream) {
      if (each.type === "content_block_delta" && each.delta.type === "text_delta") parts.show(each.delta.text);
    }
  },
  "anthropic stream": async (parts) => {
    const asked = { model: "claude", max_tokens: 9, ...ASKED };
    const stream = anthropic(parts).messages.stream(asked, { signal: parts.signal });
    stream.on("abort", (error) => parts.note(`abort ${named(error)}`));
    stream.on("error", (error) => parts.note(`error ${named(error)}`));
    stream.on("text", (delta) => parts.show(delta));
    parts.note(JSON.stringify((await stream.finalMessage()).stop_reason));
  },
  "google generateContentStream": async ({ fetch, signal: abortSignal, show }) => {
    const ai = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: base, ...limited() } });
    const own = globalThis.fetch;
    globalThis.fetch = fetch;
    try {
      const asked = { model: "gemini-2.5-flash", contents: "?", config: { abortSignal } };
      for await (const each of await ai.models.generateContentStream(asked)) show(each.text ?? "");
    } finally {
      globalThis.fetch = own;
    }
  },
  "AI SDK, fetch": overall(false),
  "AI SDK, middleware": overall(true),
};

/** What the host of a loop sees. */
async function row(loop: Loop, isClean: boolean): Promise<object> {
  const stop = new AbortController();
  const notes: string[] = [];
  let text = "";
  arrived = () => (fault === "before" ? stop.abort() : undefined);
  const reason = fault === "limit" ? new DOMException("The time is over", "TimeoutError") : undefined;
  const show = (delta: string) => {
    text += delta;
    const isDue = text === (fault === "after" ? WORDS.join("") : WORDS[0]);
    if (isDue && (fault === "within" || fault === "limit" || fault === "after")) stop.abort(reason);
  };
  const own = globalThis.fetch;
  const fetch = isClean ? sidecarFetch(sidecar, { onLost: (error) => notes.push(`lost ${String(error)}`) }) : own;
  const end = await loop({ fetch, signal: stop.signal, show, note: (what) => notes.push(what), isClean }).then(
    () => "ended",
    (error: unknown) => `thrown ${named(error)}`,
  );
  return { text, notes, end };
}

const CASES = Object.keys(LOOPS).flatMap((name) => FAULTS.map((each) => [name, each] as const));

test.for(CASES)("%s, %s: the same with us and without us", async ([name, each]) => {
  fault = each;
  const loop = LOOPS[name] as Loop;
  const without = await row(loop, false);
  expect(await row(loop, true)).toEqual(without);
  await expect.poll(async () => (await sidecar.list()).streams).toEqual([]);
});
