// The other end of a connection that is ours to start and to end: a process, or a worker
// that has an interpreter in it.

import type { Ending } from "../errors.js";

export interface Peer {
  /** Of a process. */
  readonly pid: number | undefined;
  /** The last 64 kB that it wrote to standard error. */
  readonly stderr: { toString(): string };
  /** Resolves when it is gone; never rejects. `cause`: it could not even be started. */
  readonly ended: Promise<Ending>;
  /** Calls `onData` with what it says, as it comes, and `onEnd` when it can say no more. */
  listen(onData: (data: Uint8Array) => void, onEnd: () => void): void;
  /** Resolves when the bytes are taken; rejects when none are taken any more. */
  write(data: Uint8Array): Promise<void>;
  /** Ends it at once; nothing happens when it is gone. */
  kill(): void;
  /** Waits for the end for so long, then kills; whoever waits here is kept alive. */
  end(patienceMs: number): Promise<Ending>;
}
