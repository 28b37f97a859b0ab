// The examples run: the agent against a server that plays a model which writes its call
// into its text, and the gateway under Anthropic's SDK.

import Anthropic from "@anthropic-ai/sdk";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask } from "../examples/agent.js";
import { gateway } from "../examples/gateway.js";
import { Sidecar } from "../src/index.js";
import { REAL } from "./support.js";

let sidecar: Sidecar;
const servers: Server[] = [];
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(async () => {
  for (const server of servers) server.close();
  await sidecar.shutdown();
});

async function listening(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server of Chat Completions that says these texts, a request each. */
function model(...texts: readonly string[]) {
  const asked: { messages: { role: string; content: unknown }[] }[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      asked.push(body as (typeof asked)[number]);
      response.writeHead(200, { "content-type": "text/event-stream" });
      const text = texts[asked.length - 1] ?? "";
      for (const content of text.match(/.{1,5}/gs) ?? []) {
        const choice = { index: 0, delta: { content }, finish_reason: null };
        response.write(`data: ${JSON.stringify({ id: "c", model: "m", created: 1, choices: [choice] })}\n\n`);
      }
      const last = { id: "c", model: "m", created: 1, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
      response.end(`data: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`);
    });
  });
  return { asked, server };
}

const CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Paris"}}\n</tool_call>';

test("the agent runs a call that the model wrote into its text, and answers", async () => {
  const { asked, server } = model(`<think>Look first.</think>${CALL}`, "<think>Warm.</think>It is warm.");
  const cities: string[] = [];
  const look = (city: string) => {
    cities.push(city);
    return "21 degrees";
  };
  const said = await ask(sidecar, `${await listening(server)}/v1`, "How is Paris?", look);
  expect(cities).toEqual(["Paris"]);
  expect(said).toEqual({ answer: "It is warm.", reasoning: ["Look first.", "Warm."] });
  expect(JSON.stringify(asked[1])).not.toContain("think>");
  expect(asked[1]?.messages.at(-1)).toMatchObject({ role: "tool", content: "21 degrees" });
});

test("the gateway gives a clean Chat Completions server to Anthropic's SDK", async () => {
  const { server } = model(`<think>Look first.</think>Wait.${CALL}`);
  const upstream = `${await listening(server)}/v1`;
  const baseURL = await listening(gateway(sidecar, upstream));
  const client = new Anthropic({ apiKey: "k", baseURL, maxRetries: 0 });
  const tools = [{ name: "weather", input_schema: { type: "object" as const } }];
  const messages = [{ role: "user" as const, content: "How is Paris?" }];
  const said = await client.messages.stream({ model: "qwen3-32b", max_tokens: 99, tools, messages }).finalMessage();
  expect(said.content).toMatchObject([
    { type: "thinking", thinking: "Look first." },
    { type: "text", text: "Wait." },
    { type: "tool_use", name: "weather", input: { city: "Paris" } },
  ]);
  expect(said.stop_reason).toBe("tool_use");
  const none = new Anthropic({
    apiKey: "k",
    baseURL: await listening(gateway(sidecar, "http://127.0.0.1:1")),
    maxRetries: 0,
  });
  await expect(none.messages.create({ model: "m", max_tokens: 9, messages })).rejects.toThrow();
});
