// Claims are never run. The AI SDK's own chat (with a tool of the host in `onToolCall`) and a
// client of the Agent Client Protocol get whole turns from the real sidecar. Exactly the calls
// that are executable in the message of the closed stream run, and nothing stays open.

import { AbstractChat, lastAssistantMessageIsCompleteWithToolCalls, type UIMessage, type UIMessageChunk } from "ai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sessionUpdates, type SessionUpdate } from "../src/adapters/acp.js";
import { uiMessageStreamOf, uiMessageChunks } from "../src/adapters/ai-sdk.js";
import { Sidecar, type OpenParams, type StreamEvent } from "../src/index.js";
import { cited, collect, REAL, recordings } from "./support.js";

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(() => sidecar.shutdown());

const TOOLS = { tools: [{ name: "read_file" }, { name: "delete_file" }] };
const delta = (part: object, finish_reason?: string) => ({ choices: [{ index: 0, delta: part, finish_reason }] });
const says = (content: string) => delta({ content });
const calls = (name: string, args = '{"path":"a"}', index = 0) =>
  delta({ tool_calls: [{ index, id: `call_${index}`, type: "function", function: { name, arguments: args } }] });
const more = (args: string) => delta({ tool_calls: [{ index: 0, function: { arguments: args } }] });
const ends = (reason: string) => delta({}, reason);
const written = (name: string) => `<tool_call>\n{"name": "${name}", "arguments": {"path": "a"}}\n</tool_call>`;
const failure = { error: { message: "overloaded", type: "server_error", code: 503 } };

interface Case {
  readonly name: string;
  readonly chunks: readonly unknown[];
  /** The names of the tools that are run, of the claims, and of the calls that end in an error. */
  readonly ran?: readonly string[];
  readonly claimed?: readonly string[];
  readonly failed?: readonly string[];
  readonly params?: OpenParams;
}

const CASES: readonly Case[] = [
  { name: "a call", chunks: [calls("read_file"), ends("tool_calls")], ran: ["read_file"] },
  {
    name: "a call in pieces, and another",
    chunks: [calls("read_file", '{"pa'), more('th":"a"}'), calls("delete_file", "{}", 1), ends("tool_calls")],
    ran: ["read_file", "delete_file"],
  },
  { name: "a call in the text", chunks: [says(written("delete_file")), ends("stop")], claimed: ["delete_file"] },
  {
    name: "a call in the text with a structured twin",
    chunks: [says(written("read_file")), calls("read_file"), ends("tool_calls")],
    ran: ["read_file"],
    claimed: ["read_file"],
  },
  {
    name: "a call of a tool that is not declared",
    chunks: [calls("rm_rf"), ends("tool_calls")],
    failed: ["rm_rf"],
  },
  {
    name: "one in the text, without a list of tools",
    chunks: [says(written("rm_rf")), ends("stop")],
    params: {},
    claimed: ["rm_rf"],
  },
  { name: "a turn that fails", chunks: [calls("delete_file"), failure], failed: ["delete_file"] },
  { name: "a turn that fails in a call", chunks: [calls("delete_file", '{"pa'), failure], failed: ["delete_file"] },
  {
    name: "a turn that fails after its finish",
    chunks: [calls("delete_file"), ends("tool_calls"), failure],
    failed: ["delete_file"],
  },
  {
    name: "a turn that is cut off in a call",
    chunks: [calls("delete_file", '{"pa'), ends("length")],
    failed: ["delete_file"],
  },
  {
    name: "a call without arguments: some may have been cut off",
    chunks: [calls("delete_file", ""), ends("length")],
    failed: ["delete_file"],
  },
];

async function* eventsOf({ chunks, params = TOOLS }: Case, closings: unknown[] = []) {
  const stream = await sidecar.openStream({ wire: "openai-chat", framing: "json", ...params });
  const closed = yield* stream.pipe(chunks);
  closings.push(closed.message.toolCalls);
  return closed;
}

class Chat extends AbstractChat<UIMessage> {
  readonly ran: string[] = [];
  requests = 0;

  constructor(respond: () => ReadableStream) {
    const messages: UIMessage[] = [];
    const transport = {
      sendMessages: async () => {
        this.requests += 1;
        return respond() as ReadableStream<UIMessageChunk>;
      },
      reconnectToStream: async () => null,
    };
    const state = {
      status: "ready" as const,
      error: undefined,
      messages,
      pushMessage: (message: UIMessage) => void messages.push(message),
      popMessage: () => void messages.pop(),
      replaceMessage: (index: number, message: UIMessage) => void (messages[index] = message),
      snapshot: <T>(thing: T): T => structuredClone(thing),
    };
    super({ state, transport, onToolCall: ({ toolCall }) => void this.ran.push(toolCall.toolName) });
  }

  get parts() {
    return this.lastMessage?.parts ?? [];
  }
}

async function chatOn(events: () => AsyncIterable<StreamEvent>): Promise<Chat> {
  const chat = new Chat(() => uiMessageStreamOf(events()));
  await chat.sendMessage({ text: "?" });
  return chat;
}

/** The tools of the parts that are in this state. */
function toolsIn(chat: Chat, ...states: string[]): string[] {
  return chat.parts.flatMap((part) =>
    part.type === "dynamic-tool" && states.includes(part.state) ? [part.toolName] : [],
  );
}

test.for(CASES)("the AI SDK: $name", async (each) => {
  const chat = await chatOn(() => eventsOf(each));
  const { ran = [], claimed = [], failed = [] } = each;
  expect(chat.ran).toEqual(ran);
  expect(toolsIn(chat, "input-available")).toEqual(ran);
  expect(toolsIn(chat, "output-error")).toEqual(failed);
  expect(toolsIn(chat, "input-streaming", "output-available")).toEqual([]);
  const claims = chat.parts.flatMap((part) => (part.type === "data-claim" ? [part.data as { toolName: string }] : []));
  expect(claims.map(({ toolName }) => toolName)).toEqual(claimed);
  expect(chat.parts.some((part) => part.type === "data-retract")).toBe(ran.length > 0 && claimed.length > 0);
});

test.for(CASES)("the Agent Client Protocol: $name", async (each) => {
  const closings: { name: string; executable: boolean }[][] = [];
  const updates = await collect(sessionUpdates(eventsOf(each, closings), { prefix: "s" }));
  const told = new Map<string, Partial<Extract<SessionUpdate, { sessionUpdate: "tool_call" }>>>();
  for (const update of updates) {
    if (!("toolCallId" in update)) continue;
    told.set(update.toolCallId, { ...told.get(update.toolCallId), ...(update as object) });
  }
  const { ran = [], claimed = [], failed = [] } = each;
  const pending = [...told.values()].filter(({ status }) => status === "pending");
  expect(pending.map(({ name }) => name)).toEqual(ran);
  expect(pending.filter((call) => "_meta" in call)).toEqual([]);
  const rest = [...told.values()].filter(({ status }) => status === "failed");
  expect(rest.map(({ name }) => name)).toEqual([...claimed, ...failed]);
  for (const call of rest) expect(call._meta).toMatchObject({ streamSidecar: { claim: true } });
  expect(closings[0]?.flatMap(({ name, executable }) => (executable ? [name] : []))).toEqual(ran);
});

test.for(recordings())("the calls that run in $name, and nothing stays open", async ({ params, chunks }) => {
  const open = () => sidecar.openStream(params);
  const [first, second] = await Promise.all([open(), open()]);
  const parts = await collect(uiMessageChunks(first.pipe(chunks)));
  const updates = await collect(sessionUpdates(second.pipe(chunks), { prefix: "s" }));
  const { message } = await first.close();
  const answered = new Set(message.toolResults.map(({ toolCallId }) => toolCallId));
  const executable = message.toolCalls.filter((call) => call.executable && !answered.has(call.toolCallId));

  const run = parts.filter((part) => part.type === "tool-input-available" && !part.providerExecuted);
  expect(run).toMatchObject(executable.map((call) => ({ toolName: call.name, input: call.input ?? call.arguments })));
  const ended = parts.filter(({ type }) => type === "tool-input-available" || type === "tool-input-error");
  const idsOf = (some: readonly object[]) => new Set(some.map((each) => (each as { toolCallId: string }).toolCallId));
  const begun = idsOf(parts.filter(({ type }) => type === "tool-input-start"));
  expect([...begun].filter((id) => !idsOf(ended).has(id))).toEqual([]);
  const last = new Map(parts.flatMap((part) => ("toolCallId" in part ? [[part.toolCallId, part.type] as const] : [])));
  const told = parts.filter(({ type }) => type === "tool-output-available" || type === "tool-output-error");
  expect([...idsOf(told)].filter((id) => !last.get(id)?.startsWith("tool-output"))).toEqual([]);

  const statuses = new Map(
    updates.flatMap((each) => ("status" in each && each.status ? [[each.toolCallId, each.status] as const] : [])),
  );
  const pending = [...statuses].flatMap(([id, status]) => (status === "pending" ? [id] : []));
  const awaited = message.toolCalls.filter(({ awaits }) => awaits === "server-result" || awaits === "client-approval");
  const allowed = new Set([...executable, ...awaited].map(({ block }) => `s-${block}`));
  expect(pending.filter((id) => !allowed.has(id))).toEqual([]);
  expect(executable.filter(({ block }) => statuses.get(`s-${block}`) !== "pending")).toEqual([]);
});

test("a turn that was cancelled is not gone on with", async () => {
  const held = await collect(eventsOf(CASES[0] as Case));
  const cancelled = held.map((event) => (event.type === "finish" ? { ...event, reason: "cancelled" } : event));
  const chat = await chatOn(() => only(cancelled));
  expect(chat.ran).toEqual([]);
  expect(lastAssistantMessageIsCompleteWithToolCalls(chat)).toBe(false);
  const updates = await collect(sessionUpdates(only(cancelled), { prefix: "s" }));
  expect(updates.at(-1)).toMatchObject({ sessionUpdate: "tool_call_update", status: "failed" });
});

async function* only(events: readonly StreamEvent[]) {
  yield* events as StreamEvent[];
}

test("events that come without the message of the end", async () => {
  const { name: _, ...call } = CASES[0] as Case;
  const events = await collect(eventsOf({ name: "", ...call }));
  expect((await chatOn(() => only(events))).ran).toEqual(["read_file"]);
  for (const reason of ["length", "context-length", "malformed", "error", "cancelled"]) {
    const ended = events.map((event) => (event.type === "finish" ? { ...event, reason } : event));
    expect((await chatOn(() => only(ended))).ran, reason).toEqual([]);
  }
  expect((await chatOn(() => only(events.filter(({ type }) => type !== "finish")))).ran).toEqual([]);
});

test("the message of the end has the last word, of each choice", async () => {
  const events = await collect(eventsOf(CASES[0] as Case));
  const second = events.map((event) => ({ ...event, choice: 1 }));
  async function* closing(executable: boolean[]) {
    yield* [...events, ...second];
    const [first, other] = executable.map((each) => {
      const told = events.filter(({ type }) => type === "tool-call");
      return { toolCalls: told.map((event) => ({ ...event, executable: each })) };
    });
    return { message: { ...first, choices: [first, { ...other, choice: 1 }] } };
  }
  const run = async (executable: boolean[], choice: number) => {
    const parts = await collect(uiMessageChunks(closing(executable), { choice }));
    return parts.filter(({ type }) => type === "tool-input-available").length;
  };
  expect(await Promise.all([run([true, false], 0), run([true, false], 1)])).toEqual([1, 0]);
  expect(await Promise.all([run([false, true], 0), run([false, true], 1)])).toEqual([0, 1]);
});

test("a source that fails after a call", async () => {
  async function* source() {
    yield* [calls("delete_file"), ends("tool_calls")];
    throw new Error("ECONNRESET");
  }
  const stream = await sidecar.openStream({ wire: "openai-chat", framing: "json", ...TOOLS });
  const chat = await chatOn(() => stream.pipe(source()));
  expect(chat.ran).toEqual([]);
  expect(toolsIn(chat, "output-error")).toEqual(["delete_file"]);
  expect(chat.error).toBeInstanceOf(Error);
});

test("a call that the provider turns out to have run", async () => {
  const events = await collect(eventsOf(CASES[0] as Case));
  const result = { type: "tool-result", seq: 99, block: 99, toolCallId: "call_0", source: "server" } as const;
  const told = events.flatMap((event): StreamEvent[] => (event.type === "finish" ? [result, event] : [event]));
  const chat = await chatOn(() => only(told));
  expect(chat.ran).toEqual([]);
  expect(toolsIn(chat, "output-available")).toEqual(["read_file"]);
});

const start = { type: "tool-call-delta", seq: 1, block: 4, toolCallId: "c", name: "f", argumentsDelta: "{" } as const;
const next = { type: "tool-call-delta", seq: 2, block: 4, argumentsDelta: "}" } as StreamEvent;

test("a block's first delta alone has the id and the name", async () => {
  const chunks = await collect(uiMessageChunks(only([start, next])));
  const ended = {
    type: "tool-input-error",
    toolCallId: "c",
    toolName: "f",
    input: "{}",
    errorText: "the turn broke off",
  };
  expect(chunks.slice(2)).toEqual([
    { type: "tool-input-start", toolCallId: "c", toolName: "f", dynamic: true },
    { type: "tool-input-delta", toolCallId: "c", inputTextDelta: "{" },
    { type: "tool-input-delta", toolCallId: "c", inputTextDelta: "}" },
    { ...ended, dynamic: true },
  ]);
  const others: StreamEvent[] = [];
  const options = { prefix: "s", onOther: (event: StreamEvent) => others.push(event) };
  const updates = await collect(sessionUpdates(only([start, next]), options));
  expect(updates).toMatchObject([
    { toolCallId: "s-4", name: "f", status: "pending" },
    { toolCallId: "s-4", status: "failed" },
  ]);
  expect(others).toEqual([{ ...next, toolCallId: "c", name: "f" }]);
});

test("a long id is not repeated with every piece", async () => {
  const toolCallId = "c".repeat(10_000);
  const pieces = Array.from({ length: 20_000 }, () => ({ ...next, argumentsDelta: "xy" }) as StreamEvent);
  const chunks = await collect(uiMessageChunks(only([{ ...start, toolCallId }, ...pieces])));
  const size = chunks.reduce((sum, chunk) => sum + JSON.stringify(chunk).length, 0);
  expect(size).toBeLessThan(4 * (10_000 + 40_000));
});

test("a source is reported once, and later citations have the fields of the first", async () => {
  const events = [
    cited({ seq: 1, choice: 1, source: 0, url: "u:1", title: "t" }),
    cited({ seq: 2, source: 0, citedText: "words" }),
    cited({ seq: 3, source: 1, url: "u:2" }),
  ];
  expect((await collect(uiMessageChunks(only(events)))).slice(2)).toEqual([
    { type: "source-url", sourceId: "source-1", url: "u:1", title: "t" },
    { type: "source-url", sourceId: "source-2", url: "u:2" },
  ]);
  const others: StreamEvent[] = [];
  await collect(sessionUpdates(only(events), { prefix: "s", onOther: (event) => others.push(event) }));
  expect(others[0]).toMatchObject({ url: "u:1", title: "t", citedText: "words" });
});
