// Web pages of other sites: a browser that sends their requests to the gateway gets a refusal, and
// the provider is not asked.

import type { RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Sidecar } from "stream-sidecar";
import { createGateway } from "../src/gateway.js";
import { asking, behindGateway, CHAT, closeServers, QUESTION, said, streaming } from "./gateways.js";
import { REAL } from "../../typescript/test/support.js";

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(() => sidecar.shutdown());
afterEach(closeServers);

const EVIL = "https://evil.example";
const FRIEND = "http://localhost:3000";

/** A gateway before an upstream whose requests are counted. */
async function counted(allowOrigins: readonly string[] = [], upstream: RequestListener = streaming) {
  let count = 0;
  const listener: RequestListener = (asked, answer) => {
    count += 1;
    upstream(asked, answer);
  };
  return { ...(await behindGateway(listener, sidecar, { allowOrigins })), asked: () => count };
}

const GET = { method: "GET", path: "/v1/models" };
const POST = { path: CHAT, body: QUESTION };
const PREFLIGHT = { method: "OPTIONS", path: CHAT };
const ASKS = { "access-control-request-method": "POST", "access-control-request-headers": "authorization,x-a" };

test.each([
  ["a fetch of JSON", POST, { origin: EVIL, "sec-fetch-site": "cross-site", "content-type": "application/json" }],
  ["a fetch or form of text", POST, { origin: EVIL, "sec-fetch-site": "cross-site", "content-type": "text/plain" }],
  ["a browser without Sec-Fetch-Site", POST, { origin: EVIL, "content-type": "text/plain" }],
  ["a preflight", PREFLIGHT, { origin: EVIL, ...ASKS }],
  ["an image or a link", GET, { "sec-fetch-site": "cross-site" }],
  ["the gateway's status", { method: "GET", path: "/health" }, { "sec-fetch-site": "cross-site" }],
  ["a page in a sandbox, or of a file", POST, { origin: "null", "sec-fetch-site": "cross-site" }],
  ["a page of another server on this machine", POST, { origin: FRIEND, "sec-fetch-site": "same-site" }],
  ["a page of the same name on HTTPS", POST, { origin: "https://127.0.0.1:4141", host: "127.0.0.1:4141" }],
  ["two origins", POST, { origin: `${EVIL}, http://127.0.0.1` }],
  ["a web socket", { ...GET, path: "/v1/realtime" }, { origin: EVIL, connection: "Upgrade", upgrade: "websocket" }],
])("%s is refused", async (_, sent, headers: Record<string, string>) => {
  const { port, asked, lost } = await counted();
  const answer = await asking(port, { ...sent, headers });
  expect(answer.statusCode).toBe(403);
  expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  expect(await text(answer)).toContain("--allow-origin");
  expect(asked()).toBe(0);
  expect(lost).toEqual([expect.stringContaining("REFUSED")]);
});

test.each([
  ["no page", POST, {}],
  ["the page of the gateway itself", POST, { host: "localhost:4141", origin: "http://localhost:4141" }],
  ["an address that is typed", GET, { "sec-fetch-site": "none" }],
  ["an allowed page", POST, { origin: FRIEND, "sec-fetch-site": "same-site" }],
  ["an allowed page of another site", POST, { origin: "https://app.example", "sec-fetch-site": "cross-site" }],
])("%s is answered", async (_, sent, headers: Record<string, string>) => {
  const { port, lost } = await counted([FRIEND, "https://APP.example"]);
  const answer = await asking(port, { ...sent, headers });
  expect([answer.statusCode, said(await text(answer))]).toEqual([200, sent === POST ? "On main." : expect.any(String)]);
  expect(lost).toEqual([]);
});

test.each([
  [200, "localhost."],
  [403, "attacker.example."],
  [403, "127.0.0.1.attacker.example"],
])("%i for a host named %s", async (status, host) => {
  const { port } = await counted(["*"]);
  expect((await asking(port, { ...GET, headers: { host } })).statusCode).toBe(status);
});

test("an allowed page may read the answer, whatever the provider says about pages", async () => {
  const { port, asked } = await counted([FRIEND], (request, answer) => {
    request.resume();
    const headers = ["Set-Cookie", "a=1", "Set-Cookie", "b=2", "Access-Control-Allow-Origin", "https://own.example"];
    answer.writeHead(200, [...headers, "Content-Type", "application/json"]).end("{}");
  });
  const headers = { origin: FRIEND };
  const question = await asking(port, { ...PREFLIGHT, headers: { ...headers, ...ASKS } });
  expect(question.statusCode).toBe(204);
  expect(question.headers).toMatchObject({
    "access-control-allow-origin": FRIEND,
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": "authorization,x-a",
  });
  expect(asked()).toBe(0);
  for (const sent of [POST, GET]) {
    const answer = await asking(port, { ...sent, headers });
    expect(answer.headers).toMatchObject({ "access-control-allow-origin": FRIEND, "set-cookie": ["a=1", "b=2"] });
  }
  expect((await asking(port, { ...POST, headers: { origin: EVIL } })).statusCode).toBe(403);
  expect((await asking(port, POST)).headers["access-control-allow-origin"]).toBe("https://own.example");
});

test("all pages may be allowed", async () => {
  const { port } = await counted(["*"]);
  for (const headers of [{ origin: EVIL }, { "sec-fetch-site": "cross-site" }]) {
    expect((await asking(port, { ...POST, headers })).statusCode).toBe(200);
  }
});

test("pages that go on asking do not fill the log", async () => {
  const { port, lost } = await counted();
  for (let count = 0; count < 50; count += 1) {
    await asking(port, { ...POST, headers: { origin: `https://${count % 40}.example` } });
  }
  expect(lost).toHaveLength(20);
});

test.each(["http://a/", "localhost:3000", "", "http://a b"])("%j is no origin", (origin) => {
  const upstreams = { "/": "http://127.0.0.1:1" };
  expect(() => createGateway(sidecar, { upstreams, allowOrigins: [origin] })).toThrow(TypeError);
});
