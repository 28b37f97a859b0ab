// The middleware for the Vercel AI SDK: its own providers read recorded answers from a
// server of ours, and `streamText` and `generateText` see them clean.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import type { LanguageModelV3Middleware } from "@ai-sdk/provider";
import { generateText, jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel, type ToolSet } from "ai";
import * as sdk from "ai";
import { simulateReadableStream, MockLanguageModelV3 } from "ai/test";
import { afterAll, beforeAll, expect, expectTypeOf, test } from "vitest";
import * as adapter from "../src/adapters/ai-sdk.js";
import {
  sidecarMiddleware,
  withClaimApproval,
  type ClaimPolicy,
  type MiddlewareOptions,
} from "../src/adapters/ai-sdk.js";
import { Sidecar } from "../src/index.js";
import { REAL } from "./support.js";

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(() => sidecar.shutdown());

const sse = (...documents: readonly unknown[]) =>
  documents.map((document) => `data: ${JSON.stringify(document)}\n\n`).join("") + "data: [DONE]\n\n";
const delta = (fields: object, finish_reason: string | null = null) => ({
  id: "c1",
  object: "chat.completion.chunk",
  model: "m",
  created: 1,
  choices: [{ index: 0, delta: fields, finish_reason }],
});
const says = (content: string) => delta({ content });
const calls = (name: string, args: string, index = 0) =>
  delta({ tool_calls: [{ index, id: `call_${index}`, type: "function", function: { name, arguments: args } }] });
const written = '<tool_call>\n{"name": "remove", "arguments": {"path": "a"}}\n</tool_call>';

/** A fetch that answers with these bodies, one after the other, and keeps what it was asked. */
function answering(...bodies: readonly string[]) {
  const asked: Record<string, unknown>[] = [];
  const fetch = async (_url: unknown, init?: { body?: unknown }) => {
    asked.push(JSON.parse(String(init?.body)) as Record<string, unknown>);
    const body = bodies[asked.length - 1] ?? "";
    const type = body.startsWith("{") ? "application/json" : "text/event-stream";
    return new Response(body, { headers: { "content-type": type } });
  };
  return { asked, fetch: fetch as typeof globalThis.fetch };
}

function chat(fetch: typeof globalThis.fetch, options: MiddlewareOptions = {}) {
  const model = createOpenAI({ apiKey: "k", fetch }).chat("qwen3-32b");
  return wrapLanguageModel({ model, middleware: sidecarMiddleware(sidecar, options) });
}

function tools(ran: string[]): ToolSet {
  const schema = jsonSchema<{ path: string }>({ type: "object", properties: { path: { type: "string" } } });
  const execute = async ({ path }: { path: string }) => `${ran.push(path)}`;
  return { remove: tool({ inputSchema: schema, execute }), read: tool({ inputSchema: schema, execute }) };
}

test("it is a middleware of the SDK, and no name of the adapter is one of the SDK's", () => {
  expectTypeOf<ReturnType<typeof sidecarMiddleware>>().toExtend<LanguageModelV3Middleware>();
  expect(Object.keys(adapter).filter((name) => name in sdk)).toEqual([]);
});

test("reasoning in the text is reasoning, streamed and whole", async () => {
  const streamed = answering(sse(says("<thi"), says("nk>why</think>Be"), says("cause."), delta({}, "stop")));
  const result = streamText({ model: chat(streamed.fetch), prompt: "?" });
  expect([await result.text, await result.reasoningText]).toEqual(["Because.", "why"]);
  const message = { role: "assistant", content: "<think>why</think>Because." };
  const body = { id: "c1", model: "m", created: 1, choices: [{ index: 0, message, finish_reason: "stop" }] };
  const whole = await generateText({ model: chat(answering(JSON.stringify(body)).fetch), prompt: "?" });
  expect([whole.text, whole.reasoningText]).toEqual(["Because.", "why"]);
});

const twin = sse(says(written), calls("remove", '{"path":"a"}'), delta({}, "tool_calls"));
const claim = sse(says(`${written}`), delta({}, "stop"));
const failing = sse(calls("remove", '{"path":"a"}'), { error: { message: "overloaded", code: 503 } });
const ends = sse(says("Done."), delta({}, "stop"));

test.for<[ClaimPolicy, number, number]>([
  ["drop", 0, 1],
  ["data", 0, 1],
  ["approve", 0, 1],
  ["promote", 1, 1],
])("a call in the text under %s", async ([claims, claimed, structured]) => {
  for (const [body, expected] of [
    [claim, claimed],
    [twin, structured],
    [failing, 0],
  ] as const) {
    const ran: string[] = [];
    const { fetch } = answering(body, ends);
    const model = chat(fetch, { claims });
    const result = streamText({ model, tools: tools(ran), stopWhen: stepCountIs(2), prompt: "?", onError: () => {} });
    await result.consumeStream({ onError: () => {} });
    expect(ran.length, claims).toBe(expected);
  }
});

test("a claim waits for approval, and then runs", async () => {
  const ran: string[] = [];
  const { fetch } = answering(claim, ends);
  const given = withClaimApproval(tools(ran));
  const asked = { model: chat(fetch, { claims: "approve" }), tools: given, stopWhen: stepCountIs(2) };
  const first = await generateTextOf(asked);
  expect(ran).toEqual([]);
  const request = first.content.find((part) => part.type === "tool-approval-request");
  expect(request).toMatchObject({ toolCall: { toolName: "remove", input: { path: "a" } } });
  const approval = { type: "tool-approval-response", approvalId: request?.approvalId ?? "", approved: true } as const;
  const messages = [
    { role: "user" as const, content: "?" },
    ...first.response.messages,
    { role: "tool" as const, content: [approval] },
  ];
  const second = streamText({ ...asked, messages });
  expect(await second.text).toBe("Done.");
  expect(ran).toEqual(["a"]);
});

async function generateTextOf(asked: Omit<Parameters<typeof streamText>[0], "prompt" | "messages">) {
  const result = streamText({ ...(asked as Parameters<typeof streamText>[0]), prompt: "?" } as Parameters<
    typeof streamText
  >[0]);
  return { content: await result.content, response: await result.response };
}

test("claims are listed in the finish", async () => {
  const result = streamText({ model: chat(answering(claim).fetch), tools: tools([]), prompt: "?" });
  expect(await result.providerMetadata).toMatchObject({
    streamSidecar: { claims: [{ toolName: "remove", input: { path: "a" }, state: "complete" }] },
  });
  expect(await result.text).toBe("");
  expect(await result.finishReason).toBe("stop");
});

const anthropic = (...events: readonly (readonly [string, object])[]) =>
  events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify({ type: event, ...data })}\n\n`).join("");
const usage = { input_tokens: 3, output_tokens: 5 };
const begin: readonly [string, object] = [
  "message_start",
  { message: { id: "m1", type: "message", role: "assistant", model: "claude", content: [], stop_reason: null, usage } },
];
const blockOf = (index: number, block: object, ...deltas: readonly object[]): (readonly [string, object])[] => [
  ["content_block_start", { index, content_block: block }],
  ...deltas.map((each) => ["content_block_delta", { index, delta: each }] as const),
  ["content_block_stop", { index }],
];
const stops = (stop_reason: string): (readonly [string, object])[] => [
  ["message_delta", { delta: { stop_reason }, usage: { output_tokens: 5 } }],
  ["message_stop", {}],
];

test("Anthropic gets its signature and its call back", async () => {
  const ran: string[] = [];
  const turn = anthropic(
    begin,
    ...blockOf(
      0,
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "Look." },
      { type: "signature_delta", signature: "c2ln" },
    ),
    ...blockOf(1, { type: "redacted_thinking", data: "secret" }),
    ...blockOf(
      2,
      { type: "tool_use", id: "toolu_1", name: "read", input: {} },
      { type: "input_json_delta", partial_json: '{"path": "a"}' },
    ),
    ...stops("tool_use"),
  );
  const done = anthropic(
    begin,
    ...blockOf(0, { type: "text", text: "" }, { type: "text_delta", text: "Done." }),
    ...stops("end_turn"),
  );
  const { fetch, asked } = answering(turn, done);
  const model = wrapLanguageModel({
    model: createAnthropic({ apiKey: "k", fetch })("claude-sonnet-4-5"),
    middleware: sidecarMiddleware(sidecar),
  });
  const result = streamText({ model, tools: tools(ran), stopWhen: stepCountIs(2), prompt: "?" });
  expect(await result.text).toBe("Done.");
  expect(ran).toEqual(["a"]);
  const messages = asked[1]?.["messages"] as { role: string; content: unknown[] }[];
  expect(messages[1]?.content).toMatchObject([
    { type: "thinking", thinking: "Look.", signature: "c2ln" },
    { type: "redacted_thinking", data: "secret" },
    { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" } },
  ]);
  expect((await result.totalUsage).inputTokens).toBe(6);
});

test("Gemini gets its thought signature back with its call", async () => {
  const ran: string[] = [];
  const says = (parts: readonly object[], finishReason?: string) => ({
    candidates: [{ content: { role: "model", parts }, ...(finishReason && { finishReason }) }],
  });
  const call = { functionCall: { name: "read", args: { path: "a" } }, thoughtSignature: "c2ln" };
  const turn = sse(says([{ text: "Hm.", thought: true }]), says([call], "STOP")).replace("data: [DONE]\n\n", "");
  const { fetch, asked } = answering(turn, sse(says([{ text: "Done." }], "STOP")).replace("data: [DONE]\n\n", ""));
  const model = wrapLanguageModel({
    model: createGoogleGenerativeAI({ apiKey: "k", fetch })("gemini-3-pro"),
    middleware: sidecarMiddleware(sidecar),
  });
  const result = streamText({ model, tools: tools(ran), stopWhen: stepCountIs(2), prompt: "?" });
  expect(await result.text).toBe("Done.");
  const contents = asked[1]?.["contents"] as { parts: object[] }[];
  expect(contents[1]?.parts).toContainEqual(expect.objectContaining({ thoughtSignature: "c2ln" }));
  expect(ran).toEqual(["a"]);
});

test("a model without raw chunks is read, too", async () => {
  const parts = [
    { type: "stream-start" as const, warnings: [] },
    { type: "text-start" as const, id: "0" },
    { type: "text-delta" as const, id: "0", delta: "<think>why</think>Because." },
    { type: "text-end" as const, id: "0" },
    {
      type: "finish" as const,
      finishReason: { unified: "stop" as const, raw: "stop" },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 2, text: 2, reasoning: undefined },
      },
    },
  ];
  const mock = new MockLanguageModelV3({
    doStream: async () => ({ stream: simulateReadableStream({ chunks: parts }) }),
  });
  const result = streamText({
    model: wrapLanguageModel({ model: mock, middleware: sidecarMiddleware(sidecar) }),
    prompt: "?",
  });
  expect([await result.text, await result.reasoningText]).toEqual(["Because.", "why"]);
  expect((await result.usage).outputTokens).toBe(2);
});

test("a broken upstream gives its own error, a stop button an abort", async () => {
  const broken = (signal?: AbortSignal | null) =>
    new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode(sse(says("Half")).replace("data: [DONE]\n\n", "")));
        if (!signal) return setTimeout(() => controller.error(new Error("ECONNRESET")), 20);
        return signal.addEventListener("abort", () => controller.error(signal.reason));
      },
    });
  const fetch = (async (_url: unknown, init?: RequestInit) =>
    new Response(broken(init?.signal), {
      headers: { "content-type": "text/event-stream" },
    })) as typeof globalThis.fetch;
  const kinds = async (abort?: AbortController) => {
    const model = chat(
      abort ? fetch : (((url, init) => fetch(url, { ...init, signal: null })) as typeof globalThis.fetch),
    );
    const result = streamText({ model, prompt: "?", onError: () => {}, ...(abort && { abortSignal: abort.signal }) });
    const seen: string[] = [];
    for await (const part of result.fullStream) {
      seen.push(part.type);
      if (part.type === "error") throw part.error;
      if (part.type === "text-delta") abort?.abort();
    }
    return seen;
  };
  await expect(kinds()).rejects.toMatchObject({ cause: { message: "ECONNRESET" } });
  expect((await kinds(new AbortController())).at(-1)).toBe("abort");
});

test("without a sidecar the model's answer passes unchanged", async () => {
  const lost: unknown[] = [];
  const none = Sidecar.create({ command: ["/does/not/exist"], restarts: { max: 0 } });
  const { fetch } = answering(sse(says("<think>why</think>Because."), delta({}, "stop")));
  const model = createOpenAI({ apiKey: "k", fetch }).chat("m");
  const middleware = sidecarMiddleware(none, { onLost: (error) => lost.push(error) });
  const result = streamText({ model: wrapLanguageModel({ model, middleware }), prompt: "?" });
  expect(await result.text).toBe("<think>why</think>Because.");
  expect(lost).toHaveLength(1);
});

test("a call that was written as text is silent, and the host hears of it, streamed and whole", async () => {
  const heard: string[] = [];
  const listening: MiddlewareOptions = {
    claims: "drop",
    onEvent: ({ type }, { model }) => heard.push(`${type} ${model}`),
    onMessage: ({ toolCalls }) => heard.push(`message ${toolCalls?.map(({ name }) => name).join()}`),
  };
  const expected = expect.arrayContaining(["tool-call qwen3-32b", "finish qwen3-32b", "message remove"]);
  const result = streamText({ model: chat(answering(claim).fetch, listening), tools: tools([]), prompt: "?" });
  expect([await result.text, await result.toolCalls]).toEqual(["", []]);
  expect(heard.splice(0)).toEqual(expected);
  const body = JSON.stringify({
    ...{ id: "c1", object: "chat.completion", model: "m", created: 1 },
    choices: [{ index: 0, message: { role: "assistant", content: written }, finish_reason: "stop" }],
  });
  const whole = await generateText({ model: chat(answering(body).fetch, listening), tools: tools([]), prompt: "?" });
  expect([whole.text, whole.toolCalls]).toEqual(["", []]);
  expect(heard.splice(0)).toEqual(expected);
});

test("leaks in an earlier answer are not sent back, unless the host sends its prompt unchanged", async () => {
  const messages = [
    { role: "user" as const, content: "?" },
    { role: "assistant" as const, content: [{ type: "text" as const, text: "<think>🌿</think>Be🌿cause." }] },
    { role: "user" as const, content: "Sure?" },
  ];
  const sent = async (options: MiddlewareOptions) => {
    const { fetch, asked } = answering(sse(says("Yes."), delta({}, "stop")));
    await streamText({ model: chat(fetch, options), messages }).text;
    return (asked[0]?.["messages"] as { content: string }[])[1]?.content;
  };
  expect(await sent({})).toBe("Be🌿cause.");
  expect(await sent({ prepare: false })).toBe("<think>🌿</think>Be🌿cause.");
});
