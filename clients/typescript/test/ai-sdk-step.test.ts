// `reset-step`: a reader that supports it ends with each recording's final message, and never
// gets much more than twice the size of the stream.

import { afterAll, beforeAll, expect, test } from "vitest";
import { uiMessageChunks, type SidecarUIMessageChunk } from "../src/adapters/ai-sdk.js";
import { Sidecar, type StreamEvent } from "../src/index.js";
import { collect, REAL, recordings } from "./support.js";

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(() => sidecar.shutdown());

/** The text and the reasoning of the step, as a reader of version 7 keeps them. */
function read(chunks: readonly SidecarUIMessageChunk[]): { text: string; reasoning: string } {
  let parts: { channel: string; id: string; text: string }[] = [];
  for (const chunk of chunks as readonly { type: string; id?: string; delta?: string }[]) {
    const [channel = "", step] = chunk.type.split("-");
    const part = parts.findLast(({ id }) => id === chunk.id);
    if (chunk.type === "reset-step") parts = [];
    else if (channel !== "text" && channel !== "reasoning") continue;
    else if (step === "start") parts.push({ channel, id: chunk.id ?? "", text: "" });
    else expect(part?.channel, "a block ends as what it began").toBe(channel);
    if (step === "delta" && part) part.text += chunk.delta;
  }
  const of = (wanted: string) => parts.flatMap(({ channel, text }) => (channel === wanted ? [text] : [])).join("");
  return { text: of("text"), reasoning: of("reasoning") };
}

test.for(recordings())("$name", async ({ params, chunks, closing }) => {
  const stream = await sidecar.openStream(params);
  const events = stream.pipe(chunks);
  const told = await collect(uiMessageChunks(events, { resetStep: true }));
  const { message } = await stream.close(closing);
  expect(read(told)).toEqual({ text: message.text, reasoning: message.reasoning });
});

test("a step that changes again and again is sent at most about twice", async () => {
  const deltas = Array.from({ length: 500 }, (_, block): StreamEvent[] => [
    { type: "text-delta", seq: 1, block, text: "x".repeat(20) },
    { type: "block-end", seq: 1, block, channel: "text" },
    { type: "reclassify", seq: 1, blocks: [block], to: "reasoning" },
  ]);
  async function* source() {
    yield* deltas.flat();
  }
  const size = (some: readonly unknown[]) => JSON.stringify(some).length;
  const plain = await collect(uiMessageChunks(source()));
  const reset = await collect(uiMessageChunks(source(), { resetStep: true }));
  expect(size(reset)).toBeLessThan(4 * size(plain));
  expect(read(reset).text).toBe("");
});

test("a stop button and a broken upstream end the message, and nothing else", async () => {
  async function* broken(error: unknown) {
    yield { type: "text-delta", seq: 1, block: 0, text: "Half" } as StreamEvent;
    throw error;
  }
  const last = async (error: unknown, signal?: AbortSignal) =>
    (await collect(uiMessageChunks(broken(error), signal ? { signal } : {}))).at(-1);
  expect(await last(new Error("ECONNRESET"))).toEqual({ type: "error", errorText: "ECONNRESET" });
  expect(await last(new DOMException("stopped", "AbortError"))).toEqual({ type: "abort" });
  expect(await last(new Error("whatever"), AbortSignal.abort())).toEqual({ type: "abort" });
});
