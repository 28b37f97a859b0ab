// The gateway between a client and an upstream of these tests: what it need not touch is
// the same byte for byte, what leaked is not there, and what breaks on one side ends the other.

import { createServer, request, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGateway } from "../src/gateway/gateway.js";
import { Sidecar } from "../src/index.js";
import { REAL, crash, until } from "./support.js";

let sidecar: Sidecar;
const servers: Server[] = [];
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(async () => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  await sidecar.shutdown();
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

interface Setting {
  readonly port: number;
  readonly lines: string[];
  readonly lost: unknown[];
}

/** A gateway before an upstream that does this. */
async function before(upstream: RequestListener, of = sidecar): Promise<Setting> {
  const port = await listening(createServer({ maxHeaderSize: 1 << 18 }, upstream));
  const [lines, lost] = [[] as string[], [] as unknown[]];
  const upstreams = { "/": `http://127.0.0.1:${port}` };
  const options = {
    upstreams,
    onTurn: (line: string) => void lines.push(line),
    onTrouble: (e: unknown) => void lost.push(e),
  };
  return { port: await listening(createGateway(of, options)), lines, lost };
}

interface Sent {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

function asking(port: number, { method = "POST", path, headers = {}, body }: Sent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, method, path, headers, agent: false as const, maxHeaderSize: 1 << 18 };
    const sent = request(options, resolve);
    sent.on("error", reject);
    sent.end(body);
  });
}

const CHAT = "/v1/chat/completions";
const QUESTION = JSON.stringify({ model: "qwen/qwen3-32b", messages: [{ role: "user", content: "Which?" }] });

function chunk(content: string, finish: string | null = null): string {
  const choice = { index: 0, delta: { content }, finish_reason: finish };
  const told = { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [choice] };
  return `data: ${JSON.stringify(told)}\n\n`;
}

const LEAKING = [chunk("<thi"), chunk("nk>Look first.</think>"), chunk("On main."), chunk("", "stop")];

/** What the deltas of a stream say. */
function said(events: string): string {
  const documents = events.split("\n\n").filter((each) => each.startsWith("data: {"));
  const deltas = documents.map((each) => JSON.parse(each.slice(6)) as { choices: { delta: { content?: string } }[] });
  return deltas.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
}

const streaming: RequestListener = (asked, answer) => {
  asked.resume();
  answer.writeHead(200, { "content-type": "text/event-stream" });
  answer.end(`${LEAKING.join("")}data: [DONE]\n\n`);
};

describe("what passes", () => {
  test.each([
    ["an error with its header", 429, { "content-type": "application/json", "retry-after": "7" }, '{ "error" : 1 }'],
    ["an error that is no JSON", 503, { "content-type": "text/html" }, "<h1>no</h1>"],
    ["a whole answer without a leak", 200, { "content-type": "application/json" }, `{ "choices" : [] }`],
    ["an answer of another kind", 200, { "content-type": "text/plain" }, "</think>"],
  ])("%s", async (_, status, headers, body) => {
    const { port } = await before((asked, answer) => {
      asked.resume();
      answer.writeHead(status, "Said So", { ...headers, "X-Request-Id": "r" }).end(body);
    });
    const answer = await asking(port, { path: CHAT, body: QUESTION });
    expect([answer.statusCode, answer.statusMessage]).toEqual([status, "Said So"]);
    expect(answer.headers).toMatchObject({ ...headers, "x-request-id": "r" });
    expect(await text(answer)).toBe(body);
  });

  test.each(["/v1/messages/count_tokens", "/v1/models", "/v1/files", CHAT])("a request to %s", async (path) => {
    const seen: { headers: string[]; body: Buffer; url: string | undefined }[] = [];
    const { port } = await before((asked, answer) => {
      void buffer(asked).then((body) => {
        seen.push({ headers: asked.rawHeaders, body, url: asked.url });
        answer.end("{}");
      });
    });
    const body = Buffer.from([0xff, 0xfe, 0, 1, 2]);
    const headers = { Authorization: "Bearer secret", "X-Odd-CASE": "kept", "Content-Length": "5" };
    await text(await asking(port, { path: `${path}?a=1&b=%2F`, headers, body }));
    expect(seen[0]).toMatchObject({ body, url: `${path}?a=1&b=%2F` });
    expect(seen[0]?.headers.join("\n")).toContain("Authorization\nBearer secret\nX-Odd-CASE\nkept");
  });

  test("a request without a body has none behind the gateway", async () => {
    const seen: string[][] = [];
    const { port } = await before((asked, answer) => {
      seen.push(Object.keys(asked.headers));
      answer.end("{}");
    });
    await text(await asking(port, { method: "GET", path: "/v1/models" }));
    expect(seen[0]).not.toContain("transfer-encoding");
    expect(seen[0]).not.toContain("content-length");
  });

  test("headers of 64 kB, both ways", async () => {
    const long = "k".repeat(1 << 16);
    const { port } = await before((asked, answer) => {
      answer.writeHead(200, { "x-long": asked.headers["x-long"] ?? "" }).end();
    });
    const answer = await asking(port, { method: "GET", path: "/", headers: { "x-long": long } });
    expect(answer.headers["x-long"]).toBe(long);
  });
});

describe("what is cleaned", () => {
  test("a stream, in which a line says so", async () => {
    const { port, lines } = await before(streaming);
    const events = await text(await asking(port, { path: CHAT, body: QUESTION }));
    expect(said(events)).toBe("On main.");
    expect(events).toContain("[DONE]");
    await until(() => lines.length > 0);
    expect(lines[0]).toContain("11 characters of reasoning");
  });

  test("a whole answer", async () => {
    const message = { role: "assistant", content: "<think>Look.</think>On main." };
    const whole = {
      id: "c",
      object: "chat.completion",
      model: "m",
      choices: [{ index: 0, message, finish_reason: "stop" }],
    };
    const { port } = await before((asked, answer) => {
      asked.resume();
      answer.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole));
    });
    const told = await text(await asking(port, { path: CHAT, body: QUESTION }));
    expect(JSON.parse(told)).toMatchObject({ choices: [{ message: { content: "On main." } }] });
  });

  test("a stream that is compressed, after a request that is", async () => {
    const seen: string[] = [];
    const { port } = await before((asked, answer) => {
      void buffer(asked).then((body) => {
        seen.push(gunzipSync(body).toString());
        answer.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
        answer.end(gzipSync(LEAKING.join("")));
      });
    });
    const headers = { "content-encoding": "gzip" };
    const answer = await asking(port, { path: CHAT, headers, body: gzipSync(QUESTION) });
    expect(answer.headers["content-encoding"]).toBeUndefined();
    expect(said(await text(answer))).toBe("On main.");
    expect(seen).toEqual([QUESTION]);
  });

  test("a request that has a leak in an earlier turn", async () => {
    const seen: string[] = [];
    const { port } = await before((asked, answer) => {
      void text(asked).then((body) => {
        seen.push(body);
        answer.end("{}");
      });
    });
    const messages = [
      { role: "user", content: "Which?" },
      { role: "assistant", content: "<think>Look.</think>On main." },
      { role: "user", content: "And now?" },
    ];
    const body = JSON.stringify({ model: "qwen/qwen3-32b", messages });
    await text(await asking(port, { path: CHAT, body }));
    expect(seen[0]).toContain("On main.");
    expect(seen[0]).not.toContain("think>");
  });
});

describe("what breaks", () => {
  test("a client that leaves an upstream that hangs ends its request", async () => {
    let isLeft = false;
    const { port } = await before((asked, answer) => {
      asked.resume();
      answer.writeHead(200, { "content-type": "text/event-stream" }).write(chunk("On "));
      answer.on("close", () => (isLeft = true));
    });
    const answer = await asking(port, { path: CHAT, body: QUESTION });
    answer.on("error", () => {});
    answer.destroy();
    await until(() => isLeft);
  });

  test("an upstream that breaks off breaks the answer off", async () => {
    const { port } = await before((asked, answer) => {
      asked.resume();
      answer.writeHead(200, { "content-type": "text/event-stream" });
      answer.write(chunk("On "), () => answer.destroy());
    });
    const answer = await asking(port, { path: CHAT, body: QUESTION });
    await expect(text(answer)).rejects.toThrow();
  });

  test("an upstream that is not there is a 502 that says so", async () => {
    const upstreams = { "/": "http://127.0.0.1:1" };
    const port = await listening(createGateway(sidecar, { upstreams }));
    const answer = await asking(port, { path: CHAT, body: QUESTION });
    expect(answer.statusCode).toBe(502);
    expect(await text(answer)).toContain("ECONNREFUSED");
  });

  test("without a sidecar everything passes, and it is said", async () => {
    const none = Sidecar.create({ command: ["/nowhere/sidecar"], restarts: { max: 0 } });
    const { port, lost } = await before(streaming, none);
    const events = await text(await asking(port, { path: CHAT, body: QUESTION }));
    expect(events).toBe(`${LEAKING.join("")}data: [DONE]\n\n`);
    expect(String(lost[0])).toContain("/nowhere/sidecar");
  });

  test("many streams at once, and the sidecar ends in the middle of them", async () => {
    const open: (() => void)[] = [];
    const { port } = await before((asked, answer) => {
      asked.resume();
      answer.writeHead(200, { "content-type": "text/event-stream" }).write(LEAKING.slice(0, 2).join(""));
      open.push(() => answer.end(LEAKING.slice(2).join("")));
    });
    const answers = Array.from({ length: 60 }, async () => text(await asking(port, { path: CHAT, body: QUESTION })));
    await until(() => open.length === answers.length);
    await crash(sidecar);
    open.forEach((end) => end());
    expect(new Set((await Promise.all(answers)).map(said))).toEqual(new Set(["On main."]));
  });
});
