// What adapters send goes through `request/prepare` first, where the sidecar has it: an
// older one cannot, which is said once, and the host's own request goes.

import { SidecarError } from "../errors.js";
import type { Sidecar } from "../sidecar.js";

export interface PreparingOptions {
  /**
   * Requests go out without what the model leaked before, and without reasoning that their
   * provider refuses. true; false sends them as they are, and asks nobody.
   */
  prepare?: boolean;
  /** Called where a request goes out as it came, because it could not be prepared. */
  onLost?: (error: unknown) => void;
}

export class Preparing {
  readonly #sidecar: Sidecar;
  readonly #options: PreparingOptions;
  #saysOld = false;

  constructor(sidecar: Sidecar, options: PreparingOptions) {
    this.#sidecar = sidecar;
    this.#options = options;
  }

  /** Whether what comes back is prepared, so that all reasoning may go out. */
  get isCertain(): boolean {
    return this.#options.prepare !== false && (this.#sidecar.capabilities?.methods?.includes(PREPARE) ?? false);
  }

  /** What `work` gives; undefined: the host's own request is to go. */
  async attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.#options.prepare === false || !(await this.#isPossible())) return undefined;
    try {
      return await work();
    } catch (error) {
      this.#options.onLost?.(error);
      return undefined;
    }
  }

  /** That no sidecar can be had is said of the answer. */
  async #isPossible(): Promise<boolean> {
    try {
      const known = await this.#sidecar.start();
      if (!known || known.methods?.includes(PREPARE)) return true;
    } catch {
      return false;
    }
    if (!this.#saysOld) this.#options.onLost?.(new SidecarError("unsupported", OLD));
    this.#saysOld = true;
    return false;
  }
}

const PREPARE = "request/prepare";
const OLD = `the sidecar is too old for ${PREPARE}: requests go out as they came`;
