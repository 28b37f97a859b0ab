// The sidecar without Python and without a process: its Python runs as WebAssembly in a
// worker, by Pyodide, which the host installs (npm install pyodide). For Node.js, Electron,
// web pages and extensions of VS Code Web; a `Sidecar` like any other.

import type { StartOptions } from "./options.js";
import { Sidecar } from "./sidecar.js";
import { wasmStarter } from "./wasm-start.js";
import type { WorkerLike } from "./wasm-peer.js";

export * from "./errors.js";
export { Sidecar, type WorkerLike };

export interface WasmOptions extends StartOptions {
  /** The URL of the folder that has Pyodide's files. In Node.js that of the package `pyodide`. */
  pyodide?: string | URL;
  /** The URL of the folder `wasm` of this package. That beside this module. */
  files?: string | URL;
  /** Makes the worker, where `new Worker(url, { type: "module" })` cannot. */
  worker?: (url: URL) => WorkerLike | Promise<WorkerLike>;
}

/** A sidecar in a worker, which is started when it is first needed. */
export function create(options: WasmOptions = {}): Sidecar {
  return new Sidecar(wasmStarter(options), options, options.passThrough);
}

/** A sidecar in a worker that runs. Rejects as `Sidecar.spawn`. */
export async function spawn(options: WasmOptions = {}): Promise<Sidecar> {
  return create(options).started();
}
