// Addresses: those that may have secrets are refused and never shown, and the one that the gateway
// announces can be called.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { Sidecar } from "stream-sidecar";
import { baseOf } from "../src/addresses.js";
import { main } from "../src/command.js";
import { createGateway } from "../src/gateway.js";
import { asking, behindGateway, CHAT, closeServers, QUESTION } from "./gateways.js";
import { REAL, until } from "../../typescript/test/support.js";

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(() => sidecar.shutdown());
afterEach(() => {
  vi.restoreAllMocks();
  closeServers();
});

const SECRET = "S3CRET";
const ADDRESSES = [
  `http://user:${SECRET}@127.0.0.1:1/v1`,
  `http://${SECRET}@127.0.0.1:1/v1`,
  `http://:${SECRET}@127.0.0.1:1/v1`,
  `http://127.0.0.1:1/v1?key=${SECRET}`,
  `http://127.0.0.1:1/v1#${SECRET}`,
  `http:user:${SECRET}@127.0.0.1`,
  `htp://user:pass/${SECRET}@127.0.0.1`,
  `user:${SECRET}@127.0.0.1:1`,
];

test.each(ADDRESSES)("%s is refused without its secret", async (address) => {
  const told = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  for (const given of [address, `/local=${address}`]) expect(await main(["--upstream", given])).toBe(2);
  const lines = told.mock.calls.map(([line]) => String(line)).join("");
  expect(lines).toContain("--upstream");
  expect(lines).not.toContain(SECRET);
  let failure: unknown;
  try {
    createGateway(sidecar, { upstreams: { "/": address } });
  } catch (error) {
    failure = error;
  }
  expect(failure).toBeInstanceOf(TypeError);
  expect(String(failure)).not.toContain(SECRET);
});

test("a key in the query of a request is in no line", async () => {
  const { port, lines, lost } = await behindGateway((asked) => void asked.socket.destroy(), sidecar);
  for (const path of [`${CHAT}?key=${SECRET}`, `/v1/models?key=${SECRET}`]) {
    const answer = await asking(port, { path, body: QUESTION });
    expect([answer.statusCode, (await text(answer)).includes(SECRET)]).toEqual([502, false]);
  }
  await until(() => lines.length === 2);
  expect([...lines, ...lost].join("\n")).not.toContain(SECRET);
});

test.each([
  ["127.0.0.1", "http://127.0.0.1:"],
  ["0.0.0.0", "http://127.0.0.1:"],
  ["localhost", "http://localhost:"],
  ["::1", "http://[::1]:"],
  ["::", "http://[::1]:"],
])("a server on %s can be called by its base", async (host, base) => {
  const server = createServer((_, answer) => answer.end("here"));
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  try {
    const url = baseOf(host, server.address() as AddressInfo);
    expect(url.startsWith(base), url).toBe(true);
    expect(await (await fetch(url)).text()).toBe("here");
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("the command announces this base", async () => {
  let [told, isOver] = ["", false];
  vi.spyOn(process.stderr, "write").mockImplementation((line) => (told += String(line)).length > 0);
  const code = main(["--upstream", "http://127.0.0.1:1", "--port", "0", "--host", "::1"]).finally(
    () => (isOver = true),
  );
  await until(() => told.includes("listening on ") || isOver);
  const listeners = process.listeners("SIGTERM");
  listeners.forEach((listener) => listener("SIGTERM"));
  expect([told.match(/listening on (http:\/\/\[::1\]:\d+),/)?.[1] !== undefined, await code], told).toEqual([true, 0]);
  expect(told).toMatch(/ANTHROPIC_BASE_URL":"http:\/\/\[::1\]:\d+"/);
});
