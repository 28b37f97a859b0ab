// Nothing is kept of a long answer that nobody needs: neither the text of a message for which
// nobody listens, nor a body that says nothing.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText, wrapLanguageModel } from "ai";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { sidecarMiddleware } from "../src/adapters/ai-sdk.js";
import { sidecarFetch } from "../src/adapters/fetch.js";
import { KeptSource } from "../src/adapters/kept-source.js";
import type { ListeningOptions } from "../src/adapters/listening.js";
import { Sidecar, type PolicyPatch } from "../src/index.js";
import { REAL } from "./support.js";

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(() => sidecar.shutdown());

const data = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const BODY = `${data({ content: "<think>why</think>Because." })}${data({}, "stop")}data: [DONE]\n\n`;
const giving = (body: string): typeof fetch => {
  const headers = { "content-type": "text/event-stream" };
  return async () => new Response(body, { headers });
};
const ASKED = { method: "POST", body: JSON.stringify({ model: "m", stream: true, messages: [] }) };
const URL = "https://x/v1/chat/completions";

type Options = Pick<ListeningOptions, "onMessage"> & { policy?: PolicyPatch };
const WAYS: Readonly<Record<string, (options: Options) => Promise<string>>> = {
  sidecarFetch: async (options) =>
    (await sidecarFetch(sidecar, { fetch: giving(BODY), ...options })(URL, ASKED)).text(),
  "the middleware": async (options) => {
    const provider = createOpenAICompatible({ name: "x", baseURL: "https://x/v1", apiKey: "k", fetch: giving(BODY) });
    const model = wrapLanguageModel({ model: provider("m"), middleware: sidecarMiddleware(sidecar, options) });
    return streamText({ model, prompt: "?" }).text;
  },
};

test.each(Object.entries(WAYS))("%s keeps the text of a message for a listener only", async (_, way) => {
  const opening = vi.spyOn(sidecar, "open");
  const texts: unknown[] = [];
  const onMessage: ListeningOptions["onMessage"] = ({ text }) => void texts.push(text);
  const trace = { trace: true };
  for (const options of [{}, { policy: { ...trace, message: { parts: true } } }, { onMessage, policy: trace }]) {
    expect(await way(options)).toContain("Because.");
    const stream = await opening.mock.results.at(-1)?.value;
    texts.push((await stream.close()).message.text);
    expect(stream.opened.policy.trace).toBe("policy" in options);
  }
  expect(texts).toEqual([undefined, "Because.", "Because.", "Because."]);
  opening.mockRestore();
});

async function all(source: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const found: Uint8Array[] = [];
  for await (const each of source) found.push(each);
  return found;
}

test("a body can be read again up to its bound", async () => {
  const slices = [1, 2, 3].map((each) => new Uint8Array(100).fill(each));
  for (const [most, isWhole] of [
    [300, true],
    [299, false],
  ] as const) {
    const body = ReadableStream.from(slices) as ReadableStream<Uint8Array>;
    const source = new KeptSource(body, new AbortController().signal, most);
    expect(await all(source)).toEqual(slices);
    expect(source.isWhole).toBe(isWhole);
    expect(await all(source.again())).toEqual(isWhole ? slices : []);
  }
});

test.each([
  ["passes", 15],
  ["does not pass without its beginning", 17],
])("after a failure, a body that said nothing %s (%i MiB)", async (_, megabytes) => {
  const failure = new Error("of the sidecar");
  const stream = await sidecar.open({ wire: "openai-chat", emit: { wire: "openai-chat" } }, {});
  vi.spyOn(stream, "pipeBare").mockImplementation(async function* (source) {
    for await (const each of source as AsyncIterable<unknown>) if (!each) yield {};
    throw failure;
  });
  const opening = vi.spyOn(sidecar, "open").mockResolvedValueOnce(stream);
  const body = `: ${"-".repeat(megabytes << 20)}\n\n`;
  const lost: unknown[] = [];
  const fetching = sidecarFetch(sidecar, { fetch: giving(body), onLost: (error) => lost.push(error) });
  const came = await (await fetching(URL, ASKED)).text().catch((error: unknown) => error);
  expect(came === (megabytes < 16 ? body : failure)).toBe(true);
  expect(lost).toEqual([failure]);
  opening.mockRestore();
  await stream.cancel();
});
