// A mistake in the options of a host is said where they are given; what only the sidecar can
// know is shown once.

import { expect, test } from "vitest";
import { Sidecar, SidecarPool, type RpcConnection, type SidecarOptions } from "../src/index.js";
import { create as createInWorker } from "../src/wasm.js";
import { fake, REAL, rejection } from "./support.js";

const WRONG: readonly (readonly [object, string])[] = [
  [{ policcy: { trace: true } }, 'no option "policcy"'],
  [{ policy: { toolResult: { mode: "keep" } } }, 'policy has no option "toolResult"'],
  [{ policy: { toolResults: { mode: "kep" } } }, 'policy.toolResults.mode must be "strip" or "report" or "keep"'],
  [{ policy: { reasoning: { tags: "think" } } }, "policy.reasoning.tags must be a list"],
  [{ policy: { dialects: "hermes" } }, "policy.dialects must be"],
  [{ policy: "x" }, "policy must be an object"],
  [{ limits: { maxStreems: 1 } }, 'no option "maxStreems"'],
  [{ limits: { maxStreams: 0 } }, "limits.maxStreams must be a whole number from 1 on"],
  [{ requestTimeoutMs: 0 }, "requestTimeoutMs must be more than 0"],
  [{ requestTimeoutMs: Number.NaN }, "requestTimeoutMs must be"],
  [{ requestTimeoutMs: "30s" }, "requestTimeoutMs must be a number"],
  [{ startTimeoutMs: -1 }, "startTimeoutMs must be"],
  [{ maxConcurrentRequests: 0 }, "maxConcurrentRequests must be"],
  [{ readAhead: { maxChunks: 0 } }, "readAhead.maxChunks must be a whole number from 1 on"],
  [{ restarts: 5 }, "restarts must be an object"],
  [{ restarts: { max: 1.5 } }, "restarts.max must be a whole number"],
  [{ restarts: { maximum: 1 } }, 'restarts has no option "maximum"'],
  [{ onLost: "log" }, "onLost must be a function"],
  [{ logLevel: "loud" }, "logLevel must be"],
  [{ restarts: { delayMs: Infinity } }, "restarts.delayMs must not be Infinity"],
  [{ command: [1] }, "command"],
  [{ command: [] }, "command must not be empty"],
  [{ command: "" }, "command must not be empty"],
];

test.for(WRONG)("%j", async ([options, words]) => {
  const expected = expect.objectContaining({ message: expect.stringContaining(words) as string }) as unknown;
  const isTyped = (error: unknown) => error instanceof TypeError || error instanceof RangeError;
  const made = [
    () => Sidecar.create(options),
    () => SidecarPool.create(1, options),
    () => createInWorker(options),
  ] as const;
  const isOfProcess = "command" in options; // a worker has none
  for (const make of isOfProcess ? made.slice(0, 2) : made) {
    const error = await rejection((async () => make())());
    expect(error).toEqual(expected);
    expect(isTyped(error)).toBe(true);
  }
  expect(await rejection(Sidecar.spawn(options))).toEqual(expected);
});

test("a pool has a number of workers that ends", () => {
  expect(() => SidecarPool.create(Infinity)).toThrow("workers must not be Infinity");
});

test("a connection of the host's has options, too", () => {
  const connection: RpcConnection = { sendRequest: async () => ({}) };
  const options: object = { requestTimeout: 5 };
  expect(() => Sidecar.fromConnection(connection, options)).toThrow('no option "requestTimeout"');
});

test("TypeScript refuses the same", () => {
  // @ts-expect-error -- no such option
  const unknown: SidecarOptions = { policcy: {} };
  // @ts-expect-error -- no such member
  const member: SidecarOptions = { policy: { toolResult: { mode: "keep" } } };
  // @ts-expect-error -- no such value
  const value: SidecarOptions = { policy: { toolResults: { mode: "kep" } } };
  // @ts-expect-error -- no object
  const shape: SidecarOptions = { restarts: 5 };
  for (const each of [unknown, member, value, shape]) expect(() => Sidecar.create(each)).toThrow(TypeError);
});

test("Infinity is no limit, and null and undefined are the default", async () => {
  const limits = { requestTimeoutMs: Infinity, batchTimeoutMs: Infinity, startTimeoutMs: Infinity };
  const absent = { onLost: undefined, maxConcurrentBytes: null, restarts: { delayMs: undefined } } as object;
  const restarts = { max: Infinity, windowMs: Infinity };
  await using sidecar = await Sidecar.spawn({ ...REAL, ...limits, ...absent, restarts, maxQueuedRequests: Infinity });
  const stream = await sidecar.openStream({ wire: "text" });
  await stream.push("<think>why</think>Because.", { timeoutMs: Infinity });
  expect((await stream.close()).message.text).toBe("Because.");
  expect((await sidecar.normalize({ wire: "text", body: "a" })).message.text).toBe("a");
});

test("a limit for one call is checked as well", async () => {
  await using sidecar = await Sidecar.spawn(REAL);
  const stream = await sidecar.openStream({ wire: "text" });
  expect(await rejection(sidecar.stats({ timeoutMs: -1 }))).toBeInstanceOf(RangeError);
  expect(await rejection(sidecar.stats({ timeoutMs: "1s" as never }))).toBeInstanceOf(TypeError);
  expect(await rejection(stream.push("a", { timeoutMs: Number.NaN }))).toBeInstanceOf(RangeError);
  expect(await rejection(sidecar.openStream({}, { signal: "stop" as never }))).toBeInstanceOf(TypeError);
});

test("what the sidecar ignores is shown once", async () => {
  const warnings: string[] = [];
  await using sidecar = await Sidecar.spawn({ ...REAL, onWarning: (message) => warnings.push(message) });
  const misspelt: object = { wire: "text", modle: "qwen3", policy: { toolResult: { mode: "keep" } } };
  for (let turn = 0; turn < 3; turn++) await (await sidecar.openStream(misspelt)).close();
  expect(warnings).toHaveLength(2);
  expect(warnings.join()).toContain("does not know modle,");
  expect(warnings.join()).toContain("does not know policy.toolResult,");
});

test("an older sidecar ignores nothing that it would tell", async () => {
  const warnings: string[] = [];
  await using sidecar = await Sidecar.spawn({ ...fake("good"), onWarning: (message) => warnings.push(message) });
  await sidecar.openStream();
  expect(warnings).toEqual([]);
});
