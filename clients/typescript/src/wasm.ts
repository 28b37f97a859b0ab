// The sidecar without Python and without a process: its Python runs as WebAssembly in a
// worker, by Pyodide (npm install @stream-sidecar/wasm). For Node.js, Electron,
// web pages and extensions of VS Code Web; a `Sidecar` like any other.

import { Sidecar } from "./sidecar.js";
import { wasmStarter, type WasmOptions } from "./wasm/start.js";

export * from "./errors.js";
export type { WorkerLike } from "./wasm/peer.js";
export { Sidecar, type WasmOptions };

/** A sidecar in a worker, which is started when it is first needed. */
export function create(options: WasmOptions = {}): Sidecar {
  return new Sidecar(wasmStarter(options), options, options.passThrough);
}

/** A sidecar in a worker that runs. Rejects as `Sidecar.spawn`. */
export async function spawn(options: WasmOptions = {}): Promise<Sidecar> {
  return create(options).started();
}
