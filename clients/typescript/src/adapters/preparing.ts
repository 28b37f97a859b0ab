// Adapters prepare their requests with `request/prepare` before they send them. An older sidecar
// does not have the method; that is reported once, and requests are sent unprepared.

import { SidecarError } from "../errors.js";
import type { Sidecar } from "../sidecar.js";

export interface PreparingOptions {
  /**
   * Whether requests are sent without text that leaked in earlier turns, and without reasoning
   * that their provider refuses. Default: true. false sends them unchanged.
   */
  prepare?: boolean;
  /** Called if a request is sent unprepared. */
  onLost?: (error: unknown) => void;
}

export class Preparing {
  readonly #sidecar: Sidecar;
  readonly #options: PreparingOptions;
  #hasReportedOld = false;

  constructor(sidecar: Sidecar, options: PreparingOptions) {
    this.#sidecar = sidecar;
    this.#options = options;
  }

  /** Whether the next requests are prepared, so that responses may include all reasoning. */
  get isCertain(): boolean {
    return this.#options.prepare !== false && (this.#sidecar.capabilities?.methods?.includes(PREPARE) ?? false);
  }

  /** The result of `work`; undefined: the host's own request must be sent. */
  async attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.#options.prepare === false || !(await this.#isPossible())) return undefined;
    try {
      return await work();
    } catch (error) {
      this.#options.onLost?.(error);
      return undefined;
    }
  }

  /** Whether the sidecar can prepare. A missing sidecar is reported with the answer, not here. */
  async #isPossible(): Promise<boolean> {
    try {
      const known = await this.#sidecar.start();
      if (!known || known.methods?.includes(PREPARE)) return true;
    } catch {
      return false;
    }
    if (!this.#hasReportedOld) this.#options.onLost?.(new SidecarError("unsupported", OLD));
    this.#hasReportedOld = true;
    return false;
  }
}

const PREPARE = "request/prepare";
const OLD = `the sidecar is too old for ${PREPARE}: requests are sent unprepared`;
