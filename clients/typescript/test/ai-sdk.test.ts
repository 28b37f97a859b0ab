// The parts are valid in the AI SDK: its own schema accepts each, and its own reader makes a
// message from them with the text, reasoning, calls and sources of the stream.

import { readUIMessageStream, uiMessageChunkSchema, type UIMessage, type UIMessageChunk as TheirChunk } from "ai";
import { expect, expectTypeOf, test } from "vitest";
import { uiMessageStreamOf, uiMessageChunks, type SidecarUIMessageChunk } from "../src/adapters/ai-sdk.js";
import type { StreamEvent } from "../src/index.js";
import { cited, collect, recordings } from "./support.js";

async function* of(events: readonly StreamEvent[]) {
  yield* events;
}

const chunksOf = (events: readonly StreamEvent[], options = {}) => collect(uiMessageChunks(of(events), options));

async function messageOf(events: readonly StreamEvent[]): Promise<UIMessage | undefined> {
  const errors: unknown[] = [];
  const stream = uiMessageStreamOf(of(events)) as ReadableStream<TheirChunk>;
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream, onError: (error) => errors.push(error) })) last = message;
  const expected = events.filter(({ type, choice }) => type === "error" && !choice);
  expect(errors.map((error) => (error as Error).message)).toEqual(
    expected.map((event) => "message" in event && event.message),
  );
  return last;
}

test("the types fit", () => {
  expectTypeOf<SidecarUIMessageChunk>().toExtend<TheirChunk>();
});

test.for(recordings())("$name", async ({ events }) => {
  const { validate } = await uiMessageChunkSchema();
  for (const chunk of await chunksOf(events)) {
    expect(await validate?.(JSON.parse(JSON.stringify(chunk))), JSON.stringify(chunk)).toMatchObject({ success: true });
  }
  const message = await messageOf(events);
  const joined = (type: string) =>
    (message?.parts ?? []).map((part) => (part.type === type && "text" in part ? part.text : "")).join("");
  const deltas = (type: string) =>
    events.map((event) => (event.type === type && !event.choice && "text" in event ? event.text : "")).join("");
  expect(joined("text")).toBe(deltas("text-delta"));
  expect(joined("reasoning")).toBe(deltas("reasoning-delta"));
  const calls = message?.parts.filter(({ type }) => type === "dynamic-tool" || type === "data-claim") ?? [];
  expect(calls).toHaveLength(events.filter(({ type, choice }) => type === "tool-call" && !choice).length);
});

const call = {
  type: "tool-call",
  toolCallId: "c",
  idSynthetic: false,
  name: "read_file",
  arguments: '{"path":"a"}',
  argumentsFormat: "json",
  state: "complete",
  executor: "client",
  origin: "structured",
  channel: "text",
  kind: "read",
  kindSource: "table",
  awaits: "client-result",
  executable: true,
} as const;

test("every kind of part", async () => {
  const events: StreamEvent[] = [
    { type: "metadata", seq: 1, id: "r", model: "m" },
    { type: "block-end", seq: 2, block: 0, channel: "reasoning", opaque: { data: "e" } },
    { type: "block-end", seq: 3, block: 0, channel: "reasoning", signature: "s" },
    { type: "text-delta", seq: 4, block: 1, text: "a" },
    { type: "text-delta", seq: 5, block: 1, text: "b" },
    { type: "text-delta", seq: 6, choice: 1, block: 2, text: "other" },
    { type: "block-end", seq: 7, block: 1, channel: "text" },
    { type: "reclassify", seq: 8, blocks: [1], to: "reasoning" },
    { type: "tool-call-delta", seq: 9, block: 3, toolCallId: "c", name: "read_file", argumentsDelta: '{"path"' },
    { type: "tool-call-delta", seq: 10, block: 3, argumentsDelta: ':"a"}' },
    { ...call, seq: 11, block: 3, input: { path: "a" } },
    { ...call, seq: 12, block: 4, executor: "server", state: "truncated", executable: false },
    { ...call, seq: 13, block: 8, toolCallId: "s", executor: "server", executable: false, input: {} },
    { type: "tool-result", seq: 13, block: 5, toolCallId: "s", content: [1], source: "server" },
    { type: "tool-result", seq: 14, block: 6, toolCallId: "s", isError: true, source: "server" },
    { type: "tool-result", seq: 15, block: 7, content: { success: true }, source: "echo" },
    { type: "retract", seq: 16, blocks: [1, 4], reason: "duplicate-of-structured" },
    cited({ seq: 17, source: 0, url: "u:1", title: "t" }),
    cited({ seq: 18, source: 0, url: "u:1" }),
    cited({ seq: 19, source: 1, kind: "document", citedText: "words" }),
    { type: "usage", seq: 20, raw: {}, totalTokens: 3 },
    { type: "diagnostic", seq: 21, code: "x", severity: "info", message: "m" },
    { type: "unknown-event", seq: 22, event: {} },
    { type: "finish", seq: 23, reason: "tool-calls", emptyAnswer: false, complete: true },
  ];
  const streamSidecar = { block: 3, kind: "read", executable: true, awaits: "client-result" };
  expect(await chunksOf(events, { messageId: "m1", dynamicTools: false })).toEqual([
    { type: "start", messageId: "m1" },
    { type: "start-step" },
    { type: "message-metadata", messageMetadata: { response: { id: "r", model: "m" } } },
    { type: "reasoning-start", id: "0" },
    { type: "reasoning-end", id: "0", providerMetadata: { streamSidecar: { opaque: { data: "e" } } } },
    { type: "data-block-state", data: { id: "0", signature: "s" } },
    { type: "text-start", id: "1" },
    { type: "text-delta", id: "1", delta: "a" },
    { type: "text-delta", id: "1", delta: "b" },
    { type: "text-end", id: "1" },
    { type: "data-reclassify", data: { ids: ["1"], to: "reasoning" } },
    { type: "tool-input-start", toolCallId: "c", toolName: "read_file", dynamic: false },
    { type: "tool-input-delta", toolCallId: "c", inputTextDelta: '{"path"' },
    { type: "tool-input-delta", toolCallId: "c", inputTextDelta: ':"a"}' },
    {
      type: "tool-input-error",
      toolCallId: "c#4",
      toolName: "read_file",
      input: '{"path":"a"}',
      errorText: "the arguments are truncated",
      dynamic: false,
      providerExecuted: true,
      providerMetadata: { streamSidecar: { ...streamSidecar, block: 4, executable: false } },
    },
    {
      type: "tool-input-available",
      toolCallId: "s",
      toolName: "read_file",
      input: {},
      dynamic: false,
      providerExecuted: true,
      providerMetadata: { streamSidecar: { ...streamSidecar, block: 8, executable: false } },
    },
    { type: "tool-output-available", toolCallId: "s", output: [1], dynamic: false, providerExecuted: true },
    { type: "tool-output-error", toolCallId: "s", errorText: "null", dynamic: false, providerExecuted: true },
    { type: "data-tool-result", data: { content: { success: true }, source: "echo" } },
    { type: "data-retract", data: { ids: ["1"], toolCallIds: ["c#4"] } },
    { type: "source-url", sourceId: "source-1", url: "u:1", title: "t" },
    { type: "source-document", sourceId: "source-2", mediaType: "text/plain", title: "words" },
    { type: "message-metadata", messageMetadata: { usage: { totalTokens: 3 } } },
    {
      type: "tool-input-available",
      toolCallId: "c",
      toolName: "read_file",
      input: { path: "a" },
      dynamic: false,
      providerExecuted: false,
      providerMetadata: { streamSidecar },
    },
    { type: "finish-step" },
    { type: "finish", finishReason: "tool-calls" },
  ]);
  const other = await chunksOf(events, { choice: 1, sendReasoning: false });
  expect(other.slice(2)).toEqual([
    { type: "text-start", id: "2" },
    { type: "text-delta", id: "2", delta: "other" },
  ]);
});

test("without reasoning", async () => {
  const events: StreamEvent[] = [
    { type: "reasoning-delta", seq: 1, block: 0, text: "a", source: "tag" },
    { type: "block-end", seq: 2, block: 0, channel: "reasoning", signature: "s" },
    { type: "finish", seq: 3, reason: "cancelled", emptyAnswer: true, complete: false },
  ];
  expect((await chunksOf(events, { sendReasoning: false })).slice(2)).toEqual([{ type: "abort" }]);
});

test("a reader that leaves, and a source that fails", async () => {
  let isReturned = false;
  async function* endless(): AsyncGenerator<StreamEvent> {
    try {
      for (let seq = 1; ; seq++) yield { type: "text-delta", seq, block: 0, text: "a" };
    } finally {
      isReturned = true;
    }
  }
  const reader = uiMessageStreamOf(endless()).getReader();
  for (let count = 0; count < 4; count++) await reader.read();
  await reader.cancel();
  expect(isReturned).toBe(true);
  async function* failing(): AsyncGenerator<StreamEvent> {
    throw new Error("lost");
  }
  const told = await collect(uiMessageStreamOf(failing()));
  expect(told.at(-1)).toEqual({ type: "error", errorText: "lost" });
});
