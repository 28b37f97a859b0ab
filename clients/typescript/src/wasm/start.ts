// Starts the sidecar in a worker and makes the handshake.

import { SidecarUnavailable, UnsupportedProtocol } from "../errors.js";
import type { Link } from "../connection/link.js";
import { connect } from "../connection/peer-link.js";
import type { StartOptions } from "../options.js";
import type { WorkerStart } from "./messages.js";
import { WorkerPeer, type WorkerLike } from "./peer.js";

export interface WasmOptions extends StartOptions {
  /** The URL of the folder with Pyodide's files. Default: the package `pyodide` that `files` needs. */
  pyodide?: string | URL;
  /** The URL of the folder with the files of `@stream-sidecar/wasm`. Default: the installed package. */
  files?: string | URL;
  /** Makes the worker, if `new Worker(url, { type: "module" })` cannot. */
  worker?: (url: URL) => WorkerLike | Promise<WorkerLike>;
}

/** Replaces the command line in error messages. */
export const WEBASSEMBLY = "WebAssembly (pyodide)";

/** Returns a function that starts a worker. It rejects with SidecarUnavailable or UnsupportedProtocol. */
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

/** A link to a new worker. Rejects with any error of the start. */
export async function launchWorker(options: WasmOptions): Promise<Link> {
  const { logLevel = "warning", onStderr } = options;
  const start = { ...(await placesOf(options)), logLevel };
  const worker = await (options.worker ?? openWorker)(new URL("worker.js", start.files));
  const peer = new WorkerPeer(worker, start, onStderr);
  return connect(peer, { startTimeoutMs: 60_000, shutdownTimeoutMs: 5_000, ...options });
}

async function placesOf({ files, pyodide }: WasmOptions): Promise<Pick<WorkerStart, "files" | "pyodide">> {
  const found = files && pyodide ? { files, pyodide } : await installed();
  return { files: folder(files ?? found.files), pyodide: folder(pyodide ?? found.pyodide) };
}

export const PACKAGE: string = "@stream-sidecar/wasm"; // typed as string, so that bundlers ignore it: a bundle names the places itself

/** The places of the package's files and of its Pyodide, as the package exports them. */
async function installed(): Promise<{ files: string; pyodide: string }> {
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ PACKAGE)) as { files: string; pyodide: string };
  } catch (cause) {
    throw new Error(`npm install ${PACKAGE}, or set the options files and pyodide`, { cause });
  }
}

function folder(url: string | URL): string {
  const { href } = new URL(url);
  return href.endsWith("/") ? href : `${href}/`;
}

async function openWorker(url: URL): Promise<WorkerLike> {
  const { Worker } = globalThis as unknown as { Worker?: new (url: URL, options: object) => WorkerLike };
  if (Worker) return new Worker(url, { type: "module" });
  const threads: string = "node:worker_threads"; // typed as string, so that bundlers ignore it
  const node = (await import(/* webpackIgnore: true */ /* @vite-ignore */ threads)) as {
    Worker: new (url: URL) => WorkerLike;
  };
  return new node.Worker(url);
}

function why(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
