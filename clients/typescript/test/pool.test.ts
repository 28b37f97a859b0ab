// A pool: a stream stays in its process, and a killed process is replaced alone.

import { afterEach, expect, test } from "vitest";
import { SidecarPool } from "../src/index.js";
import { REAL } from "./support.js";

let pool: SidecarPool;
afterEach(() => pool.shutdown());

const placesOf = (ids: readonly string[]) => ids.map((id) => pool.sidecars.indexOf(pool.of(id)));

test("the same id has the same sidecar, and many ids have all of them", () => {
  pool = SidecarPool.create(3, REAL);
  expect(placesOf(["a", "stream-1", "stream-2", "zwölf"])).toEqual([1, 1, 0, 1]);
  const many = placesOf(Array.from({ length: 300 }, () => crypto.randomUUID()));
  for (const place of [0, 1, 2]) expect(many.filter((each) => each === place).length).toBeGreaterThan(50);
});

test("a pool has a process", () => {
  pool = SidecarPool.create(1, REAL);
  expect(() => SidecarPool.create(0)).toThrow(RangeError);
});

test("streams go on where one process is killed, and the other one stays", async () => {
  pool = SidecarPool.create(2, REAL);
  const ids = ["stream-1", "stream-2", "stream-3", "stream-4"];
  expect(new Set(placesOf(ids)).size).toBe(2);
  const streams = await Promise.all(ids.map((streamId) => pool.openStream({ streamId, wire: "text" })));
  await Promise.all(streams.map((each) => each.push("<think>two and ")));
  const [first, second] = pool.sidecars.map(({ pid }) => pid);
  process.kill(first ?? 0, "SIGKILL");
  const closed = await Promise.all(
    streams.map(async (each) => {
      await each.push("two</think>Four.");
      return (await each.close()).message;
    }),
  );
  for (const { text, reasoning } of closed) expect([text, reasoning]).toEqual(["Four.", "two and two"]);
  expect(pool.sidecars[0].pid).not.toBe(first);
  expect(pool.sidecars[1]?.pid).toBe(second);
});

test("a stream without an id has one", async () => {
  pool = SidecarPool.create(2, REAL);
  const stream = await pool.openStream({ wire: "text" });
  expect(pool.of(stream.id).state).toBe("running");
  await stream.cancel();
});
