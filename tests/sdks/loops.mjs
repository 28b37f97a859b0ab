// The official JavaScript SDKs over `sidecarFetch`: three turns with a tool, whole and streamed,
// against the server that leaks and refuses. Anthropic's, alone and below the AI SDK, also against
// one that seals its thinking. Run by `test_javascript.py` in the folder of the SDKs:
// node loops.mjs SERVER DIST

import assert from "node:assert/strict";
import { argv } from "node:process";
import { pathToFileURL } from "node:url";

import { createAnthropic } from "@ai-sdk/anthropic";
import Anthropic from "@anthropic-ai/sdk";
import { createOpenAI } from "@ai-sdk/openai";
import { GoogleGenAI } from "@google/genai";
import { generateText, jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import OpenAI from "openai";

const [server, dist] = argv.slice(2);
const { Sidecar } = await import(pathToFileURL(`${dist}/index.js`));
const { sidecarMiddleware } = await import(pathToFileURL(`${dist}/adapters/ai-sdk.js`));
const { sidecarFetch } = await import(pathToFileURL(`${dist}/adapters/fetch.js`));

const SCHEMA = { type: "object", properties: { path: { type: "string" } } };
const FUNCTION = { name: "look", parameters: SCHEMA };
const LEFT = "<think>2 + 2.</think>Four.";
const ASKED = [
  { role: "user", content: "2 + 2?" },
  { role: "assistant", content: LEFT },
  { role: "user", content: "Look." },
];
const RESULT = "a.txt, b.txt";
const SHARED = { apiKey: "k", maxRetries: 0 };

async function all(stream) {
  const items = [];
  for await (const item of stream) items.push(item);
  return items;
}

/** What the items of a response say. */
function saidIn(output) {
  const calls = output.filter(({ type }) => type === "function_call");
  const content = output.flatMap((item) => (item.type === "message" ? item.content : []));
  return {
    text: content.map(({ text }) => text).join(""),
    calls: calls.map(({ name, arguments: given }) => [name, JSON.parse(given)]),
    next: [...output, ...calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: RESULT }))],
  };
}

/** A row asks a turn: it gives `text`, `calls` (names and arguments) and what follows in the history. */
const ROWS = {
  "openai chat": {
    server: "openai",
    make: (address, fetch) => new OpenAI({ ...SHARED, baseURL: `${address}/v1`, fetch }),
    async ask(client, messages, stream) {
      const asked = { model: "qwen3", messages, tools: [{ type: "function", function: FUNCTION }] };
      const message = stream
        ? await client.chat.completions.stream(asked).finalMessage()
        : (await client.chat.completions.create(asked)).choices[0].message;
      const calls = message.tool_calls ?? [];
      return {
        text: message.content,
        calls: calls.map(({ function: { name, arguments: given } }) => [name, JSON.parse(given)]),
        next: [message, ...calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: RESULT }))],
      };
    },
  },
  "openai responses": {
    server: "responses",
    make: (address, fetch) => new OpenAI({ ...SHARED, baseURL: `${address}/v1`, fetch }),
    async ask(client, input, stream) {
      const asked = { model: "qwen3", input, tools: [{ type: "function", ...FUNCTION, strict: false }], stream };
      const answer = await client.responses.create(asked);
      return saidIn((stream ? (await all(answer)).at(-1).response : answer).output);
    },
  },
  "openai helper": {
    server: "responses",
    make: (address, fetch) => new OpenAI({ ...SHARED, baseURL: `${address}/v1`, fetch }),
    async ask(client, input) {
      const tools = [{ type: "function", ...FUNCTION, strict: false }];
      const { output } = await client.responses.stream({ model: "qwen3", input, tools }).finalResponse();
      return saidIn(output);
    },
  },
  anthropic: {
    server: "anthropic",
    make: (baseURL, fetch) => new Anthropic({ ...SHARED, baseURL, fetch }),
    async ask(client, messages, stream) {
      const tools = [{ name: "look", input_schema: SCHEMA }];
      const thinking = { type: "adaptive" };
      const asked = { model: "claude-opus-5-5", max_tokens: 99, messages, tools, thinking };
      const { content } = stream
        ? await client.messages.stream(asked).finalMessage()
        : await client.messages.create(asked);
      const calls = content.filter(({ type }) => type === "tool_use");
      const results = calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: RESULT }));
      return {
        text: content.map(({ text }) => text ?? "").join(""),
        calls: calls.map(({ name, input }) => [name, input]),
        next: [{ role: "assistant", content }, ...(calls.length ? [{ role: "user", content: results }] : [])],
      };
    },
  },
  "@google/genai": {
    server: "gemini",
    make(baseUrl, fetch) {
      globalThis.fetch = fetch; // it accepts no other
      return new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl } });
    },
    async ask(client, history, stream) {
      const contents = history.map(({ role, content, parts }) => ({
        role: role === "assistant" ? "model" : role,
        parts: parts ?? [{ text: content }],
      }));
      const config = { tools: [{ functionDeclarations: [{ name: "look", parametersJsonSchema: SCHEMA }] }] };
      const asked = { model: "gemini-3-pro", contents, config };
      const answers = stream
        ? await all(await client.models.generateContentStream(asked))
        : [await client.models.generateContent(asked)];
      const parts = answers.flatMap((answer) => answer.candidates?.[0]?.content?.parts ?? []);
      const calls = parts.flatMap((part) => part.functionCall ?? []);
      const results = calls.map(({ id, name }) => ({ functionResponse: { id, name, response: { output: RESULT } } }));
      return {
        text: parts.map((part) => (part.thought ? "" : (part.text ?? ""))).join(""),
        calls: calls.map(({ name, args }) => [name, args]),
        next: [{ role: "model", parts }, ...(calls.length ? [{ role: "user", parts: results }] : [])],
      };
    },
  },
};

const PROVIDERS = { responses: "openai", gemini: "google" };
const TURNS = [
  ["Let me look.", [["look", { path: "a.txt" }]]],
  ["Let me look.", [["look", { path: "a.txt" }]]],
  ["Two files.", []],
];

async function threeTurns({ make, ask, server: name }, sidecar, script, stream, history = [...ASKED]) {
  const options = { provider: PROVIDERS[name] ?? name, claims: "promote" };
  const client = make(`${server}/${name}/${script}`, sidecarFetch(sidecar, options));
  const turns = [];
  for (let turn = 0; turn < 3; turn += 1) {
    const { text, calls, next } = await ask(client, history, stream);
    turns.push([text.trim(), calls]);
    history.push(...next);
  }
  assert.deepEqual(turns, TURNS);
}

/** A model of the AI SDK, over `sidecarFetch` or below the middleware. */
const MODELS = {
  chat(sidecar, script) {
    const fetch = sidecarFetch(sidecar, { provider: "openai", claims: "promote" });
    return createOpenAI({ apiKey: "k", baseURL: `${server}/openai/${script}/v1`, fetch }).chat("qwen3");
  },
  claude(sidecar, script) {
    const fetch = sidecarFetch(sidecar, { provider: "anthropic", claims: "promote" });
    return createAnthropic({ apiKey: "k", baseURL: `${server}/anthropic/${script}/v1`, fetch })("claude-opus-5-5");
  },
  middleware(sidecar, script) {
    const native = createAnthropic({ apiKey: "k", baseURL: `${server}/anthropic/${script}/v1` })("claude-opus-5-5");
    return wrapLanguageModel({ model: native, middleware: sidecarMiddleware(sidecar, { claims: "promote" }) });
  },
};

/** The AI SDK runs the loop, and keeps the history, itself. */
async function aiSdk(model, stream, messages = ASKED) {
  const look = tool({ inputSchema: jsonSchema(SCHEMA), execute: () => RESULT });
  const providerOptions = { anthropic: { thinking: { type: "adaptive" } } };
  const asked = { model, messages, tools: { look }, stopWhen: stepCountIs(4), maxRetries: 0, providerOptions };
  const result = stream ? streamText(asked) : await generateText(asked);
  const steps = (await result.steps).map(({ text, toolCalls }) => [
    text.trim(),
    toolCalls.map(({ toolName, input }) => [toolName, input]),
  ]);
  assert.deepEqual(steps, TURNS);
}

globalThis.AI_SDK_LOG_WARNINGS = false;
/** The middleware is for version 6 of the AI SDK and later ones, which know adaptive thinking, too. */
const isOld = createOpenAI({ apiKey: "k" }).chat("m").specificationVersion === "v2";
const ownFetch = globalThis.fetch;
const sidecar = await Sidecar.spawn();
let failed = 0;
async function tried(name, script, stream, run) {
  try {
    await run();
  } catch (error) {
    failed += 1;
    console.error(name, script, stream ? "stream" : "whole", error);
  } finally {
    globalThis.fetch = ownFetch;
  }
}
for (const script of ["native", "written"]) {
  for (const stream of [false, true]) {
    for (const [name, row] of Object.entries(ROWS)) {
      await tried(name, script, stream, () => threeTurns(row, sidecar, script, stream));
    }
    await tried("ai", script, stream, () => aiSdk(MODELS.chat(sidecar, script), stream));
    const [sealed, numbered] = [`${script}+sealed`, `${script}+numbered`];
    await tried("openai helper", numbered, true, () => threeTurns(ROWS["openai helper"], sidecar, numbered, true));
    const fresh = ASKED.slice(-1);
    await tried("anthropic", sealed, stream, () => threeTurns(ROWS.anthropic, sidecar, sealed, stream, [...fresh]));
    if (isOld) continue;
    await tried("ai, claude", sealed, stream, () => aiSdk(MODELS.claude(sidecar, sealed), stream, fresh));
    await tried("ai, middleware", sealed, stream, () => aiSdk(MODELS.middleware(sidecar, sealed), stream, fresh));
  }
}
await sidecar.shutdown();
console.log(failed ? `${failed} failed` : "everything passed");
process.exitCode = failed ? 1 : 0;
