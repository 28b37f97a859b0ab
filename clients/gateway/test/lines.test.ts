// The line of a request says what happened: what was removed, what was mended, and how the answer
// ended. No answer that was cut has "removed nothing". `/health` has the figures, `--watch` colours.

import { createServer, type RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Sidecar } from "stream-sidecar";
import { createGateway } from "../src/gateway.js";
import { memoryIn, statusOf, type Health } from "../src/health.js";
import { printable, reasonOf } from "../src/lines.js";
import { watchedLine } from "../src/watch.js";
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
import { fake, REAL, until } from "../../typescript/test/support.js";

const EVENTS = { "content-type": "text/event-stream" };
const END = `${chunk("", "stop")}data: [DONE]\n\n`;

let sidecar: Sidecar;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterEach(closeServers);
afterAll(() => sidecar.shutdown());

/** An upstream that answers with a stream. */
function answering(body: string): RequestListener {
  return (request, answer) => {
    request.resume();
    answer.writeHead(200, EVENTS).end(body);
  };
}

/** The line of a request, after its answer has ended in any way. */
async function lineOf(upstream: RequestListener, by = sidecar, path = CHAT, body = QUESTION): Promise<string> {
  const { port, lines } = await behindGateway(upstream, by);
  await asking(port, { path, body })
    .then(text)
    .catch(() => {}); // a cut answer is an error for its reader
  await until(() => lines.length > 0);
  expect(lines).toHaveLength(1);
  return lines[0]!.replace(`POST ${path} `, "");
}

const error = 'data: {"error":{"message":"Over\\u001b[31mloaded","type":"overloaded_error"}}\n\n';

test.each([
  ["nothing leaked", `${chunk("Hi.")}${END}`, "200: removed nothing"],
  ["reasoning", `${LEAKING.join("")}${END}`, "200: removed 11 characters of reasoning"],
  ["a delimiter", `${chunk("Hi.<|im_end|>")}${END}`, "200: removed 1 delimiter"],
  [
    "a call",
    `${chunk('<tool_call>\n{"name":"f","arguments":{}}\n</tool_call>')}${END}`,
    "200: removed 1 call written as text",
  ],
  [
    "reasoning that had been sent",
    `${chunk("Hm.\n")}${chunk("</think>\n")}${chunk("Hi.")}${END}`,
    "200: removed 1 delimiter; 1 passage had been sent before it turned out to be reasoning",
  ],
  ["no end", chunk("Hi."), "200: CUT OFF: the stream ended without a finish reason or an end mark"],
  ["nothing at all", "", "200: CUT OFF: the stream ended before anything came"],
  ["an error", `${chunk("Hi.")}${error}`, "200: the provider reported an error: Over [31mloaded"],
])("a stream with %s", async (_, body, line) => {
  expect(await lineOf(answering(body))).toBe(line);
});

test.each([
  ["after a leak", [...LEAKING.slice(0, 3)], "; removed 11 characters of reasoning"],
  ["before anything was removed", [chunk("Hi.")], ""],
])("a stream whose connection breaks %s", async (_, chunks, rest) => {
  const line = await lineOf((request, answer) => {
    request.resume();
    answer.writeHead(200, EVENTS).write(chunks.join(""), () => request.socket.destroy());
  });
  expect(line).toMatch(new RegExp(`^200: CUT OFF: the provider's answer broke off: [^;]+${rest}$`));
});

test("an answer that passes and breaks off", async () => {
  const line = await lineOf(
    (request, answer) => {
      request.resume();
      answer.writeHead(200).write("half", () => request.socket.destroy());
    },
    sidecar,
    "/v1/files",
  );
  expect(line).toMatch(/^200: CUT OFF: the provider's answer broke off: /);
});

test("an agent that disconnects", async () => {
  const { port, lines } = await behindGateway((request, answer) => {
    request.resume();
    answer.writeHead(200, EVENTS).write(chunk("Hi."));
  }, sidecar);
  const answer = await asking(port, { path: CHAT, body: QUESTION });
  answer.on("error", () => {}).destroy();
  await until(() => lines.length > 0);
  expect(lines).toEqual([`POST ${CHAT} 200: the agent disconnected before the end`]);
});

test.each([CHAT, "/v1/files"])("an upstream that does not answer: %s", async (path) => {
  expect(await lineOf((request) => request.socket.destroy(), sidecar, path)).toMatch(
    /^502: the upstream did not answer: socket hang up$/,
  );
});

test("an error of the provider", async () => {
  expect(await lineOf((_request, answer) => answer.writeHead(429).end("slow down"))).toBe(
    "429: the provider answered with an error, which passed unchanged",
  );
});

test("an answer without a sidecar", async () => {
  const none = Sidecar.create({ ...fake("silent"), command: ["/nowhere/stream-sidecar"] });
  expect(await lineOf(streaming, none)).toMatch(/^200: NOT CLEANED, passed unchanged: .*\/nowhere\/stream-sidecar/);
  await none.shutdown();
});

test("an answer that the sidecar cannot read", async () => {
  const json = { "content-type": "application/json" };
  const line = await lineOf((_request, answer) => answer.writeHead(200, json).end('{"odd": true}'));
  expect(line).toBe("200: NOT CLEANED, passed unchanged: it is no answer that can be read");
});

test("calls that stay in the text are not removed", async () => {
  const call = '<tool_call>\n{"name":"f","arguments":{}}\n</tool_call>';
  const { port, lines } = await behindGateway(answering(`${chunk(call)}${END}`), sidecar, { claims: "text" });
  expect(said(await text(await asking(port, { path: CHAT, body: QUESTION })))).toBe(call);
  await until(() => lines.length > 0);
  expect(lines).toEqual([`POST ${CHAT} 200: removed nothing`]);
});

test("what passes, without the secrets of its query", async () => {
  const { port, lines } = await behindGateway((_request, answer) => answer.end("{}"), sidecar);
  await text(await asking(port, { method: "GET", path: "/v1/models?key=secret" }));
  await until(() => lines.length > 0);
  expect(lines).toEqual(["GET /v1/models 200: passed unchanged"]);
});

const CALL = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
const REFUSED = [
  { role: "user", content: "2 + 2?" },
  { role: "assistant", content: null, tool_calls: [CALL] },
  { role: "user", content: "Well?" },
];

test.each([
  ["a call without its result", REFUSED, /mended the request: tool-result: .*/],
  [
    "a leak in an earlier answer",
    [REFUSED[0], { role: "assistant", content: "<think>Hm.</think>Four." }, REFUSED[2]],
    /mended the request: earlier turns go without leaks, and in a form that the provider accepts/,
  ],
])("a history with %s goes through mended, and the line says so", async (_, messages, told) => {
  const seen: { messages: { role: string; content: string }[] }[] = [];
  const line = await lineOf(
    (request, answer) => {
      void text(request).then((body) => {
        seen.push(JSON.parse(body) as (typeof seen)[0]);
        answer.writeHead(200, EVENTS).end(`${chunk("Hi.")}${END}`);
      });
    },
    sidecar,
    CHAT,
    JSON.stringify({ model: "gpt-5", messages }),
  );
  expect(line).toMatch(new RegExp(`^200: removed nothing; ${told.source}$`));
  expect(JSON.stringify(seen[0]!.messages)).not.toBe(JSON.stringify(messages));
});

test("the status has the figures of all requests, and the memory of each process", async () => {
  const { port, lines } = await behindGateway((request, answer) => {
    if (request.url === "/v1/files") return void request.socket.destroy();
    request.resume();
    const body = request.headers["x-cut"] ? LEAKING[0] : `${LEAKING.join("")}${END}`;
    answer.writeHead(200, EVENTS).end(body);
  }, sidecar);
  for (const [path, headers] of [
    [CHAT, {}],
    [CHAT, {}],
    [CHAT, { "x-cut": "1" }],
    ["/v1/files", {}],
  ] as const) {
    await text(await asking(port, { path, headers, body: QUESTION }));
  }
  await until(() => lines.length === 4);
  const health = JSON.parse(await text(await asking(port, { method: "GET", path: "/health" }))) as Health;
  expect(health.requests).toEqual({ open: 0, ended: 4, cut: 1, unanswered: 1, uncleaned: 0, mended: 0 });
  expect(health.removed).toEqual({ reasoningCharacters: 22, calls: 0, results: 0, delimiters: 4 });
  expect(health.status).toBe("ok");
  expect(health.sidecars).toEqual([
    { state: "running", pid: sidecar.pid, ...(process.platform !== "win32" && { memoryBytes: expect.any(Number) }) },
  ]);
  for (const { memoryBytes = 1e7 } of [health, ...health.sidecars]) expect(memoryBytes).toBeGreaterThan(5e6);
});

test.each([
  [["running", "idle"], "ok"],
  [["lost", "running"], "NOT ALL ANSWERS ARE CLEANED: 1 of 2 sidecars are lost"],
  [["lost"], "NO SIDECAR IS RUNNING: everything passes unchanged"],
] as const)("sidecars that are %s", (states, status) => {
  expect(statusOf(states.map((state) => ({ state })))).toBe(status);
});

test("the memory of a wrapper includes that of its children", () => {
  const printed = "    1     0  500\n   20     1  100\n   21    20   30\n   22    21    4\n   30     1 9000\n";
  expect([memoryIn(printed, 20), memoryIn(printed, 99)]).toEqual([134 * 1024, undefined]);
});

test("a watched line shows what was removed in colour, or without colours", async () => {
  const { port, reports } = await behindGateway(answering(`${LEAKING.join("")}${END}`), sidecar);
  await text(await asking(port, { path: CHAT, body: QUESTION }));
  await until(() => reports.length > 0);
  const plain = `POST ${CHAT} 200: removed 11 characters of reasoning | Look first.`;
  const coloured = watchedLine(reports[0]!, true);
  expect(watchedLine(reports[0]!, false)).toBe(plain);
  expect(coloured).toContain("\x1b[33mLook first.\x1b[0m");
  expect(coloured.replaceAll(/\x1b\[\d+m/g, "")).toBe(plain);
});

test("an error of several addresses is said with its code", () => {
  const refused = Object.assign(new AggregateError([]), { code: "ECONNREFUSED" });
  expect([refused, new Error("no"), "odd", undefined].map(reasonOf)).toEqual([
    "ECONNREFUSED",
    "no",
    "odd",
    "undefined",
  ]);
});

test("what a model or a provider wrote cannot control the terminal", () => {
  expect(printable("a\x1b]0;title\x07b\r\nc\u202ed\u0085e", 80)).toBe("a ]0;title b c d e");
  expect(printable("😀".repeat(90), 80)).toBe(`${"😀".repeat(80)}...`);
});

test("a listener that throws changes no answer", async () => {
  const upstream = await listening(createServer(streaming));
  const warnings: string[] = [];
  const own = await Sidecar.spawn({ ...REAL, onWarning: (message) => void warnings.push(message) });
  const onTurn = () => {
    throw new Error("mine");
  };
  const port = await listening(createGateway(own, { upstreams: { "/": `http://127.0.0.1:${upstream}` }, onTurn }));
  expect(said(await text(await asking(port, { path: CHAT, body: QUESTION })))).toBe("On main.");
  await until(() => warnings.length > 0);
  expect(warnings[0]).toContain("mine");
  await own.shutdown();
});
