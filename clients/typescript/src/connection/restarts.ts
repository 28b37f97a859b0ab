// Decides when a lost connection may be made again: at most `max` times within `windowMs`, each
// time after twice the previous delay.

import type { Settings } from "../options.js";

export interface Clock {
  now(): number;
  sleep(ms: number): Promise<unknown>;
}

const wall: Clock = { now: () => performance.now(), sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) };

export class Restarts {
  readonly #settings: Settings["restarts"];
  readonly #clock: Clock;
  #failures: number[] = [];

  constructor(settings: Settings["restarts"], clock: Clock = wall) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /** Records that a connection was lost, or could not be made. */
  failed(): void {
    this.#failures.push(this.#clock.now());
  }

  /** Waits until the next try is due; false: there were too many failures. */
  async ready(): Promise<boolean> {
    const { max, windowMs, delayMs } = this.#settings;
    const now = this.#clock.now();
    this.#failures = this.#failures.filter((time) => now - time < windowMs);
    const count = this.#failures.length;
    if (count > max) return false;
    const last = this.#failures.at(-1);
    if (last === undefined) return true;
    const wait = last + delayMs * 2 ** (count - 1) - now;
    if (wait > 0) await this.#clock.sleep(wait);
    return true;
  }
}
