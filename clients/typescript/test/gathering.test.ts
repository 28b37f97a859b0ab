// Pushes that are made at the same time are sent in one request, and each gives the result that
// it would have given alone: events, errors, numbers, whatever fails.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RefusedError, Sidecar, type RpcConnection, type SidecarStream, type StreamEvent } from "../src/index.js";
import { apart } from "../src/stream/events.js";
import { mayShare } from "../src/stream/slices.js";
import { crash, cut, dice, REAL, recordings, rejection, UNDAUNTED, withoutMadeIds } from "./support.js";

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(() => sidecar.shutdown());

const text = { wire: "text" } as const;

/** A connection of the host's to the real sidecar, and what was asked over it. */
async function overheard(refuse: (params: Pushed) => Error | undefined = () => undefined) {
  const real = await Sidecar.spawn(REAL);
  const pushes: Pushed[] = [];
  const connection: RpcConnection = {
    async sendRequest(method, params) {
      if (method === "stream/push") pushes.push(params as Pushed);
      const refusal = method === "stream/push" && refuse(params as Pushed);
      if (refusal) throw refusal;
      return real.request(method, params as object);
    },
  };
  const shared = Sidecar.fromConnection(connection, { restarts: UNDAUNTED.restarts });
  return { shared, pushes, [Symbol.asyncDispose]: () => real.shutdown() };
}

interface Pushed {
  readonly chunk?: unknown;
  readonly chunks?: readonly unknown[];
}

const chunksOf = ({ chunk, chunks }: Pushed) => chunks ?? [chunk];

async function alone(stream: SidecarStream, chunks: readonly unknown[]): Promise<StreamEvent[][]> {
  const found: StreamEvent[][] = [];
  for (const chunk of chunks) found.push(await stream.push(chunk));
  return found;
}

test.for(recordings().map((recording) => [recording.name, recording] as const))(
  "%s: each push gives what it would alone",
  { timeout: 120_000 },
  async ([, recording]) => {
    const chunks = cut(recording);
    const [single, gathered, mixed] = await Promise.all([0, 1, 2].map(() => sidecar.openStream(recording.params)));
    if (!single || !gathered || !mixed) throw new RangeError();
    const expected = await alone(single, chunks);
    const roll = dice(chunks.length);
    const groups: Promise<StreamEvent[]>[] = [];
    for (const chunk of chunks) {
      groups.push(mixed.push(chunk));
      if (roll(3) === 0) await groups.at(-1);
    }
    const found = await Promise.all([Promise.all(chunks.map((chunk) => gathered.push(chunk))), Promise.all(groups)]);
    const told = async (stream: SidecarStream, pushed: StreamEvent[][]) => {
      const { streamId: _, ...closed } = await stream.close();
      return withoutMadeIds({ pushed, closed });
    };
    const wanted = await told(single, expected);
    expect(await told(gathered, found[0])).toEqual(wanted);
    expect(await told(mixed, found[1])).toEqual(wanted);
  },
);

test("wherever a host waits in between", async () => {
  const chunks = ["So <th", "ink>a", "", "</thin", "k>b <", "c"];
  const expected = await alone(await sidecar.openStream(text), chunks);
  for (let pattern = 0; pattern < 2 ** (chunks.length - 1); pattern += 1) {
    await using stream = await sidecar.openStream(text);
    const pushes: Promise<StreamEvent[]>[] = [];
    for (const [at, chunk] of chunks.entries()) {
      pushes.push(stream.push(chunk));
      if ((pattern >> at) & 1) await pushes.at(-1);
    }
    expect(await Promise.all(pushes), pattern.toString(2)).toEqual(expected);
  }
});

test("pushes of one turn go in one request, and an awaited push goes alone, as `chunk`", async () => {
  await using host = await overheard();
  const stream = await host.shared.openStream(text);
  await Promise.all(["a", "b", "c"].map((chunk) => stream.push(chunk)));
  for (const chunk of ["d", "e"]) await stream.push(chunk);
  const nested = stream.push("f").then(() => Promise.all([stream.push("h"), stream.push("i")]));
  await Promise.all([nested, Promise.resolve().then(() => stream.push("g"))]);
  expect(host.pushes.map(chunksOf)).toEqual([["a", "b", "c"], ["d"], ["e"], ["f", "g"], ["h", "i"]]);
  expect(host.pushes.map((each) => "chunk" in each)).toEqual([false, true, true, false, false]);
  expect((await stream.close()).stats).toMatchObject({ pushes: 9, chunks: 9 });
});

test("other calls keep their place", async () => {
  await using host = await overheard();
  const stream = await host.shared.openStream(text);
  const [, , before, , after] = await Promise.all([
    stream.push("a"),
    stream.push("b"),
    stream.snapshot(),
    stream.pushAll(["c", "d"]),
    stream.snapshot(),
    stream.push("e"),
    stream.close(),
  ]);
  expect([before, after].map(({ message, stats }) => [message.text, stats.pushes])).toEqual([
    ["ab", 2],
    ["abcd", 3],
  ]);
  expect(host.pushes.map(chunksOf)).toEqual([["a", "b"], ["c", "d"], ["e"]]);
});

test("only so much goes in one request, and a string that is cut goes alone", async () => {
  expect([mayShare(4_096, 0), mayShare(4_097, 0), mayShare(64, 16_320), mayShare(65, 16_320)]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  await using host = await overheard();
  const stream = await host.shared.openStream(text);
  const long = "x".repeat(3_000);
  await Promise.all(
    ["a", "b", long, "c", "d", ...Array<string>(9).fill("y".repeat(2_000))].map((each) => stream.push(each)),
  );
  const sizes = host.pushes.map((each) => chunksOf(each).map((chunk) => (chunk as string).length));
  expect(sizes).toEqual([
    [1, 1],
    [2_048],
    [952],
    [1, 1, 2_000, 2_000, 2_000],
    [2_000, 2_000, 2_000, 2_000],
    [2_000, 2_000],
  ]);
});

test("bytes are cut anywhere", async () => {
  const stream = await sidecar.openStream(text);
  const data = new TextEncoder().encode("Grüße 🌿");
  await Promise.all(Array.from(data, (byte) => stream.push(new Uint8Array([byte]))));
  expect((await stream.close()).message.text).toBe("Grüße 🌿");
});

test("a push that is refused is refused alone", async () => {
  const few = { ...REAL, limits: { maxHeldBytes: 4_000 } };
  await using bounded = await Sidecar.spawn(few);
  const tools = [{ name: "f" }];
  const open = () => bounded.openStream({ ...text, model: "qwen3", tools });
  const chunks = ["So: ", "y".repeat(1_500), "there", `${"z".repeat(1_500)}`, "."];
  const outcomes = async (stream: SidecarStream, atOnce: boolean) => {
    const found: unknown[] = [];
    const told = (pushed: Promise<unknown>) =>
      pushed.catch((error: RefusedError) => [error.name, error.kind, error.data]);
    if (atOnce) found.push(...(await Promise.all(chunks.map((chunk) => told(stream.push(chunk))))));
    else for (const chunk of chunks) found.push(await told(stream.push(chunk)));
    const { message, stats } = await stream.close();
    return { found, text: message.text, pushes: stats.pushes, chunks: stats.chunks };
  };
  const expected = await outcomes(await open(), false);
  expect(expected).toMatchObject({ text: "So: there.", pushes: 3, chunks: 3 });
  expect(expected.found[1]).toMatchObject(["RefusedError", "limit-exceeded", { retryable: false }]);
  expect(await outcomes(await open(), true)).toEqual(expected);
});

test("after a bug in the sidecar nothing counts twice", async () => {
  const bug = Object.assign(new Error("a bug"), { code: -32603, data: { kind: "internal-error", retryable: false } });
  let bugs = 1;
  await using host = await overheard(({ chunks }) => (chunks && bugs-- > 0 ? bug : undefined));
  const stream = await host.shared.openStream(text);
  const first = await stream.push("a");
  const others = await Promise.all(["b", "c"].map((chunk) => stream.push(chunk)));
  expect([first, ...others].flat().map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(host.pushes.map(chunksOf)).toEqual([["a"], ["b", "c"], ["a"], ["b"], ["c"]]);
  expect(await stream.close()).toMatchObject({ message: { text: "abc" }, stats: { pushes: 3, chunks: 3 } });
});

test("a value that JSON cannot represent ends the stream at its place, and not before", async () => {
  const stream = await sidecar.openStream({ wire: "openai-chat" });
  const chunk: Record<string, unknown> = { choices: [{ delta: { content: "b" } }] };
  const before = stream.push({ choices: [{ delta: { content: "a" } }] });
  const broken = rejection(stream.push(chunk));
  const after = rejection(stream.push("c"));
  chunk["itself"] = chunk;
  expect((await before).length).toBeGreaterThan(0);
  expect(await broken).toBeInstanceOf(TypeError);
  expect(await after).toBe(await broken);
});

test.for([2, 3, 4, 5])("a sidecar that dies before answer %i", async (frames) => {
  const log = join(mkdtempSync(join(tmpdir(), "gathering-")), "starts");
  const flaky = fileURLToPath(new URL("flaky-sidecar.mjs", import.meta.url));
  const command = [process.execPath, flaky, log, JSON.stringify([{ how: "dies", frames }]), ...REAL.command];
  await using dying = await Sidecar.spawn({ ...REAL, ...UNDAUNTED, command });
  await using stream = await dying.openStream(text);
  const chunks = [..."<think>a</think>b c"];
  const found: StreamEvent[][] = [];
  for (const half of [chunks.slice(0, 9), chunks.slice(9)]) {
    found.push(...(await Promise.all(half.map((chunk) => stream.push(chunk)))));
  }
  const single = await sidecar.openStream(text);
  expect(found).toEqual(await alone(single, chunks));
  const closed = await single.close();
  expect(await stream.close()).toEqual({ ...closed, streamId: stream.id });
  expect(closed.stats).toMatchObject({ pushes: chunks.length, chunks: chunks.length });
});

test("a sidecar that is killed while pushes are under way", async () => {
  await using dying = await Sidecar.spawn({ ...REAL, ...UNDAUNTED });
  await using stream = await dying.openStream(text);
  await Promise.all(["a", "b"].map((chunk) => stream.push(chunk)));
  const pushed = Promise.all(["c", "d", "e"].map((chunk) => stream.push(chunk)));
  await crash(dying);
  const more = Promise.all(["f", "g"].map((chunk) => stream.push(chunk)));
  const texts = [...(await pushed), ...(await more)].map(([event]) => event?.type === "text-delta" && event.text);
  expect(texts).toEqual(["c", "d", "e", "f", "g"]);
  expect(await stream.close()).toMatchObject({ message: { text: "abcdefg" }, stats: { pushes: 7, chunks: 7 } });
});

test("each host chooses how long it waits; pushed chunks count", async () => {
  const reason = new Error("enough");
  const controller = new AbortController();
  const stream = await sidecar.openStream(text);
  const long = "c".repeat(2_000_000); // so that no answer comes before the wait ends
  const pushes = [
    stream.push("a"),
    rejection(stream.push("b", { signal: controller.signal })),
    rejection(stream.push(long, { timeoutMs: 0 })),
    stream.push("d"),
  ] as const;
  controller.abort(reason);
  const [first, aborted, late, last] = await Promise.all(pushes);
  expect([first, last]).toMatchObject([[{ seq: 1, text: "a" }], [{ text: "d" }]]);
  expect(aborted).toBe(reason);
  expect(late).toMatchObject({ kind: "request-timeout", method: "stream/push", timeoutMs: 0 });
  expect((await stream.close()).message.text).toBe(`ab${long}d`);
});

test("an aborted stream ends after the pushed chunks", async () => {
  const controller = new AbortController();
  const stream = await sidecar.openStream(text, { signal: controller.signal });
  const pushes = ["a", "b"].map((chunk) => rejection(stream.push(chunk)));
  controller.abort(new Error("stop"));
  for (const error of await Promise.all(pushes)) expect(error.message).toBe("stop");
  const { message, stats } = await stream.close();
  expect([message.text, message.finish?.reason, stats.pushes]).toEqual(["ab", "cancelled", 2]);
});

test("an answer that says not where each chunk ends gives its events to the last push", () => {
  const events: StreamEvent[] = [1, 2, 3].map((seq) => ({ type: "text-delta", seq, block: 0, text: "x" }));
  const chunks = [{ id: "c" }];
  expect(apart({ events }, [["a"], ["b", "c"]])).toEqual([{ events: [] }, { events }]);
  const numbered = apart({ events, chunks, lastSeqs: [1, 1, 3] }, [["a"], ["b"], ["c"]]);
  expect(numbered.map((each) => each.events.length)).toEqual([1, 0, 2]);
  expect(numbered.map((each) => each.chunks)).toEqual([undefined, undefined, chunks]);
});
