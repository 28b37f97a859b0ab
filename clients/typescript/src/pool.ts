// Several processes for many streams. A stream belongs to one process, chosen by its id, so its
// chunks keep their order. Each process is supervised separately: if a process ends, the streams
// of the other processes are not delayed.

/// <reference lib="esnext.disposable" preserve="true" />

import { count, finite } from "./checks.js";
import type { SidecarOptions } from "./options.js";
import type { OpenParams } from "./protocol.js";
import { Sidecar, type OpenOptions } from "./sidecar.js";
import type { SidecarStream } from "./stream/stream.js";

export class SidecarPool implements AsyncDisposable {
  /** The sidecars, one for each process. */
  readonly sidecars: readonly [Sidecar, ...Sidecar[]];

  constructor(sidecars: readonly Sidecar[]) {
    const [first, ...more] = sidecars;
    if (!first) throw new RangeError("a pool needs a sidecar");
    this.sidecars = [first, ...more];
  }

  /** A pool of `workers` sidecars with the same options; each is started at its first use. */
  static create(workers: number, options: SidecarOptions = {}): SidecarPool {
    finite(count(1))(workers, "workers");
    return new SidecarPool(Array.from({ length: workers }, () => Sidecar.create(options)));
  }

  /** The sidecar of a stream: the same sidecar for the same id. A request without a stream may go to any. */
  of(streamId: string): Sidecar {
    return this.sidecars[hash(streamId) % this.sidecars.length] ?? this.sidecars[0];
  }

  /** Opens a stream in its sidecar, as `Sidecar.openStream` does. */
  openStream(params: OpenParams = {}, options?: OpenOptions): Promise<SidecarStream> {
    const streamId = params.streamId ?? crypto.randomUUID();
    return this.of(streamId).openStream({ ...params, streamId }, options);
  }

  /** Shuts down all sidecars. */
  async shutdown(): Promise<void> {
    await Promise.all(this.sidecars.map((each) => each.shutdown()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown();
  }
}

/** FNV-1a with 32 bits, as in the Rust client. */
function hash(text: string): number {
  let found = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) found = Math.imul(found ^ byte, 0x01000193);
  return found >>> 0;
}
