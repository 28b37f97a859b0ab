// Bounds what is on its way and what waits for it: requests enter one after the other,
// `maxConcurrent` at once, and are refused when `maxQueued` wait already.

import { QueueFull } from "./errors.js";

export class Gate {
  #inside = 0;
  #waiting: (() => void)[] = [];

  constructor(
    readonly maxConcurrent: number,
    readonly maxQueued: number,
  ) {}

  /** Runs `work` when there is room; rejects with QueueFull. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inside >= this.maxConcurrent) await this.#wait();
    else this.#inside += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next)
        next(); // takes the place over
      else this.#inside -= 1;
    }
  }

  #wait(): Promise<void> {
    if (this.#waiting.length >= this.maxQueued) return Promise.reject(new QueueFull(this.maxQueued));
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
