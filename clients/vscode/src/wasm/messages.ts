// The messages between the window and the worker that runs the sidecar. The language server
// has a separate port, which carries JSON-RPC messages as objects.

/** The first message: everything that the worker needs, because it has no network. */
export interface WorkerStart {
  readonly port: MessagePort;
  /** Files of Pyodide and of the sidecar, by name. */
  readonly files: Readonly<Record<string, Uint8Array>>;
  readonly logLevel: string;
}

/** A request for the page that explains a stream. */
export interface ExplainRequest {
  readonly id: number;
  readonly name: string;
  readonly data: Uint8Array;
}

export type WorkerSays =
  | { readonly ready: true }
  | { readonly failed: string }
  | { readonly logged: string }
  | { readonly id: number; readonly page: string }
  | { readonly id: number; readonly problem: string };

/** The files that are read from the extension's folder `bundled/wasm`. */
export const FILES = [
  "core.zip",
  "snapshot.bin.gz",
  "made.json",
  "pyodide.asm.wasm",
  "python_stdlib.zip",
  "pyodide-lock.json",
] as const;
