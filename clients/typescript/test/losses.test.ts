// An answer never passes uncleaned without a word: `onLost`, or else one warning, or the request
// fails, as the host wants; alike in sidecarFetch and in the middleware.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText, wrapLanguageModel } from "ai";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { sidecarMiddleware, type MiddlewareOptions } from "../src/adapters/ai-sdk.js";
import { MOST_WHOLE } from "../src/adapters/endpoints.js";
import { sidecarFetch, type SidecarFetchOptions } from "../src/adapters/fetch.js";
import { Sidecar } from "../src/index.js";
import { fake, REAL } from "./support.js";

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(() => sidecar.shutdown());

const LEAKING = "<think>why</think>Because.";
const CHUNK = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
const CHAT = [
  { ...CHUNK, choices: [{ index: 0, delta: { role: "assistant", content: LEAKING }, finish_reason: null }] },
  { ...CHUNK, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
];
const STREAM = CHAT.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("");
const message = { role: "assistant", content: LEAKING };
const WHOLE = JSON.stringify({ ...CHUNK, choices: [{ index: 0, message, finish_reason: "stop" }] });
const URL = "https://x/v1/chat/completions";

/** A provider that leaks; `sent`: how many requests it got. */
function leaking(types: Readonly<Record<string, string>> = {}) {
  const sent = { count: 0 };
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    sent.count += 1;
    const isStream = (JSON.parse(String(init?.body)) as { stream?: boolean }).stream === true;
    const [body, type] = isStream ? [STREAM, "text/event-stream"] : [WHOLE, "application/json"];
    return new Response(body, { headers: { "content-type": types[type] ?? type } });
  };
  return { sent, fetch };
}

type Options = Pick<SidecarFetchOptions & MiddlewareOptions, "unavailable" | "onLost">;
type Way = (sidecar: Sidecar, fetch: typeof globalThis.fetch, options: Options) => Promise<string>;

const post = (stream: boolean) => ({ method: "POST", body: JSON.stringify({ model: "m", stream }) });
const wrapped = (of: Sidecar, fetch: typeof globalThis.fetch, options: Options) =>
  wrapLanguageModel({
    model: createOpenAICompatible({ name: "local", baseURL: "https://x/v1", apiKey: "k", fetch })("m"),
    middleware: sidecarMiddleware(of, options),
  });
const ASKED = { prompt: "?", maxRetries: 0 };
const WAYS: Readonly<Record<string, Way>> = {
  "sidecarFetch, streamed": async (of, fetch, options) =>
    (await sidecarFetch(of, { ...options, fetch })(URL, post(true))).text(),
  "sidecarFetch, whole": async (of, fetch, options) =>
    (await sidecarFetch(of, { ...options, fetch })(URL, post(false))).text(),
  "the middleware, streamed": async (of, fetch, options) => {
    const errors: unknown[] = [];
    const onError = ({ error }: { error: unknown }) => void errors.push(error);
    let text = "";
    const { fullStream } = streamText({ ...ASKED, model: wrapped(of, fetch, options), onError });
    for await (const part of fullStream) text += part.type === "text-delta" ? part.text : "";
    if (errors.length > 0) throw errors[0];
    return text;
  },
  "the middleware, whole": async (of, fetch, options) =>
    (await generateText({ ...ASKED, model: wrapped(of, fetch, options) })).text,
};

const missing = (onWarning?: (message: string) => void) =>
  Sidecar.create({ command: "/does/not/exist", ...(onWarning && { onWarning }) });
/** A sidecar that opens a stream, ends at its first push, and never answers a request without a stream. */
const breaking = (onWarning: (message: string) => void) =>
  Sidecar.create({ ...fake("ends-at-push", "emits"), restarts: { max: 1, delayMs: 0 }, batchTimeoutMs: 50, onWarning });

test.for(Object.entries(WAYS))("%s: an answer passes with one warning, or with onLost", async ([, way]) => {
  for (const made of [missing, breaking]) {
    const warnings: string[] = [];
    const of = made((each) => warnings.push(each));
    expect(await way(of, leaking().fetch, {})).toContain(LEAKING);
    expect(warnings.filter((each) => each.includes("pass uncleaned"))).toHaveLength(1);
    const lost: unknown[] = [];
    await way(
      made((each) => warnings.push(each)),
      leaking().fetch,
      { onLost: (error) => lost.push(error) },
    );
    expect(lost.length).toBeGreaterThan(0);
    expect(warnings).toHaveLength(1);
    await of.shutdown();
  }
});

test.for(Object.entries(WAYS))("%s: with `throw` the request fails, and is not sent", async ([, way]) => {
  const { sent, fetch } = leaking();
  await expect(way(missing(), fetch, { unavailable: "throw" })).rejects.toMatchObject({ kind: "sidecar-unavailable" });
  expect(sent.count).toBe(0);
  const of = breaking(() => {});
  await expect(way(of, fetch, { unavailable: "throw" })).rejects.toThrow();
  await of.shutdown();
});

test("one client warns once, in the console", async () => {
  const logged = vi.spyOn(console, "warn").mockImplementation(() => {});
  try {
    const fetch = sidecarFetch(missing(), { fetch: leaking().fetch });
    for (let turn = 0; turn < 3; turn++) await (await fetch(URL, post(true))).text();
    expect(logged.mock.calls.map(String)).toEqual([expect.stringContaining("answers or requests pass uncleaned")]);
  } finally {
    logged.mockRestore();
  }
});

test("types of content are compared without case", async () => {
  const types = { "text/event-stream": "Text/Event-Stream; Charset=UTF-8", "application/json": "Application/JSON" };
  const fetch = sidecarFetch(sidecar, { fetch: leaking(types).fetch });
  for (const isStream of [true, false])
    expect(await (await fetch(URL, post(isStream))).text()).not.toContain("<think>");
});

test("a response of another type passes, with a word", async () => {
  const lost: unknown[] = [];
  const { fetch } = leaking({ "text/event-stream": "text/plain" });
  const cleaning = sidecarFetch(sidecar, { fetch, prepare: false, onLost: (error) => lost.push(error) });
  expect(await (await cleaning(URL, post(true))).text()).toBe(STREAM);
  expect(lost.map(String)).toEqual([expect.stringContaining('"text/plain" is not read')]);
});

test("a body of more than 32 MiB is not gathered, and passes with a word", async () => {
  const lost: unknown[] = [];
  const slice = new TextEncoder().encode("[1,".padEnd(1 << 20));
  let [pulls, most] = [0, 0];
  const body = () =>
    new ReadableStream<Uint8Array>({
      pull: (controller) => (++pulls > 40 ? controller.close() : controller.enqueue(slice)),
    });
  const give = async () => new Response(body(), { headers: { "content-type": "application/json" } });
  const fetch = sidecarFetch(sidecar, { fetch: give, onLost: (error) => lost.push(error) });
  const reader = (await fetch(URL, post(false))).body?.getReader();
  let size = 0;
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    most ||= pulls;
    size += read.value.length;
  }
  expect([size, lost.map(String)]).toEqual([40 << 20, ["SidecarError: a body has more than 32 MiB"]]);
  expect(most).toBeLessThanOrEqual((MOST_WHOLE >> 20) + 2);
});

test("an event above the sidecar's limit goes out as it came, and so does the finish after it", async () => {
  const image = "A".repeat(9 << 20);
  const parts = [{ inlineData: { mimeType: "image/png", data: image } }];
  const documents = [
    { candidates: [{ index: 0, content: { role: "model", parts: [{ text: LEAKING }] } }] },
    { candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }] },
  ];
  const body = documents.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("");
  const give = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
  const fetch = sidecarFetch(sidecar, { fetch: give });
  const url = "https://x/v1beta/models/gemini-3-pro-image:streamGenerateContent?alt=sse";
  const text = await (await fetch(url, { method: "POST", body: "{}" })).text();
  const events = text.split("\n\n").filter((each) => each.startsWith("data: "));
  expect(JSON.parse((events.at(-1) ?? "").slice(6))).toEqual(documents[1]);
  expect(text).not.toContain("<think>");
});

test("text in a document above the sidecar's limit goes out as it came, with a word", async () => {
  const of = await Sidecar.spawn({ ...REAL, limits: { maxDocumentChars: 40 } });
  for (const isStream of [true, false]) {
    const lost: unknown[] = [];
    const fetch = sidecarFetch(of, { fetch: leaking().fetch, prepare: false, onLost: (error) => lost.push(error) });
    expect(await (await fetch(URL, post(isStream))).text()).toContain(LEAKING);
    expect(lost).toEqual([expect.objectContaining({ kind: "unsupported" })]);
  }
  await of.shutdown();
});

test("a connection that breaks after a removal is no document of the body", async () => {
  const documents = [
    { type: "message_start", message: { id: "m", role: "assistant", content: [], usage: {} } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: LEAKING } },
  ];
  const slices = documents.map((each) => new TextEncoder().encode(`data: ${JSON.stringify(each)}\n\n`));
  const cut = new Error("cut");
  const body = () =>
    new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const slice = slices.shift();
        if (slice) controller.enqueue(slice);
        else controller.error(cut);
      },
    });
  const give = async () => new Response(body(), { headers: { "content-type": "text/event-stream" } });
  const fetch = sidecarFetch(sidecar, { fetch: give });
  const reader = (await fetch("https://x/v1/messages", post(true))).body?.getReader();
  let text = "";
  const read = async () => {
    for (let slice = await reader?.read(); slice && !slice.done; slice = await reader?.read())
      text += new TextDecoder().decode(slice.value);
  };
  await expect(read()).rejects.toBe(cut);
  expect(text).toContain("Because.");
  expect(text).not.toContain('"error"');
});

test("options that are wrong are refused where they are given", () => {
  const wrong = (options: object) => [() => sidecarFetch(sidecar, options), () => sidecarMiddleware(sidecar, options)];
  for (const options of [{ policcy: {} }, { policy: "x" }, { policy: { toolResult: {} } }, { unavailable: "no" }]) {
    for (const make of wrong(options)) expect(make).toThrow(TypeError);
  }
  expect(() => sidecarFetch(sidecar, { claims: "data" } as object)).toThrow('claims must be "drop"');
  expect(() => sidecarMiddleware(sidecar, { claims: "text" } as object)).toThrow("claims must be");
});
