// Measures one very long stream through the gateway: `node long.mjs MEGABYTES SIZE`, with the
// characters of text in each event; STREAM_SIDECAR names the sidecar. Prints JSON: by how
// many bytes the peak memory of the gateway and of its sidecar is above that before the stream,
// whether the stream arrived whole, seconds, and how many milliseconds the chunks of a neighbour
// took through the same sidecar before and meanwhile (p99 and the longest).
// The gateway and the two ends of the long stream are processes of their own. Linux only: the
// memory is read from /proc.

import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { argv } from "node:process";
import { setInterval } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const MEGABYTE = 1e6;
const TICK_MS = 10;
const ALONE = 100; // chunks of the neighbour before the stream
const SENTENCE = "A wonderful life is what we write about here, and 1 < 2. ";
const HEADERS = { "content-type": "text/event-stream" };

/** Bytes of a process that were ever resident, since the last reset. */
function peak(pid) {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) * 1024;
}

/** The gateway's program, and its port. */
async function gateway(...upstreams) {
  const program = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
  const options = upstreams.flatMap((each) => ["--upstream", each]);
  const process = spawn("node", [program, "--port", "0", ...options], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  for await (const data of process.stderr.iterator({ destroyOnReturn: false })) {
    const [, port] = /listening on http:\S+:(\d+)/.exec((said += data)) ?? [];
    if (!port) continue;
    process.stderr.resume();
    return { process, port };
  }
  throw new Error(said);
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

/** The delays of a neighbour's chunks, until `isOver`, which gets how many arrived. */
async function delays(port, answered, isOver) {
  const came = ask(port, "/short");
  const answer = await answered;
  const found = [];
  (await came).on("data", (data) => {
    for (const [, sent] of data.toString().matchAll(/at (\d+\.?\d*) /g)) found.push(performance.now() - Number(sent));
  });
  for await (const _ of setInterval(TICK_MS)) {
    if (isOver(found.length)) break;
    answer.write(chunk(`at ${performance.now()} `));
  }
  answer.end("data: [DONE]\n\n");
  await once(await came, "end");
  found.sort((one, other) => one - other);
  return { p99: found[Math.floor(found.length * 0.99)], longest: found.at(-1), chunks: found.length };
}

/** The gateway and its sidecar, which starts with the first stream. */
function processes(pid) {
  const [sidecar] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ");
  return { gateway: pid, sidecar };
}

/** The peak of each process; `isReset`: a new peak begins. */
function peaks(pids, isReset) {
  if (isReset) for (const pid of Object.values(pids)) writeFileSync(`/proc/${pid}/clear_refs`, "5");
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, peak(pid)]));
}

async function measure(megabytes, size) {
  let answered;
  const server = await upstream((answer) => answered(answer));
  const next = () => new Promise((resolve) => (answered = resolve));
  const stream = fork(fileURLToPath(import.meta.url), ["long", megabytes, size]);
  const [{ port }] = await once(stream, "message");
  const own = `http://127.0.0.1:${server.address().port}`;
  const { process, port: behind } = await gateway(`/long=http://127.0.0.1:${port}`, own);
  const alone = await delays(behind, next(), (count) => count >= ALONE);
  const pids = processes(process.pid);
  const before = peaks(pids, true);
  let [ended, until] = [undefined, Infinity];
  const begun = performance.now();
  stream.send(behind);
  stream.once("message", (message) => {
    ended = { ...message, seconds: (performance.now() - begun) / 1000 };
    until = performance.now() + 1_000;
  });
  const neighbour = await delays(behind, next(), () => performance.now() > until);
  const after = peaks(pids, false);
  process.kill();
  stream.kill();
  server.close();
  const grown = { gateway: after.gateway - before.gateway, sidecar: after.sidecar - before.sidecar };
  return { ...ended, grown, alone, neighbour };
}

const [first, ...more] = argv.slice(2);
if (first === "long") await long(Number(more[0]), Number(more[1]));
else {
  console.log(JSON.stringify(await measure(first, ...more)));
  process.exit();
}
