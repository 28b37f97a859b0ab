// Clients and upstreams that break the rules of HTTP, byte for byte: each request is answered or
// refused, none hangs, and the next one works.

import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createGateway } from "../src/gateway.js";
import { Sidecar } from "stream-sidecar";
import { asking, behindGateway, CHAT, closeServers, LEAKING, listening, QUESTION, raw, said } from "./gateways.js";
import { REAL } from "../../typescript/test/support.js";

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(() => sidecar.shutdown());
afterEach(closeServers);

const FILES = "/v1/files";
const HOST = "Host: localhost\r\n";
const CLOSE = "Connection: close\r\n";
const LENGTH = `Content-Length: ${QUESTION.length}\r\n`;
const CHUNKED = `${QUESTION.length.toString(16)}\r\n${QUESTION}\r\n0\r\n\r\n`;
const EVIL = `GET /evil HTTP/1.1\r\n${HOST}\r\n`;
const bytesOf = (text: string) => Buffer.from(text, "latin1");
const statusesOf = (told: string) => [...told.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status));

describe("a client's request", () => {
  const get = (target: string, headers = "") => `GET ${target} HTTP/1.1\r\n${HOST}${headers}${CLOSE}\r\n`;
  const post = (headers: string, body: string) => `POST ${FILES} HTTP/1.1\r\n${HOST}${headers}${CLOSE}\r\n${body}`;
  const ask = (headers: string, body: string) => `POST ${CHAT} HTTP/1.1\r\n${HOST}${headers}${CLOSE}\r\n${body}`;
  const passes = (target: string, body = "") => [`${body ? "POST" : "GET"} ${target} ${body}`.trimEnd()];

  test.each<[string, string, number | undefined, string[]]>([
    ["two lengths", post("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"), 400, []],
    ["one length twice", post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc"), 400, []],
    ["a list of lengths", post("Content-Length: 3, 3\r\n", "abc"), 400, []],
    ["a length below zero", post("Content-Length: -3\r\n", "abc"), 400, []],
    ["a length that is too large", post(`Content-Length: ${"9".repeat(30)}\r\n`, "abc"), 400, []],
    ["a length and chunks", ask("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", CHUNKED + EVIL), 400, []],
    ["chunks and a length", ask(`Transfer-Encoding: chunked\r\n${LENGTH}`, CHUNKED + EVIL), 400, []],
    ["an unknown transfer", post("Transfer-Encoding: xchunked\r\n", "abc"), 400, []],
    ["a transfer after the chunks", post("Transfer-Encoding: chunked, identity\r\n", CHUNKED), 400, []],
    ["a broken chunk", ask("Transfer-Encoding: chunked\r\n", "zz\r\nabc"), 400, []],
    ["a chunk that is too large", ask("Transfer-Encoding: chunked\r\n", `${"f".repeat(20)}\r\nabc`), 400, []],
    ["chunks with a bare LF", ask("Transfer-Encoding: chunked\r\n", CHUNKED.replaceAll("\r", "")), 400, []],
    ["a bare LF", get(FILES).replaceAll("\r", ""), 400, []],
    ["a bare CR", get(FILES, "X-A: a\rX-B: b\r\n"), 400, []],
    ["a folded header", get(FILES, "X-A: a\r\n b\r\n"), 400, []],
    ["a folded first header", `GET ${FILES} HTTP/1.1\r\n X-A: a\r\n${HOST}${CLOSE}\r\n`, 400, []],
    ["a space before the colon", post("Content-Length : 3\r\n", "abc"), 400, []],
    ["a NUL in a header", get(FILES, "X-A: a\0b\r\n"), 400, []],
    ["an escape in the path", get("/v1/\u001b[31mred"), 400, []],
    ["a header of 64 kB", get(FILES, `X-Big: ${"a".repeat(1 << 16)}\r\n`), 200, passes(FILES)],
    ["a header of 300 kB", get(FILES, `X-Big: ${"a".repeat(300_000)}\r\n`), 431, []],
    [
      "a length after 3,000 headers",
      post(`${"X: y\r\n".repeat(3_000)}Content-Length: 3\r\n`, "abc"),
      200,
      passes(FILES, "abc"),
    ],
    ["an absolute address", get("http://other.example/v1"), 200, passes("/http://other.example/v1")],
    [
      "an absolute address to be cleaned",
      ask(LENGTH, QUESTION).replace("/v1", "http://other.example/v1"),
      200,
      passes(`/http://other.example${CHAT}`, QUESTION),
    ],
    ["two slashes", get("//other.example/v1"), 200, passes("//other.example/v1")],
    ["a backslash", get("/\\other.example/v1"), 200, passes("//other.example/v1")],
    ["a user in the path", get("@other.example/v1"), 400, []],
    ["dots", get("/v1/../../admin"), 200, passes("/admin")],
    ["broken escapes", get("/v1/%zz%00"), 200, passes("/v1/%zz%00")],
    [
      "an upgrade to a web socket",
      get("/v1/realtime").replace("close", "Upgrade, close\r\nUpgrade: websocket"),
      200,
      passes("/v1/realtime"),
    ],
    [
      "an upgrade to HTTP/2",
      get(FILES).replace("close", "Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c"),
      200,
      passes(FILES),
    ],
    ["HTTP/2 without asking", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, []],
    ["a tunnel", `CONNECT other.example:443 HTTP/1.1\r\n${HOST}\r\n`, undefined, []],
    ["an unknown expectation", post("Expect: more\r\nContent-Length: 3\r\n", "abc"), 417, []],
    ["no host", `GET ${FILES} HTTP/1.1\r\n${CLOSE}\r\n`, 400, []],
    ["an unknown version", get(FILES).replace("1.1", "3.0"), 400, []],
    ["TLS", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003\r\n", 400, []],
    [
      "a length that the connection names",
      post("Connection: content-length\r\nContent-Length: 3\r\n", "abc"),
      200,
      passes(FILES, "abc"),
    ],
    [
      "a length named, to be cleaned",
      ask(`Connection: content-length\r\n${LENGTH}`, QUESTION),
      200,
      passes(CHAT, QUESTION),
    ],
    ["a body that is no gzip", ask(`Content-Encoding: gzip\r\n${LENGTH}`, QUESTION), 200, passes(CHAT, QUESTION)],
  ])("%s", async (_, bytes, status, asked) => {
    const seen: string[] = [];
    const { port } = await behindGateway((request, answer) => {
      void text(request).then((body) => {
        seen.push(`${request.method} ${request.url} ${body}`.trimEnd());
        answer.end("{}");
      });
    }, sidecar);
    expect(statusesOf(await raw(port, bytesOf(bytes)))).toEqual(status === undefined ? [] : [status]);
    expect(seen).toEqual(asked);
    expect((await asking(port, { method: "GET", path: FILES })).statusCode).toBe(200);
  });

  test("has a minute for its headers, and any time for its body", () => {
    const { headersTimeout, requestTimeout } = createGateway(sidecar, { upstreams: { "/": "http://127.0.0.1:1" } });
    expect([headersTimeout, requestTimeout]).toEqual([60_000, 0]);
  });

  const LARGE = Buffer.alloc(16 << 20, "a");

  test("with a large body, to an upstream that is not there", async () => {
    const port = await listening(createGateway(sidecar, { upstreams: { "/": "http://127.0.0.1:1" } }));
    const answer = await asking(port, { path: FILES, body: LARGE });
    expect([answer.statusCode, await text(answer)]).toEqual([502, expect.stringContaining("ECONNREFUSED")]);
  });
});

describe("an upstream's answer", () => {
  const whole = (head: string, body = "{}") => `HTTP/1.1 ${head}\r\nContent-Type: application/json\r\n${body}`;
  const json = (headers: string, body = "{}") => whole(`200 OK\r\n${headers}`, `\r\n${body}`);
  const OK = "Content-Length: 2\r\n";

  test.each([
    [
      "an upgrade that nobody asked for",
      "HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nabc",
      502,
    ],
    ["101 without an upgrade", "HTTP/1.1 101 Go\r\n\r\nabc", 502],
    ["nothing", "", 502],
    ["half a header", "HTTP/1.1 200 OK\r\nContent-Ty", 502],
    ["only 100", "HTTP/1.1 100 Continue\r\n\r\n", 502],
    ["a thousand early hints", `${"HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n".repeat(1_000)}${json(OK)}`, 200],
    ["what is no HTTP", "{}\r\n\r\n", 502],
    ["two lengths", json("Content-Length: 2\r\nContent-Length: 3\r\n"), 502],
    ["a length and chunks", json(`${OK}Transfer-Encoding: chunked\r\n`, "2\r\n{}\r\n0\r\n\r\n"), 502],
    ["a bare LF", json(OK).replaceAll("\r", ""), 502],
    ["a folded header", json(`X-A: a\r\n b\r\n${OK}`), 502],
    ["a header of 64 kB", json(`X-A: ${"a".repeat(1 << 16)}\r\n${OK}`), 200],
    ["a header of 300 kB", json(`X-A: ${"a".repeat(300_000)}\r\n${OK}`), 502],
    ["a NUL in a header", json(`X-A: a\0b\r\n${OK}`), 502],
    ["the status 0", whole("000 Odd", `${OK}\r\n{}`), 502],
    ["the status 999", whole("999 Odd", `${OK}\r\n{}`), 999],
    ["a control character in the reason", whole("200 a\u0001b", `${OK}\r\n{}`), 502],
    ["more than its length", json(OK, `{}${json(OK)}`), 200],
    ["a redirect", whole("302 Found", `Location: http://other.example/\r\nContent-Length: 0\r\n\r\n`), 302],
  ])("%s", async (_, bytes, status) => {
    for (const path of [CHAT, FILES]) {
      let isHostile = true;
      const { port } = await behindGateway((asked, answer) => {
        if (isHostile) asked.socket.end(bytesOf(bytes));
        else answer.end("{}");
      }, sidecar);
      const told = await raw(port, `POST ${path} HTTP/1.1\r\n${HOST}${LENGTH}${CLOSE}\r\n${QUESTION}`);
      expect(statusesOf(told), path).toEqual([status]);
      isHostile = false;
      expect((await asking(port, { path, body: QUESTION })).statusCode).toBe(200);
    }
  });

  test("more headers than Node.js counts", async () => {
    const { port } = await behindGateway(
      ({ socket }) => void socket.end(json(`${"X: y\r\n".repeat(3_000)}X-Last: z\r\n${OK}`)),
      sidecar,
    );
    const request = `GET ${FILES} HTTP/1.1\r\n${HOST}${CLOSE}\r\n`;
    expect(await raw(port, request)).toMatch(/^X-Last: z\r$/m);
  });

  test.each([
    ["its length", `Content-Length: 9000\r\n\r\n${LEAKING.join("")}`],
    [
      "a broken chunk",
      `Transfer-Encoding: chunked\r\n\r\n${LEAKING.join("").length.toString(16)}\r\n${LEAKING.join("")}\r\nzz`,
    ],
  ])("what arrived before the end, and then that it broke off, where %s is wrong", async (_, answer) => {
    const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    const { port } = await behindGateway(({ socket }) => void socket.end(`${head}${answer}`), sidecar);
    const message: IncomingMessage = await asking(port, { path: CHAT, body: QUESTION });
    const told: Buffer[] = [];
    const reading = (async () => {
      for await (const piece of message) told.push(piece as Buffer);
    })();
    await expect(reading).rejects.toThrow();
    const events = Buffer.concat(told).toString();
    expect(said(events.replace(/data: \{"error.*/s, ""))).toBe("On main.");
    expect(events).toContain('"type":"network"');
  });
});
