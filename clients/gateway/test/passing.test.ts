// The gateway between a client and an upstream of these tests: everything without a leak is the
// same byte for byte, leaks are removed, and a failure on one side ends the other side.

import type { RequestListener } from "node:http";
import { buffer, text } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGateway } from "../src/gateway.js";
import { Sidecar } from "stream-sidecar";
import {
  asking,
  behindGateway,
  CHAT,
  chunk,
  closeServers,
  LEAKING,
  listening,
  QUESTION,
  said,
  streaming,
} from "./gateways.js";
import { crash, REAL, until } from "../../typescript/test/support.js";

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(async () => {
  closeServers();
  await sidecar.shutdown();
});

const before = (upstream: RequestListener, of = sidecar) => behindGateway(upstream, of);

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

  test("a request without a body has none after the gateway", async () => {
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

test.each([
  [403, "attacker.example:4141"],
  [200, "localhost:4141"],
  [200, "127.0.0.1"],
  [200, "[::1]:4141"],
  [200, "workstation:4141"],
  [200, "host.docker.internal:4141"],
])("%i for a request to the loopback address whose host is %s", async (status, host) => {
  const { port } = await before((_, answer) => answer.end("{}"));
  const answer = await asking(port, { method: "GET", path: "/v1/models", headers: { host } });
  expect(answer.statusCode).toBe(status);
});

test.each([
  ["//other.example/v1/models", "//other.example/v1/models"],
  ["http://other.example/v1/models", "/http://other.example/v1/models"],
  ["/../../admin", "/admin"],
  ["/v1/models?next=//other.example", "/v1/models?next=//other.example"],
])("a request to %s stays with the provider", async (path, asked) => {
  const seen: (string | undefined)[] = [];
  const { port } = await before((request, answer) => {
    seen.push(request.url);
    answer.end("{}");
  });
  await text(await asking(port, { method: "GET", path }));
  expect(seen).toEqual([asked]);
});

test.each([204, 304])("an answer without a body, %i, to a request that is cleaned", async (status) => {
  const { port } = await before((request, answer) => {
    request.resume();
    answer.writeHead(status).end();
  });
  expect((await asking(port, { path: CHAT, body: QUESTION })).statusCode).toBe(status);
});

test("an answer with an unknown encoding passes", async () => {
  const { port } = await before((request, answer) => {
    request.resume();
    answer.writeHead(200, { "content-type": "application/json", "content-encoding": "constructor" }).end("odd");
  });
  expect(await text(await asking(port, { path: CHAT, body: QUESTION }))).toBe("odd");
});

test.each([
  ["a stream under the type of JSON", LEAKING.join(""), ["NOT CLEANED"]],
  ["JSON that is no object", '["</think>"]', ["NOT CLEANED"]],
  ["no body", "", []],
])("%s passes, and a line says so", async (_, body, told) => {
  const { port, lost } = await before((request, answer) => {
    request.resume();
    answer.writeHead(200, { "content-type": "application/json" }).end(body);
  });
  expect(await text(await asking(port, { path: CHAT, body: QUESTION }))).toBe(body);
  expect(lost).toEqual(told.map((each) => expect.stringContaining(each)));
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

  test.each([
    [CHAT, { choices: [{ index: 0, delta: { content: "On main. " } }] }, { error: { type: "network" } }],
    ["/v1/responses", { type: "response.output_text.delta", delta: "On main. " }, { type: "error", code: "network" }],
    [
      "/v1/messages",
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "On main. " } },
      { type: "error" },
    ],
    [
      "/v1beta/models/m:streamGenerateContent?alt=sse",
      { candidates: [{ index: 0, content: { parts: [{ text: "On main. " }] } }] },
      { error: { status: "INTERNAL" } },
    ],
  ])(
    "a sidecar that ends for good ends %s with an error, and what it held does not leak",
    async (path, first, last) => {
      const one = await Sidecar.spawn({ ...REAL, restarts: { max: 0 } });
      let goOn = () => {};
      const { port, lines } = await before((asked, answer) => {
        asked.resume();
        const event = `data: ${JSON.stringify(first)}\n\n`;
        answer.writeHead(200, { "content-type": "text/event-stream" }).write(event);
        goOn = () => answer.write(event.replace("On main.", "<think>secret"));
      }, one);
      const answer = await asking(port, { path, body: QUESTION });
      let told = "";
      const reading = (async () => {
        for await (const piece of answer) told += String(piece);
      })();
      reading.catch(() => {});
      await until(() => told.includes("On main."));
      await crash(one);
      goOn();
      await expect(reading).rejects.toThrow();
      const documents = told.split("\n").filter((line) => line.startsWith("data: "));
      expect(JSON.parse(documents.at(-1)!.slice(6))).toMatchObject(last);
      expect(told).not.toContain("secret");
      await until(() => lines.length > 0);
      expect(lines[0]).toMatch(/CUT OFF: the sidecar failed/);
      expect(lines[0]).not.toContain("NOT CLEANED");
      await one.shutdown();
    },
  );

  test("without a sidecar everything passes, and it is said", async () => {
    const none = Sidecar.create({ command: ["/nowhere/sidecar"], restarts: { max: 0 } });
    const { port, lost } = await before(streaming, none);
    const events = await text(await asking(port, { path: CHAT, body: QUESTION }));
    expect(events).toBe(`${LEAKING.join("")}data: [DONE]\n\n`);
    expect(String(lost[0])).toContain("/nowhere/sidecar");
  });
});
