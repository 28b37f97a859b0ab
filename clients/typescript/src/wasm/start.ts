// Starts the sidecar in a worker and shakes hands with it.

import { SidecarUnavailable, UnsupportedProtocol } from "../errors.js";
import type { Link } from "../connection/link.js";
import { connect } from "../connection/peer-link.js";
import type { StartOptions } from "../options.js";
import { WorkerPeer, type WorkerLike } from "./peer.js";

export interface WasmOptions extends StartOptions {
  /** The URL of the folder that has Pyodide's files. In Node.js that of the package `pyodide`. */
  pyodide?: string | URL;
  /** The URL of the folder `wasm` of this package. That beside this module. */
  files?: string | URL;
  /** Makes the worker, where `new Worker(url, { type: "module" })` cannot. */
  worker?: (url: URL) => WorkerLike | Promise<WorkerLike>;
}

/** Stands for a command line where there is none. */
export const WEBASSEMBLY = "WebAssembly (pyodide)";

/** Starts a worker each time it is called; rejects with SidecarUnavailable or UnsupportedProtocol. */
export function wasmStarter(options: WasmOptions): () => Promise<Link> {
  return async () => {
    try {
      return await launchWorker(options);
    } catch (error) {
      if (error instanceof UnsupportedProtocol) throw error;
      const attempts = [{ command: [WEBASSEMBLY], error: error as Error }];
      throw new SidecarUnavailable(`stream-sidecar cannot be started as WebAssembly: ${why(error)}`, attempts, error);
    }
  };
}

/** A link to a new worker; rejects with whatever is wrong. */
export async function launchWorker(options: WasmOptions): Promise<Link> {
  const { logLevel = "warning", onStderr } = options;
  const start = {
    pyodide: folder(options.pyodide ?? installed()),
    files: folder(options.files ?? beside("../../wasm/")),
    logLevel,
  };
  const worker = await (options.worker ?? openWorker)(beside("./worker.js"));
  const peer = new WorkerPeer(worker, start, onStderr);
  return connect(peer, { startTimeoutMs: 60_000, shutdownTimeoutMs: 5_000, ...options });
}

/** A place that no bundler looks for: whoever bundles says where it is. */
function beside(path: string): URL {
  return new URL(path, here);
}

const here: string = import.meta.url;

/** The folder of the package `pyodide`; undefined: the host has not installed it. */
export function installedPyodide(): string | undefined {
  try {
    return new URL(".", resolve("pyodide")).href;
  } catch {
    return undefined;
  }
}

function resolve(name: string): string {
  const { resolve: find } = import.meta;
  return find(name);
}

function installed(): string {
  const place = installedPyodide();
  if (place === undefined) throw new Error("the package pyodide is not installed; npm install pyodide");
  return place;
}

function folder(url: string | URL): string {
  const { href } = new URL(url);
  return href.endsWith("/") ? href : `${href}/`;
}

async function openWorker(url: URL): Promise<WorkerLike> {
  const { Worker } = globalThis as unknown as { Worker?: new (url: URL, options: object) => WorkerLike };
  if (Worker) return new Worker(url, { type: "module" });
  const threads: string = "node:worker_threads"; // which no bundler looks at
  const node = (await import(/* webpackIgnore: true */ /* @vite-ignore */ threads)) as {
    Worker: new (url: URL) => WorkerLike;
  };
  return new node.Worker(url);
}

function why(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
