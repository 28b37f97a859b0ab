// Measures one very long stream through the gateway: `node long.mjs SIDECAR MEGABYTES EVENT`,
// with the sidecar's command as JSON, and the characters of text in each event. Prints JSON: by
// how many bytes the peak memory of the gateway and of its sidecar is above that before the
// stream, whether the stream arrived whole, seconds, and the longest and the p99 of the
// milliseconds that chunks of a neighbour took through the same sidecar meanwhile.
// The gateway, the long stream's two ends, and the neighbour are processes of their own.
// Linux only: the memory is read from /proc.

import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { argv } from "node:process";
import { setInterval } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createGateway } from "../dist/gateway.js";
import { SidecarPool } from "stream-sidecar";

const MEGABYTE = 1e6;
const TICK_MS = 10;
const SENTENCE = "A wonderful life is what we write about here, and 1 < 2. ";
const HEADERS = { "content-type": "text/event-stream" };

/** Bytes of a process that were ever resident, since the last reset. */
function peak(pid) {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) * 1024;
}

function resetPeak(pid) {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

async function serve(command, upstreams) {
  const pool = SidecarPool.create(1, { command });
  await Promise.all(pool.sidecars.map((each) => each.stats()));
  const server = createGateway(pool, { upstreams, onTrouble: (line) => console.error(line) });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const pids = { gateway: process.pid, sidecar: pool.sidecars[0].pid };
  let before;
  process.on("message", (asked) => {
    const now = { gateway: peak(pids.gateway), sidecar: peak(pids.sidecar) };
    if (asked === "begin") Object.values(pids).forEach(resetPeak);
    if (asked === "begin") before = { gateway: peak(pids.gateway), sidecar: peak(pids.sidecar) };
    process.send({ gateway: now.gateway - before?.gateway, sidecar: now.sidecar - before?.sidecar });
  });
  process.on("disconnect", () => process.exit());
  process.send({ port: server.address().port });
}

function chunk(content, finish = null) {
  const choices = [{ index: 0, delta: { content }, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`;
}

async function ask(port, path) {
  const headers = { "content-type": "application/json" };
  const asked = request({ port, host: "127.0.0.1", path: `${path}/v1/chat/completions`, method: "POST", headers });
  asked.end(JSON.stringify({ model: "m", stream: true, messages: [] }));
  return (await once(asked, "response"))[0];
}

async function upstream(write) {
  const server = createServer((asked, answer) => {
    asked.resume().on("end", () => {
      answer.writeHead(200, HEADERS).flushHeaders();
      void write(answer);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

/** Both ends of the long stream. */
async function long(megabytes, size) {
  const event = chunk(SENTENCE.repeat(Math.ceil(size / SENTENCE.length)).slice(0, size));
  const count = Math.ceil((megabytes * MEGABYTE) / size);
  const server = await upstream(async (answer) => {
    answer.write(chunk("<think>Why.</think>So: "));
    for (let sent = 0; sent < count; sent += 1) if (!answer.write(event)) await once(answer, "drain");
    answer.end(`${chunk("", "stop")}data: [DONE]\n\n`);
  });
  process.send({ port: server.address().port });
  const [port] = await once(process, "message");
  const came = await ask(port, "/long");
  let [bytes, end] = [0, ""];
  const over = new Promise((resolve) => came.on("end", resolve).on("error", resolve));
  came.on("data", (data) => {
    bytes += data.length;
    end = (end + data.subarray(-20).toString()).slice(-20);
  });
  await over;
  process.send({ isWhole: end.endsWith("data: [DONE]\n\n") && bytes >= count * event.length });
}

/** The delays of a neighbour's chunks, until `isOver`. */
async function delays(port, answered, isOver) {
  const came = ask(port, "/short");
  const answer = await answered;
  const found = [];
  (await came).on("data", (data) => {
    for (const [, sent] of data.toString().matchAll(/at (\d+\.?\d*) /g)) found.push(performance.now() - Number(sent));
  });
  for await (const _ of setInterval(TICK_MS)) {
    if (isOver()) break;
    answer.write(chunk(`at ${performance.now()} `));
  }
  answer.end("data: [DONE]\n\n");
  await once(await came, "end");
  found.sort((one, other) => one - other);
  return { p99: found[Math.floor(found.length * 0.99)], longest: found.at(-1), chunks: found.length };
}

function start(...args) {
  return fork(fileURLToPath(import.meta.url), args);
}

async function measure(command, megabytes, size) {
  let answered;
  const server = await upstream((answer) => answered(answer));
  const next = () => new Promise((resolve) => (answered = resolve));
  const stream = start("long", megabytes, size);
  const [{ port }] = await once(stream, "message");
  const upstreams = { "/long": `http://127.0.0.1:${port}`, "/": `http://127.0.0.1:${server.address().port}` };
  const gateway = start("serve", command, JSON.stringify(upstreams));
  const [{ port: behind }] = await once(gateway, "message");
  let until = performance.now() + 1_000;
  const alone = await delays(behind, next(), () => performance.now() > until);
  gateway.send("begin");
  await once(gateway, "message");
  let ended;
  const begun = performance.now();
  stream.send(behind);
  stream.once("message", (message) => {
    ended = { ...message, seconds: (performance.now() - begun) / 1000 };
    until = performance.now() + 1_000;
  });
  const neighbour = await delays(behind, next(), () => ended && performance.now() > until);
  gateway.send("end");
  const [grown] = await once(gateway, "message");
  gateway.kill();
  stream.kill();
  server.close();
  return { ...ended, grown, alone, neighbour };
}

const [first, ...more] = argv.slice(2);
if (first === "serve") await serve(JSON.parse(more[0]), JSON.parse(more[1]));
else if (first === "long") await long(Number(more[0]), Number(more[1]));
else {
  console.log(JSON.stringify(await measure(first, ...more)));
  process.exit();
}
