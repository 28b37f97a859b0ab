// Measures the cost of a chunk in the client: `node pipe.mjs ECHO SIDECAR ROUNDS`, with both
// commands as JSON arrays. Recorded streams go through the client as fast as possible (pipe),
// chunk by chunk with a wait for each answer (push), and chunk by chunk without waiting (atOnce).
// The same chunks go to an echo process with the frames of vscode-jsonrpc, one request for each
// chunk and one each for open and close. Prints JSON: seconds of processor time of this process
// and of the other process, for each stream in its best round. Linux only: the processor time of
// the other process is read from /proc.

import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { argv } from "node:process";
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";
import { Sidecar } from "../dist/index.js";

const WIRES = new URL("../../../tests/wires/", import.meta.url);
const [echoCommand, sidecarCommand, rounds] = argv.slice(2).map((text) => JSON.parse(text));

/** Recorded streams; strings are cut as a network might, into 200 characters. */
function streams() {
  const files = readdirSync(WIRES, { recursive: true }).filter((file) => file.endsWith(".chunks.jsonl"));
  return files.sort().map((file) => {
    const lines = readFileSync(new URL(file, WIRES), "utf8").trimEnd().split("\n");
    const [{ options }, ...chunks] = lines.map((line) => JSON.parse(line));
    const isCut = options.framing !== "json" && options.encoding !== "base64";
    return { options, chunks: chunks.flatMap((chunk) => (isCut && typeof chunk === "string" ? cut(chunk) : [chunk])) };
  });
}

const cut = (text) => text.match(/[^]{1,200}/gu) ?? [text];

/** Seconds of processor time, of this process and of `pid`, so far. */
function spent(pid) {
  const { user, system } = process.cpuUsage();
  const [nanoseconds] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ");
  return (user + system) / 1e6 + Number(nanoseconds) / 1e9;
}

function echoing([file, ...args]) {
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "ignore"] });
  const connection = createMessageConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  connection.listen();
  return { connection, child };
}

async function echo(connection, { options, chunks }) {
  await connection.sendRequest("stream/open", options);
  for (const chunk of chunks) await connection.sendRequest("stream/push", { streamId: "s1", chunk });
  await connection.sendRequest("stream/close", { streamId: "s1" });
}

async function push(sidecar, { options, chunks }) {
  const stream = await sidecar.openStream(options);
  for (const chunk of chunks) await stream.push(chunk);
  await stream.close();
}

async function atOnce(sidecar, { options, chunks }) {
  const stream = await sidecar.openStream(options);
  await Promise.all(chunks.map((chunk) => stream.push(chunk)));
  await stream.close();
}

async function pipe(sidecar, { options, chunks }) {
  const stream = await sidecar.openStream(options);
  for await (const event of stream.pipe(chunks)) if (event.seq < 1) throw new RangeError();
}

const all = streams();
const { connection, child } = echoing(echoCommand);
const sidecar = await Sidecar.spawn({ command: sidecarCommand });
const works = { echo: (each) => echo(connection, each) };
for (const work of [push, atOnce, pipe]) works[work.name] = (each) => work(sidecar, each);
const best = Object.fromEntries(Object.keys(works).map((name) => [name, all.map(() => Infinity)]));
for (let round = 0; round < rounds; round++) {
  for (const [name, work] of Object.entries(works)) {
    const { pid } = name === "echo" ? child : sidecar;
    for (const [number, stream] of all.entries()) {
      const before = spent(pid);
      await work(stream);
      best[name][number] = Math.min(best[name][number], spent(pid) - before);
    }
  }
}
child.kill();
await sidecar.shutdown();
const sums = Object.entries(best).map(([name, each]) => [name, each.reduce((sum, seconds) => sum + seconds, 0)]);
const chunks = all.reduce((sum, each) => sum + each.chunks.length, 0);
console.log(JSON.stringify({ ...Object.fromEntries(sums), chunks }));
