// A sidecar that misbehaves gives a typed error within its timeout, and is ended.

import { expect, test } from "vitest";
import {
  ConnectionLost,
  RequestTimeout,
  Sidecar,
  SidecarUnavailable,
  StreamLost,
  UnsupportedProtocol,
  type SidecarOptions,
} from "../src/index.js";
import { collect, fake, isAlive, rejection, timeless, until } from "./support.js";

const once = { restarts: { max: 0, delayMs: 0 } } satisfies SidecarOptions;

test.for([
  ["junk-at-start", ConnectionLost, "ended with code 1: Traceback (most recent call last):"],
  ["flood", ConnectionLost, "it wrote"],
  ["ends-at-start", ConnectionLost, "ended with code 3: no module named sidecar"],
  ["ends-unread", ConnectionLost, "ended with code 4: no module named sidecar"],
] as const)("%s: cannot be started", async ([mode, cause, words]) => {
  expectUnavailable(await rejection(Sidecar.spawn(fake(mode))), mode, cause, words);
});

test.for(["hangs-at-start", "late-at-start"])("%s: cannot be started", (mode) =>
  timeless(async (pass) => {
    const started = rejection(Sidecar.spawn({ ...fake(mode), startTimeoutMs: 300 }));
    await pass(300);
    expectUnavailable(await started, mode, RequestTimeout, "no answer to initialize within 300 ms");
  }),
);

test("chatter: cannot be started", () =>
  timeless(async (pass) => {
    let log = "";
    const options = { ...fake("chatter"), startTimeoutMs: 300, onStderr: (text: string) => (log += text) };
    const started = rejection(Sidecar.spawn(options));
    await until(() => log.includes("Loading"));
    await pass(300);
    expectUnavailable(await started, "chatter", RequestTimeout, "within 300 ms; standard error: Loading the model ...");
  }));

type Cause = typeof ConnectionLost | typeof RequestTimeout;

function expectUnavailable(error: Error, mode: string, cause: Cause, words: string): void {
  expect(error).toBeInstanceOf(SidecarUnavailable);
  expect(error).toMatchObject({ kind: "sidecar-unavailable", retryable: true });
  const [attempt, ...more] = (error as SidecarUnavailable).attempts;
  expect(more).toEqual([]);
  expect(attempt?.error).toBeInstanceOf(cause);
  expect(attempt?.error.message).toContain(words);
  expect(attempt?.command).toEqual(fake(mode).command);
}

test("the first output of a wrapper is skipped, and logged", async () => {
  let log = "";
  await using sidecar = await Sidecar.spawn({ ...fake("said-before"), onStderr: (text) => (log += text) });
  expect(log).toBe("(base) activated\n");
  expect(sidecar.stderr).toBe(log);
});

test.for([
  ["version-2", [2]],
  ["refuses-version", [2, 3]],
  ["language-server", []],
] as const)("%s: another protocol", async ([mode, supported]) => {
  const error = await rejection(Sidecar.spawn({ ...fake(mode), passThrough: true }));
  expect(error).toBeInstanceOf(UnsupportedProtocol);
  expect(error).toMatchObject({ kind: "unsupported-version", supported });
});

test("a command that does not exist", async () => {
  const error = await rejection(Sidecar.spawn({ command: "/no/such/sidecar" }));
  expect(error).toBeInstanceOf(SidecarUnavailable);
  expect(error.message).toContain("/no/such/sidecar");
  expect(error.message).toContain("ENOENT");
});

test.for([
  ["junk-in-between", "does not speak the protocol"],
  ["endless-body", 'it wrote "Content-Length: 99999999999'],
  ["broken-json", "does not speak the protocol"],
  ["no-length", "does not speak the protocol"],
  ["ends-at-push", "ended with code 7"],
  ["closes-output", "ended"],
] as const)("%s: the stream is lost when no other process can be had", async ([mode, words]) => {
  const lost: ConnectionLost[] = [];
  const options = {
    ...fake(mode),
    ...once,
    onLost: (error: ConnectionLost) => lost.push(error),
  };
  await using sidecar = await Sidecar.spawn(options);
  const { pid } = sidecar;
  const stream = await sidecar.openStream();
  const error = await rejection(stream.push("x"));
  expect(error).toBeInstanceOf(StreamLost);
  expect(error).toMatchObject({ kind: "stream-lost", streamId: stream.id });
  expect(lost.map(({ message }) => message).join()).toContain(words);
  expect(await rejection(stream.push("y"))).toBe(error);
  expect(await rejection(stream.close())).toBe(error);
  expect(sidecar.keptBytes).toBe(0);
  await until(() => !isAlive(pid as number));
});

test.for(["hangs", "late"])("%s: the answer is given up, and the process with it", (mode) =>
  timeless(async (pass) => {
    const lost: ConnectionLost[] = [];
    const restarts = { max: 2, delayMs: 0, windowMs: 0 };
    const options = { ...fake(mode), requestTimeoutMs: 400, restarts };
    await using sidecar = await Sidecar.spawn({ ...options, onLost: (error) => lost.push(error) });
    const { pid } = sidecar;
    const stream = await sidecar.openStream();
    const pushed = rejection(stream.push("x"));
    for (let times = 0; times < 3; times++) {
      await until(() => sidecar.stderr.includes("hangs"));
      await pass(400);
    }
    const error = await pushed;
    expect(error).toMatchObject({
      kind: "stream-lost",
      reason: "crashing",
      cause: { cause: { method: "stream/push" } },
    });
    expect(lost.map(({ cause }) => (cause as RequestTimeout).timeoutMs)).toEqual([400, 400, 400]);
    await until(() => !isAlive(pid as number));
    const second = await sidecar.openStream();
    expect(second.opened.wire).toBe("text");
    expect(sidecar.pid).not.toBe(pid);
  }),
);

test("a request that belongs to no stream is not asked again when the process hangs", () =>
  timeless(async (pass) => {
    await using sidecar = await Sidecar.spawn({ ...fake("hangs"), batchTimeoutMs: 400 });
    const { pid } = sidecar;
    const asked = rejection(sidecar.normalize({ body: "x" }));
    await pass(400);
    const error = await asked;
    expect(error).toBeInstanceOf(RequestTimeout);
    expect(error).toMatchObject({ method: "message/normalize", timeoutMs: 400, retryable: true });
    await until(() => !isAlive(pid as number));
  }));

test("a caller in a hurry does not end a process that is busy", async () => {
  await using sidecar = await Sidecar.spawn(fake("hangs"));
  const { pid } = sidecar;
  expect(await rejection(sidecar.normalize({ body: "x" }, { timeoutMs: 20 }))).toBeInstanceOf(RequestTimeout);
  expect(sidecar.pid).toBe(pid);
});

test.for([
  ["seq-gap", "diverged"],
  ["closed", "closed"],
] as const)("%s: a stream that is not ours any more", async ([mode, reason]) => {
  await using sidecar = await Sidecar.spawn(fake(mode));
  const stream = await sidecar.openStream();
  expect(await rejection(stream.push("x"))).toMatchObject({ kind: "stream-lost", reason });
});

test("events and values of a later version", async () => {
  await using sidecar = await Sidecar.spawn(fake("newer"));
  const stream = await sidecar.openStream();
  const events = await collect(stream.pipe(["x"]));
  expect(events).toEqual([
    { type: "text-delta", seq: 1, block: 0, text: "x" },
    { type: "unknown-event", seq: 2, choice: 1, event: { type: "weather", seq: 2, choice: 1, rain: true } },
    { type: "finish", seq: 3, reason: "rain", emptyAnswer: false, complete: true },
  ]);
});

test("standard error is drained, and its end kept", async () => {
  await using sidecar = await Sidecar.spawn(fake("chatty"));
  await until(() => sidecar.stderr.includes("line 39999 "));
  expect(sidecar.stderr.length).toBe(65_536);
});
