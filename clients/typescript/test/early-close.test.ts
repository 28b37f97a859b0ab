// A pipe whose source has ended sends the close with the last push. If the host makes another call
// instead, or if something fails, the result is the same as with a later close.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  Sidecar,
  type ClosedStream,
  type RpcConnection,
  type SharedOptions,
  type SidecarStream,
  type StreamEvent,
} from "../src/index.js";
import { REAL, UNDAUNTED } from "./support.js";

let real: Sidecar;
beforeAll(async () => void (real = await Sidecar.spawn(REAL)));
afterAll(() => real.shutdown());

const text = { wire: "text" } as const;
const chunks = ["<think>a</think>", "b <", "c"];
const closed = {
  message: { text: "b <c", reasoning: "a", finish: { reason: "stop" } },
  stats: { pushes: 1, chunks: 3 },
};

/** A connection to the real sidecar; `asked`: the requests without an answer so far, joined. */
function overheard(refuse: (method: string) => object | undefined = () => undefined, options: SharedOptions = {}) {
  const asked: string[] = [];
  let waiting: string[] = [];
  const connection: RpcConnection = {
    async sendRequest(method, params) {
      waiting.push(method);
      await new Promise((resolve) => setImmediate(resolve));
      if (waiting.length > 0) asked.push(waiting.join(" "));
      waiting = [];
      const refusal = refuse(method);
      if (refusal) throw Object.assign(new Error("refused"), refusal);
      return real.request(method, params as object);
    },
  };
  return { asked, shared: Sidecar.fromConnection(connection, { ...UNDAUNTED, ...options }) };
}

async function piped(stream: SidecarStream): Promise<{ events: StreamEvent[]; closed: Partial<ClosedStream> }> {
  const events: StreamEvent[] = [];
  const pipe = stream.pipe(chunks);
  for (;;) {
    const { done, value } = await pipe.next();
    if (!done) events.push(value);
    else return { events, closed: { ...value, streamId: "" } };
  }
}

async function singly(): Promise<{ events: StreamEvent[]; closed: Partial<ClosedStream> }> {
  const stream = await real.openStream(text);
  const events = await stream.pushAll(chunks);
  const end = await stream.close();
  return { events: [...events, ...end.events], closed: { ...end, streamId: "" } };
}

test("the close goes out with the last push", async () => {
  const { asked, shared } = overheard();
  expect(await piped(await shared.openStream(text))).toEqual(await singly());
  expect(asked).toEqual(["stream/open", "stream/push stream/close"]);
});

test("a consumer that stops at the last events cancels", async () => {
  const { asked, shared } = overheard();
  const stream = await shared.openStream(text);
  for await (const event of stream.pipe(chunks)) if (event.type === "text-delta") break;
  const finish = { reason: "cancelled" };
  expect(await stream.close()).toMatchObject({ ...closed, message: { ...closed.message, finish } });
  expect(asked).toEqual(["stream/open", "stream/push stream/close", "stream/open", "stream/push", "stream/close"]);
});

test("so does a signal", async () => {
  const controller = new AbortController();
  const stream = await real.openStream(text, { signal: controller.signal });
  const pipe = stream.pipe(chunks);
  await pipe.next();
  controller.abort(new Error("stop"));
  const finish = { reason: "cancelled" };
  expect(await stream.close()).toMatchObject({ ...closed, message: { ...closed.message, finish } });
});

test("who looks at the stream in between, or pushes, sees it open", async () => {
  const stream = await real.openStream(text);
  const pipe = stream.pipe(chunks);
  const { value: first } = await pipe.next();
  expect(first).toMatchObject({ seq: 1 });
  expect(await stream.snapshot()).toMatchObject({ message: { text: "b " }, stats: { pushes: 1 } });
  await stream.push("d");
  for await (const event of pipe) expect(event.seq).toBeGreaterThan(1);
  expect((await stream.close()).message.text).toBe("b <cd");
});

test.for([
  { method: "stream/push", code: -31004, kind: "limit-exceeded" },
  { method: "stream/push", code: -32603, kind: "internal-error" },
  { method: "stream/push", code: -31001, kind: "stream-not-found" },
  { method: "stream/close", code: -31001, kind: "stream-not-found" },
])("what is refused once is as if it went alone: $method, $kind", async ({ method, code, kind }) => {
  let refusals = 1;
  const { shared } = overheard((each) => (each === method && refusals-- > 0 ? { code, data: { kind } } : undefined));
  expect(await piped(await shared.openStream(text))).toEqual(await singly());
});

test("a close that is refused ends nothing", async () => {
  let refusals = 1;
  const refusal = { code: -32603, data: { kind: "internal-error" } };
  const { shared } = overheard((method) => (method === "stream/close" && refusals-- > 0 ? refusal : undefined));
  const stream = await shared.openStream(text);
  await expect(piped(stream)).rejects.toMatchObject(refusal);
  const finish = { reason: "cancelled" }; // as the pipe does
  expect(await stream.close()).toMatchObject({ ...closed, message: { ...closed.message, finish } });
});

test.for([2, 3, 4])("a sidecar that dies before answer %i", async (frames) => {
  const log = join(mkdtempSync(join(tmpdir(), "early-close-")), "starts");
  const flaky = fileURLToPath(new URL("flaky-sidecar.mjs", import.meta.url));
  const command = [process.execPath, flaky, log, JSON.stringify([{ how: "dies", frames }]), ...REAL.command];
  await using dying = await Sidecar.spawn({ ...REAL, ...UNDAUNTED, command });
  expect(await piped(await dying.openStream(text))).toEqual(await singly());
});

test("a stream with more chunks than are kept sends its close after the answer to its last push", async () => {
  const { asked, shared } = overheard(undefined, { replay: { maxStreamBytes: 8 } });
  expect(await piped(await shared.openStream(text))).toEqual(await singly());
  expect(asked).toEqual(["stream/open", "stream/push", "stream/close"]);
});
