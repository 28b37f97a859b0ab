// The guarantees of a stream: order, all kinds of ends, bytes, and limits.

import { afterAll, beforeAll, expect, test } from "vitest";
import { QueueFull, RefusedError, Sidecar, StreamClosed, type PolicyPatch, type StreamEvent } from "../src/index.js";
import { collect, fake, REAL, rejection, turns, until } from "./support.js";

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(() => sidecar.shutdown());

const text = { wire: "text" } as const;
const typesOf = (events: readonly StreamEvent[]) => events.map(({ type }) => type);
const openStreams = async () => (await sidecar.list()).streams.length;

test("calls that do not wait for each other keep their order", async () => {
  const stream = await sidecar.openStream(text);
  const [first, second, snapshot, closed] = await Promise.all([
    stream.push("<thi"),
    stream.pushAll(["nk>a</th", "ink>b"]),
    stream.snapshot(),
    stream.close(),
  ]);
  expect(first).toEqual([]);
  expect(typesOf(second)).toEqual(["reasoning-delta", "block-end", "text-delta"]);
  expect(snapshot).toMatchObject({ lastSeq: 3, message: { text: "b", reasoning: "a" }, stats: { pushes: 2 } });
  expect(closed).toMatchObject({ streamId: stream.id, message: { text: "b" }, stats: { pushes: 2 } });
  expect(await stream.close({ reason: "error" })).toBe(closed);
  expect(await rejection(stream.push("c"))).toBeInstanceOf(StreamClosed);
  expect(await rejection(stream.snapshot())).toBeInstanceOf(StreamClosed);
  expect(await rejection(collect(stream.pipe(["c"])))).toBeInstanceOf(StreamClosed);
});

test("nothing pushed, nothing asked", async () => {
  await using stream = await sidecar.openStream(text);
  expect(await stream.pushAll([])).toEqual([]);
  expect((await stream.close()).stats.pushes).toBe(0);
});

test("a mistake of the host is reported, and ends nothing", async () => {
  const error = await rejection(sidecar.openStream({ wire: "telepathy" as never }));
  expect(error).toBeInstanceOf(RefusedError);
  expect(error).toMatchObject({ code: -32602, kind: "invalid-params", data: { path: "params.wire" } });
  await using stream = await sidecar.openStream({ ...text, streamId: "mine" });
  expect(stream.id).toBe("mine");
  expect(await rejection(sidecar.openStream({ streamId: "mine" }))).toMatchObject({ kind: "stream-exists" });
});

test("a close that was refused ends nothing", async () => {
  const { signal } = new AbortController();
  await using stream = await sidecar.openStream(text, { signal });
  await stream.push(new TextEncoder().encode("Hello, ö").slice(0, -1));
  for (const refused of [{ reason: "boredom" as never }, { error: { status: "429" as never } }]) {
    expect(await rejection(stream.close(refused))).toMatchObject({ kind: "invalid-params" });
  }
  const pushed = await stream.push(" again");
  expect(pushed.map((event) => (event.type === "text-delta" ? event.text : "")).join("")).toBe("\ufffd again");
  expect((await stream.close({ reason: "eof" })).message.text).toBe("Hello, \ufffd again");
});

test("a signal that aborts while a close is refused", async () => {
  const controller = new AbortController();
  const stream = await sidecar.openStream(text, { signal: controller.signal });
  const refused = rejection(stream.close({ reason: "boredom" as never }));
  controller.abort();
  expect(await refused).toMatchObject({ kind: "invalid-params" });
  expect((await stream.close()).message.finish).toMatchObject({ reason: "cancelled" });
});

test("the headers of a response that failed, in any shape", async () => {
  const fields = { "retry-after": "3" };
  for (const headers of [new Headers(fields), new Map(Object.entries(fields)), fields]) {
    const error = { status: 429, headers, body: "slow down" };
    const expected = { httpStatus: 429, retryAfterMs: 3000 };
    expect(await sidecar.normalizeError(error)).toMatchObject(expected);
    const stream = await sidecar.openStream({ wire: "openai-chat" });
    expect((await stream.close({ error })).message.errors).toMatchObject([expected]);
  }
});

test("await using closes", async () => {
  const before = await openStreams();
  {
    await using stream = await sidecar.openStream(text);
    await stream.push("a");
    expect(await openStreams()).toBe(before + 1);
  }
  expect(await openStreams()).toBe(before);
});

test("a consumer that leaves", async () => {
  let isReturned = false;
  async function* source() {
    try {
      for (;;) yield "a";
    } finally {
      isReturned = true;
    }
  }
  const stream = await sidecar.openStream(text);
  for await (const event of stream.pipe(source())) if (event.seq === 3) break;
  await until(() => isReturned);
  expect((await stream.close()).message.finish).toMatchObject({ reason: "cancelled" });
});

test("a signal", async () => {
  const controller = new AbortController();
  const stream = await sidecar.openStream(text, { signal: controller.signal });
  const reason = new Error("the user has seen enough");
  const events: StreamEvent[] = [];
  async function* source() {
    yield "half";
    await until(() => events.length > 0);
    controller.abort(reason);
    await new Promise(() => {}); // a network that hangs
  }
  const piping = (async () => {
    for await (const event of stream.pipe(source())) events.push(event);
  })();
  expect(await rejection(piping)).toBe(reason);
  expect(await rejection(stream.push("more"))).toBe(reason);
  const { message } = await stream.close();
  expect(message).toMatchObject({ text: "half", finish: { reason: "cancelled" } });
  expect(await rejection(sidecar.openStream(text, { signal: controller.signal }))).toBe(reason);
  const asked = sidecar.normalize({ body: "x" }, { signal: AbortSignal.abort(reason) });
  expect(await rejection(asked)).toBe(reason);
});

test("a source that fails", async () => {
  const failure = Object.assign(new TypeError("terminated"), { cause: { code: "ECONNRESET" } });
  async function* source() {
    yield "Some </thi";
    throw failure;
  }
  const stream = await sidecar.openStream(text);
  const events: StreamEvent[] = [];
  const piping = (async () => {
    for await (const event of stream.pipe(source())) events.push(event);
  })();
  expect(await rejection(piping)).toBe(failure);
  const joined = events.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
  expect(joined).toBe("Some </thi");
  const [error, finish] = events.slice(-2);
  const message = "terminated (ECONNRESET)";
  expect(error).toMatchObject({ type: "error", kind: "network", retryable: true, message });
  expect(finish).toMatchObject({ type: "finish", reason: "error" });
});

const BROKEN = [
  "error decoding response body", // reqwest
  "connection closed before message completed", // hyper
  "unexpected EOF", // Go
  "http2: client connection lost",
  "stream error: stream ID 1; INTERNAL_ERROR",
  "read tcp 10.0.0.2:51234->1.2.3.4:443: read: connection reset by peer",
  "peer closed connection without sending complete message body (incomplete chunked read)", // httpx
  "IncompleteRead(0 bytes read)", // requests
  "InvalidChunkLength(got length b'', 0 bytes read)", // urllib3
  "Response ended prematurely",
  "Response payload is not completed", // aiohttp
  "Server disconnected",
  "The network connection was lost.", // Safari
  "Load failed",
  "network error", // Chrome
  "Error in input stream", // Firefox
  "error reading a body from connection", // Deno
  "The socket connection was closed unexpectedly.", // Bun
  "terminated", // Node.js
  "other side closed",
  "Premature close",
];

test.for(BROKEN)("a transport that breaks off: %s", async (words) => {
  const stream = await sidecar.openStream({ wire: "openai-chat" });
  async function* source() {
    yield { choices: [{ index: 0, delta: { content: "Hel" } }] };
    throw new TypeError(words);
  }
  const errors: StreamEvent[] = [];
  const piping = (async () => {
    for await (const event of stream.pipe(source())) if (event.type === "error") errors.push(event);
  })();
  await rejection(piping);
  expect(errors).toMatchObject([{ kind: "network", retryable: true, message: words, phase: "mid-stream" }]);
});

test("a provider's error that an SDK throws", async () => {
  const stream = await sidecar.openStream({ wire: "openai-chat" });
  const body = { error: { message: "Rate limit reached", type: "rate_limit_error" } };
  async function* source() {
    yield { choices: [{ index: 0, delta: { content: "Hel" } }] };
    throw Object.assign(new Error("429"), { status: 429, error: body });
  }
  await rejection(
    (async () => {
      for await (const _ of stream.pipe(source()));
    })(),
  );
  const { message } = await stream.close();
  expect(message.errors).toMatchObject([{ kind: "rate-limit", httpStatus: 429, message: "Rate limit reached" }]);
});

const BODY = 'data: {"choices":[{"delta":{"content":"Grüße 🌿"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

test.for([1, 2, 3, 5, 64])("bytes in pieces of %i", async (size) => {
  const data = new TextEncoder().encode(BODY);
  const pieces = Array.from({ length: Math.ceil(data.length / size) }, (_, at) =>
    data.subarray(at * size, (at + 1) * size),
  );
  for (const encoding of ["utf-8", "base64"] as const) {
    await using stream = await sidecar.openStream({ encoding });
    await collect(stream.pipe(pieces));
    expect((await stream.close()).message.text).toBe("Grüße 🌿");
  }
});

test("the body of a response", async () => {
  await using stream = await sidecar.openStream({ wire: "openai-chat" });
  const { body } = new Response(BODY);
  await collect(stream.pipe(body as ReadableStream<Uint8Array>));
  expect((await stream.close()).message.text).toBe("Grüße 🌿");
});

test("bytes that end inside a character", async () => {
  await using stream = await sidecar.openStream(text);
  const events = await collect(stream.pipe([new Uint8Array([0x61, 0xf0, 0x9f])]));
  expect(events.map((event) => (event.type === "text-delta" ? event.text : "")).join("")).toBe("a\ufffd");
});

test("a chunk is as it was when it was handed over", async () => {
  await using stream = await sidecar.openStream({ wire: "openai-chat" });
  const delta = { content: "a" };
  const pushed = stream.push({ choices: [{ delta }] });
  await pushed;
  delta.content = "b";
  process.kill(sidecar.pid as number, "SIGKILL");
  expect((await stream.close()).message.text).toBe("a");
});

test("an absent chunk is null, which is a chunk", async () => {
  await using stream = await sidecar.openStream({ wire: "openai-chat" });
  expect(await stream.push(undefined)).toEqual(await (await sidecar.openStream({ wire: "openai-chat" })).push(null));
});

test("a consumer that stops stops the source", async () => {
  await using bounded = await Sidecar.spawn({ ...REAL, readAhead: { maxChunks: 8, maxBytes: 100_000 } });
  for (const [size, most] of [
    [1, 8],
    [25_000, 2],
  ] as const) {
    let pulled = 0;
    function* source() {
      for (;;) {
        pulled += 1;
        yield "x".repeat(size);
      }
    }
    await using stream = await bounded.openStream(text);
    const events = stream.pipe(source());
    for (let count = 0; count < 5; count++) await events.next();
    const before = pulled;
    await turns(200);
    expect(pulled - before).toBeLessThanOrEqual(most);
    // What was pulled is in an event that was taken, in the batch of it, or read ahead.
    expect(pulled).toBeLessThanOrEqual(5 + 2 * most + most);
    await events.return({} as never);
  }
});

test("a host that does not wait is stopped", async () => {
  const few = { maxQueuedRequests: 10, maxConcurrentRequests: 2, shutdownTimeoutMs: 50 };
  const hanging = () => Sidecar.spawn({ ...fake("hangs"), ...few });
  const full = (errors: readonly Error[]) => errors.filter((error) => error instanceof QueueFull);

  const pushed = await hanging();
  const stream = await pushed.openStream();
  const pushes = Promise.all(Array.from({ length: 14 }, () => rejection(stream.push("x"))));
  await pushed.shutdown(); // all waiting calls are rejected
  expect(full(await pushes)).toHaveLength(3);

  const asked = await hanging();
  const piped = await asked.openStream();
  const requests = Promise.all(Array.from({ length: 14 }, () => rejection(asked.normalize({ body: "x" }))));
  const patient = Promise.all([rejection(collect(piped.pipe(["x"]))), rejection(piped.close())]);
  await asked.shutdown();
  expect(full(await requests)).toHaveLength(2);
  expect(full(await patient)).toEqual([]);
});

test("single messages", async () => {
  const { message, events } = await sidecar.normalize({ wire: "text", body: "<think>a</think>b" });
  expect(message).toMatchObject({ text: "b", reasoning: "a" });
  expect(events.at(-1)?.type).toBe("finish");
  const { calls } = await sidecar.classify({ calls: [{ name: "read_file", arguments: "{}" }] });
  expect(calls).toMatchObject([{ type: "tool-call", name: "read_file", kind: "read" }]);
  expect(await sidecar.normalizeError({ status: 429, body: "slow" })).toMatchObject({
    kind: "rate-limit",
    retryable: true,
  });
});

test("stored messages", async () => {
  const messages = [{ role: "assistant", content: "<think>😀</think>b" }, null];
  const policy: PolicyPatch = { dialects: ["hermes"], toolCalls: { mode: "extract" } };
  const [inspected, untouched] = (await sidecar.inspect({ messages, policy })).results;
  expect(inspected).toMatchObject({ malformed: true, findings: [{ kind: "reasoning", end: 16, endUtf16: 17 }] });
  expect(untouched).toEqual({ malformed: false, findings: [] });
  const [repaired, same] = (await sidecar.repair({ messages, policy })).results;
  expect(repaired).toMatchObject({ changed: true, reasoning: "😀", message: { content: "b" } });
  expect(same).toMatchObject({ changed: false, message: null });
});

test("a batch may take longer than other requests", async () => {
  await using hanging = await Sidecar.spawn({ ...fake("hangs"), requestTimeoutMs: 1, batchTimeoutMs: 100 });
  const error = await rejection(hanging.normalize({ body: "x" }));
  expect(error).toMatchObject({ kind: "request-timeout", timeoutMs: 100 });
});

test("the clean body, slice by slice", async () => {
  const written = async (wire: "openai-chat" | "anthropic") => {
    const stream = await sidecar.openStream({ ...text, emit: { wire } });
    const body = Buffer.concat(await collect(stream.emit(["<think>é</th", "ink>Four."]))).toString();
    expect(body).not.toContain("think>");
    expect((await stream.close()).message).toMatchObject({ text: "Four.", reasoning: "é" });
    return body;
  };
  expect(await written("openai-chat")).toMatch(/^data: \{.*"reasoning_content":"é".*\n\ndata: \[DONE\]\n\n$/s);
  expect(await written("anthropic")).toMatch(/^event: message_start\ndata: \{.*event: message_stop\ndata: .*\n\n$/s);
});

test("a stream that the user stops", async () => {
  const stream = await sidecar.openStream(text);
  await stream.push("a");
  expect((await stream.cancel()).message.finish).toMatchObject({ reason: "cancelled", complete: false });
});
