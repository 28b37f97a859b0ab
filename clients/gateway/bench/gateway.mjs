// Measures what a gateway adds to a stream: `node gateway.mjs SIDECAR WORKERS`, with the command
// as JSON. One process is the upstream and the client, another the gateway with its sidecars.
// Prints JSON: milliseconds from the write of a chunk to its arrival, without and with the
// gateway, one chunk at a time (p50 and p99); seconds of processor time for a chunk with many
// concurrent streams, of the gateway and of its sidecars; bytes of memory for each stream.
// `node gateway.mjs serve SIDECAR WORKERS URL` is the gateway's process. Linux only: processor
// time and memory of the sidecars are read from /proc.

import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { createGateway } from "../dist/gateway.js";
import { SidecarPool } from "stream-sidecar";

const [CHUNKS, STREAMS, DELTAS] = [2_000, 200, 300];
const TICKS = 100; // a second of processor time in /proc
const agent = new Agent({ keepAlive: true });
const answers = new Map();

/** Seconds of processor time and bytes of memory of a process. */
function used(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return { seconds: (Number(stat[11]) + Number(stat[12])) / TICKS, bytes: Number(kilobytes) * 1024 };
}

async function serve(command, workers, upstream) {
  const pool = SidecarPool.create(workers, { command });
  await Promise.all(pool.sidecars.map((each) => each.stats()));
  const server = createGateway(pool, { upstreams: { "/": upstream } }).listen(0, "127.0.0.1");
  await once(server, "listening");
  process.on("message", () => {
    const sum = (all) =>
      all.reduce((one, other) => ({ seconds: one.seconds + other.seconds, bytes: one.bytes + other.bytes }));
    process.send({ gateway: used(process.pid), sidecars: sum(pool.sidecars.map(({ pid }) => used(pid))) });
  });
  process.on("disconnect", () => process.exit());
  process.send({ port: server.address().port });
}

function chunk(content) {
  const choices = [{ index: 0, delta: { content }, finish_reason: null }];
  return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`;
}

/** Asks for a stream; resolves with both of its ends. */
async function open(port, id) {
  const headers = { "content-type": "application/json" };
  const asked = request({ port, host: "127.0.0.1", path: "/v1/chat/completions", method: "POST", agent, headers });
  const begun = new Promise((resolve) => answers.set(id, resolve));
  asked.end(JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: id }] }));
  const [answer, [came]] = [await begun, await once(asked, "response")];
  return { answer, came };
}

/** Milliseconds of each chunk on its way, one after the other. */
async function latencies(port) {
  const { answer, came } = await open(port, `latency ${port}`);
  const found = [];
  for (let count = 0; count < CHUNKS; count += 1) {
    const start = performance.now();
    answer.write(chunk(`word ${count} `));
    await once(came, "data");
    if (count >= CHUNKS / 10) found.push(performance.now() - start);
  }
  answer.end();
  came.resume();
  found.sort((one, other) => one - other);
  return { p50: found[Math.floor(found.length * 0.5)], p99: found[Math.floor(found.length * 0.99)] };
}

async function usage(child) {
  child.send("usage");
  return (await once(child, "message"))[0];
}

/** The cost of many streams, which get one chunk each in turn. */
async function load(port, child) {
  const before = await usage(child);
  const streams = await Promise.all(Array.from({ length: STREAMS }, (_, number) => open(port, `load ${number}`)));
  for (let delta = 0; delta < DELTAS; delta += 1) {
    const arrived = streams.map(({ came }) => once(came, "data"));
    for (const { answer } of streams) answer.write(chunk(`word ${delta} `));
    await Promise.all(arrived);
  }
  const after = await usage(child);
  for (const { answer, came } of streams) {
    came.resume();
    answer.end("data: [DONE]\n\n");
  }
  const chunks = STREAMS * DELTAS;
  const cost = (part) => (after[part].seconds - before[part].seconds) / chunks;
  const bytes = (part) => (after[part].bytes - before[part].bytes) / STREAMS;
  const each = { gateway: cost("gateway"), sidecars: cost("sidecars") };
  return { ...each, bytes: bytes("gateway") + bytes("sidecars") };
}

async function measure(command, workers) {
  const upstream = createServer((asked, answer) => {
    let body = "";
    asked.on("data", (data) => (body += data));
    asked.on("end", () => {
      answer.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      answers.get(JSON.parse(body).messages[0].content)(answer);
    });
  }).listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const { port } = upstream.address();
  const child = fork(fileURLToPath(import.meta.url), ["serve", command, workers, `http://127.0.0.1:${port}`]);
  const [{ port: behind }] = await once(child, "message");
  const result = { direct: await latencies(port), behind: await latencies(behind), load: await load(behind, child) };
  child.kill();
  upstream.closeAllConnections();
  upstream.close();
  return result;
}

const [first, ...more] = argv.slice(2);
if (first === "serve") await serve(JSON.parse(more[0]), Number(more[1]), more[2]);
else {
  console.log(JSON.stringify(await measure(first, more[0])));
  process.exit();
}
