// The gateway with many streams, slow readers, upstreams that hang, and killed sidecars: nothing
// is lost or doubled, and nothing is read from the upstream without a reader.

import { createHash } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, RequestListener } from "node:http";
import { buffer, text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Sidecar, SidecarPool } from "stream-sidecar";
import { asking, behindGateway, CHAT, chunk, closeServers, said } from "./gateways.js";
import { crash, REAL, until } from "../../typescript/test/support.js";

const STREAMS = 500;
const EVENTS = { "content-type": "text/event-stream" };
const MEGABYTE = 1 << 20;

let pool: SidecarPool;
beforeAll(() => void (pool = SidecarPool.create(2, REAL)));
afterEach(closeServers);
afterAll(() => pool.shutdown());

function asked(content: string): string {
  return JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content }] });
}

/** Answers with the question; every second answer leaks. `halfway` gets what ends a stream. */
function echoing(halfway: (end: () => void) => void): RequestListener {
  return (request, answer) => {
    void text(request).then((body) => {
      const { messages } = JSON.parse(body) as { messages: [{ content: string }] };
      const [number = ""] = messages[0].content.split(" ");
      const leak = Number(number) % 2 === 1 ? `<think>${number}</think>` : "";
      const words = `${leak}${messages[0].content}`;
      answer.writeHead(200, EVENTS).write([...words.slice(0, 9)].map((each) => chunk(each)).join(""));
      halfway(() => answer.end(`${chunk(words.slice(9))}${chunk("", "stop")}data: [DONE]\n\n`));
    });
  };
}

test.each([0, 1])(
  `${STREAMS} streams at once, and %i sidecar of two is killed in the middle`,
  async (killed) => {
    const ends: (() => void)[] = [];
    const { port, lost } = await behindGateway(
      echoing((end) => void ends.push(end)),
      pool,
    );
    const questions = Array.from({ length: STREAMS }, (_, number) => `${number} is what was asked`);
    const answers = questions.map(async (each) => text(await asking(port, { path: CHAT, body: asked(each) })));
    await until(() => ends.length === STREAMS);
    expect(new Set(pool.sidecars.map(({ pid }) => pid)).size).toBe(2);
    if (killed) await crash(pool.sidecars[0]);
    ends.forEach((end) => end());
    const told = await Promise.all(answers);
    expect(told.map(said)).toEqual(questions);
    expect(told.every((each) => each.split("[DONE]").length === 2)).toBe(true);
    expect(lost).toEqual([]);
  },
  120_000,
);

test.each(["/v1/files", CHAT])("bodies that pass are the same byte for byte, both ways: %s", async (path) => {
  const came = new Map<string, Buffer>();
  const { port } = await behindGateway((request, answer) => {
    void buffer(request).then((body) => {
      came.set(String(request.headers["x-number"]), body);
      answer.writeHead(200, { "content-type": "application/octet-stream" }).end(Buffer.from(body).reverse());
    });
  }, pool);
  const bodies = Array.from({ length: STREAMS }, (_, number) =>
    createHash("shake256", { outputLength: 1 + ((number * 997) % 100_000) })
      .update(String(number))
      .digest(),
  );
  const answers = bodies.map(async (body, number) =>
    buffer(await asking(port, { path, headers: { "x-number": String(number) }, body })),
  );
  const told = await Promise.all(answers);
  expect(bodies.findIndex((body, number) => !came.get(String(number))?.equals(body))).toBe(-1);
  expect(bodies.findIndex((body, number) => !told[number]!.equals(Buffer.from(body).reverse()))).toBe(-1);
});

test.each([
  ["a stream that is cleaned", CHAT],
  ["what passes", "/v1/files"],
])("an upstream waits for a slow reader: %s", async (_, path) => {
  let [sent, isWaiting] = [0, false];
  const document = chunk("word ".repeat(2_000));
  const { port } = await behindGateway((request, answer) => {
    request.resume();
    answer.writeHead(200, EVENTS);
    const go = async (): Promise<void> => {
      while (sent < 64 * MEGABYTE) {
        sent += document.length;
        if (answer.write(document)) continue;
        isWaiting = true;
        await once(answer, "drain");
        isWaiting = false;
      }
      answer.end();
    };
    answer.on("close", () => (sent = Infinity));
    void go();
  }, pool);
  const answer = await asking(port, { path, body: asked("") });
  answer.pause();
  let before = -1;
  await until(() => isWaiting && before === (before = sent)); // nothing goes on any more
  expect(sent).toBeLessThan(32 * MEGABYTE);
  answer.on("error", () => {});
  answer.destroy();
  await until(() => sent === Infinity);
});

test.each([
  ["before its headers", false],
  ["in the middle of a stream", true],
])("who leaves an upstream that hangs %s ends its request there", async (_, begins) => {
  let [hangs, isLeft] = [false, false];
  const { port, lost } = await behindGateway((request, answer) => {
    request.resume();
    if (begins) answer.writeHead(200, EVENTS).write(chunk("On "));
    answer.on("close", () => (isLeft = true));
    hangs = true;
  }, pool);
  const gone = new AbortController();
  const response = fetch(`http://127.0.0.1:${port}${CHAT}`, { method: "POST", body: asked(""), signal: gone.signal });
  response.catch(() => {});
  await until(() => hangs);
  if (begins) await response;
  gone.abort();
  await until(() => isLeft);
  expect(lost).toEqual([]);
});

test("one that is killed holds up no stream of the others", async () => {
  const one = await Sidecar.spawn(REAL);
  const both = new SidecarPool([one, pool.sidecars[0]]);
  const { port } = await behindGateway(
    echoing((end) => end()),
    both,
  );
  await crash(one);
  const answers: Promise<IncomingMessage>[] = Array.from({ length: 20 }, (_, number) =>
    asking(port, { path: CHAT, body: asked(`${number} was asked`) }),
  );
  const told = await Promise.all(answers.map(async (each) => said(await text(await each))));
  expect(told).toEqual(Array.from({ length: 20 }, (_, number) => `${number} was asked`));
  await one.shutdown();
});
