// The messages between a host and the worker that runs the sidecar.

/** An end of a channel between two workers. */
export interface Port {
  onmessage: ((event: { data: unknown }) => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}

/** The first message to a worker; `pyodide` and `files` are URLs of folders. */
export interface WorkerStart {
  readonly port: Port;
  /** The folder of Pyodide. */
  readonly pyodide: string;
  /** The folder with the sidecar's Python code and the snapshot. */
  readonly files: string;
  readonly logLevel: string;
}

/** A message of a worker: bytes of the protocol, how many bytes it accepted, its log, its end. */
export type WorkerSays =
  { said: Uint8Array } | { taken: number } | { logged: string } | { exit: number } | { failed: string };
