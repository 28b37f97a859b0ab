// What a worker with the sidecar in it and its host say to each other.

/** An end of a channel between two workers. */
export interface Port {
  onmessage: ((event: { data: unknown }) => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}

/** What a worker is told to begin with; places are URLs of folders. */
export interface WorkerStart {
  readonly port: Port;
  /** Where Pyodide is. */
  readonly pyodide: string;
  /** Where the sidecar's Python is, and the snapshot. */
  readonly files: string;
  readonly logLevel: string;
}

/** What a worker says: bytes of the protocol, how much it took, what it logs, how it ended. */
export type WorkerSays =
  { said: Uint8Array } | { taken: number } | { logged: string } | { exit: number } | { failed: string };
