// Builds the worker of the package, because vitest does not compile files for a worker.

import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { WasmOptions } from "../src/wasm.js";
import type { WorkerStart } from "../src/wasm/messages.js";

export const WORKER = new URL("../wasm/worker.js", import.meta.url);

/** Where its files are. */
export const WORKER_START: Omit<WorkerStart, "port"> = {
  pyodide: new URL("../node_modules/pyodide/", import.meta.url).href,
  files: new URL("../wasm/", import.meta.url).href,
  logLevel: "warning",
};

/** Options of a sidecar in a worker; `workers` are those that were made, oldest first. */
export function inWorkers(workers: Worker[] = []): WasmOptions {
  const { pyodide, files } = WORKER_START;
  const worker = () => {
    const made = new Worker(fileURLToPath(WORKER));
    workers.push(made);
    return made;
  };
  return { pyodide, files, worker };
}
