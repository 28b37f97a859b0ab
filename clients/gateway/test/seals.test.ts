// A provider that refuses thinking whose seal does not fit accepts a request that the gateway has
// edited, because the gateway sets the header that asks to drop what no longer fits.

import { once } from "node:events";
import { createServer, request as byHttp, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { Sidecar } from "stream-sidecar";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { BETA, refusal, sealed } from "../../typescript/test/sealing.js";
import { REAL } from "../../typescript/test/support.js";
import { createGateway } from "../src/gateway.js";
import { closeServers, listening } from "./gateways.js";

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(() => sidecar.shutdown());
afterEach(closeServers);

const ANSWER = { id: "m1", type: "message", role: "assistant", model: "c", content: [], stop_reason: "end_turn" };

test("the gateway asks in the agent's spelling, and sends all other headers as they came", async () => {
  const raw: string[][] = [];
  const upstream = createServer(async (request, reply) => {
    const body = String(await buffer(request));
    raw.push(request.rawHeaders);
    const words = refusal(body, String(request.headers["anthropic-beta"] ?? ""));
    reply.writeHead(words ? 400 : 200, { "content-type": "application/json" }).end(words || JSON.stringify(ANSWER));
  });
  const upstreams = { "/": `http://127.0.0.1:${await listening(upstream)}` };
  const gateway = createGateway(sidecar, { upstreams, provider: "anthropic" });
  const url = `http://127.0.0.1:${await listening(gateway)}/v1/messages`;
  const headers = { "X-Api-Key": "k", "ANTHROPIC-Beta": "one", "Content-Type": "application/json" };
  const sent = byHttp(url, { method: "POST", headers });
  sent.end(JSON.stringify(sealed("<think>So.</think>Four.")));
  const [message] = (await once(sent, "response")) as [IncomingMessage];
  expect([message.statusCode, String(await buffer(message))]).toEqual([200, JSON.stringify(ANSWER)]);
  const pairs = raw[0]?.flatMap((name, at, all) => (at % 2 === 0 ? [`${name}: ${all[at + 1]}`] : []));
  expect(pairs).toEqual(
    expect.arrayContaining(["X-Api-Key: k", `ANTHROPIC-Beta: one,${BETA}`, "Content-Type: application/json"]),
  );
  expect(pairs?.filter((pair) => /beta/i.test(pair))).toHaveLength(1);
});
