// Several processes for many streams: each stream belongs to one of them, by its id, and
// keeps its order there. Each process is supervised by itself, so that one that ends holds
// up no other's streams.

import type { SidecarOptions } from "./options.js";
import type { OpenParams } from "./protocol.js";
import { Sidecar } from "./sidecar.js";
import type { SidecarStream } from "./stream/stream.js";

export class SidecarPool implements AsyncDisposable {
  /** One a process. */
  readonly sidecars: readonly [Sidecar, ...Sidecar[]];

  constructor(sidecars: readonly Sidecar[]) {
    const [first, ...more] = sidecars;
    if (!first) throw new RangeError("a pool needs a sidecar");
    this.sidecars = [first, ...more];
  }

  /** Sidecars of the same options, each of which is started when it is first needed. */
  static create(workers: number, options: SidecarOptions = {}): SidecarPool {
    return new SidecarPool(Array.from({ length: workers }, () => Sidecar.create(options)));
  }

  /** Whose a stream is: the same one for the same id. What belongs to no stream may go to any. */
  of(streamId: string): Sidecar {
    return this.sidecars[hash(streamId) % this.sidecars.length] ?? this.sidecars[0];
  }

  /** As `Sidecar.openStream`. */
  openStream(params: OpenParams = {}, options?: { signal?: AbortSignal }): Promise<SidecarStream> {
    const streamId = params.streamId ?? crypto.randomUUID();
    return this.of(streamId).openStream({ ...params, streamId }, options);
  }

  /** Ends all of them. */
  async shutdown(): Promise<void> {
    await Promise.all(this.sidecars.map((each) => each.shutdown()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown();
  }
}

/** FNV-1a of 32 bits. */
function hash(text: string): number {
  let found = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) found = Math.imul(found ^ byte, 0x01000193);
  return found >>> 0;
}
