// What a host does beside the protocol: listeners that throw, restarts by hand, streams that are
// stopped while the sidecar hangs, wrong sources, cancellation tokens.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { CancellationTokenSource } from "vscode-jsonrpc";
import { sidecarMiddleware } from "../src/adapters/ai-sdk.js";
import { sidecarFetch } from "../src/adapters/fetch.js";
import { GaveUp, Sidecar, SidecarUnavailable, StreamInUse, type SidecarState, type Source } from "../src/index.js";
import { collect, crash, fake, REAL, rejection, timeless, UNDAUNTED, until } from "./support.js";

const text = { wire: "text" } as const;
const broken = (): never => {
  throw new Error("Channel has been closed");
};

test("listeners that throw are logged, and nothing else happens", async () => {
  const warnings: string[] = [];
  const listeners = { onLost: broken, onState: broken, onStderr: broken };
  const onWarning = (message: string) => warnings.push(message);
  await using sidecar = await Sidecar.spawn({ ...REAL, ...UNDAUNTED, ...listeners, logLevel: "debug", onWarning });
  sidecar.onState(broken);
  const stream = await sidecar.openStream(text);
  await stream.push("<think>a");
  await crash(sidecar);
  expect(await stream.push("</think>b")).toMatchObject([{ type: "block-end" }, { type: "text-delta", text: "b" }]);
  await stream.close();
  const emitted = await sidecar.openStream({ ...text, emit: { wire: "openai-chat" } });
  expect((await collect(emitted.pipeChunks(["Hi"], broken))).length).toBeGreaterThan(0);
  for (const name of ["onLost", "onState", "onEvent"]) expect(warnings.join()).toContain(`the listener ${name} threw`);
  expect(new Set(warnings).size).toBe(warnings.length);
});

test("a listener that rejects is logged, and so is a warning that nobody hears", async () => {
  const logged = vi.spyOn(console, "warn").mockImplementation(() => {});
  try {
    const onState = async () => broken();
    await using sidecar = await Sidecar.spawn({ ...fake("good"), onState, onWarning: broken });
    await sidecar.openStream();
    expect(logged.mock.calls.map(String).join()).toContain("the listener onState threw: Error: Channel");
  } finally {
    logged.mockRestore();
  }
});

test("states are listened to from any moment on, and until they are no longer wanted", async () => {
  const states: SidecarState[] = [];
  const sidecar = await Sidecar.spawn(REAL);
  const subscription = sidecar.onState((state) => states.push(state));
  await sidecar.restart();
  subscription.dispose();
  await sidecar.restart();
  {
    using _ = sidecar.onState((state) => states.push(state));
    await sidecar.shutdown();
  }
  expect(states).toEqual(["restarting", "running", "lost"]);
});

test("a restart by hand always starts, and the error before says when the next one is due", async () => {
  await using sidecar = await Sidecar.spawn({ ...REAL, restarts: { max: 0 } });
  await crash(sidecar);
  const error = await rejection(sidecar.stats());
  expect(error).toBeInstanceOf(GaveUp);
  expect(error).toBeInstanceOf(SidecarUnavailable);
  const { retryAfterMs, message } = error as GaveUp;
  expect(retryAfterMs).toBeGreaterThan(0);
  expect(retryAfterMs).toBeLessThanOrEqual(180_000);
  expect(message).toMatch(/next start is in \d+ s, unless restart\(\) is called; .*SIGKILL/);
  await sidecar.restart();
  expect((await sidecar.stats()).streams.open).toBe(0);
});

test("a restart by hand does not wait for the delay of an automatic one", async () => {
  await using sidecar = await Sidecar.spawn({ ...REAL, restarts: { delayMs: 3_600_000 } });
  await crash(sidecar);
  const waiting = sidecar.stats();
  await until(() => sidecar.state === "restarting");
  await sidecar.restart();
  expect((await waiting).streams.open).toBe(0);
});

test("a pipe whose source stalls ends when its stream is cancelled", async () => {
  await using sidecar = await Sidecar.spawn(REAL);
  const stream = await sidecar.openStream(text);
  let isStopped = false;
  const source: Source = {
    getReader: () => ({ read: () => new Promise(() => {}), cancel: async () => void (isStopped = true) }),
  };
  const ended = rejection(collect(stream.pipe(source)));
  await stream.cancel();
  expect(await ended).toMatchObject({ kind: "stream-closed" });
  expect(isStopped).toBe(true);
});

test("a stream of a sidecar that hangs is cancelled at once", () =>
  timeless(async (pass) => {
    const sidecar = await Sidecar.spawn({ ...fake("hangs"), shutdownTimeoutMs: 50 });
    const stream = await sidecar.openStream();
    const pushed = rejection(stream.push("a"));
    const cancelled = rejection(stream.cancel());
    await pass(500); // the sidecar may take 30 s
    expect(await cancelled).toMatchObject({ kind: "request-timeout", method: "stream/close" });
    process.kill(sidecar.pid as number, "SIGKILL");
    const ended = sidecar.shutdown();
    await Promise.all([pushed, ended]);
  }));

test("a time limit of the AI SDK is not waited for by a sidecar that hangs", () =>
  timeless(async (pass) => {
    const sidecar = await Sidecar.spawn({ ...fake("hangs"), shutdownTimeoutMs: 50 });
    const limit = new AbortController();
    const { wrapStream } = sidecarMiddleware(sidecar);
    const chunks = [{ type: "raw", rawValue: { choices: [] } }];
    const stream = new ReadableStream({ start: (each) => chunks.forEach((chunk) => each.enqueue(chunk)) });
    const model = { provider: "openai.chat", modelId: "m" } as never;
    const asked = { doStream: async () => ({ stream }), params: { abortSignal: limit.signal }, model };
    const read = rejection((await wrapStream(asked)).stream.getReader().read());
    await until(() => sidecar.stderr.includes("hangs"));
    limit.abort(new DOMException("The time is over", "TimeoutError"));
    await pass(500); // the sidecar may take 30 s
    expect(await read).toMatchObject({ name: "TimeoutError" });
    process.kill(sidecar.pid as number, "SIGKILL");
    await sidecar.shutdown();
  }));

test("a working directory that is missing is named", async () => {
  const cwd = join(mkdtempSync(join(tmpdir(), "sidecar-")), "gone");
  const error = await rejection(Sidecar.spawn({ ...REAL, cwd }));
  expect(error).toBeInstanceOf(SidecarUnavailable);
  expect(error.message).toContain(`cwd names no folder: ${cwd}`);
});

const NO_SOURCES = [undefined, null, 42, {}, new Response("x"), Promise.resolve([])];

test("what is no source is said, and leaves no stream open", async () => {
  await using sidecar = await Sidecar.spawn(REAL);
  for (const source of NO_SOURCES) {
    const stream = await sidecar.openStream(text);
    const error = await rejection(collect(stream.pipe(source as unknown as Source)));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain("a source of chunks is an iterable or a ReadableStream, not ");
    expect((await stream.close()).message.finish).toMatchObject({ reason: "cancelled" });
  }
  expect((await sidecar.list()).streams).toEqual([]);
});

test("text, bytes, and a stream that cannot be iterated over are sources", async () => {
  await using sidecar = await Sidecar.spawn(REAL);
  const stream = () => new Response("<think>a</think>b").body as ReadableStream<Uint8Array>;
  const reader = () => ({ getReader: () => stream().getReader() });
  for (const source of ["<think>a</think>b", new TextEncoder().encode("<think>a</think>b"), stream(), reader()]) {
    const opened = await sidecar.openStream(text);
    await collect(opened.pipe(source));
    expect((await opened.close()).message).toMatchObject({ text: "b", reasoning: "a" });
  }
});

test("a second pipe is refused, and the first goes on", async () => {
  await using sidecar = await Sidecar.spawn(REAL);
  const stream = await sidecar.openStream(text);
  const [first, second] = await Promise.allSettled([collect(stream.pipe(["a"])), collect(stream.pipe(["b"]))]);
  expect(first.status).toBe("fulfilled");
  expect((second as PromiseRejectedResult).reason).toBeInstanceOf(StreamInUse);
  expect((await stream.close()).message.text).toBe("a");
});

test("a cancellation token is a signal", async () => {
  await using sidecar = await Sidecar.spawn(REAL);
  const source = new CancellationTokenSource();
  const stream = await sidecar.openStream(text, { signal: source.token });
  await stream.push("a", { signal: source.token });
  source.cancel();
  expect(await rejection(stream.push("b"))).toMatchObject({ name: "AbortError" });
  expect((await stream.close()).message).toMatchObject({ text: "a", finish: { reason: "cancelled" } });
  expect(await rejection(sidecar.stats({ signal: source.token }))).toMatchObject({ name: "AbortError" });
});

test("a warning that rejects, and an error without a text, are logged", async () => {
  const logged = vi.spyOn(console, "warn").mockImplementation(() => {});
  try {
    const onState = () => {
      throw Object.create(null);
    };
    await using sidecar = await Sidecar.spawn({ ...fake("good"), onState, onWarning: async () => broken() });
    await sidecar.openStream();
    expect(logged.mock.calls.map(String).join()).toContain("the listener onState threw: object");
  } finally {
    logged.mockRestore();
  }
});

test("what is no sidecar is refused", () => {
  for (const make of [sidecarFetch, sidecarMiddleware] as ((sidecar: never) => unknown)[]) {
    expect(() => make(undefined as never)).toThrow("must be a Sidecar, not undefined");
    expect(() => make(Promise.resolve() as never)).toThrow("must be a Sidecar, not an object: await the promise");
  }
});

test("what is no listener is refused", () => {
  expect(() => Sidecar.create(REAL).onState(undefined as never)).toThrow("listener must be a function");
});

test("documents of a stream that emits none are an error, and no stream stays open", async () => {
  await using sidecar = await Sidecar.spawn(REAL);
  for (const method of ["pipeChunks", "emit"] as const) {
    const stream = await sidecar.openStream(text);
    const error = await rejection(collect<unknown>(stream[method](["Hi"])));
    expect(error).toMatchObject({ kind: "unsupported", message: expect.stringContaining("opened without emit") });
  }
  await expect.poll(async () => (await sidecar.list()).streams).toEqual([]);
});

test("an infinite limit is no limit in the sidecar, too", async () => {
  const limits = { maxDocumentChars: Infinity, maxHeldChars: Infinity, idleTimeoutMs: Infinity };
  await using sidecar = await Sidecar.spawn({ ...REAL, limits });
  const { opened } = await sidecar.openStream(text);
  expect(opened.limits).toMatchObject({ maxDocumentChars: Number.MAX_SAFE_INTEGER });
});

test("options of a call that have no effect are refused", async () => {
  await using sidecar = await Sidecar.spawn(REAL);
  const { signal } = new AbortController();
  const { token } = new CancellationTokenSource();
  const stream = await sidecar.openStream(text);
  const wrong = [signal, token, { sgnal: signal }] as never[];
  for (const options of wrong) {
    const calls = [
      sidecar.openStream(text, options),
      sidecar.stats(options),
      stream.push("a", options),
      stream.close({}, options),
    ];
    for (const call of calls) expect(await rejection(call)).toBeInstanceOf(TypeError);
  }
  expect((await rejection(sidecar.stats(signal as never))).message).toContain("{ signal }, not the signal");
  expect(await rejection(stream.close({ reson: "error" } as never))).toBeInstanceOf(TypeError);
  const { message } = await stream.close();
  expect(message).toMatchObject({ text: "", finish: { reason: "stop" } });
});

test("an exception closes a stream with its words", async () => {
  await using sidecar = await Sidecar.spawn(REAL);
  const stream = await sidecar.openStream(text);
  const { message } = await stream.close({ error: new Error("read ECONNRESET") });
  expect(message.errors).toMatchObject([{ kind: "network", message: expect.stringContaining("ECONNRESET") }]);
});

test("text that passes without a sidecar gives one warning, however often and why it cannot be started", async () => {
  const warnings: string[] = [];
  const onWarning = (message: string) => warnings.push(message);
  await using sidecar = Sidecar.create({
    ...{ command: "/no/such/sidecar", passThrough: true, restarts: { max: 0 }, onWarning },
  });
  for (let count = 0; count < 3; count += 1) await (await sidecar.openStream(text)).close();
  expect(warnings).toEqual([expect.stringContaining("answers pass uncleaned")]);
});
