// The gateway and the rules of HTTP: headers of one connection stay on it, bodies keep their
// ends, repeatable requests are sent once more, and nothing is kept without a limit.

import { once } from "node:events";
import type { IncomingMessage, RequestListener } from "node:http";
import { connect, type Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Sidecar } from "stream-sidecar";
import {
  asking,
  behindGateway,
  CHAT,
  chunk,
  closeServers,
  LEAKING,
  QUESTION,
  raw,
  said,
  streaming,
} from "./gateways.js";
import { REAL, until } from "../../typescript/test/support.js";

const JSON_TYPE = { "content-type": "application/json" };
const MEBIBYTE = 1 << 20;
const QUICK = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(async () => {
  closeServers();
  await sidecar.shutdown();
});

const before = (upstream: RequestListener) => behindGateway(upstream, sidecar);

test("headers of one connection stay on it, both ways, also those that it names", async () => {
  const seen: IncomingMessage[] = [];
  const ofOne = { "Keep-Alive": "timeout=5", "Proxy-Authorization": "Basic x", "X-Hop": "1", "x-other": "2" };
  const { port } = await before((asked, answer) => {
    seen.push(asked);
    answer.writeHead(200, { ...ofOne, Connection: "X-Hop, x-OTHER", "X-End": "3" }).end("{}");
  });
  const headers = { ...ofOne, Connection: "close, X-Hop,x-Other", TE: "trailers", "X-End": "3" };
  const answer = await asking(port, { method: "GET", path: "/v1/models", headers });
  const names = [...Object.keys(ofOne), "te"].map((name) => name.toLowerCase());
  for (const message of [seen[0]!, answer]) {
    expect(message.headers["x-end"]).toBe("3");
    expect(message.headers["connection"]).not.toMatch(/hop/i);
    const left = names.filter((name) => name in message.headers && name !== "keep-alive");
    expect(left).toEqual([]);
  }
  expect(seen[0]!.headers["keep-alive"]).toBeUndefined();
});

test("a header of any name passes, each of its values too", async () => {
  const seen: string[][] = [];
  const { port } = await before((asked, answer) => {
    seen.push(asked.rawHeaders);
    answer.writeHead(200, ["X-Odd", "1", "constructor", "2", "x-odd", "3"]).end("{}");
  });
  const told = await raw(
    port,
    "GET /v1/models HTTP/1.1\r\nHost: a\r\n__proto__: 1\r\nX-Odd: 1\r\nx-odd: 2\r\nConnection: close\r\n\r\n",
  );
  expect(told).toMatch(/^X-Odd: 1\r$/m);
  expect(told).toMatch(/^constructor: 2\r$/m);
  expect(told).toMatch(/^x-odd: 3\r$/m);
  const values = (name: string) => seen[0]!.filter((_, at) => seen[0]![at - 1]?.toLowerCase() === name);
  expect([values("__proto__"), values("x-odd")]).toEqual([["1"], ["1", "2"]]);
});

test.each([
  ["that passes", "/v1/files", "text/plain", ["odd"]],
  ["without a leak", CHAT, "application/json", ['{"choices":[]}']],
  ["that is cleaned", CHAT, "text/event-stream", LEAKING],
])("trailers of an answer %s reach the caller", async (_, path, type, pieces) => {
  const { port } = await before((asked, answer) => {
    asked.resume();
    answer.writeHead(200, { "content-type": type, Trailer: "X-Sum" });
    for (const piece of pieces) answer.write(piece);
    answer.addTrailers({ "X-Sum": "7" });
    answer.end();
  });
  const answer = await asking(port, { path, body: QUESTION });
  await text(answer);
  expect(answer.trailers).toEqual({ "x-sum": "7" });
});

test.each([
  ["that passes", "/v1/files", "text/plain", "odd"],
  ["that is cleaned", CHAT, "text/event-stream", LEAKING.join("")],
  ["that is cleaned as a whole", CHAT, "application/json", wholeOf(5)],
])("bytes of a header are the same with an answer %s", async (_, path, type, body) => {
  const name = Buffer.from("zwölf").toString("latin1"); // as Node.js reads the bytes of UTF-8
  const seen: unknown[] = [];
  const { port } = await before((asked, answer) => {
    seen.push(asked.headers["x-name"]);
    asked.resume();
    answer.writeHead(200, { "content-type": type, "x-name": name }).end(Buffer.from(body));
  });
  const answer = await asking(port, { path, headers: { "x-name": name }, body: Buffer.from(QUESTION) });
  expect(await text(answer)).not.toContain("think>");
  expect([...seen, answer.headers["x-name"]]).toEqual([name, name]);
});

test.each([
  [CHAT, "gzip, compress;q=0.5, br", "gzip, br"],
  [CHAT, "gzip,  deflate;q=0.5", "gzip,  deflate;q=0.5"],
  [CHAT, "compress", "identity"],
  ["/v1/files", "compress, *", "compress, *"],
])("a request to %s accepts %s, and the provider receives %s", async (path, accepted, heard) => {
  const seen: unknown[] = [];
  const { port } = await before((asked, answer) => {
    seen.push(asked.headers["accept-encoding"]);
    asked.resume();
    answer.end("{}");
  });
  await text(await asking(port, { path, headers: { "accept-encoding": accepted }, body: QUESTION }));
  expect(seen).toEqual([heard]);
});

/** Answers the first request of a connection and hangs up at the second one. */
function hangingUp(seen: string[]): RequestListener {
  const known = new Set<Socket>();
  return (asked, answer) => {
    seen.push(asked.method ?? "");
    asked.resume();
    if (known.has(asked.socket)) asked.socket.destroy();
    else answer.end("{}");
    known.add(asked.socket);
  };
}

test("a request without a body is sent once more where its connection had been closed", async () => {
  const seen: string[] = [];
  const { port } = await before(hangingUp(seen));
  const ask = () => asking(port, { method: "GET", path: "/v1/models" });
  for (const answer of await Promise.all([ask(), ask()])) await text(answer);
  expect((await ask()).statusCode).toBe(200);
  expect(seen).toEqual(["GET", "GET", "GET", "GET"]);
});

test.each([
  [CHAT, QUESTION],
  ["/v1/files", "a file"],
  ["/v1/batches/b1/cancel", ""],
])("a request that may have been processed is not sent twice: %s", async (path, body) => {
  const seen: string[] = [];
  const { port, lines } = await before(hangingUp(seen));
  await text(await asking(port, { method: "GET", path: "/v1/models" }));
  const answer = await asking(port, { path, body });
  expect([answer.statusCode, await text(answer)]).toEqual([502, expect.stringContaining("did not answer")]);
  expect(seen).toEqual(["GET", "POST"]);
  await until(() => lines.length === 2);
  expect(lines[1]).toContain("the upstream did not answer");
});

test.each(["GET", "DELETE", "OPTIONS", "PUT"])("a body of %s in pieces keeps its end", async (method) => {
  const seen: string[] = [];
  const { port } = await before((asked, answer) => {
    void text(asked).then((body) => {
      seen.push(`${asked.method} ${asked.url} ${body}`);
      answer.end("{}");
    });
  });
  const body = "GET /admin HTTP/1.1\r\nHost: a\r\n\r\n";
  const headers = { "transfer-encoding": "chunked" };
  await text(await asking(port, { method, path: "/v1/files/f", headers, body }));
  expect(seen).toEqual([`${method} /v1/files/f ${body}`]);
});

/** A whole answer of so many characters, in which something leaked. */
function wholeOf(size: number): string {
  const message = { role: "assistant", content: `<think>Hm.</think>${"word ".repeat(size / 5)}` };
  return JSON.stringify({ object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }] });
}

test.each([
  ["which the sidecar does not read", (body: string) => [{}, Buffer.from(body)] as const, 9],
  ["which is too long", (body: string) => [{}, Buffer.from(body)] as const, 40],
  ["which is too long and compressed", (body: string) => [{ "content-encoding": "gzip" }, gzipSync(body)] as const, 40],
  ["which is broken", () => [{ "content-encoding": "gzip" }, Buffer.from("no gzip")] as const, 1],
])("a whole answer passes as it came, %s", async (_, written, mebibytes) => {
  const [headers, bytes] = written(wholeOf(mebibytes * MEBIBYTE));
  const { port, lost } = await before((asked, answer) => {
    asked.resume();
    answer.writeHead(200, { ...JSON_TYPE, ...headers }).end(bytes);
  });
  const told = await buffer(await asking(port, { path: CHAT, body: QUESTION }));
  expect(told.equals(bytes)).toBe(true);
  expect(lost).toEqual([expect.stringContaining("NOT CLEANED")]);
});

test("a bomb is not unpacked", async () => {
  const bomb = brotliCompressSync(Buffer.alloc(512 * MEBIBYTE), QUICK);
  const { port } = await before((asked, answer) => {
    asked.resume();
    answer.writeHead(200, { ...JSON_TYPE, "content-encoding": "br" }).end(bomb);
  });
  const most = process.memoryUsage().rss + 256 * MEBIBYTE;
  let peak = 0;
  const watching = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5);
  const told = await buffer(await asking(port, { path: CHAT, body: QUESTION }));
  clearInterval(watching);
  expect([told.equals(bomb), peak < most]).toEqual([true, true]);
});

test.each([
  ["too long", {}, Buffer.from(wholeOf(40 * MEBIBYTE))],
  ["too long and in pieces", { "transfer-encoding": "chunked" }, Buffer.from(wholeOf(40 * MEBIBYTE))],
  ["broken", { "content-encoding": "gzip" }, Buffer.from("no gzip")],
])("a request whose body is %s passes as it came", async (_, headers, body) => {
  const seen: Buffer[] = [];
  const { port, lost } = await before((asked, answer) => {
    void buffer(asked).then((got) => {
      seen.push(got);
      answer.end("{}");
    });
  });
  expect((await asking(port, { path: CHAT, headers, body })).statusCode).toBe(200);
  expect(seen.map((got) => got.equals(body))).toEqual([true]);
  expect(lost).toHaveLength(1);
});

test("an array of Gemini's comes as it is made", async () => {
  let go = () => {};
  const part = (said: string) => JSON.stringify({ candidates: [{ index: 0, content: { parts: [{ text: said }] } }] });
  const { port } = await before((asked, answer) => {
    asked.resume();
    answer.writeHead(200, JSON_TYPE).write(`[${part("Hello to you, ")}`);
    go = () => answer.end(`,${part("and others.")}]`);
  });
  const path = "/v1beta/models/m:streamGenerateContent";
  const answer = await asking(port, { path, body: JSON.stringify({ contents: [] }) });
  const told: string[] = [];
  for await (const piece of answer) {
    told.push(String(piece));
    go();
  }
  expect(told.length).toBeGreaterThan(1);
  expect(told[0]).toContain("Hello");
  expect(JSON.parse(told.join(""))).toHaveLength(2);
});

test("clients of HTTP/1.0, HEAD, an upgrade and 100-continue", async () => {
  const { port } = await before((asked, answer) => {
    asked.resume();
    if (asked.url === CHAT) streaming(asked, answer);
    else answer.writeHead(200, { "content-length": "2" }).end(asked.method === "HEAD" ? "" : "{}");
  });
  const old = await raw(port, `POST ${CHAT} HTTP/1.0\r\nContent-Length: ${QUESTION.length}\r\n\r\n${QUESTION}`);
  expect(said(old.slice(old.indexOf("data:")))).toBe("On main.");
  expect(old).not.toMatch(/transfer-encoding/i);
  const head = await raw(port, "HEAD /v1/models HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  expect(head).toMatch(/^HTTP\/1.1 200 OK\r\ncontent-length: 2\r\n/);
  expect(head.endsWith("\r\n\r\n")).toBe(true);
  const upgrade = "Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n";
  expect(await raw(port, `GET /v1/models HTTP/1.1\r\nHost: a\r\n${upgrade}\r\n`)).toMatch(/^HTTP\/1.1 200/);
  // It would carry answers that are not cleaned.
  expect(await raw(port, `GET /v1/responses HTTP/1.1\r\nHost: a\r\n${upgrade}\r\n`)).toMatch(/^HTTP\/1.1 426/);
  const expecting = `Content-Length: ${QUESTION.length}\r\nExpect: 100-continue\r\nConnection: close\r\n`;
  const told = await raw(port, `POST ${CHAT} HTTP/1.1\r\nHost: a\r\n${expecting}\r\n`, QUESTION);
  expect(told).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200/);
});

test.each(["/v1/files", CHAT])("a client that leaves in the middle of its upload to %s harms nobody", async (path) => {
  let [isSeen, isLeft] = [path === CHAT, path === CHAT]; // whose requests are read before they are sent
  const { port, lost } = await before((asked, answer) => {
    isSeen = true;
    asked.on("close", () => (isLeft = true));
    asked.on("error", () => {});
    asked.resume();
    if (asked.method === "GET") answer.end("{}");
  });
  const socket = connect(port, "127.0.0.1");
  socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\nExpect: 100-continue\r\n\r\n`);
  await once(socket, "data");
  socket.write(chunk("half"));
  await until(() => isSeen);
  socket.destroy();
  await until(() => isLeft);
  expect((await asking(port, { method: "GET", path: "/v1/models" })).statusCode).toBe(200);
  expect(lost).toEqual([]);
});
