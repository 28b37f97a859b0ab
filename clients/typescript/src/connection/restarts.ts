// Decides when a lost connection may be made again: at most `max` times within `windowMs`, each
// time after twice the previous delay. A person who asks for a restart begins anew.

import type { Settings } from "../options.js";
import { after } from "../timer.js";

export interface Clock {
  now(): number;
  /** Calls `work` after `ms`; returns a function that ends the wait. */
  after(ms: number, work: () => void): () => void;
}

const wall: Clock = { now: () => performance.now(), after };

export class Restarts {
  readonly #settings: Settings["restarts"];
  readonly #clock: Clock;
  #failures: number[] = [];
  #wake = () => {};

  constructor(settings: Settings["restarts"], clock: Clock = wall) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /** Records that a connection was lost, or could not be made. */
  failed(): void {
    this.#failures.push(this.#clock.now());
  }

  /** Forgets all failures: the next try is due now. */
  reset(): void {
    this.#failures = [];
    this.#wake();
  }

  /** Waits until the next try is due; a number: there were too many failures, and none is due for so many milliseconds. */
  async ready(): Promise<true | number> {
    const { max, windowMs, delayMs } = this.#settings;
    const now = this.#clock.now();
    this.#failures = this.#failures.filter((time) => now - time < windowMs);
    const count = this.#failures.length;
    const oldest = this.#failures[count - 1 - max];
    if (oldest !== undefined) return oldest + windowMs - now;
    const last = this.#failures.at(-1);
    if (last === undefined) return true;
    const wait = last + delayMs * 2 ** (count - 1) - now;
    if (wait > 0) await this.#slept(wait);
    return true;
  }

  async #slept(ms: number): Promise<void> {
    let endWait = () => {};
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      endWait = this.#clock.after(ms, resolve);
    });
    endWait();
  }
}
