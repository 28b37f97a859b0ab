// The TypeScript client under node: it finds a sidecar, streams, and outlives its death.
// `node windows_client.mjs CLIENT BATCH_FILE`: the built client and a .cmd that starts one.

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

const [client, batchFile] = process.argv.slice(2);
const { Sidecar } = await import(pathToFileURL(client).href);
const CHUNKS = ["<think>a", "b</think>c", "d"];
const PATIENCE = { startTimeoutMs: 240_000, requestTimeoutMs: 240_000, shutdownTimeoutMs: 60_000 };

const until = async (holds) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
};

const isAlive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function streamed(sidecar, disturb = async () => {}) {
  const stream = await sidecar.openStream({ wire: "text" });
  const [first, ...rest] = CHUNKS;
  await stream.push(first);
  await disturb();
  for (const chunk of rest) await stream.push(chunk);
  const { message } = await stream.close();
  return `${message.reasoning} ${message.text}`;
}

async function tried(name, options) {
  const sidecar = await Sidecar.spawn({ ...PATIENCE, ...options });
  const first = sidecar.pid;
  assert.equal(await streamed(sidecar), "ab cd");
  assert.equal(await streamed(sidecar, async () => process.kill(first)), "ab cd");
  const second = sidecar.pid;
  assert.notEqual(second, first);
  await sidecar.shutdown();
  await until(() => ![first, second].some(isAlive));
  console.log(`${name}: started, streamed, killed amid a stream, started anew, ended`);
}

await tried("found", {});
await tried("python", { python: process.env.SIDECAR_PYTHON });
await tried("batch file", { command: [batchFile, "--stdio"] });
