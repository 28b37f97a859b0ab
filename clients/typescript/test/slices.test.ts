// Long strings are sent in slices, and the only effect is that other streams have their turn.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ChunkReader } from "../src/stream/chunks.js";
import { Sidecar, type StreamEvent } from "../src/index.js";
import { requestsOf } from "../src/stream/slices.js";
import { collect, REAL, rejection, UNDAUNTED } from "./support.js";

const text = { wire: "text" } as const;
const joined = (events: readonly StreamEvent[]) =>
  events.map((event) => (event.type === "text-delta" ? event.text : "")).join("");

function requests(given: readonly unknown[], mayCut = true): unknown[][] {
  const reader = new ChunkReader("utf-8");
  const chunks = given.map((each) => reader.read(each));
  return [...requestsOf(chunks, mayCut)].map((request) => request.map(({ value }) => value));
}

const LETTERS = "abcdefgh".repeat(1_000);
const LEAVES = "a🌿".repeat(3_000);

test.for([
  ["what is short goes as it is", ["a", "b", { c: 1 }], true, [["a", "b", { c: 1 }]]],
  ["a long string is cut", [LETTERS.slice(0, 4_100)], true, [[2_048], [2_048], [4]]],
  ["by code points", [LEAVES], true, [[3_072], [3_072], [2_856]]],
  ["and goes alone", ["a", LETTERS.slice(0, 2_049), "b"], true, [["a"], [2_048], [1], ["b"]]],
  ["one that may not be cut is not", [LETTERS], false, [[8_000]]],
  ["nor is a document", [{ a: LETTERS, b: LETTERS }, "c"], true, [[{ a: LETTERS, b: LETTERS }], ["c"]]],
  [
    "short ones go together as far as that",
    Array(10).fill("x".repeat(2_000)),
    true,
    Array(2)
      .fill(Array(4).fill(2_000))
      .concat([[2_000, 2_000]]),
  ],
] as const)("%s", ([, given, mayCut, expected]) => {
  const found = requests(given, mayCut);
  const sizes = found.map((request, number) =>
    request.map((each, at) => (typeof expected[number]?.[at] === "number" ? (each as string).length : each)),
  );
  expect(sizes).toEqual(expected);
});

test("nothing is lost, and no character is torn", () => {
  for (const given of [LEAVES, `x${LEAVES}`, `${LETTERS}\ud83c`, "\udf3f".repeat(5_000)]) {
    const slices = requests([given]).flat() as string[];
    expect(slices.flatMap((each) => [...each])).toEqual([...given]);
  }
});

test.for([
  ["utf-8", (body: string) => body],
  ["base64", (body: string) => Buffer.from(body).toString("base64")],
] as const)("a chunk is a chunk, %s", async ([encoding, write]) => {
  await using sidecar = await Sidecar.spawn(REAL);
  const body = `<think>${LEAVES}</think>${LEAVES}`;
  await using stream = await sidecar.openStream({ ...text, encoding });
  const events = await stream.push(write(body));
  expect(joined(events)).toBe(LEAVES);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(await stream.snapshot()).toMatchObject({ lastSeq: events.length, stats: { pushes: 1 } });
  expect((await stream.close()).message).toMatchObject({ text: LEAVES, reasoning: LEAVES });
});

test("a string that is a document is not cut", async () => {
  await using sidecar = await Sidecar.spawn(REAL);
  await using stream = await sidecar.openStream({ wire: "openai-chat", framing: "json" });
  await collect(stream.pipe([JSON.stringify({ choices: [{ delta: { content: LEAVES } }] })]));
  expect((await stream.close()).message.text).toBe(LEAVES);
});

test("other streams have their turn", async () => {
  await using sidecar = await Sidecar.spawn(REAL);
  const [large, small] = await Promise.all([sidecar.openStream(text), sidecar.openStream(text)]);
  let isOver = false;
  const pushed = large.push(LETTERS.repeat(50)).then(() => (isOver = true));
  expect(joined(await small.push("a"))).toBe("a");
  expect(isOver).toBe(false);
  await pushed;
  expect((await large.close()).message.text?.length).toBe(400_000);
});

test("a push that is refused in the middle changes nothing", async () => {
  await using sidecar = await Sidecar.spawn({ ...REAL, limits: { maxHeldBytes: 60_000 } });
  await using stream = await sidecar.openStream({ ...text, emit: { wire: "openai-chat" }, tools: [{ name: "f" }] });
  const before = await stream.push("So: ");
  const call = `<tool_call>{"name": "f", "arguments": {"text": "${LETTERS}${LETTERS}`;
  expect(await rejection(stream.push(`Hi, ${call}`))).toMatchObject({ kind: "limit-exceeded" });
  expect(sidecar.keptBytes).toBeLessThan(200);
  const after = await stream.push("there");
  expect([...before, ...after].map(({ seq }) => seq)).toEqual([1, 2].slice(0, before.length + after.length));
  const closed = await stream.close();
  expect(closed).toMatchObject({ message: { text: "So: there" }, stats: { pushes: 2 } });
  expect((await sidecar.list()).streams).toEqual([]);
});

test.for([2, 3, 7])("a sidecar that dies before answer %i of a push", async (frames) => {
  const log = join(mkdtempSync(join(tmpdir(), "slices-")), "starts");
  const flaky = fileURLToPath(new URL("flaky-sidecar.mjs", import.meta.url));
  const command = [process.execPath, flaky, log, JSON.stringify([{ how: "dies", frames }]), ...REAL.command];
  await using sidecar = await Sidecar.spawn({ ...REAL, ...UNDAUNTED, command });
  await using stream = await sidecar.openStream(text);
  const events = await stream.push(`<think>${LEAVES}</think>${LEAVES}`);
  expect(joined(events)).toBe(LEAVES);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(await stream.close()).toMatchObject({ message: { text: LEAVES, reasoning: LEAVES }, stats: { pushes: 1 } });
});
