// The conversations of tests/transcripts with the real sidecar, in a process and in a worker.

import { Worker } from "node:worker_threads";
import { afterAll, test } from "vitest";
import { SidecarProcess } from "../src/process/process.js";
import { WorkerPeer } from "../src/wasm/peer.js";
import { REAL } from "./support.js";
import { speak, transcripts } from "./transcript.js";
import { WORKER, WORKER_START } from "./workers.js";

test.for(transcripts())("%s", async (file) => {
  const sidecar = new SidecarProcess(REAL.command, REAL);
  const endInput = () => sidecar.stdin.end();
  await speak(file, Object.assign(sidecar, { endInput }));
});

// One interpreter for all: each has a sidecar of its own in it.
const worker = new Worker(WORKER);
worker.setMaxListeners(0);
afterAll(() => worker.terminate());
const shared = {
  postMessage: (message: unknown, transfer: never[]) => worker.postMessage(message, transfer),
  terminate: () => {},
};

test.for(transcripts())("%s, without a process", async (file) => {
  await speak(file, new WorkerPeer(shared, WORKER_START));
});
