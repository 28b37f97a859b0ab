// Pass-through: without a sidecar a host keeps working with raw text, and is informed.

import { expect, test } from "vitest";
import { Sidecar, SidecarUnavailable } from "../src/index.js";
import { collect, rejection } from "./support.js";

const missing = { command: "/no/such/sidecar", restarts: { max: 0 } };

test("text as it is", async () => {
  await using sidecar = await Sidecar.spawn({ ...missing, passThrough: true });
  await using stream = await sidecar.openStream({ wire: "text" });
  expect(stream.passThrough).toBe(true);
  const events = await collect(stream.pipe(["<think>a</think>", "", "b 🌿"]));
  expect(events).toEqual([
    {
      type: "diagnostic",
      seq: 1,
      code: "sidecar-unavailable",
      severity: "warning",
      message: expect.stringContaining("/no/such/sidecar") as string,
    },
    { type: "text-delta", seq: 2, block: 0, text: "<think>a</think>" },
    { type: "text-delta", seq: 3, block: 0, text: "b 🌿" },
    { type: "block-end", seq: 4, block: 0, channel: "text" },
    { type: "finish", seq: 5, reason: "unknown", emptyAnswer: false, complete: false },
  ]);
  const closed = await stream.close();
  expect(closed.message).toMatchObject({ role: "assistant", text: "<think>a</think>b 🌿", toolCalls: [] });
  expect(closed.stats).toMatchObject({ chunks: 3, chars: 19, events: 5 });
});

test("a body that is handed on", async () => {
  await using sidecar = await Sidecar.spawn({ ...missing, passThrough: true });
  const stream = await sidecar.openStream({ wire: "openai-chat", emit: { wire: "openai-chat" } });
  const slices = ["data: {}\n", "\ndata: [DONE]\n\n"];
  expect(Buffer.concat(await collect(stream.emit(slices))).toString()).toBe(slices.join(""));
});

test("bytes are text, however the stream was to be opened", async () => {
  await using sidecar = await Sidecar.spawn({ ...missing, passThrough: true });
  const stream = await sidecar.openStream({ wire: "text", encoding: "base64" });
  await stream.pushAll([Buffer.from("a🌿").subarray(0, 3), Buffer.from("a🌿").subarray(3)]);
  expect((await stream.close()).message.text).toBe("a🌿");
});

test("text that the host finds", async () => {
  const passThrough = (chunk: unknown) => (chunk as { delta: string }).delta;
  await using sidecar = await Sidecar.spawn({ ...missing, passThrough });
  await using stream = await sidecar.openStream({ wire: "openai-chat" });
  await stream.push({ delta: "a" });
  const { message, lastSeq } = await stream.snapshot();
  expect([message.text, lastSeq]).toEqual(["a", 2]);
});

test.for([
  [{ reason: "cancelled" }, "cancelled"],
  [{ error: { status: 500 } }, "error"],
] as const)("an end that is none: %o", async ([options, reason]) => {
  await using sidecar = await Sidecar.spawn({ ...missing, passThrough: true });
  const stream = await sidecar.openStream();
  const { events } = await stream.close(options);
  expect(events).toMatchObject([
    { type: "diagnostic" },
    { type: "finish", reason, emptyAnswer: true, complete: false },
  ]);
});

test("there is no pass-through by default", async () => {
  const error = await rejection(Sidecar.create(missing).openStream());
  expect(error).toBeInstanceOf(SidecarUnavailable);
  const sidecar = await Sidecar.spawn({ ...missing, passThrough: true });
  expect(await rejection(sidecar.normalize({ body: "x" }))).toBeInstanceOf(SidecarUnavailable);
});
