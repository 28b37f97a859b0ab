// What happens when an answer would pass uncleaned, or a request unprepared: the host hears of it by
// its listener, or else by one warning of each adapter; or the request fails, if the host wants
// that.

import { callback, oneOf, type Checks } from "../checks.js";
import { wordsOf, type Warnings } from "../warnings.js";

export interface LossOptions {
  /**
   * What happens to an answer that cannot be cleaned because there is no sidecar, or because it is
   * too old, refuses the answer or breaks. `"pass"`, the default: it passes unchanged. `"throw"`:
   * the request fails with the error, if possible before it is sent.
   */
  unavailable?: "throw" | "pass";
  /**
   * Called if an answer passes unchanged, if a request is sent unprepared or without signed
   * reasoning that no longer fits, and with an error that a listener throws. Without this option
   * there is one warning (`onWarning` of the sidecar).
   */
  onLost?: (error: unknown) => void;
}

export const LOSSES: Checks<LossOptions> = { unavailable: oneOf("throw", "pass"), onLost: callback };

export class Losses {
  /** Whether answers never pass uncleaned. */
  readonly isStrict: boolean;
  readonly #warnings: Warnings;
  readonly #onLost: ((error: unknown) => void) | undefined;
  #hasWarned = false;

  constructor(warnings: Warnings, { unavailable = "pass", onLost }: LossOptions) {
    this.isStrict = unavailable === "throw";
    this.#warnings = warnings;
    this.#onLost = onLost && warnings.guarded("onLost", onLost);
  }

  /** An answer or a request passes unchanged. */
  report(error: unknown): void {
    if (this.#onLost) return this.#onLost(error);
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#warnings.once(`answers or requests pass uncleaned (onLost reports each): ${wordsOf(error)}`);
  }

  /** A request is sent without something that it had. */
  leftOut(error: Error): void {
    if (this.#onLost) this.#onLost(error);
    else this.#warnings.once(error.message);
  }

  /** A listener of the host threw. */
  ofListener(error: unknown): void {
    if (this.#onLost) this.#onLost(error);
    else this.#warnings.once(`a listener threw: ${wordsOf(error)}`);
  }

  /** The result of `work`; undefined after a failure, which is reported, if answers may pass uncleaned. */
  async attempt<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      if (this.isStrict) throw error;
      this.report(error);
      return undefined;
    }
  }
}
