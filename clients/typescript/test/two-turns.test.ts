// What an SDK's own loop sends back is taken by a provider that refuses what we found.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sidecarFetch } from "../src/adapters/fetch.js";
import { Sidecar } from "../src/index.js";
import { REAL } from "./support.js";

const REFUSAL =
  "'messages.1' : for 'role:assistant' the following must be satisfied" +
  "[('messages.1' : property 'reasoning_content' is unsupported)]";
const ANSWER = {
  ...{ id: "c1", object: "chat.completion", model: "qwen3", created: 1 },
  choices: [{ index: 0, message: { role: "assistant", content: "<think>why</think>Because." }, finish_reason: "stop" }],
};

let sidecar: Sidecar;
let server: Server;
const sent: string[] = [];

beforeAll(async () => {
  sidecar = await Sidecar.spawn(REAL);
  server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += String(part);
    sent.push(body);
    const isRefused = body.includes("reasoning_content");
    response.writeHead(isRefused ? 400 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(isRefused ? { error: { message: REFUSAL } } : ANSWER));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
});
afterAll(async () => {
  server.close();
  await sidecar.shutdown();
});

async function twoTurns(options: Parameters<typeof sidecarFetch>[1]): Promise<unknown> {
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const client = new OpenAI({ apiKey: "k", baseURL, maxRetries: 0, fetch: sidecarFetch(sidecar, options) });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "?" }];
  const first = await client.chat.completions.create({ model: "qwen3", messages });
  const message = first.choices[0]!.message;
  messages.push(message, { role: "user", content: "Sure?" });
  const second = await client.chat.completions.create({ model: "qwen3", messages });
  return [(message as { reasoning_content?: string }).reasoning_content, second.choices[0]?.message.content];
}

test("the second turn goes out without the reasoning that Groq refuses", async () => {
  const lost: unknown[] = [];
  expect(await twoTurns({ provider: "groq", onLost: (error) => lost.push(error) })).toEqual(["why", "Because."]);
  expect(lost).toEqual([]);
  const [, second] = sent.splice(0).map((body) => JSON.parse(body) as { messages: object[] });
  expect(second?.messages[1]).toEqual({ role: "assistant", content: "Because." });
});

test("the caller's own bytes go where nothing is to be done", async () => {
  sent.splice(0);
  const body = '{"model" : "qwen3", "messages": [{"role": "user", "content": "?"}]}';
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`;
  await sidecarFetch(sidecar)(url, { method: "POST", body });
  expect(sent.splice(0)).toEqual([body]);
});
