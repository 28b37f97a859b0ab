// The example runs: the agent against a server that replays recorded responses, or plays a
// model which writes its call into its text.

import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask } from "../examples/agent.js";
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

interface Asked {
  messages: { role: string; content: unknown; tool_calls?: unknown }[];
}

/** A server of Chat Completions that gives these bodies, a request each. */
function replaying(...bodies: readonly (Buffer | string)[]) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      asked.push(body as Asked);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(bodies[asked.length - 1]);
    });
  });
  return { asked, server };
}

const RECORDINGS = new URL("../../../tests/wires/openai-chat/", import.meta.url);
const recorded = (name: string) => readFileSync(new URL(name, RECORDINGS));

/** A response that says this text. */
function said(text: string): string {
  const chunk = (delta: object, finish: string | null) => {
    const choice = { index: 0, delta, finish_reason: finish };
    return `data: ${JSON.stringify({ id: "c", model: "m", created: 1, choices: [choice] })}\n\n`;
  };
  const deltas = (text.match(/.{1,5}/gs) ?? []).map((content) => chunk({ content }, null));
  return `${deltas.join("")}${chunk({}, "stop")}data: [DONE]\n\n`;
}

const model = (...texts: readonly string[]) => replaying(...texts.map(said));

const CALL = '<tool_call>\n{"name": "run_command", "arguments": {"command": "git status"}}\n</tool_call>';

test("the agent runs the calls of a recorded model, and answers", async () => {
  const { asked, server } = replaying(recorded("leaking.sse"), recorded("leaking-next.sse"));
  const ran: string[] = [];
  const run = (command: string) => {
    ran.push(command);
    return "main\n";
  };
  const { answer } = await ask(sidecar, `${await listening(server)}/v1`, "Which branch?", run);
  expect(answer.trim()).toBe("You are on `main` 🌿.");
  expect(ran).toEqual(["git branch --show-current"]);
  const [, assistant, result] = asked[1]?.messages ?? [];
  expect(String(assistant?.content).trim()).toBe("I will look at the branch 🌿 first.");
  expect(assistant?.tool_calls).toMatchObject([{ function: { name: "run_command" } }]);
  expect(result).toMatchObject({ role: "tool", content: "main\n" });
});

test("the agent runs a call that the model wrote into its text, and answers", async () => {
  const { asked, server } = model(`<think>Look first.</think>${CALL}`, "<think>Clean.</think>Nothing.");
  const ran: string[] = [];
  const run = (command: string) => {
    ran.push(command);
    return "nothing to commit";
  };
  const told = await ask(sidecar, `${await listening(server)}/v1`, "What changed?", run);
  expect(ran).toEqual(["git status"]);
  expect(told).toEqual({ answer: "Nothing.", reasoning: ["Look first.", "Clean."] });
  expect(JSON.stringify(asked[1])).not.toContain("think>");
  expect(asked[1]?.messages.at(-1)).toMatchObject({ role: "tool", content: "nothing to commit" });
});
