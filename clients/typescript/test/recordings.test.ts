// Every recorded stream through the whole client and the real sidecar: the events are
// those of the recording, and adding them up gives the message.

import { afterAll, beforeAll, expect, test } from "vitest";
import { Sidecar, type ClosedStream, type StreamEvent } from "../src/index.js";
import { collect, REAL, recordings, withoutMadeIds } from "./support.js";

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(() => sidecar.shutdown());

test.for(recordings())("$name", async ({ params, closing, chunks, events }) => {
  const stream = await sidecar.openStream(params);
  const pushed: StreamEvent[] = [];
  for (const chunk of chunks) pushed.push(...(await stream.push(chunk)));
  const closed = await stream.close(closing);
  expect(withoutMadeIds([...pushed, ...closed.events])).toEqual(withoutMadeIds(events));
  expect(textOf([...pushed, ...closed.events])).toBe(closed.message.text);
  expect(closed.stats.pushes).toBe(chunks.length);
  expect(sidecar.keptBytes).toBe(0);
});

test.for(recordings().filter(({ closing }) => Object.keys(closing).length === 0))(
  "$name, piped",
  async ({ params, chunks, events }) => {
    await using stream = await sidecar.openStream(params);
    expect(withoutMadeIds(await collect(stream.pipe(chunks)))).toEqual(withoutMadeIds(events));
    const { message }: ClosedStream = await stream.close();
    expect(message.finish).toEqual(events.find(({ type, choice }) => type === "finish" && !choice));
  },
);

/** Joins the visible text of choice 0, as a host would. */
function textOf(events: readonly StreamEvent[]): string {
  const blocks = new Map<number, { channel: string; text: string }>();
  for (const event of events) {
    if (event.choice) continue;
    if (event.type === "text-delta" || event.type === "reasoning-delta") {
      const block = blocks.get(event.block) ?? { channel: event.type.replace("-delta", ""), text: "" };
      blocks.set(event.block, { ...block, text: block.text + event.text });
    } else if (event.type === "reclassify") {
      for (const each of event.blocks) blocks.set(each, { text: "", ...blocks.get(each), channel: event.to });
    } else if (event.type === "retract") {
      for (const each of event.blocks) blocks.delete(each);
    }
  }
  const sorted = [...blocks].sort(([one], [other]) => one - other);
  return sorted.map(([, { channel, text }]) => (channel === "text" ? text : "")).join("");
}
