// How much of the time between a chunk and its events is the client's and the engine's:
// `node pipe.mjs ECHO SIDECAR ROUNDS`, both commands as JSON arrays. Recorded streams go
// through the client chunk by chunk (push) and as fast as they can (pipe); the same
// chunks go to a bare echo process through the same vscode-jsonrpc framing, one request
// for each and one each for open and close. Prints seconds of the best round as JSON.

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

async function seconds(work) {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1_000;
}

function echoing([file, ...args]) {
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "ignore"] });
  const connection = createMessageConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  connection.listen();
  return { connection, end: () => child.kill() };
}

async function echo(connection, all) {
  for (const { options, chunks } of all) {
    await connection.sendRequest("stream/open", options);
    for (const chunk of chunks) await connection.sendRequest("stream/push", { streamId: "s1", chunk });
    await connection.sendRequest("stream/close", { streamId: "s1" });
  }
}

async function push(sidecar, all) {
  for (const { options, chunks } of all) {
    const stream = await sidecar.openStream(options);
    for (const chunk of chunks) await stream.push(chunk);
    await stream.close();
  }
}

async function pipe(sidecar, all) {
  let events = 0;
  for (const { options, chunks } of all) {
    const stream = await sidecar.openStream(options);
    for await (const event of stream.pipe(chunks)) events += event.seq > 0;
  }
  return events;
}

const all = streams();
const { connection, end } = echoing(echoCommand);
const sidecar = await Sidecar.spawn({ command: sidecarCommand });
const best = { echo: Infinity, push: Infinity, pipe: Infinity };
for (let round = 0; round < rounds; round++) {
  best.echo = Math.min(best.echo, await seconds(() => echo(connection, all)));
  best.push = Math.min(best.push, await seconds(() => push(sidecar, all)));
  best.pipe = Math.min(best.pipe, await seconds(() => pipe(sidecar, all)));
}
end();
await sidecar.shutdown();
const chunks = all.reduce((sum, each) => sum + each.chunks.length, 0);
console.log(JSON.stringify({ ...best, chunks, streams: all.length }));
