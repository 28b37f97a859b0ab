// A provider that refuses thinking whose seal does not fit accepts every request after an edit: the
// adapters give `request/prepare` the headers that it reads, and set those that it returns.

import Anthropic from "@anthropic-ai/sdk";
import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText, streamText, wrapLanguageModel, type LanguageModelMiddleware, type ModelMessage } from "ai";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { sidecarMiddleware } from "../src/adapters/ai-sdk.js";
import { sidecarFetch } from "../src/adapters/fetch.js";
import { Sidecar } from "../src/index.js";
import { BETA, refusal, seal, sealed } from "./sealing.js";
import { REAL } from "./support.js";

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(() => sidecar.shutdown());
afterEach(() => void vi.restoreAllMocks());

const LEAK = "<think>So.</think>Four.";
const URL_OF_CLAUDE = "https://api.anthropic.com/v1/messages";
const ANSWER = { id: "m1", type: "message", role: "assistant", model: "c", content: [], stop_reason: "end_turn" };

interface Sent {
  readonly body: string;
  readonly headers: Headers;
}

/** A provider that refuses what its seals do not fit, and keeps what it was sent. */
function sealing() {
  const sent: Sent[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const headers = new Headers(init?.headers ?? (input as Request).headers);
    const body = init?.body === undefined ? await (input as Request).text() : String(init.body);
    sent.push({ body, headers });
    const words = refusal(body, headers.get("anthropic-beta") ?? "");
    return Response.json(words ? { error: words } : ANSWER, { status: words ? 400 : 200 });
  };
  return { sent, fetch };
}

const textOf = (body: string) => (JSON.parse(body) as ReturnType<typeof sealed>).messages[1];

test.each([
  ["none", {}, BETA],
  ["an object", { "Anthropic-Beta": "one" }, `one,${BETA}`],
  ["Headers", new Headers({ "Anthropic-Beta": "one" }), `one,${BETA}`],
  // prettier-ignore
  ["pairs", [["Anthropic-Beta", "one"], ["anthropic-beta", "two"]] as [string, string][], `one, two,${BETA}`],
  ["the beta itself", { "anthropic-beta": `${BETA}, one` }, `${BETA}, one`],
])("sidecarFetch asks to drop what no longer fits, with headers as %s", async (_name, headers, beta) => {
  const { sent, fetch } = sealing();
  const lost: unknown[] = [];
  const clean = sidecarFetch(sidecar, { fetch, onLost: (error) => lost.push(error) });
  const body = JSON.stringify(sealed(LEAK));
  expect(refusal(body, "")).toBe("");
  const given = { method: "POST", headers, body };
  expect((await clean(URL_OF_CLAUDE, given)).status).toBe(200);
  expect((await clean(new Request(URL_OF_CLAUDE, given))).status).toBe(200);
  expect(sent.map(({ headers }) => headers.get("anthropic-beta"))).toEqual([beta, beta]);
  for (const { body } of sent) {
    expect(textOf(body)).toMatchObject({ content: [{ type: "thinking" }, { text: "Four." }] });
  }
  expect(lost).toEqual([]);
});

test("the SDK of Anthropic is not refused", async () => {
  const { sent, fetch } = sealing();
  const client = new Anthropic({ apiKey: "k", fetch: sidecarFetch(sidecar, { fetch }) });
  await client.messages.create(sealed(LEAK) as never, { headers: { "anthropic-beta": "one" } });
  expect(sent[0]?.headers.get("anthropic-beta")).toBe(`one,${BETA}`);
  expect(sent[0]?.headers.has("anthropic-version")).toBe(true);
});

test("a sealed conversation without an edit is sent as it is", async () => {
  const { sent, fetch } = sealing();
  const body = JSON.stringify(sealed("Four."), undefined, 3);
  await sidecarFetch(sidecar, { fetch })(URL_OF_CLAUDE, { method: "POST", body });
  expect(sent.map((each) => [each.body, each.headers.has("anthropic-beta")])).toEqual([[body, false]]);
});

test("a request whose body is signed is sent as it is", async () => {
  const { sent, fetch } = sealing();
  const body = JSON.stringify(sealed(LEAK));
  const headers = { Authorization: "AWS4-HMAC-SHA256 Credential=..." };
  await sidecarFetch(sidecar, { fetch })(URL_OF_CLAUDE, { method: "POST", headers, body });
  expect(sent.map((each) => each.body)).toEqual([body]);
});

test("the answer to a signed request has no thinking that the next one cannot carry", async () => {
  const thought = (signature: string) => ({ type: "thinking", thinking: "Hm", signature });
  const text = (said: string) => ({ type: "text", text: said });
  const content = [thought("YQ=="), text(LEAK), thought("Yg=="), text("Five.")];
  const answer = { ...ANSWER, model: "claude-opus-5-5", content };
  const clean = sidecarFetch(sidecar, { fetch: () => Promise.resolve(Response.json(answer)) });
  const given = { method: "POST", body: JSON.stringify({ model: "claude-opus-5-5", messages: [] }) };
  const contentOf = async (headers: Record<string, string>) =>
    ((await (await clean(URL_OF_CLAUDE, { ...given, headers })).json()) as typeof answer).content;
  expect(await contentOf({ authorization: "AWS4-HMAC-SHA256 Credential=..." })).toEqual([
    thought("YQ=="),
    text("Four."),
    text("Five."),
  ]);
  expect(await contentOf({})).toEqual([thought("YQ=="), text("Four."), thought(""), text("Five.")]);
});

test("a call that stays in the text of an answer stays in the next request", async () => {
  const { sent, fetch } = sealing();
  const body = JSON.stringify(sealed('<tool_call>{"name": "f", "arguments": {}}</tool_call>Four.'));
  for (const claims of ["text", "drop"] as const)
    await sidecarFetch(sidecar, { fetch, claims })(URL_OF_CLAUDE, { method: "POST", body });
  expect(sent.map((each) => each.body === body)).toEqual([true, false]);
});

test("the sidecar is given no header but those that it reads", async () => {
  const prepare = vi.spyOn(sidecar, "prepare");
  const headers = { "X-Api-Key": "k", Cookie: "c", Authorization: "Bearer k", "Anthropic-Beta": "one" };
  const given = { method: "POST", headers, body: JSON.stringify(sealed(LEAK)) };
  await sidecarFetch(sidecar, { fetch: sealing().fetch })(URL_OF_CLAUDE, given);
  expect(prepare.mock.calls.map(([params]) => params.headers)).toEqual([{ "Anthropic-Beta": "one" }]);
});

test("an older sidecar is given no headers, which is reported once if it changes a request", async () => {
  const { requestHeaders: _none, ...older } = sidecar.capabilities ?? ({} as never);
  vi.spyOn(sidecar, "capabilities", "get").mockReturnValue(older);
  const prepare = vi.spyOn(sidecar, "prepare");
  const { sent, fetch } = sealing();
  const lost: unknown[] = [];
  const clean = sidecarFetch(sidecar, { fetch, onLost: (error) => lost.push(error) });
  for (const text of ["Four.", LEAK, LEAK]) {
    const asked = await clean(URL_OF_CLAUDE, { method: "POST", body: JSON.stringify(sealed(text)) });
    expect(asked.status).toBe(200);
  }
  expect(prepare.mock.calls.map(([params]) => "headers" in params)).toEqual([false, false, false]);
  expect(sent.map(({ headers }) => headers.has("anthropic-beta"))).toEqual([false, false, false]);
  expect(lost).toMatchObject([
    { kind: "unsupported", message: expect.stringContaining("too old for requestHeaders") as string },
  ]);
});

/** A prompt of the AI SDK in which `text` stands between two sealed thoughts of one answer, and a third comes later. */
function prompt(text: string, seals: readonly string[] = ["", "", ""]): ModelMessage[] {
  const thought = (at: number) => ({
    ...{ type: "reasoning" as const, text: `Hm ${at}` },
    providerOptions: { anthropic: { signature: seals[at] ?? "" } },
  });
  return [
    { role: "user", content: "2 + 2?" },
    { role: "assistant", content: [thought(0), { type: "text", text }, thought(1)] },
    { role: "user", content: "Sure?" },
    { role: "assistant", content: [thought(2), { type: "text", text: "Yes." }] },
    { role: "user", content: "Good." },
  ];
}

interface Conversation {
  readonly messages: ModelMessage[];
  readonly modelId?: string;
  readonly middleware?: LanguageModelMiddleware;
  readonly thinking?: object;
}

/** What Anthropic is sent for a prompt. */
async function asked({ messages, modelId = "claude-opus-5-5", middleware, thinking }: Conversation): Promise<Sent> {
  const { sent, fetch } = sealing();
  const native = createAnthropic({ apiKey: "k", fetch })(modelId);
  const model = middleware ? wrapLanguageModel({ model: native, middleware }) : native;
  const options = { anthropic: { thinking: { type: "adaptive", ...thinking } } };
  await generateText({ model, messages, providerOptions: options as never, maxRetries: 0 }).catch(() => {});
  return sent[0]!;
}

/** The prompt with the seals that Anthropic makes for it. */
async function sealedPrompt(text: string): Promise<ModelMessage[]> {
  return prompt(text, seal(JSON.parse((await asked({ messages: prompt(text) })).body)));
}

const isRefused = ({ body, headers }: Sent) => refusal(body, headers.get("anthropic-beta") ?? "");
const blocks = ({ body }: Sent) =>
  (JSON.parse(body) as { messages: { role: string; content: { thinking?: string; text?: string }[] }[] }).messages
    .filter(({ role }) => role === "assistant")
    .map(({ content }) => content.map(({ thinking, text }) => thinking ?? text));

const ADDED = { blockBinding: { prefixMismatchBehavior: "drop_block" } };

test.each([
  ["what is bound to changed text goes, which is reported", LEAK, {}, [["Hm 0", "Four."], ["Yes."]], ["bound"]],
  [
    "nothing goes that the host has dropped",
    LEAK,
    ADDED,
    [
      ["Hm 0", "Four.", "Hm 1"],
      ["Hm 2", "Yes."],
    ],
    [],
  ],
  [
    "nothing goes where nothing was changed",
    "Four.",
    {},
    [
      ["Hm 0", "Four.", "Hm 1"],
      ["Hm 2", "Yes."],
    ],
    [],
  ],
])("the middleware of the AI SDK: %s", async (_name, text, thinking, expected, kinds) => {
  const messages = await sealedPrompt(text);
  expect(isRefused(await asked({ messages }))).toBe("");
  const lost: unknown[] = [];
  const middleware = sidecarMiddleware(sidecar, { onLost: (error) => lost.push(error) });
  const sent = await asked({ messages, middleware, thinking });
  expect(isRefused(sent)).toBe("");
  expect(blocks(sent)).toEqual(expected);
  expect(lost.map((error) => (error as { kind: string }).kind)).toEqual(kinds);
});

test("the middleware warns once of reasoning that it leaves out", async () => {
  const warnings: string[] = [];
  await using own = await Sidecar.spawn({ ...REAL, onWarning: (words) => warnings.push(words) });
  const messages = await sealedPrompt(LEAK);
  const middleware = sidecarMiddleware(own);
  for (let turn = 0; turn < 2; turn += 1) await asked({ messages, middleware });
  expect(warnings).toEqual([expect.stringContaining("signed reasoning is left out")]);
});

test("the middleware of the AI SDK keeps what a model does not bind", async () => {
  const messages = await sealedPrompt(LEAK);
  const sent = await asked({ messages, modelId: "claude-opus-4-5", middleware: sidecarMiddleware(sidecar) });
  expect(blocks(sent)).toEqual([
    ["Hm 0", "Four.", "Hm 1"],
    ["Hm 2", "Yes."],
  ]);
});

/** An answer that leaks between two thoughts, from a model without raw chunks. */
const leaking = () => [
  ...thoughtParts("1"),
  ...[
    { type: "text-start", id: "2" },
    { type: "text-delta", id: "2", delta: LEAK },
    { type: "text-end", id: "2" },
  ],
  ...thoughtParts("3"),
];
const thoughtParts = (id: string) => [
  ...[
    { type: "reasoning-start", id },
    { type: "reasoning-delta", id, delta: `Hm ${id}` },
  ],
  { type: "reasoning-end", id, providerMetadata: { bedrock: { signature: `sig ${id}` } } },
];

test.each([
  [
    "us.anthropic.claude-opus-5-5-v1:0",
    [
      ["Hm 1", "sig 1"],
      ["Hm 3", undefined],
    ],
  ],
  [
    "us.anthropic.claude-opus-4-5-v1:0",
    [
      ["Hm 1", "sig 1"],
      ["Hm 3", "sig 3"],
    ],
  ],
])("the middleware keeps no seal behind a removal in the same answer: %s", async (modelId, expected) => {
  const finish = {
    type: "finish",
    finishReason: { unified: "stop", raw: "end_turn" },
    usage: { inputTokens: {}, outputTokens: {} },
  };
  const chunks = [{ type: "stream-start", warnings: [] }, ...leaking(), finish];
  const doStream = async () => ({ stream: simulateReadableStream({ chunks }) });
  const native = new MockLanguageModelV3({ provider: "amazon-bedrock", modelId, doStream: doStream as never });
  const model = wrapLanguageModel({ model: native, middleware: sidecarMiddleware(sidecar) });
  const content = await streamText({ model, prompt: "?" }).content;
  const reasoning = content.filter((part) => part.type === "reasoning");
  const states = reasoning.map(({ text, providerMetadata }) => [text, providerMetadata?.["bedrock"]?.["signature"]]);
  expect(states).toEqual(expected);
});
