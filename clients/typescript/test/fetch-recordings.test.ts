// Every recording of the four wires through `sidecarFetch`, read by its provider's own SDK,
// unmodified: no error but the provider's, and the text that the clean stream has.

import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sidecarFetch } from "../src/adapters/fetch.js";
import { Sidecar } from "../src/index.js";
import { collect, REAL, recordings, type Recording } from "./support.js";

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(() => sidecar.shutdown());

type Wire = "openai-chat" | "openai-responses" | "anthropic" | "gemini";
type Fetch = typeof globalThis.fetch;

const user = { role: "user" as const, content: "?" };

/** The text that each SDK reads out of a stream. */
const READERS: Readonly<Record<Wire, (fetch: Fetch) => Promise<string>>> = {
  "openai-chat": async (fetch) => {
    const client = new OpenAI({ apiKey: "k", fetch, maxRetries: 0 });
    let text = "";
    for await (const chunk of await client.chat.completions.create({ model: "m", stream: true, messages: [user] })) {
      for (const { index, delta } of chunk.choices) if (index === 0) text += delta.content ?? "";
    }
    return text;
  },
  "openai-responses": async (fetch) => {
    const client = new OpenAI({ apiKey: "k", fetch, maxRetries: 0 });
    let text = "";
    for await (const event of await client.responses.create({ model: "m", stream: true, input: "?" })) {
      if (event.type === "response.output_text.delta") text += event.delta;
    }
    return text;
  },
  anthropic: async (fetch) => {
    const client = new Anthropic({ apiKey: "k", fetch, maxRetries: 0 });
    const stream = client.messages.stream({ model: "m", max_tokens: 9, messages: [user] });
    let text = "";
    stream.on("text", (delta) => (text += delta));
    await stream.finalMessage();
    return text;
  },
  gemini: async (fetch) => {
    const before = globalThis.fetch;
    globalThis.fetch = fetch; // this SDK has no option for it
    try {
      const client = new GoogleGenAI({ apiKey: "k" });
      let text = "";
      for await (const { candidates = [] } of await client.models.generateContentStream({
        model: "m",
        contents: "?",
      })) {
        const first = candidates.find(({ index = 0 }) => index === 0);
        for (const part of first?.content?.parts ?? []) if (!part.thought) text += part.text ?? "";
      }
      return text;
    } finally {
      globalThis.fetch = before;
    }
  },
};

/** A recording as the body that its provider streams; undefined: it is no such stream. */
function bodyOf({ params, chunks }: Recording): string | undefined {
  const isText = chunks.every((chunk) => typeof chunk === "string");
  if (isText && params.framing === "sse" && params.encoding !== "base64") return chunks.join("");
  if (isText || !chunks.every((chunk) => typeof chunk === "object" && chunk !== null)) return undefined;
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
}

const CASES = recordings().flatMap((each) => {
  const body = bodyOf(each);
  const wire = each.params.wire as Wire;
  return wire in READERS && body !== undefined ? [{ ...each, wire, body }] : [];
});

test("there are many", () => expect(CASES.length).toBeGreaterThan(60));

test.for(CASES)("$name", async ({ wire, body }) => {
  const stream = await sidecar.openStream({ wire, framing: "sse", model: "m", emit: { wire } });
  const documents = await collect(stream.pipeChunks([body]));
  const again = await sidecar.openStream({ wire, policy: AS_IT_IS });
  await again.pushAll(documents);
  const { message } = await again.close();

  const headers = { "content-type": "text/event-stream" };
  const upstream: Fetch = async () => new Response(body, { headers });
  const fetch = sidecarFetch(sidecar, { fetch: upstream });
  const failed = message.errors.length > 0 || documents.length === 0 || message.finish?.complete === false;
  const read = await READERS[wire](fetch).catch(() => undefined);
  if (failed) return;
  const asItCame = documents.every((document) => body.includes(JSON.stringify(document)));
  // A provider's own document may be one that its SDK cannot read.
  const own: Fetch = async () => new Response(documents.map(eventOf).join(""), { headers });
  const bare = asItCame ? await READERS[wire](own).catch(() => undefined) : message.text;
  expect([message.text, bare]).toContain(read);
});

function eventOf(document: Record<string, unknown>): string {
  const name = typeof document["type"] === "string" ? `event: ${document["type"]}\n` : "";
  return `${name}data: ${JSON.stringify(document)}\n\n`;
}

/** The clean stream is read as it is. */
const AS_IT_IS = { toolResults: { mode: "keep" }, toolCalls: { mode: "off" } } as const;
