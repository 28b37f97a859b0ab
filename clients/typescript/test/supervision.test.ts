// Starts, restarts and ends: on demand, not too often, and without leaving a process.

import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";
import { expect, test } from "vitest";
import {
  ConnectionLost,
  Sidecar,
  SidecarClosed,
  SidecarUnavailable,
  StreamLost,
  type RpcConnection,
  type SidecarState,
} from "../src/index.js";
import { SidecarProcess } from "../src/process/process.js";
import { collect, crash, fake, isAlive, REAL, rejection, timeless, UNDAUNTED, until } from "./support.js";

test("nothing runs before it is needed", async () => {
  await using sidecar = Sidecar.create(REAL);
  expect(sidecar.pid).toBeUndefined();
  const [one, other] = await Promise.all([sidecar.stats(), sidecar.start()]);
  expect(one.streams.open).toBe(0);
  expect(other?.protocolVersion).toBe(1);
  expect(isAlive(sidecar.pid as number)).toBe(true);
});

test("all that ask at once get one process", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "sidecar-")), "starts");
  await using sidecar = Sidecar.create({ ...fake("counted", file), ...UNDAUNTED });
  await Promise.all([sidecar.start(), sidecar.openStream(), sidecar.openStream(), sidecar.start()]);
  expect(readFileSync(file, "utf8")).toBe("x");
  await crash(sidecar);
  await Promise.all([sidecar.openStream(), sidecar.start()]);
  expect(readFileSync(file, "utf8")).toBe("xx");
});

test("a request that was under way is asked once more", async () => {
  await using sidecar = await Sidecar.spawn({ ...REAL, ...UNDAUNTED });
  const { pid } = sidecar;
  const asked = sidecar.normalize({ wire: "text", body: "<think>a</think>b" });
  process.kill(pid as number, "SIGKILL");
  expect((await asked).message.text).toBe("b");
  expect(sidecar.pid).not.toBe(pid);
});

test.each([
  [4, 2],
  [12, 4],
])("of %i restarts a request gets a quarter: it is asked %i times", async (max, asked) => {
  const file = join(mkdtempSync(join(tmpdir(), "sidecar-")), "requests");
  const command = fake("ends-at-requests", file);
  await using sidecar = await Sidecar.spawn({ ...command, restarts: { max, delayMs: 0 } });
  const answer = sidecar.normalize({ wire: "text", body: "" });
  if (asked > 3) expect((await answer).events).toEqual([]);
  else expect(await rejection(answer)).toBeInstanceOf(ConnectionLost);
  expect(readFileSync(file, "utf8")).toHaveLength(asked);
});

test.skipIf(process.platform === "win32")("a hang costs no stream", () =>
  timeless(async (pass) => {
    await using sidecar = await Sidecar.spawn({ ...REAL, ...UNDAUNTED, requestTimeoutMs: 2_000 });
    const { pid } = sidecar;
    const streams = await Promise.all(["text", "text"].map(() => sidecar.openStream({ wire: "text" })));
    for (const stream of streams) await stream.push("<think>a");
    process.kill(pid as number, "SIGSTOP");
    const pushed = Promise.all(streams.map((stream) => stream.push("</think>b")));
    await pass(2_000);
    for (const events of await pushed) {
      expect(events).toMatchObject([
        { type: "block-end", seq: 2 },
        { type: "text-delta", seq: 3, text: "b" },
      ]);
    }
    expect(isAlive(pid as number)).toBe(false);
  }),
);

test("a kill while it starts again is one more failure, and costs no stream", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "sidecar-")), "starts");
  await using sidecar = await Sidecar.spawn({ ...fake("ends-at-next-starts", file), ...UNDAUNTED });
  const stream = await sidecar.openStream();
  await stream.push("x");
  await crash(sidecar);
  expect(await stream.push("y")).toMatchObject([{ type: "text-delta", seq: 2 }]);
  expect(readFileSync(file, "utf8")).toBe("xxxx");
});

test("failed starts use up the restarts, and then the stream is lost", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "sidecar-")), "starts");
  const restarts = { max: 2, delayMs: 0 };
  await using sidecar = await Sidecar.spawn({ ...fake("ends-at-next-starts", file), restarts });
  const stream = await sidecar.openStream();
  await stream.push("x");
  await crash(sidecar);
  const error = await rejection(stream.push("y"));
  expect(error).toMatchObject({ reason: "unavailable", cause: { kind: "sidecar-unavailable" } });
  expect(readFileSync(file, "utf8")).toBe("xxx");
});

test("not more than so many restarts", async () => {
  await using sidecar = await Sidecar.spawn({ ...REAL, restarts: { max: 2, delayMs: 0 } });
  const stream = await sidecar.openStream({ wire: "text" });
  await stream.push("a");
  for (const text of ["b", "c"]) {
    await crash(sidecar);
    expect(await stream.push(text)).toMatchObject([{ type: "text-delta", text }]);
  }
  await crash(sidecar);
  const error = await rejection(stream.push("d"));
  expect(error).toBeInstanceOf(StreamLost);
  expect(error).toMatchObject({ reason: "unavailable", cause: { kind: "sidecar-unavailable" } });
  expect(error.message).toContain("SIGKILL");
  expect(sidecar.keptBytes).toBe(0);
  expect(await rejection(sidecar.openStream())).toBeInstanceOf(SidecarUnavailable);
});

test("a stream that always crashes its process does not do so for ever", async () => {
  const sidecar = Sidecar.create({ ...fake("ends-at-push"), restarts: { max: 3, windowMs: 0, delayMs: 0 } });
  let losses = 0;
  const stream = await sidecar.openStream();
  const error = await rejection(stream.push("x").finally(() => (losses += 1)));
  expect(error).toMatchObject({ kind: "stream-lost", reason: "crashing", cause: { exitCode: 7 } });
  expect(losses).toBe(1);
  await sidecar.shutdown();
});

test("more than is kept", async () => {
  await using sidecar = await Sidecar.spawn({
    ...REAL,
    ...UNDAUNTED,
    replay: { maxStreamBytes: 1_000, maxBytes: 1_800 },
  });
  const [large, small, third] = await Promise.all(
    ["text", "text", "text"].map(() => sidecar.openStream({ wire: "text" })),
  );
  await large?.push("x".repeat(1_000));
  await small?.push("y".repeat(400));
  expect(sidecar.keptBytes).toBe(864);
  await third?.push("z".repeat(500)); // too much for all together
  expect(sidecar.keptBytes).toBe(864);
  await crash(sidecar);
  expect(await rejection(large?.push("x") ?? Promise.resolve())).toMatchObject({ reason: "replay-limit" });
  expect(await rejection(third?.close() ?? Promise.resolve())).toMatchObject({ reason: "replay-limit" });
  expect((await small?.close())?.message.text).toBe("y".repeat(400));
  expect(sidecar.keptBytes).toBe(0);
});

test("a replay that gives something else", async () => {
  await using sidecar = await Sidecar.spawn({ ...fake("forgetful"), ...UNDAUNTED });
  const stream = await sidecar.openStream();
  await stream.push("x");
  await crash(sidecar);
  expect(await rejection(stream.push("y"))).toMatchObject({ kind: "stream-lost", reason: "diverged" });
});

test("shutdown ends the process, and everything after it is refused", async () => {
  const sidecar = await Sidecar.spawn(REAL);
  const { pid } = sidecar;
  const stream = await sidecar.openStream();
  await sidecar.shutdown();
  expect(isAlive(pid as number)).toBe(false);
  expect(await rejection(sidecar.stats())).toBeInstanceOf(SidecarClosed);
  expect(await rejection(stream.push("x"))).toBeInstanceOf(SidecarClosed);
  await sidecar.shutdown();
});

test("shutdown of one that does not want to", async () => {
  const sidecar = await Sidecar.spawn({ ...fake("deaf-to-shutdown"), shutdownTimeoutMs: 100 });
  const { pid } = sidecar;
  await sidecar.shutdown();
  expect(isAlive(pid as number)).toBe(false);
});

test.skipIf(process.platform === "win32")("what a wrapper has started ends with it", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "sidecar-")), "pid");
  const sidecar = await Sidecar.spawn({ ...fake("wrapper", file), shutdownTimeoutMs: 100 });
  const child = Number(readFileSync(file, "utf8"));
  expect(isAlive(child)).toBe(true);
  await sidecar.shutdown();
  await until(() => !isAlive(child));
});

/** A host's own language client: it restarts its server, and stays the same object. */
class Host implements RpcConnection {
  process = new SidecarProcess(REAL.command, REAL);
  #connection = this.#connect();
  initializeResult: unknown;

  async start(): Promise<this> {
    this.initializeResult = await this.#connection.sendRequest("initialize", { capabilities: {} });
    return this;
  }

  async restart(): Promise<void> {
    this.process.kill();
    await this.process.ended;
    this.#connection.dispose();
    this.process = new SidecarProcess(REAL.command, REAL);
    this.#connection = this.#connect();
    await this.start();
  }

  sendRequest(method: string, params: unknown): Promise<unknown> {
    return this.#connection.sendRequest(method, params);
  }

  #connect() {
    const { stdout, stdin } = this.process;
    const connection = createMessageConnection(new StreamMessageReader(stdout), new StreamMessageWriter(stdin));
    connection.listen();
    return connection;
  }
}

test("a connection that the host has already", async () => {
  const host = await new Host().start();
  const sidecar = Sidecar.fromConnection(host, { initializeResult: host.initializeResult, ...UNDAUNTED });
  expect((await sidecar.start())?.protocolVersion).toBe(1);
  expect(sidecar.pid).toBeUndefined();
  const stream = await sidecar.openStream({ wire: "text" });
  const before = await stream.push("<think>a</think>b");
  await host.restart();
  const after = await collect(stream.pipe([" c"]));
  expect([...before, ...after].map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
  expect((await stream.close()).message).toMatchObject({ text: "b c", reasoning: "a" });
  await sidecar.shutdown();
  expect(isAlive(host.process.pid as number)).toBe(true);
  host.process.kill();
  await host.process.ended;
});

test("a dead connection of the host is not a crash", async () => {
  const host = await new Host().start();
  const states: SidecarState[] = [];
  const restarts = { delayMs: 1_000_000 };
  const sidecar = Sidecar.fromConnection(host, { restarts, onState: (state) => states.push(state) });
  const stream = await sidecar.openStream({ wire: "text" });
  await stream.push("a");
  host.process.kill();
  await host.process.ended;
  expect(await rejection(stream.push("b"))).toMatchObject({ kind: "stream-lost", reason: "unavailable" });
  expect(await rejection(sidecar.openStream())).toMatchObject({ kind: "connection-lost", isFinal: true });
  expect(await rejection(sidecar.list())).toMatchObject({ kind: "connection-lost", isFinal: true });
  expect(states.slice(0, 3)).toEqual(["starting", "running", "lost"]);
});

test("a connection of the host without any answer", async () => {
  const sendRequest = () => Promise.reject(new Error("nobody is there"));
  const sidecar = Sidecar.fromConnection({ sendRequest });
  expect(await rejection(sidecar.openStream())).toMatchObject({ kind: "connection-lost", isFinal: true });
});

test("a stream that expired", async () => {
  await using sidecar = await Sidecar.spawn({ ...REAL, limits: { idleTimeoutMs: 500 } });
  const stream = await sidecar.openStream({ wire: "text" });
  await stream.push("<think>a");
  while ((await sidecar.request("stream/list", {})).streams.length > 0);
  expect(await stream.push("</think>b")).toMatchObject([
    { type: "block-end", seq: 2 },
    { type: "text-delta", text: "b" },
  ]);
  expect((await stream.close()).stats.pushes).toBe(2);
});

test("the id of a call is the same in a replay", async () => {
  await using sidecar = await Sidecar.spawn({ ...REAL, limits: { idleTimeoutMs: 500 } });
  const stream = await sidecar.openStream({ wire: "openai-chat" });
  const called = (call: object) =>
    stream.push({ choices: [{ delta: { tool_calls: [{ index: 0, function: call }] } }] });
  const [begun] = await called({ name: "f", arguments: '{"a":' });
  if (begun?.type !== "tool-call-delta") throw new TypeError(begun?.type);
  while ((await sidecar.request("stream/list", {})).streams.length > 0);
  await called({ arguments: "1}" });
  expect((await stream.close()).message.toolCalls[0]).toMatchObject({
    toolCallId: begun.toolCallId,
    idSynthetic: true,
  });
});

test("a value that JSON cannot represent is the caller's mistake, and ends nothing", async () => {
  await using sidecar = await Sidecar.spawn(REAL);
  const { pid } = sidecar;
  expect(await rejection(sidecar.normalize({ body: 1n }))).toBeInstanceOf(TypeError);
  const stream = await sidecar.openStream();
  expect(await rejection(stream.push(1n))).toBeInstanceOf(TypeError);
  expect(await rejection(stream.push(() => {}))).toBeInstanceOf(TypeError);
  await stream.push({ text: undefined });
  expect(sidecar.pid).toBe(pid);
});
