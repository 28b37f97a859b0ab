// With an older sidecar, hosts work without the missing features, which are reported once.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, wrapLanguageModel } from "ai";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sidecarMiddleware } from "../src/adapters/ai-sdk.js";
import { sidecarFetch } from "../src/adapters/fetch.js";
import { Sidecar } from "../src/index.js";
import { REAL, ROOT } from "./support.js";

let older: Sidecar;
beforeAll(async () => {
  const [python] = REAL.command;
  older = await Sidecar.spawn({ command: [python as string, join(ROOT, "tests/support/older_sidecar.py")] });
});
afterAll(() => older.shutdown());

const LEAKING = "<think>why</think>Because.";
const MESSAGES = [
  { role: "user" as const, content: "?" },
  { role: "assistant" as const, content: LEAKING },
  { role: "user" as const, content: "Sure?" },
];
const OLD = "the sidecar is too old for request/prepare: requests are sent unprepared";

/** A provider that answers with a leak, and keeps what it was sent. */
function leaking() {
  const sent: string[] = [];
  const choice = { index: 0, message: { role: "assistant", content: LEAKING }, finish_reason: "stop" };
  const whole = JSON.stringify({ id: "c1", object: "chat.completion", model: "m", created: 1, choices: [choice] });
  const chunk = { id: "c1", object: "chat.completion.chunk", model: "m", created: 1 };
  const delta = { role: "assistant", content: LEAKING };
  const says = JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason: null }] });
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    const text = String(init?.body);
    sent.push(text);
    const isStream = (JSON.parse(text) as { stream?: boolean }).stream;
    const type = isStream ? "text/event-stream" : "application/json";
    return new Response(isStream ? `data: ${says}\n\ndata: [DONE]\n\n` : whole, { headers: { "content-type": type } });
  };
  return { sent, fetch };
}

test("sidecarFetch sends requests as they are, and answers are clean", async () => {
  const lost: unknown[] = [];
  const { sent, fetch } = leaking();
  const clean = sidecarFetch(older, { fetch, onLost: (error) => lost.push(error) });
  const bodies = [false, true].map((stream) => JSON.stringify({ model: "m", stream, messages: MESSAGES }));
  for (const body of bodies) {
    const response = await clean("https://x/v1/chat/completions", { method: "POST", body });
    const text = await response.text();
    expect([text.includes("Because."), text.includes("<think>")]).toEqual([true, false]);
  }
  expect(sent).toEqual(bodies);
  expect(lost).toMatchObject([{ kind: "unsupported", message: OLD }]);
});

test("the middleware hands its prompt on as it is, and answers are clean", async () => {
  const lost: unknown[] = [];
  const { sent, fetch } = leaking();
  const middleware = sidecarMiddleware(older, { onLost: (error) => lost.push(error) });
  const made = createOpenAICompatible({ name: "groq", apiKey: "k", baseURL: "https://x/v1", fetch })("m");
  const model = wrapLanguageModel({ model: made, middleware });
  for (const _ of [1, 2]) {
    const { text, reasoningText } = await generateText({ model, messages: MESSAGES });
    expect([text, reasoningText]).toEqual(["Because.", "why"]);
  }
  expect(sent.every((body) => body.includes("<think>"))).toBe(true);
  expect(lost).toMatchObject([{ kind: "unsupported", message: OLD }]);
});
