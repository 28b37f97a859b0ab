// The updates are what the Agent Client Protocol takes: its own SDK carries each from an
// agent to a client, checked on the way, and the client gets the stream's text and calls.

import { agent, client, methods, type SessionUpdate as TheirUpdate } from "@agentclientprotocol/sdk";
import { expect, expectTypeOf, test } from "vitest";
import { sessionUpdates, stopReason, type SessionUpdate } from "../src/adapters/acp.js";
import type { StreamEvent } from "../src/index.js";
import { collect, recordings, until } from "./support.js";

async function* of(events: readonly StreamEvent[]) {
  yield* events;
}

/** What arrives at a client when an agent sends these updates; the SDK parses them there. */
async function carried(updates: readonly SessionUpdate[]): Promise<TheirUpdate[]> {
  const found: TheirUpdate[] = [];
  const editor = client({ name: "editor" }).onNotification(methods.client.session.update, ({ params }) => {
    found.push(params.update);
  });
  await agent({ name: "agent" }).connectWith(editor, async (context) => {
    for (const update of updates) await context.notify(methods.client.session.update, { sessionId: "s", update });
    await until(() => found.length === updates.length);
  });
  return found;
}

test("the types fit", () => {
  expectTypeOf<SessionUpdate>().toExtend<TheirUpdate>();
});

test.for(recordings())("$name", async ({ events }) => {
  const others: StreamEvent[] = [];
  const options = { prefix: "s", contextSize: 1_000, onOther: (event: StreamEvent) => others.push(event) };
  const updates = await collect(sessionUpdates(of(events), options));
  expect(await carried(updates)).toEqual(updates);
  const mine = events.filter(({ choice }) => !choice);
  const ends = updates.filter((each) => each.sessionUpdate === "tool_call_update" && !("title" in each) && each._meta);
  expect(updates.length - ends.length + others.length).toBe(mine.length);
  const text = mine.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
  expect(updates.map((each) => (each.sessionUpdate === "agent_message_chunk" ? each.content.text : "")).join("")).toBe(
    text,
  );
  const calls = updates.filter(({ sessionUpdate }) => sessionUpdate === "tool_call");
  expect(calls).toHaveLength(mine.filter(({ type }) => type === "tool-call").length);
});

test("what was told of a block can be found again", async () => {
  const events: StreamEvent[] = [
    { type: "text-delta", seq: 1, block: 0, text: "a" },
    { type: "text-delta", seq: 2, choice: 1, block: 1, text: "b" },
    { type: "retract", seq: 3, blocks: [0], reason: "duplicate-of-native" },
    { type: "usage", seq: 4, totalTokens: 7 },
    { type: "tool-result", seq: 5, block: 2, toolCallId: "unknown", source: "server" },
  ];
  const taken: string[] = [];
  const onOther = (event: StreamEvent, idOf: (block: number) => string) =>
    void taken.push(event.type, ...(event.type === "retract" ? event.blocks.map(idOf) : []));
  expect(await collect(sessionUpdates(of(events), { prefix: "p", onOther }))).toEqual([
    { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "a" }, messageId: "p-0" },
  ]);
  expect(taken).toEqual(["retract", "p-0", "usage", "tool-result"]);
});

test.for([
  ["stop", "end_turn"],
  ["unknown", "end_turn"],
  ["a later version's", "end_turn"],
  ["tool-calls", undefined],
  ["pause", undefined],
  ["length", "max_tokens"],
  ["context-length", "max_tokens"],
  ["refusal", "refusal"],
  ["content-filter", "refusal"],
  ["cancelled", "cancelled"],
  ["error", undefined],
  ["malformed", undefined],
] as const)("finish %s is %s", ([reason, expected]) => {
  expect(stopReason({ reason })).toBe(expected);
});

test("the files of a call, absolute, and its line", async () => {
  const input = { file_path: "src/a.ts", startLine: 3, destination: "/tmp/b.ts", uri: "file:///c.ts" };
  const call = {
    type: "tool-call",
    seq: 1,
    block: 0,
    toolCallId: "c",
    name: "edit",
    arguments: "{}",
    input,
    kind: "edit",
  };
  async function* only() {
    yield call as unknown as StreamEvent;
  }
  const locations = async (cwd?: string) => {
    const [update] = await collect(sessionUpdates(only(), { prefix: "s", ...(cwd !== undefined && { cwd }) }));
    return (update as { locations?: unknown }).locations;
  };
  expect(await locations("/home/me")).toEqual([
    { path: "/home/me/src/a.ts", line: 3 },
    { path: "/c.ts", line: 3 },
    { path: "/tmp/b.ts", line: 3 },
  ]);
  expect(await locations()).toEqual([
    { path: "/c.ts", line: 3 },
    { path: "/tmp/b.ts", line: 3 },
  ]);
});
