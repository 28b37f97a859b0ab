// The updates are valid in the Agent Client Protocol: its own SDK checks and carries each from an
// agent to a client, and the client gets the stream's text and calls. The updates of each stream
// are in tests/data/acp_updates.jsonl, for the Rust client too; `UPDATE=1 npm test -- acp`
// rewrites the file.

import { agent, client, methods, type SessionUpdate as TheirUpdate } from "@agentclientprotocol/sdk";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type * as draft from "@agentclientprotocol/sdk/experimental/v2";
import { afterAll, beforeAll, expect, expectTypeOf, test } from "vitest";
import {
  sessionUpdates,
  stopReason,
  type SessionUpdate,
  type SessionUpdateOptions,
  type SessionUpdateV2,
} from "../src/adapters/acp.js";
import { Sidecar, type ClosedStream, type OpenParams, type StreamEvent } from "../src/index.js";
// The SDK's own check of updates of version 2, which it does not export.
import { zSessionUpdate } from "../node_modules/@agentclientprotocol/sdk/dist/v2/schema/zod.gen.js";
import { collect, linesOf, REAL, recordings, ROOT, until } from "./support.js";

const TABLE = join(ROOT, "tests", "data", "acp_updates.jsonl");
const IS_WRITTEN = process.env["UPDATE"] === "1";

/** A stream and its updates. For a recording, params and chunks are in tests/wires. */
interface Row {
  readonly name: string;
  readonly params?: OpenParams;
  readonly chunks?: readonly unknown[];
  readonly options?: Omit<SessionUpdateOptions, "prefix" | "onOther">;
  readonly updates: readonly SessionUpdate[];
  /** Types of the events that have no update, each with the ids of its blocks. */
  readonly others: readonly string[];
}

const rows = linesOf(TABLE) as Row[];
const recorded = new Map(recordings().map((each) => [each.name, each]));
const names = new Set([...rows.map(({ name }) => name), ...recorded.keys()]);

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(async () => {
  await sidecar.shutdown();
  const lines = [...names].flatMap((name) => written.get(name) ?? []).map((row) => `${JSON.stringify(row)}\n`);
  if (IS_WRITTEN) writeFileSync(TABLE, lines.join(""));
});
const written = new Map<string, Row>();

/** The updates as a client receives them from an agent; the SDK parses them there. */
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

/** What an editor shows in the end: the text of its messages, and of its thoughts. */
function shown(updates: readonly SessionUpdateV2[]): Record<"text" | "reasoning", string> {
  const found = { text: new Map<string, string>(), reasoning: new Map<string, string>() };
  for (const update of updates) {
    if (!("messageId" in update)) continue;
    const { sessionUpdate, messageId, content } = update;
    const texts = sessionUpdate.startsWith("agent_message") ? found.text : found.reasoning;
    const before = Array.isArray(content) ? "" : (texts.get(messageId) ?? "");
    texts.set(
      messageId,
      before +
        [content]
          .flat()
          .map(({ text }) => text)
          .join(""),
    );
  }
  const of = (texts: Map<string, string>) =>
    [...texts]
      .sort(([a], [b]) => Number(a.slice(2)) - Number(b.slice(2)))
      .map(([, text]) => text)
      .join("");
  return { text: of(found.text), reasoning: of(found.reasoning) };
}

test("the types fit", () => {
  expectTypeOf<SessionUpdate>().toExtend<TheirUpdate>();
  expectTypeOf<SessionUpdateV2>().toExtend<draft.SessionUpdate>();
});

/** The updates, with adjacent chunks of one message joined. */
function joined(updates: readonly SessionUpdate[]): SessionUpdate[] {
  const found: SessionUpdate[] = [];
  for (const update of updates) {
    const last = found.at(-1);
    if (last && "messageId" in last && "messageId" in update && last.messageId === update.messageId)
      last.content.text += update.content.text;
    else found.push(structuredClone(update));
  }
  return found;
}

test.for([...names].map((name) => ({ name })))("$name", async ({ name }) => {
  const row = rows.find((each) => each.name === name);
  const { params, chunks } = row?.params ? { chunks: [], ...row } : (recorded.get(name) ?? { chunks: [] });
  const others: string[] = [];
  const stream = await sidecar.openStream(params);
  const events: StreamEvent[] = [];
  let closed: ClosedStream | undefined;
  async function* heard() {
    const source = stream.pipe(chunks);
    for (;;) {
      const { done, value } = await source.next();
      if (done) return (closed = value);
      events.push(value);
      yield value;
    }
  }
  const onOther = (event: StreamEvent, idOf: (block: number) => string) =>
    void others.push(event.type, ...(event.type === "retract" ? event.blocks.map(idOf) : []));
  const options = row?.options ?? { contextSize: 1_000 };
  const updates = await collect(sessionUpdates(heard(), { prefix: "s", ...options, onOther }));
  expect(await carried(updates)).toEqual(updates);
  const text = events.map((event) => (event.type === "text-delta" && !event.choice ? event.text : "")).join("");
  const told = updates.map((each) => (each.sessionUpdate === "agent_message_chunk" ? each.content.text : ""));
  if (!options.choice) expect(told.join("")).toBe(text);
  const upserts = await collect(sessionUpdates(again(events), { prefix: "s", ...options, version: 2 }));
  expect(upserts.map((each) => zSessionUpdate.parse(each))).toEqual(upserts);
  if (!options.choice) expect(shown(upserts).text).toBe(closed?.message.text ?? "");
  const made = { updates: joined(updates), others };
  const { updates: _, others: __, ...asked } = row ?? { name };
  if (row?.params || updates.some(({ sessionUpdate }) => sessionUpdate === "tool_call"))
    written.set(name, { ...asked, ...made });
  if (row && !IS_WRITTEN) expect(made).toEqual({ updates: row.updates, others: row.others });
});

async function* again(events: readonly unknown[]) {
  yield* events as StreamEvent[];
}

test("in version 2 retracted updates are removed", async () => {
  const events = [
    { type: "text-delta", seq: 1, block: 0, text: "Hm" },
    { type: "text-delta", seq: 2, block: 0, text: "." },
    { type: "reclassify", seq: 3, blocks: [0, 7], to: "reasoning" },
    { type: "reclassify", seq: 4, blocks: [0], to: "reasoning" },
    { type: "text-delta", seq: 5, block: 1, text: "Four" },
    { type: "tool-call-delta", seq: 6, block: 2, toolCallId: "c", name: "f", argumentsDelta: "" },
    { type: "retract", seq: 7, blocks: [1, 2], reason: "read-as-text" },
    { type: "reclassify", seq: 8, blocks: [0], to: "text" },
    { type: "text-delta", seq: 9, block: 0, text: " So." },
  ];
  const updates = await collect(sessionUpdates(again(events), { prefix: "s", version: 2 }));
  expect(updates.map((each) => zSessionUpdate.parse(each))).toEqual(updates);
  const text = (text: string) => ({ type: "text", text });
  expect(updates).toMatchObject([
    { sessionUpdate: "agent_message_chunk", messageId: "s-0", content: text("Hm") },
    { sessionUpdate: "agent_message_chunk", messageId: "s-0", content: text(".") },
    { sessionUpdate: "agent_message", messageId: "s-0", content: [] },
    { sessionUpdate: "agent_thought", messageId: "s-0", content: [text("Hm.")] },
    { sessionUpdate: "agent_message_chunk", messageId: "s-1" },
    { sessionUpdate: "tool_call_update", toolCallId: "s-2", title: "f" },
    { sessionUpdate: "agent_message", messageId: "s-1", content: [] },
    { sessionUpdate: "tool_call_update", toolCallId: "s-2", status: "failed" },
    { sessionUpdate: "agent_thought", messageId: "s-0", content: [] },
    { sessionUpdate: "agent_message", messageId: "s-0", content: [text("Hm.")] },
    { sessionUpdate: "agent_message_chunk", messageId: "s-0", content: text(" So.") },
  ]);
  expect(shown(updates)).toEqual({ text: "Hm. So.", reasoning: "" });
});

test("a stream that breaks off ends its call before the error", async () => {
  async function* broken() {
    yield {
      type: "tool-call-delta",
      seq: 1,
      block: 0,
      toolCallId: "c",
      name: "look",
      argumentsDelta: "",
    } as StreamEvent;
    throw new Error("enough");
  }
  const updates = sessionUpdates(broken(), { prefix: "s" });
  expect((await updates.next()).value).toMatchObject({ status: "pending" });
  const _meta = { streamSidecar: { claim: true, reason: "the turn broke off" } };
  expect((await updates.next()).value).toMatchObject({ status: "failed", _meta });
  await expect(updates.next()).rejects.toThrow("enough");
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
