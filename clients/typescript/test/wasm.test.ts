// The sidecar in a worker, without a process: the same `Sidecar`, with the same guarantees.

import type { Worker } from "node:worker_threads";
import { afterAll, beforeAll, expect, test } from "vitest";
import { QueueFull, SidecarUnavailable, type Sidecar } from "../src/index.js";
import { create, spawn } from "../src/wasm.js";
import { collect, recordings, rejection, UNDAUNTED, until, withoutMadeIds } from "./support.js";
import { inWorkers } from "./workers.js";

const workers: Worker[] = [];
let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await spawn({ ...inWorkers(workers), ...UNDAUNTED })));
afterAll(() => sidecar.shutdown());

test.for(recordings())("$name", async ({ params, closing, chunks, events }) => {
  const stream = await sidecar.openStream(params);
  const pushed = [];
  for (const chunk of chunks) pushed.push(...(await stream.push(chunk)));
  const closed = await stream.close(closing);
  expect(withoutMadeIds([...pushed, ...closed.events])).toEqual(withoutMadeIds(events));
  expect(sidecar.keptBytes).toBe(0);
});

test("it is a sidecar like any other, but for the process", () => {
  expect(sidecar.serverInfo?.name).toBe("stream-sidecar");
  expect([sidecar.state, sidecar.pid, sidecar.stderr]).toEqual(["running", undefined, ""]);
});

test("streams go on when the worker is ended", async () => {
  const recording = recordings().find(({ name }) => name.endsWith("chunks") || name.startsWith("openai-chat/"));
  const { params, chunks, closing, events } = recording!;
  const stream = await sidecar.openStream(params);
  const pushed = [];
  for (const [at, chunk] of chunks.entries()) {
    if (at === chunks.length >> 1) await ended(workers.at(-1)!);
    pushed.push(...(await stream.push(chunk)));
  }
  const closed = await stream.close(closing);
  expect([...pushed, ...closed.events]).toEqual(events);
});

test("streams go on over a restart", async () => {
  const stream = await sidecar.openStream({ wire: "text" });
  const events = await stream.push("<think>why</think>Be");
  await sidecar.restart();
  events.push(...(await stream.push("cause.")));
  const { message } = await stream.close();
  expect([message.reasoning, message.text]).toEqual(["why", "Because."]);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
});

test("a session is read in batches, and streams go on meanwhile", async () => {
  const stream = await sidecar.openStream({ wire: "text" });
  const messages = Array.from({ length: 2_000 }, () => ({ role: "assistant", content: "<think>Hm.</think>Hi" }));
  let isRead = false;
  const inspected = sidecar.inspect({ messages }).finally(() => (isRead = true));
  await stream.push("a");
  expect(isRead).toBe(false);
  expect((await inspected).results.filter(({ malformed }) => malformed)).toHaveLength(2_000);
  await stream.close();
});

test("a batch that is not wanted any more ends", async () => {
  const messages = Array.from({ length: 20_000 }, () => ({ role: "assistant", content: "<think>Hm.</think>Hi" }));
  const abort = new AbortController();
  const inspected = sidecar.inspect({ messages }, { signal: abort.signal });
  abort.abort(new Error("enough"));
  expect((await rejection(inspected)).message).toBe("enough");
  expect(await sidecar.stats()).toHaveProperty("uptimeMs");
});

test("whoever sends more than is answered waits, or is refused", async () => {
  await using small = create({ ...inWorkers(), maxConcurrentRequests: 2, maxQueuedRequests: 2 });
  const asked = await Promise.allSettled(Array.from({ length: 6 }, () => small.stats()));
  expect(asked.map(({ status }) => status).filter((status) => status === "fulfilled")).toHaveLength(4);
  const refused = asked.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
  expect(refused).toEqual([expect.any(QueueFull), expect.any(QueueFull)]);
});

test("a body is read no further ahead than allowed", async () => {
  let given = 0;
  async function* body() {
    for (; given < 1_000; given += 1) yield "word ";
  }
  await using one = create({ ...inWorkers(), readAhead: { maxChunks: 8 } });
  const stream = await one.openStream({ wire: "text" });
  const events = stream.pipe(body())[Symbol.asyncIterator]();
  await events.next();
  expect(given).toBeLessThan(100);
  expect((await collect({ [Symbol.asyncIterator]: () => events })).length).toBeGreaterThan(0);
});

test("without its files there is one error that says so", async () => {
  const options = { ...inWorkers(), files: new URL("nowhere/", import.meta.url) };
  const error = await rejection(spawn(options));
  expect(error).toBeInstanceOf(SidecarUnavailable);
  expect(error.message).toMatch(/^stream-sidecar cannot be started as WebAssembly: .*nowhere/s);
});

/** Ends a worker as the system might, and waits until that is seen. */
async function ended(worker: Worker): Promise<void> {
  const count = workers.length;
  await worker.terminate();
  await until(() => workers.length > count || sidecar.state !== "running");
}
