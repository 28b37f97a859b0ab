// The gateway, over real connections: it removes leaks, and passes the bytes of everything else
// unchanged; also without a sidecar, after the client disconnects, and as a program.

import Anthropic from "@anthropic-ai/sdk";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { AGENTS, emptyKey, settingsOf } from "../src/agents.js";
import { createGateway, type GatewayOptions } from "../src/gateway.js";
import { main } from "../src/command.js";
import { Sidecar } from "stream-sidecar";
import { closeServers, listening } from "./gateways.js";
import { fake, REAL } from "../../typescript/test/support.js";

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(() => sidecar.shutdown());
beforeEach(() => void vi.stubEnv("STREAM_SIDECAR", REAL.command.map((word) => `"${word}"`).join(" ")));
afterEach(() => {
  vi.unstubAllEnvs();
  closeServers();
});

const baseOf = async (server: Server) => `http://127.0.0.1:${await listening(server)}`;
const upstream = (answer: RequestListener) => baseOf(createServer(answer));
const lines: string[] = [];
const before = (base: string, options: Partial<GatewayOptions> = {}, by = sidecar) =>
  baseOf(
    createGateway(by, {
      upstreams: { "/": base },
      onTurn: (line) => lines.push(line),
      onTrouble: (line) => lines.push(line),
      ...options,
    }),
  );

const SAID = "<think>Two and two.</think>Four.";
const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...{ id: "c1", object: "chat.completion.chunk", model: "m", created: 1 },
  choices: [{ index: 0, delta, finish_reason }],
});
const sse = (...documents: readonly object[]) =>
  [...documents.map((each) => JSON.stringify(each)), "[DONE]"].map((each) => `data: ${each}\n\n`).join("");
const LEAKING = sse(
  chunk({ role: "assistant", content: SAID.slice(0, 9) }),
  chunk({ content: SAID.slice(9) }),
  chunk({}, "stop"),
);
const CLEAN = sse(chunk({ role: "assistant", content: "Four." }), chunk({}, "stop"));
const EVENTS = { "content-type": "text/event-stream", "x-request-id": "r1" };
const ASKED = { model: "m", messages: [{ role: "user" as const, content: "2 + 2?" }] };

function later<T>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settled) => void (resolve = settled));
  return { promise, resolve };
}

interface Answer {
  readonly message: IncomingMessage;
  readonly body: Buffer;
}

async function ask(url: string, body: string | Uint8Array, headers: object = {}, method = "POST"): Promise<Answer> {
  const sent = request(url, { method, headers: { "content-type": "application/json", ...headers } });
  sent.end(body);
  const [message] = (await once(sent, "response")) as [IncomingMessage];
  return { message, body: await buffer(message) };
}

test("a stream of Chat Completions comes out clean, under the SDK, and a line says what was removed", async () => {
  const base = await before(await upstream((_request, reply) => reply.writeHead(200, EVENTS).end(LEAKING)));
  const client = new OpenAI({ apiKey: "k", baseURL: `${base}/v1` });
  let told = "";
  for await (const each of await client.chat.completions.create({ ...ASKED, stream: true }))
    told += each.choices[0]?.delta.content ?? "";
  expect(told).toBe("Four.");
  expect(lines.splice(0)).toEqual(["POST /v1/chat/completions 200: removed 12 characters of reasoning"]);
});

test("a clean stream goes out as it came, with its headers", async () => {
  const base = await before(await upstream((_request, reply) => reply.writeHead(200, EVENTS).end(CLEAN)));
  const { message, body } = await ask(`${base}/v1/chat/completions`, JSON.stringify({ ...ASKED, stream: true }));
  expect(message.headers["x-request-id"]).toBe("r1");
  const documents = (told: string) =>
    told
      .split("\n\n")
      .filter(Boolean)
      .map((each) => each.slice("data: ".length));
  const parsed = (told: string) => documents(told).map((each) => (each === "[DONE]" ? each : JSON.parse(each)));
  expect(parsed(body.toString())).toEqual(parsed(CLEAN));
});

test("a whole answer of Messages comes out clean", async () => {
  const whole = { type: "message", id: "m1", role: "assistant", model: "m", content: [{ type: "text", text: SAID }] };
  const counts = { stop_reason: "end_turn", usage: { input_tokens: 1, output_tokens: 2 } };
  const answer = JSON.stringify({ ...whole, ...counts });
  const json = { "content-type": "application/json" };
  const base = await before(await upstream((_request, reply) => reply.writeHead(200, json).end(answer)));
  const client = new Anthropic({ apiKey: "k", baseURL: base, maxRetries: 0 });
  const message = await client.messages.create({ ...ASKED, max_tokens: 9 });
  expect(message.content.map((block) => (block.type === "text" ? block.text : block.type))).toContain("Four.");
});

test("a whole answer in which nothing leaked keeps its bytes", async () => {
  const choice = '{ "index" : 0, "message": {"role":"assistant","content":"Four."}, "finish_reason": "stop" }';
  const answer = `{ "object": "chat.completion", "big": 1.0, "choices": [${choice}] }`;
  const headers = { "content-type": "application/json", date: "today" };
  const base = await before(await upstream((_request, reply) => reply.writeHead(200, headers).end(answer)));
  const { message, body } = await ask(`${base}/v1/chat/completions`, JSON.stringify(ASKED));
  expect([body.toString(), message.headers.date]).toEqual([answer, "today"]);
});

test("everything else passes byte for byte, both ways", async () => {
  const asked: [string | undefined, IncomingMessage, Buffer][] = [];
  const zipped = await promisify(gzip)('{ "input_tokens" : 7 }');
  const base = await before(
    await upstream(async (got, reply) => {
      asked.push([got.url, got, await buffer(got)]);
      reply
        .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip", "X-Odd": "1" })
        .end(zipped);
    }),
  );
  const sent = Buffer.from('{"messages" : []}');
  const { message, body } = await ask(`${base}/v1/messages/count_tokens?beta=true`, sent, { "X-Api-Key": "secret" });
  expect(body.equals(zipped)).toBe(true);
  expect([message.headers["content-encoding"], message.headers["x-odd"]]).toEqual(["gzip", "1"]);
  const [url, got, bytes] = asked[0]!;
  expect([url, got.headers["x-api-key"], bytes.equals(sent)]).toEqual([
    "/v1/messages/count_tokens?beta=true",
    "secret",
    true,
  ]);
  expect((await ask(`${base}/v1/models`, "", {}, "GET")).body.equals(zipped)).toBe(true);
});

test("errors keep their status, their words and when to try again", async () => {
  const words = '{"error":{"message":"slow down"} }';
  const headers = { "content-type": "application/json", "retry-after": "7" };
  const base = await before(await upstream((_request, reply) => reply.writeHead(429, headers).end(words)));
  const { message, body } = await ask(`${base}/v1/chat/completions`, JSON.stringify(ASKED));
  expect([message.statusCode, message.headers["retry-after"], body.toString()]).toEqual([429, "7", words]);
});

test("compressed requests and answers are read, and go as they came where nothing leaks", async () => {
  const seen: Buffer[] = [];
  const zip = promisify(gzip);
  const base = await before(
    await upstream(async (got, reply) => {
      seen.push(await buffer(got));
      reply.writeHead(200, { ...EVENTS, "content-encoding": "gzip" }).end(await zip(LEAKING));
    }),
  );
  const headers = { "content-encoding": "gzip" };
  const clean = await zip(JSON.stringify(ASKED));
  const { message, body } = await ask(`${base}/v1/chat/completions`, clean, headers);
  expect(seen[0]!.equals(clean)).toBe(true);
  expect(message.headers["content-encoding"]).toBeUndefined();
  expect(body.toString()).not.toContain("think>");
  const dirty = { ...ASKED, messages: [...ASKED.messages, { role: "assistant", content: SAID }, ...ASKED.messages] };
  await ask(`${base}/v1/chat/completions`, await zip(JSON.stringify(dirty)), headers);
  expect(seen[1]!.toString()).toContain("Four.");
  expect(seen[1]!.toString()).not.toContain("think>");
});

test.each(["text/event-stream", "application/json"])(
  "%s whose encoding is not known passes as it came",
  async (type) => {
    const headers = { "content-type": type, "content-encoding": "aes128gcm" };
    const { open } = (await sidecar.stats()).streams;
    const base = await before(await upstream((_request, reply) => reply.writeHead(200, headers).end(LEAKING)));
    const { message, body } = await ask(`${base}/v1/chat/completions`, JSON.stringify({ ...ASKED, stream: true }));
    expect([message.headers["content-encoding"], body.toString()]).toEqual(["aes128gcm", LEAKING]);
    expect((await sidecar.stats()).streams.open).toBe(open);
  },
);

test("several upstreams by path; a path in front of them is not doubled", async () => {
  const named = (name: string) => upstream((got, reply) => reply.end(`${name} ${got.url}`));
  const upstreams = { "/a": `${await named("a")}/v1`, "/": await named("other") };
  const base = await before("", { upstreams });
  const told = await Promise.all(
    ["/a/v1/models", "/a/models", "/v1/models"].map((path) => ask(base + path, "", {}, "GET")),
  );
  expect(told.map(({ body }) => body.toString())).toEqual(["a /v1/models", "a /v1/models", "other /v1/models"]);
  const router = await before(`${await named("router")}/api/v1`);
  expect((await ask(`${router}/v1/models?x=1`, "", {}, "GET")).body.toString()).toBe("router /api/v1/models?x=1");
  const health = JSON.parse((await ask(`${base}/health`, "", {}, "GET")).body.toString()) as { status: string };
  expect(health.status).toBe("ok");
});

test("without a sidecar everything passes, and it is said once", async () => {
  const none = Sidecar.create({ ...fake("silent"), command: ["/nowhere/stream-sidecar"] });
  const base = await before(await upstream((_request, reply) => reply.writeHead(200, EVENTS).end(LEAKING)), {}, none);
  lines.splice(0);
  for (let turn = 0; turn < 2; turn += 1) {
    const { body } = await ask(`${base}/v1/chat/completions`, JSON.stringify(ASKED));
    expect(body.toString()).toBe(LEAKING);
  }
  expect(lines.filter((line) => line.startsWith("NOT CLEANED"))).toHaveLength(1);
  await none.shutdown();
});

test("a client that goes away ends the request of its upstream; an upstream that is not there is 502", async () => {
  const gone = later<void>();
  const base = await before(
    await upstream((_request, reply) => {
      reply.on("close", gone.resolve);
      reply.writeHead(200, EVENTS).write(`data: ${JSON.stringify(chunk({ content: "Fo" }))}\n\n`);
    }),
  );
  const sent = request(`${base}/v1/chat/completions`, { method: "POST" });
  sent.end(JSON.stringify({ ...ASKED, stream: true }));
  const [message] = (await once(sent, "response")) as [IncomingMessage];
  await once(message, "data");
  message.destroy();
  await gone.promise;
  const { message: answer, body } = await ask(`${await before("http://127.0.0.1:1")}/v1/models`, "", {}, "GET");
  expect([answer.statusCode, body.toString().includes("did not answer")]).toEqual([502, true]);
});

test("many concurrent streams are not mixed up", async () => {
  const base = await before(
    await upstream(async (got, reply) => {
      const { messages } = JSON.parse(await text(got)) as { messages: { content: string }[] };
      const said = messages[0]!.content;
      reply.writeHead(200, EVENTS).end(sse(chunk({ content: `<think>${said}</think>${said}` }), chunk({}, "stop")));
    }),
  );
  const asked = Array.from({ length: 200 }, (_, number) => `answer ${number}`);
  const told = await Promise.all(
    asked.map(async (content) => {
      const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content }] });
      return (await ask(`${base}/v1/chat/completions`, body)).body.toString();
    }),
  );
  const contents = told.map((each) => [...each.matchAll(/"content":"([^"]*)"/g)].map(([, words]) => words).join(""));
  expect(contents).toEqual(asked);
});

test("headers of 64 kB pass", async () => {
  const base = await before(
    await baseOf(
      createServer({ maxHeaderSize: 1e6 }, (got, reply) => reply.end(String(got.headers["x-long"]?.length))),
    ),
  );
  expect((await ask(`${base}/v1/models`, "", { "x-long": "x".repeat(64_000) }, "GET")).body.toString()).toBe("64000");
});

// The program

async function ended(...words: readonly string[]): Promise<[number, string]> {
  const written: string[] = [];
  const real = process.stderr.write.bind(process.stderr);
  process.stderr.write = ((told: string) => written.push(told) > 0) as typeof process.stderr.write;
  try {
    return [await main(words), written.join("")];
  } finally {
    process.stderr.write = real;
  }
}

function fileOf(value: unknown): string {
  const path = join(mkdtempSync(join(tmpdir(), "template-")), "file.json");
  writeFileSync(path, JSON.stringify(value));
  return path;
}

test.each([
  [[], "--upstream is missing"],
  [["--upstream", "nonsense"], "not an HTTP address"],
  [["--upstream", "http://a", "--port", "x"], "not a number"],
  [["--upstream", "http://a", "--claims", "run"], "--claims must be one of drop, promote, text"],
  [["--upstream", "http://a", "--response-template", "/nowhere"], "ENOENT"],
  [["--upstream", "http://a", "--response-template", fileOf({})], "has no response_template"],
  [["--upstream", "http://a", "--record", join(fileOf({}), "folder")], "--record"],
  [["--upstream", "http://a", "--allow-origin", "localhost:3000"], "not an origin"],
  [["--odd"], "Unknown option"],
  [["run", "--upstream", "http://a"], "run needs an agent"],
  [["run", "--", "/nowhere/agent"], "the provider of /nowhere/agent is not known"],
  [["run", "--upstream", "http://a", "--", "/nowhere/agent"], "cannot be started"],
])("arguments %j are refused in words", async (words, told) => {
  const [code, written] = await ended(...words);
  expect([code, written.includes(told)], written).toEqual([2, true]);
});

test("a template that the sidecar refuses is refused before anything is asked", async () => {
  const file = fileOf({ fields: { odd: { open: 1 } } });
  const [code, written] = await ended("--upstream", "http://a", "--response-template", file);
  expect([code, written.includes("fields.odd")], written).toEqual([2, true]);
});

test("without a sidecar no agent is started, and the line says how to get one", async () => {
  vi.stubEnv("STREAM_SIDECAR", "/nowhere/stream-sidecar");
  const words = ["run", "--upstream", "http://a", "--", agentOf("claude", "process.exit(9)")];
  const [code, written] = await ended(...words);
  expect([code, /install @stream-sidecar\/.*--allow-download/.test(written)], written).toEqual([2, true]);
});

const AGENT = `
const [, , option, settings, own] = process.argv;
const { ANTHROPIC_BASE_URL: base } = JSON.parse(settings).env;
const body = JSON.stringify({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "?" }] });
const headers = { "x-api-key": process.env.ANTHROPIC_AUTH_TOKEN };
const said = await fetch(base + "/v1/messages", { method: "POST", headers, body });
process.exit(said.status === 418 && option === "--settings" && own === "-p" ? 3 : 1);
`;

/** A program under an agent's name. */
function agentOf(name: string, source: string): string {
  const folder = mkdtempSync(join(tmpdir(), "agent-"));
  const [agent, module] = [join(folder, name), join(folder, "agent.mjs")];
  writeFileSync(module, source);
  writeFileSync(agent, `#!/bin/sh\nexec "${process.execPath}" "${module}" "$@"\n`, { mode: 0o755 });
  return agent;
}

test("an agent is started with the gateway and a placeholder key, and its exit code is returned", async () => {
  const asked = later<unknown>();
  const base = await upstream((request, reply) => {
    asked.resolve(request.headers["x-api-key"]);
    reply.writeHead(418, { "content-type": "text/plain" }).end("no");
  });
  vi.stubEnv("ANTHROPIC_AUTH_TOKEN", undefined).stubEnv("ANTHROPIC_API_KEY", undefined);
  const [code] = await ended("run", "--upstream", base, "--", agentOf("claude", AGENT), "-p");
  expect([code, await asked.promise]).toEqual([3, "none"]);
});

test("without --upstream, requests go to the agent's own provider, and a line names it", async () => {
  const base = await upstream((_request, reply) => reply.writeHead(418).end());
  vi.stubEnv("HOME", mkdtempSync(join(tmpdir(), "home-"))).stubEnv("ANTHROPIC_BASE_URL", base);
  const [code, told] = await ended("run", "--", agentOf("claude", AGENT), "-p");
  expect([code, told.includes(`in front of ${base}`)], told).toEqual([3, true]);
});

test("the version is that of the package", async () => {
  const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  expect(await main(["--version"])).toBe(0);
  expect(written.mock.calls).toEqual([[expect.stringMatching(/^stream-sidecar-gateway \d+\.\d+\.\d+\n$/)]]);
  written.mockRestore();
});

test("the user's keys stay, and a line says that an agent sent no request through the gateway", async () => {
  expect(emptyKey("claude", { ANTHROPIC_API_KEY: "k" })).toEqual({});
  expect([emptyKey("aider", {}), emptyKey("qwen", {})]).toEqual([{ OPENAI_API_KEY: "none" }, {}]);
  const [code, told] = await ended("run", "--upstream", "http://127.0.0.1:9", "--", agentOf("claude", ""));
  const line = "claude sent no request through the gateway: nothing was cleaned\n";
  expect([code, told.endsWith(line)], told).toEqual([1, true]);
});

test("an agent that only looks around has sent no request, and its own exit code counts", async () => {
  const looking = (code: number) => `await fetch(process.env.OPENAI_BASE_URL + "/models"); process.exit(${code});`;
  const base = await upstream((_request, reply) => void reply.end("{}"));
  for (const [own, code] of [
    [0, 1],
    [3, 3],
  ] as const) {
    const [exit, told] = await ended("run", "--upstream", base, "--", agentOf("agent", looking(own)));
    expect([exit, told.includes("sent no request through the gateway")], told).toEqual([code, true]);
  }
});

/** Requests a number of streams at the same time, and reports the results. */
const ASKING = `
const base = process.env.OPENAI_BASE_URL;
const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "2 + 2?" }] });
const ask = async () => (await fetch(base + "/chat/completions", { method: "POST", body })).text();
const told = await Promise.all(Array.from({ length: Number(process.argv[2]) }, ask));
await fetch(base + "/told", { method: "POST", body: JSON.stringify(told) });
`;

/** The results of a number of streams with this answer, for an agent. */
async function toldBehind(answer: string, streams: number, ...options: readonly string[]): Promise<string[]> {
  const told = later<string>();
  const base = await upstream(async (got, reply) => {
    const body = await text(got);
    if (!got.url?.endsWith("/told")) return void reply.writeHead(200, EVENTS).end(answer);
    told.resolve(body);
    reply.end();
  });
  const agent = agentOf("agent", ASKING);
  const [code, written] = await ended("run", "--upstream", base, ...options, "--", agent, String(streams));
  expect(code, written).toBe(0);
  const bodies = JSON.parse(await told.promise) as string[];
  return bodies.map((body) =>
    [...body.matchAll(/"content":"([^"]*)"|\[DONE\]/g)].map(([all, said]) => said ?? all).join(""),
  );
}

const ASKING_TWICE = `
const ask = () => fetch(process.env.OPENAI_BASE_URL + "/chat/completions", { method: "POST", body: "{}" });
await ask();
await ask();
`;

test("an upstream that is not there is said once while the agent runs, and with all lines at its end", async () => {
  const agent = agentOf("agent", ASKING_TWICE);
  const [, written] = await ended("run", "--upstream", "http://127.0.0.1:1", "--", agent);
  const line = "POST /v1/chat/completions 502: the upstream did not answer: connect ECONNREFUSED 127.0.0.1:1";
  expect(written).toBe(`${line}\n${line}\n${line}\n`);
});

const LOOKING = `
const base = process.env.OPENAI_BASE_URL;
await (await fetch(base + "/models")).text();
await (await fetch(base + "/chat/completions", { method: "POST", body: ${JSON.stringify(JSON.stringify(ASKED))} })).text();
`;

test.each([
  [[], [": removed 12 characters of reasoning"]],
  [["--watch"], [": passed unchanged", ": removed 12 characters of reasoning | Two and two."]],
])("with %j these lines are shown", async (options, ends) => {
  const base = await upstream(async (got, reply) => {
    await text(got);
    reply.writeHead(200, EVENTS).end(LEAKING);
  });
  const [code, written] = await ended("run", "--upstream", base, ...options, "--", agentOf("agent", LOOKING));
  expect(code, written).toBe(0);
  expect(
    written
      .trim()
      .split("\n")
      .map((line) => line.replace(/^.* 200/, "")),
  ).toEqual(ends);
});

const LEAVING = `
const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "2 + 2?" }] });
const { body: stream } = await fetch(process.env.OPENAI_BASE_URL + "/chat/completions", { method: "POST", body });
await stream.getReader().read();
process.exit(0);
`;

test("an agent that leaves in the middle of a stream is no trouble", async () => {
  const left = later<void>();
  const base = await upstream((_request, reply) => {
    reply.writeHead(200, EVENTS).write(sse(chunk({ content: "Four." })).replace("data: [DONE]\n\n", ""));
    reply.on("close", left.resolve);
  });
  const [code, written] = await ended("run", "--upstream", base, "--", agentOf("agent", LEAVING));
  await left.promise;
  expect([code, written.includes("NOT CLEANED")], written).toEqual([0, false]);
});

const KILLING = `
const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "2 + 2?" }] });
let leaks = 0;
for (let count = 0; count < 6; count += 1) {
  const url = process.env.OPENAI_BASE_URL + "/chat/completions";
  const told = await (await fetch(url, { method: "POST", body })).text();
  if (told.includes("think>") || !told.includes("Four.")) leaks += 1;
  const { sidecars } = await (await fetch(new URL("/health", url))).json();
  process.kill(sidecars[0].pid, "SIGKILL");
}
process.exit(leaks);
`;

test("a sidecar that is killed again and again is started again, and nothing leaks", async () => {
  vi.stubEnv("STREAM_SIDECAR", REAL.command.map((word) => `"${word}"`).join(" "));
  const base = await upstream((_request, reply) => reply.writeHead(200, EVENTS).end(LEAKING));
  const [code, written] = await ended("run", "--upstream", base, "--", agentOf("agent", KILLING));
  expect([code, written.includes("NOT CLEANED")], written).toEqual([0, false]);
});

test("an unknown model is read with the template of a file", async () => {
  const answer = sse(chunk({ content: "<musing>Two and two.</musing>Four." }), chunk({}, "stop"));
  const fields = { thinking: { open: "<musing>", close: "</musing>" }, content: {} };
  const file = fileOf({ chat_template: "", response_template: { fields } });
  expect(await toldBehind(answer, 1)).toEqual(["<musing>Two and two.</musing>Four.[DONE]"]);
  expect(await toldBehind(answer, 1, "--response-template", file)).toEqual(["Four.[DONE]"]);
});

test("an event of more than 8 MiB is cleaned as a short one is", async () => {
  const long = "Four words of text. ".repeat(450_000);
  const answer = sse(chunk({ content: "<think>Two and two.</think>" }), chunk({ content: long }), chunk({}, "stop"));
  const [told] = await toldBehind(answer, 1);
  expect([told?.length, told?.slice(0, 10)]).toEqual([long.length + "[DONE]".length, "Four words"]);
});

test("each of two workers has some of the streams, and all of them end", async () => {
  const [folder, command] = [mkdtempSync(join(tmpdir(), "workers-")), REAL.command.slice(0, -1).join(" ")];
  const sidecar = join(folder, "sidecar");
  writeFileSync(sidecar, `#!/bin/sh\nexec ${command} --record "${folder}/$$" "$@"\n`, { mode: 0o755 });
  const told = await toldBehind(LEAKING, 40, "--workers", "2", "--sidecar", sidecar);
  expect(told).toEqual(Array.from({ length: 40 }, () => "Four.[DONE]"));
  const records = readdirSync(folder).filter((name) => /^\d+/.test(name));
  const opened = records.map(
    (name) => readFileSync(join(folder, name), "utf8").match(/"method": ?"stream\/open"/g)?.length ?? 0,
  );
  expect(opened).toEqual([expect.any(Number), expect.any(Number)]);
  expect([Math.min(...opened) > 0, opened[0]! + opened[1]!]).toEqual([true, 40]);
});

const nobody = { home: "/nowhere", folder: "/nowhere", env: {}, args: [] };

test("the printed settings name each agent, and VS Code's entry has the required fields", () => {
  const told = settingsOf({ base: "http://127.0.0.1:4141", model: "m1", upstreams: { "/": "http://a" } }, nobody).split(
    "\n",
  );
  expect(told.map((line) => line.slice(0, 14).trimEnd())).toEqual([
    ...Object.values(AGENTS).map(({ label }) => label),
    "VS Code",
  ]);
  const { models, ...entry } = JSON.parse(told.at(-1)!.replace(/^.*?: /, "")) as { models: object[] };
  const apiKey = "${input:gatewayKey}";
  expect(entry).toEqual({ name: "gateway", vendor: "customendpoint", apiKey, apiType: "chat-completions" });
  const url = "http://127.0.0.1:4141/v1/chat/completions";
  const limits = { maxInputTokens: 111_616, maxOutputTokens: 16_384 };
  expect(models).toEqual([{ id: "m1", name: "m1", url, toolCalling: true, vision: true, ...limits }]);
});

const CONTINUE = `
import { readFileSync } from "node:fs";
const [, , option, path, own] = process.argv;
const [{ model, apiBase }] = JSON.parse(readFileSync(path, "utf8")).models;
const headers = { "content-type": "application/json" };
const body = JSON.stringify({ model, path, words: [option, own] });
await fetch(apiBase + "/odd", { method: "POST", headers, body });
`;

test("a configuration of one run is gone with it", async () => {
  const asked = later<string>();
  const base = await upstream(async (got, reply) => (asked.resolve(await text(got)), reply.end()));
  const [code] = await ended("run", "--model", "m1", "--upstream", base, "--", agentOf("cn", CONTINUE), "-p");
  const { model, path, words } = JSON.parse(await asked.promise) as { model: string; path: string; words: string[] };
  expect([code, model, words]).toEqual([0, "m1", ["--config", "-p"]]);
  expect(existsSync(dirname(path))).toBe(false);
});

test("one that is killed says so, and the sidecar goes on from its log", async () => {
  const own = await Sidecar.spawn(REAL);
  const half = later<() => void>();
  const base = await before(
    await upstream((_request, reply) => {
      reply.writeHead(200, EVENTS).write(`data: ${JSON.stringify(chunk({ content: SAID.slice(0, 20) }))}\n\n`);
      half.resolve(() => reply.end(sse(chunk({ content: SAID.slice(20) }), chunk({}, "stop"))));
    }),
    {},
    own,
  );
  const answer = ask(`${base}/v1/chat/completions`, JSON.stringify({ ...ASKED, stream: true }));
  const finish = await half.promise;
  await own.stats();
  process.kill(own.pid!, "SIGKILL");
  finish();
  const { body } = await answer;
  expect([...body.toString().matchAll(/"content":"([^"]*)"/g)].map(([, words]) => words).join("")).toBe("Four.");
  await own.shutdown();
});
