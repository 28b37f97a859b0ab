// Limits the requests in flight and the waiting requests. Work enters in order, up to a number of
// requests and of bytes at the same time. If `maxQueuedRequests` are waiting, further work is
// refused; patient work always waits.

import { QueueFull } from "../errors.js";

export interface GateBounds {
  readonly maxConcurrentRequests: number;
  readonly maxConcurrentBytes: number;
  readonly maxQueuedRequests: number;
}

/** A piece of work. `bytes` default to 0. */
export interface Work {
  readonly bytes?: number;
  readonly isPatient?: boolean;
}

export class Gate {
  readonly #bounds: GateBounds;
  #inside = 0;
  #bytes = 0;
  #waiting: { readonly bytes: number; readonly enter: () => void }[] = [];

  constructor(bounds: GateBounds) {
    this.#bounds = bounds;
  }

  /** Runs `work` as soon as there is room. Rejects with QueueFull. */
  async run<T>(work: () => Promise<T>, { bytes = 0, isPatient = false }: Work = {}): Promise<T> {
    if (this.#waiting.length === 0 && this.#hasRoom(bytes)) this.#enter(bytes);
    else await this.#wait(bytes, isPatient);
    try {
      return await work();
    } finally {
      this.#inside -= 1;
      this.#bytes -= bytes;
      this.#admit();
    }
  }

  #hasRoom(bytes: number): boolean {
    const { maxConcurrentRequests, maxConcurrentBytes } = this.#bounds;
    if (this.#inside === 0) return true;
    return this.#inside < maxConcurrentRequests && this.#bytes + bytes <= maxConcurrentBytes;
  }

  #enter(bytes: number): void {
    this.#inside += 1;
    this.#bytes += bytes;
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next && this.#hasRoom(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#enter(next.bytes);
      next.enter();
    }
  }

  #wait(bytes: number, isPatient: boolean): Promise<void> {
    const { maxQueuedRequests } = this.#bounds;
    if (!isPatient && this.#waiting.length >= maxQueuedRequests)
      return Promise.reject(new QueueFull(maxQueuedRequests));
    return new Promise((enter) => this.#waiting.push({ bytes, enter }));
  }
}
