// The second request of an SDK's own loop is accepted by a provider with the refusals that we have
// found: the SDK runs a tool between the two turns, and our server refuses as the provider does.

import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { GoogleGenAI } from "@google/genai";
import { generateText, jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { sidecarMiddleware } from "../src/adapters/ai-sdk.js";
import { sidecarFetch } from "../src/adapters/fetch.js";
import { Sidecar } from "../src/index.js";
import { refusingProvider, SCENARIOS, type Scenario } from "./refusing-provider.js";
import { REAL } from "./support.js";

let sidecar: Sidecar;
let server: Awaited<ReturnType<typeof refusingProvider>>;
beforeAll(async () => {
  sidecar = await Sidecar.spawn(REAL);
  server = await refusingProvider();
});
afterAll(async () => {
  server.close();
  await sidecar.shutdown();
});

const parameters = {
  type: "object" as const,
  properties: { path: { type: "string" as const } },
  required: ["path"],
};
const READ = { name: "read", description: "Reads a file." };
const CHAT_MODELS: Readonly<Record<string, string>> = {
  ...{ groq: "qwen3", openai: "gpt-5", mistral: "magistral-medium", cerebras: "qwen3" },
  deepseek: "deepseek-v4",
};

/** Runs the loop of an SDK; returns its last text. `ran` is called for each call. */
type Loop = (url: string, fetch: typeof globalThis.fetch, ran: (path: string) => void) => Promise<string | null>;

/** The loop of OpenAI's documentation: the received message is sent back unchanged. */
const chat =
  (model: string): Loop =>
  async (url, fetch, ran) => {
    const client = new OpenAI({ apiKey: "k", baseURL: `${url}/v1`, maxRetries: 0, fetch });
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "?" }];
    for (;;) {
      const tools = [{ type: "function" as const, function: { ...READ, parameters } }];
      const told = await client.chat.completions.create({ model, messages, tools });
      const { message } = told.choices[0]!;
      if (!message.tool_calls?.length) return message.content;
      messages.push(message);
      for (const call of message.tool_calls) {
        if (call.type === "function") ran((JSON.parse(call.function.arguments) as { path: string }).path);
        messages.push({ role: "tool", tool_call_id: call.id, content: "text" });
      }
    }
  };

/** The same with streamed answers: the message that the SDK assembles is sent back unchanged. */
const chatStream =
  (model: string): Loop =>
  async (url, fetch, ran) => {
    const client = new OpenAI({ apiKey: "k", baseURL: `${url}/v1`, maxRetries: 0, fetch });
    const run = ({ path }: { path: string }) => (ran(path), "text");
    const parse = (text: string) => JSON.parse(text) as { path: string };
    const tools = [{ type: "function" as const, function: { ...READ, parameters, parse, function: run } }];
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "?" }];
    return client.chat.completions.runTools({ model, messages, tools, stream: true }).finalContent();
  };

type Created = Pick<OpenAI.Responses.Response, "output" | "output_text">;

/** The same with Responses: the received items, and then the results. */
async function answered(create: (asked: object) => Promise<Created>, ran: (path: string) => void) {
  const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "?" }];
  for (;;) {
    const tools = [{ type: "function" as const, ...READ, parameters, strict: false }];
    const told = await create({ store: false, input, tools });
    const calls = told.output.filter((item) => item.type === "function_call");
    if (calls.length === 0) return told.output_text;
    input.push(...(told.output as OpenAI.Responses.ResponseInputItem[]));
    for (const { call_id, arguments: text } of calls) {
      ran((JSON.parse(text) as { path: string }).path);
      input.push({ type: "function_call_output", call_id, output: "text" });
    }
  }
}

const responses: Loop = (url, fetch, ran) => {
  const client = new OpenAI({ apiKey: "k", baseURL: `${url}/v1`, maxRetries: 0, fetch });
  return answered((asked) => client.responses.create({ model: "gpt-5", ...asked }), ran);
};

/** The same with streamed answers: the items of the response that the SDK assembles are sent back. */
const responsesStream: Loop = async (url, fetch, ran) => {
  const client = new OpenAI({ apiKey: "k", baseURL: `${url}/v1`, maxRetries: 0, fetch });
  const create = async (asked: object) =>
    client.responses
      .stream({ model: "gpt-5", ...asked } as Parameters<typeof client.responses.stream>[0])
      .finalResponse();
  return answered(create, ran);
};

const messages: Loop = async (url, fetch, ran) => {
  const client = new Anthropic({ apiKey: "k", baseURL: url, maxRetries: 0, fetch });
  const read = betaTool({ ...READ, inputSchema: parameters, run: ({ path }) => (ran(String(path)), "text") });
  const asked = { model: "claude-sonnet-4-5", max_tokens: 100, messages: [{ role: "user" as const, content: "?" }] };
  const last = await client.beta.messages.toolRunner({ ...asked, tools: [read], thread: false });
  return last.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
};

const genai: Loop = async (baseUrl, fetch, ran) => {
  const client = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl } });
  const read = {
    tool: async () => ({ functionDeclarations: [{ ...READ, parametersJsonSchema: parameters }] }),
    callTool: async (calls: readonly { name?: string; args?: Record<string, unknown> }[]) =>
      calls.map(({ name = "", args }) => {
        ran(String(args?.["path"]));
        return { functionResponse: { name, response: { output: "text" } } };
      }),
  };
  vi.stubGlobal("fetch", fetch);
  try {
    const told = await client.models.generateContent({
      model: "gemini-3-pro",
      contents: "?",
      config: { tools: [read] },
    });
    return told.text ?? null;
  } finally {
    vi.unstubAllGlobals();
  }
};

type Model = Parameters<typeof wrapLanguageModel>[0]["model"];
type MakeModel = (url: string, fetch: typeof globalThis.fetch) => Model;

const aiSdk =
  (make: MakeModel, wrap: (model: Model) => Model = (model) => model, streams = false): Loop =>
  async (url, fetch, ran) => {
    const execute = async ({ path }: { path: string }) => (ran(path), "text");
    const read = tool({ inputSchema: jsonSchema<{ path: string }>(parameters), execute });
    const model = wrap(make(url, fetch));
    const asked = { model, tools: { read }, stopWhen: stepCountIs(2), maxRetries: 0, prompt: "?" };
    return streams ? streamText(asked).text : (await generateText(asked)).text;
  };

const compatible =
  (name: string): MakeModel =>
  (url, fetch) =>
    createOpenAICompatible({ name, apiKey: "k", baseURL: `${url}/v1`, fetch })(CHAT_MODELS[name] ?? "m");
const AI_MODELS: Readonly<Record<string, MakeModel>> = {
  ...Object.fromEntries(Object.keys(CHAT_MODELS).map((name) => [name, compatible(name)])),
  openai: (baseURL, fetch) => createOpenAI({ apiKey: "k", baseURL: `${baseURL}/v1`, fetch }).chat("gpt-5"),
  responses: (baseURL, fetch) => createOpenAI({ apiKey: "k", baseURL: `${baseURL}/v1`, fetch }).responses("gpt-5"),
  anthropic: (baseURL, fetch) => createAnthropic({ apiKey: "k", baseURL: `${baseURL}/v1`, fetch })("claude-sonnet-4-5"),
  gemini: (baseURL, fetch) =>
    createGoogleGenerativeAI({ apiKey: "k", baseURL: `${baseURL}/v1beta`, fetch })("gemini-3-pro"),
};

const SDKS: Readonly<Record<string, Loop>> = {
  ...Object.fromEntries(Object.entries(CHAT_MODELS).map(([name, model]) => [name, chat(model)])),
  ...{ responses, anthropic: messages, gemini: genai },
};
const NAMES: Readonly<Record<string, string>> = { responses: "openai", gemini: "google" };

async function isTaken(name: string, scenario: Scenario, loop: Loop, fetch: typeof globalThis.fetch) {
  const ran: string[] = [];
  const text = await loop(`${server.url}/${name}/${scenario}`, fetch, (path) => ran.push(path)).catch(String);
  expect([server.refused.splice(0), ran, text]).toEqual([[], ["a"], "Done."]);
}

const rowsOf = (table: Readonly<Record<string, unknown>>) =>
  Object.keys(table).flatMap((name) => SCENARIOS.map((scenario) => [name, scenario] as const));
const cleanFetch = (name: string) =>
  sidecarFetch(sidecar, {
    ...{ provider: NAMES[name] ?? name, claims: "promote", prepare: true },
    onLost: (error) => expect.fail(String(error)),
  });

test.for(rowsOf(SDKS))("the SDK of %s, reasoning and calls %s", async ([name, scenario]) =>
  isTaken(name, scenario, SDKS[name] as Loop, cleanFetch(name)),
);

test.for(rowsOf(AI_MODELS))("the AI SDK over sidecarFetch, %s, %s", async ([name, scenario]) =>
  isTaken(name, scenario, aiSdk(AI_MODELS[name] as MakeModel), cleanFetch(name)),
);

test.for(rowsOf(AI_MODELS))("the middleware of the AI SDK, %s, %s", async ([name, scenario]) => {
  const middleware = sidecarMiddleware(sidecar, { claims: "promote" });
  const wrap = (model: Model) => wrapLanguageModel({ model, middleware });
  return isTaken(name, scenario, aiSdk(AI_MODELS[name] as MakeModel, wrap), globalThis.fetch);
});

const STREAMING: Readonly<Record<string, Loop>> = {
  ...Object.fromEntries(Object.entries(CHAT_MODELS).map(([name, model]) => [name, chatStream(model)])),
  responses: responsesStream,
};

test.for(rowsOf(STREAMING))("streams: the SDK of %s, reasoning and calls %s", async ([name, scenario]) =>
  isTaken(name, scenario, STREAMING[name] as Loop, cleanFetch(name)),
);

test.for(rowsOf(AI_MODELS))("streams: the AI SDK over sidecarFetch, %s, %s", async ([name, scenario]) =>
  isTaken(name, scenario, aiSdk(AI_MODELS[name] as MakeModel, undefined, true), cleanFetch(name)),
);

test.for(rowsOf(AI_MODELS))("streams: the middleware of the AI SDK, %s, %s", async ([name, scenario]) => {
  const middleware = sidecarMiddleware(sidecar, { claims: "promote" });
  const wrap = (model: Model) => wrapLanguageModel({ model, middleware });
  return isTaken(name, scenario, aiSdk(AI_MODELS[name] as MakeModel, wrap, true), globalThis.fetch);
});

test("the caller's own bytes go where nothing is to be done", async () => {
  server.sent.splice(0);
  const body = '{"model" : "qwen3", "messages": [{"role": "user", "content": "?"}]}';
  await sidecarFetch(sidecar)(`${server.url}/groq/native/v1/chat/completions`, { method: "POST", body });
  expect(server.sent.splice(0)).toEqual([body]);
});
