// The other end of a connection that the client itself starts and ends: a process, or a worker
// with an interpreter.

import type { Ending } from "../errors.js";

export interface Peer {
  /** The id of a process. */
  readonly pid: number | undefined;
  /** The last 64 kB that the peer wrote to standard error. */
  readonly stderr: { toString(): string };
  /** Resolves when the peer has ended; never rejects. `cause`: it could not be started. */
  readonly ended: Promise<Ending>;
  /** Calls `onData` with the peer's output as it arrives, and `onEnd` at its end. */
  listen(onData: (data: Uint8Array) => void, onEnd: () => void): void;
  /** Resolves when the bytes are accepted; rejects if the peer accepts no more. */
  write(data: Uint8Array): Promise<void>;
  /** Kills the peer; does nothing if it has ended. */
  kill(): void;
  /** Waits up to `patienceMs` for the end, then kills the peer. Keeps the host's process alive while it waits. */
  end(patienceMs: number): Promise<Ending>;
}
