// The sidecar without an installed Python and without a process: a Python runs as WebAssembly
// (Pyodide) in a worker (npm install @stream-sidecar/wasm). For Node.js, Electron, web pages and
// extensions of VS Code Web; the `Sidecar` is like any other.

import { checked, eitherOf, callback, data, text, type Checks } from "./checks.js";
import { guarded, settled, START } from "./options.js";
import { Sidecar } from "./sidecar.js";
import { wasmStarter, type WasmOptions } from "./wasm/start.js";

export * from "./errors.js";
export type { WorkerLike } from "./wasm/peer.js";
export { Sidecar, type WasmOptions };

const place = eitherOf([data, text]); // a URL

const WASM: Checks<WasmOptions> = { ...START, pyodide: place, files: place, worker: callback };

/** A sidecar in a worker, which is started at its first use. Throws as `Sidecar.create` does. */
export function create(options: WasmOptions = {}): Sidecar {
  const settings = settled(checked(options, WASM, "the sidecar"));
  return new Sidecar(wasmStarter(guarded(options, settings)), settings, options.passThrough);
}

/** Starts a sidecar in a worker. Rejects as `Sidecar.spawn` does. */
export async function spawn(options: WasmOptions = {}): Promise<Sidecar> {
  return create(options).started();
}
