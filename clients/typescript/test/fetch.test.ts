// `sidecarFetch` under the official SDKs, unmodified: they read clean answers, streamed and
// whole, of each endpoint. Other responses pass unchanged.

import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { createOpenAI } from "@ai-sdk/openai";
import { streamText } from "ai";
import { Readable } from "node:stream";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sidecarFetch } from "../src/adapters/fetch.js";
import { Sidecar } from "../src/index.js";
import { fake, REAL } from "./support.js";

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(() => sidecar.shutdown());

const LEAKING = "<think>why</think>Because.";
const user = { role: "user" as const, content: "?" };
const delta = (fields: object, finish_reason: string | null = null) => ({
  ...{ id: "c1", object: "chat.completion.chunk", model: "m", created: 1 },
  choices: [{ index: 0, delta: fields, finish_reason }],
});
const data = (...documents: readonly object[]) => documents.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("");
const named = (...documents: readonly { type: string }[]) =>
  documents.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join("");

/** A `fetch` of a provider that gives this body, in slices of seven bytes. */
function giving(body: string, type = "text/event-stream", status = 200): typeof globalThis.fetch {
  return async () => {
    const bytes = new TextEncoder().encode(body);
    const slices = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) => bytes.slice(at * 7, (at + 1) * 7));
    const headers = { "content-type": type, "content-length": String(bytes.length) };
    return new Response(ReadableStream.from(slices) as ReadableStream<Uint8Array>, { status, headers });
  };
}

const through = (body: string, type?: string) => sidecarFetch(sidecar, { fetch: giving(body, type) });

const CHAT = data(delta({ role: "assistant", content: LEAKING }), delta({}, "stop")) + "data: [DONE]\n\n";

test("openai, Chat Completions", async () => {
  const client = new OpenAI({ apiKey: "k", fetch: through(CHAT) });
  let text = "";
  let reasoning = "";
  for await (const chunk of await client.chat.completions.create({ model: "qwen3", stream: true, messages: [user] })) {
    text += chunk.choices[0]?.delta.content ?? "";
    reasoning += (chunk.choices[0]?.delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? "";
  }
  expect([text, reasoning]).toEqual(["Because.", "why"]);
  const message = { role: "assistant", content: LEAKING };
  const body = {
    id: "c1",
    object: "chat.completion",
    model: "m",
    created: 1,
    choices: [{ index: 0, message, finish_reason: "stop" }],
  };
  const whole = new OpenAI({ apiKey: "k", fetch: through(JSON.stringify(body), "application/json") });
  const answer = await whole.chat.completions.create({ model: "qwen3", messages: [user] });
  expect(answer.choices[0]?.message.content).toBe("Because.");
});

test("a provider of the AI SDK", async () => {
  const openai = createOpenAI({ apiKey: "k", fetch: through(CHAT) });
  expect(await streamText({ model: openai.chat("qwen3"), prompt: "?" }).text).toBe("Because.");
});

test("openai, Responses", async () => {
  const item = { id: "msg_1", type: "message", role: "assistant", status: "completed" };
  const part = { type: "output_text", text: LEAKING, annotations: [] };
  const response = {
    id: "resp_1",
    object: "response",
    created_at: 1,
    model: "m",
    status: "completed",
    output: [{ ...item, content: [part] }],
  };
  const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const body = named(
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } } as { type: string },
    { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } } as { type: string },
    { type: "response.output_text.delta", ...place, delta: LEAKING } as { type: string },
    { type: "response.output_item.done", output_index: 0, item: { ...item, content: [part] } } as { type: string },
    { type: "response.completed", response } as { type: string },
  );
  const client = new OpenAI({ apiKey: "k", fetch: through(body) });
  let text = "";
  for await (const event of await client.responses.create({ model: "m", stream: true, input: "?" })) {
    if (event.type === "response.output_text.delta") text += event.delta;
  }
  expect(text).toBe("Because.");
  const whole = new OpenAI({ apiKey: "k", fetch: through(JSON.stringify(response), "application/json") });
  expect((await whole.responses.create({ model: "m", input: "?" })).output_text).toBe("Because.");
});

test("@anthropic-ai/sdk", async () => {
  const message = {
    id: "m1",
    type: "message",
    role: "assistant",
    model: "c",
    content: [],
    stop_reason: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  const body = named(
    { type: "message_start", message } as { type: string },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } } as { type: string },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: LEAKING } } as { type: string },
    { type: "content_block_stop", index: 0 } as { type: string },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } } as { type: string },
    { type: "message_stop" },
  );
  const asked = { model: "c", max_tokens: 9, messages: [user] };
  const client = new Anthropic({ apiKey: "k", fetch: through(body) });
  const said = await client.messages.stream(asked).finalMessage();
  expect(said.content.flatMap((block) => (block.type === "text" ? [block.text] : []))).toEqual(["Because."]);
  const whole = { ...message, content: [{ type: "text", text: LEAKING }], stop_reason: "end_turn" };
  const other = new Anthropic({ apiKey: "k", fetch: through(JSON.stringify(whole), "application/json") });
  expect((await other.messages.create(asked)).content.at(-1)).toMatchObject({ type: "text", text: "Because." });
});

test("@google/genai", async () => {
  const says = { candidates: [{ content: { role: "model", parts: [{ text: LEAKING }] }, finishReason: "STOP" }] };
  const before = globalThis.fetch; // this SDK has no option for it
  try {
    globalThis.fetch = through(data(says));
    const client = new GoogleGenAI({ apiKey: "k" });
    let text = "";
    for await (const chunk of await client.models.generateContentStream({ model: "gemini-3-pro", contents: "?" })) {
      text += chunk.text ?? "";
    }
    globalThis.fetch = through(JSON.stringify(says), "application/json");
    const whole = await client.models.generateContent({ model: "gemini-3-pro", contents: "?" });
    expect([text, whole.text]).toEqual(["Because.", "Because."]);
  } finally {
    globalThis.fetch = before;
  }
});

test("Gemini's array of documents stays one", async () => {
  const says = (text: string, finishReason?: string) => ({
    candidates: [{ content: { role: "model", parts: [{ text }] }, ...(finishReason && { finishReason }) }],
  });
  const url = "https://x/v1beta/models/gemini-3-pro:streamGenerateContent";
  const fetch = through(JSON.stringify([says("<think>why</think>"), says("Because.", "STOP")]), "application/json");
  const response = await fetch(url, { method: "POST", body: "{}" });
  const documents = (await response.json()) as {
    candidates: { content?: { parts?: { text?: string; thought?: boolean }[] } }[];
  }[];
  const parts = documents.flatMap(({ candidates }) => candidates[0]?.content?.parts ?? []);
  expect(parts.flatMap(({ text, thought }) => (thought ? [] : [text ?? ""])).join("")).toBe("Because.");
});

test("other responses pass unchanged", async () => {
  const url = "https://x/v1/chat/completions";
  const ask = { method: "POST", body: JSON.stringify({ model: "m" }) };
  const cases: readonly [string, RequestInit, typeof globalThis.fetch][] = [
    ["https://x/v1/models", {}, giving(LEAKING, "application/json")],
    ["https://x/v1/embeddings", ask, giving(LEAKING, "application/json")],
    [url, ask, giving('{"error": {}}', "application/json", 429)],
    [url, { method: "POST", body: "no json" }, giving(CHAT)],
    [url, ask, giving(LEAKING, "text/plain")],
  ];
  for (const [place, init, fetch] of cases) {
    const before = await (await fetch(place)).text();
    const response = await sidecarFetch(sidecar, { fetch })(place, init);
    expect(await response.text()).toBe(before);
  }
});

test("an answer that the wire does not know passes as it came", async () => {
  const places = ["chat/completions", "responses", "messages", "models/m:generateContent"];
  for (const place of places) {
    for (const body of ['{"choices": [', "[]", "null", '"hello"', '{"foo": 1}', "", "<html>", "\ufeff{}"]) {
      const ask = { method: "POST", body: '{"model": "100%"}' };
      const fetch = sidecarFetch(sidecar, { fetch: giving(body, "application/json") });
      const after = await fetch(`https://x/v1/${place}`, ask);
      expect(Buffer.from(await after.arrayBuffer()).toString()).toBe(body);
    }
  }
});

/** What a sidecar says to a push that answers well up to then. */
const NONSENSE: readonly unknown[] = [null, 7, {}, { events: 1 }, { events: [], chunks: 7 }, { events: [null] }];

test.for(NONSENSE)("a sidecar that answers nonsense lets the response pass: %j", async (answer) => {
  const lost: unknown[] = [];
  const opens = Sidecar.fromConnection({
    sendRequest: async (method) => (method === "stream/open" ? { emit: {} } : answer),
  });
  const never = Sidecar.fromConnection({ sendRequest: async () => answer });
  const ask = { method: "POST", body: '{"model": "m"}' };
  for (const other of [opens, never]) {
    const passed = async (url: string, body: string, type?: string) => {
      const fetch = sidecarFetch(other, {
        fetch: giving(body, type),
        prepare: false,
        onLost: (error) => lost.push(error),
      });
      return (await fetch(url, ask)).text();
    };
    const named = CHAT.replaceAll("data", "event: x\ndata");
    expect(await passed("https://x/v1/chat/completions", CHAT)).toBe(CHAT);
    expect(await passed("https://x/v1/messages", named)).toBe(named);
    expect(await passed("https://x/v1/messages", '{"id": 1}', "application/json")).toBe('{"id": 1}');
  }
  expect(lost.length).toBeGreaterThan(0);
});

test("an older sidecar that gives no documents lets the response pass", async () => {
  const lost: unknown[] = [];
  await using older = await Sidecar.spawn(fake("good"));
  const fetch = sidecarFetch(older, { fetch: giving(CHAT), onLost: (error) => lost.push(error) });
  const response = await fetch("https://x/v1/chat/completions", { method: "POST", body: "{}" });
  expect(await response.text()).toBe(CHAT);
  expect(lost).toMatchObject([{ kind: "unsupported" }, { kind: "unsupported" }]);
  await fetch("https://x/v1/chat/completions", { method: "POST", body: "{}" });
  expect(lost.filter((each) => String(each).includes("request/prepare"))).toHaveLength(1);
});

test("a stream whose sidecar is lost before the first event passes whole", async () => {
  const lost: unknown[] = [];
  await using other = await Sidecar.spawn({ ...fake("ends-at-push", "emits"), restarts: { max: 1, delayMs: 0 } });
  const fetch = sidecarFetch(other, { fetch: giving(CHAT), prepare: false, onLost: (error) => lost.push(error) });
  const response = await fetch("https://x/v1/chat/completions", { method: "POST", body: "{}" });
  expect(await response.text()).toBe(CHAT);
  expect(lost).toMatchObject([{ kind: "stream-lost" }]);
});

test("a request object is sent as it is, and its answer is clean", async () => {
  const request = new Request("https://x/v1/chat/completions", { method: "POST", body: '{"model": "qwen3"}' });
  let sent = "";
  const send = (async (given: Request) => {
    sent = await given.text();
    return giving(CHAT)("");
  }) as typeof globalThis.fetch;
  const response = await sidecarFetch(sidecar, { fetch: send })(request);
  expect(await response.text()).toContain('"content":"Because."');
  expect(sent).toBe('{"model": "qwen3"}');
});

test("without a sidecar everything passes as it came", async () => {
  const lost: unknown[] = [];
  const none = Sidecar.create({ command: ["/does/not/exist"], restarts: { max: 0 } });
  const fetch = sidecarFetch(none, { fetch: giving(CHAT), prepare: false, onLost: (error) => lost.push(error) });
  const response = await fetch("https://x/v1/chat/completions", { method: "POST", body: "{}" });
  expect(await response.text()).toBe(CHAT);
  expect(lost).toHaveLength(1);
});

test("an upstream that breaks off breaks the answer off", async () => {
  async function* half() {
    yield new TextEncoder().encode(CHAT.slice(0, CHAT.indexOf("[DONE]") - 6));
    throw new Error("ECONNRESET");
  }
  const headers = { "content-type": "text/event-stream" };
  const send = async () => new Response(ReadableStream.from(half()) as ReadableStream<Uint8Array>, { headers });
  const response = await sidecarFetch(sidecar, { fetch: send })("https://x/v1/chat/completions", {
    method: "POST",
    body: "{}",
  });
  const reader = response.body?.getReader();
  let text = "";
  const read = async () => {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done) return;
      text += new TextDecoder().decode(value);
    }
  };
  await expect(read()).rejects.toThrow("ECONNRESET");
  expect(text).toContain("Because.");
  expect(text).not.toContain("[DONE]");
});

const WRITTEN = '<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>';

test("a call that was written as text is silent for the SDK, and the host hears of it", async () => {
  const heard: string[] = [];
  const streamed = data(delta({ content: WRITTEN }), delta({}, "stop")) + "data: [DONE]\n\n";
  const message = { role: "assistant", content: WRITTEN };
  const whole = JSON.stringify({ id: "c1", choices: [{ index: 0, message, finish_reason: "stop" }] });
  for (const [body, type] of [[streamed, "text/event-stream"] as const, [whole, "application/json"] as const]) {
    const fetch = sidecarFetch(sidecar, {
      fetch: giving(body, type),
      onEvent: ({ type: told }, { model, streamId }) => heard.push(told, model ?? "", streamId && "named"),
      onMessage: ({ toolCalls }) => heard.push(`message ${toolCalls?.map(({ name, origin }) => name + origin).join()}`),
    });
    const text = await (
      await fetch("https://x/v1/chat/completions", { method: "POST", body: '{"model": "m"}' })
    ).text();
    expect(text).not.toContain("read");
    expect(heard.splice(0)).toEqual(expect.arrayContaining(["tool-call", "finish", "m", "named", "message readtext"]));
  }
});

test("a listener that throws breaks no answer", async () => {
  const lost: unknown[] = [];
  const broken = () => {
    throw new Error("of the host");
  };
  const options = { onEvent: broken, onMessage: broken, onLost: (error: unknown) => lost.push(error) };
  const fetch = sidecarFetch(sidecar, { fetch: giving(CHAT), ...options });
  const client = new OpenAI({ apiKey: "k", fetch });
  const stream = client.chat.completions.stream({ model: "qwen3", messages: [user] });
  expect(await stream.finalContent()).toBe("Because.");
  expect(new Set(lost.map(String))).toEqual(new Set(["Error: of the host"]));
});

test("calls that are promoted in two whole responses have two ids, also without an id of theirs", async () => {
  const content = '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>';
  const choice = { index: 0, message: { role: "assistant", content }, finish_reason: "stop" };
  const body = JSON.stringify({ object: "chat.completion", model: "qwen3", choices: [choice] });
  const fetching = sidecarFetch(sidecar, { fetch: giving(body, "application/json"), claims: "promote" });
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
  const asked = { method: "POST", body: JSON.stringify({ model: "qwen3", messages: [user], tools }) };
  const answers = await Promise.all([1, 2].map(() => fetching("https://api.example/v1/chat/completions", asked)));
  const ids = await Promise.all(
    answers.map(async (each) => ((await each.json()) as OpenAI.ChatCompletion).choices[0]?.message.tool_calls?.[0]?.id),
  );
  expect(new Set(ids).size).toBe(2);
});

test("numbers of a request that is changed keep their digits", async () => {
  const sent: string[] = [];
  const upstream: typeof globalThis.fetch = async (_input, init) => {
    sent.push(String(init?.body));
    return Response.json({ choices: [] });
  };
  const numbers = '"seed":12345678901234567890,"user":"1234567890123456789012","logit_bias":{"1":-0.12345678901234567}';
  const turn = JSON.stringify({ role: "assistant", content: LEAKING });
  const body = `{"model":"qwen3",${numbers},"messages":[${JSON.stringify(user)},${turn},${JSON.stringify(user)}]}`;
  const fetching = sidecarFetch(sidecar, { fetch: upstream });
  await fetching("https://api.example/v1/chat/completions", { method: "POST", body });
  expect(sent[0]).not.toContain("<think>");
  for (const number of numbers.split(/,(?=")/)) expect(sent[0]).toContain(number);
});

test("an end mark goes out where one came", async () => {
  const asked = { method: "POST", body: JSON.stringify({ model: "qwen3", messages: [user], stream: true }) };
  const ends = [CHAT, CHAT.replace("data: [DONE]\n\n", "")].map(async (body) => {
    const answer = await through(body)("https://api.example/v1/chat/completions", asked);
    return (await answer.text()).endsWith("data: [DONE]\n\n");
  });
  expect(await Promise.all(ends)).toEqual([true, false]);
});

test("a body that can be read only once is sent, and its answer is clean", async () => {
  const text = JSON.stringify({ model: "m", messages: [user] });
  const sent: string[] = [];
  const send: typeof globalThis.fetch = async (input, init) => {
    sent.push(await new Request(input, init).text());
    return giving(CHAT)(input, init);
  };
  const fetch = sidecarFetch(sidecar, { fetch: send });
  const iterable = (): AsyncIterable<Uint8Array> => Readable.from([Buffer.from(text)]);
  for (const path of ["chat/completions", "files"]) {
    for (const body of [iterable(), ReadableStream.from(iterable())] as ReadableStream<Uint8Array>[]) {
      const init: RequestInit & { duplex: "half" } = { method: "POST", body, duplex: "half" };
      const answer = await (await fetch(`https://x/v1/${path}`, init)).text();
      expect([sent.pop(), answer.includes("<think>")]).toEqual([text, path === "files"]);
    }
  }
});
