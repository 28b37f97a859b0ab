// Adapters prepare their requests with `request/prepare` before they send them. An older sidecar
// does not have the method; that is reported once, and requests are sent unprepared.

import { unlessAborted } from "../cancellation.js";
import { flag, type Checks } from "../checks.js";
import { SidecarError } from "../errors.js";
import type { PrepareParams, PrepareResult } from "../protocol.js";
import type { Sidecar } from "../sidecar.js";
import { selected, type HeadersLike } from "../stream/headers.js";
import type { Losses } from "./losses.js";

export interface PreparingOptions {
  /**
   * Whether requests are sent without text that leaked in earlier turns, and without reasoning
   * that their provider refuses. Default: true. false sends them unchanged.
   */
  prepare?: boolean;
}

export const PREPARING: Checks<PreparingOptions> = { prepare: flag };

export class Preparing {
  readonly #sidecar: Sidecar;
  readonly #isWanted: boolean;
  readonly #losses: Losses;
  #hasReportedOld = false;
  #hasReportedHeaders = false;

  constructor(sidecar: Sidecar, losses: Losses, { prepare = true }: PreparingOptions) {
    this.#sidecar = sidecar;
    this.#losses = losses;
    this.#isWanted = prepare ?? true;
  }

  /** Whether the next requests are prepared, so that responses may include all reasoning. */
  get isCertain(): boolean {
    return this.#isWanted && (this.#sidecar.capabilities?.methods?.includes(PREPARE) ?? false);
  }

  /** The result of `work`; undefined: the host's own request must be sent. Throws the signal's reason as soon as it aborts. */
  async attempt<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
    if (!this.#isWanted) return undefined;
    const made = async () => ((await this.#isPossible()) ? await work() : undefined);
    try {
      return await unlessAborted(made(), signal);
    } catch (error) {
      signal?.throwIfAborted();
      this.#losses.report(error);
      return undefined;
    }
  }

  /**
   * The prepared request; undefined: the host's own must be sent. The sidecar is given only the
   * headers that it announced. If an older one changes a request, it is reported once that its
   * headers could not be set.
   */
  request(params: PrepareParams, headers: HeadersLike, signal?: AbortSignal): Promise<PrepareResult | undefined> {
    return this.attempt(async () => {
      const names = this.#sidecar.capabilities?.requestHeaders;
      const read = names && { headers: selected(headers, names) };
      const made = await this.#sidecar.prepare({ ...params, ...read }, { ...(signal && { signal }) });
      if (made.changed && !names) this.#reportHeaders();
      return made;
    }, signal);
  }

  #reportHeaders(): void {
    if (!this.#hasReportedHeaders) this.#losses.report(new SidecarError("unsupported", HEADERS));
    this.#hasReportedHeaders = true;
  }

  /** Whether the sidecar can prepare. A missing sidecar is reported with the answer, not here. */
  async #isPossible(): Promise<boolean> {
    try {
      const known = await this.#sidecar.start();
      if (!known || known.methods?.includes(PREPARE)) return true;
    } catch {
      return false;
    }
    if (!this.#hasReportedOld) this.#losses.report(new SidecarError("unsupported", OLD));
    this.#hasReportedOld = true;
    return false;
  }
}

const PREPARE = "request/prepare";
const OLD = `the sidecar is too old for ${PREPARE}: requests are sent unprepared`;
const HEADERS = "the sidecar is too old for requestHeaders: a changed request cannot ask to drop signed thinking";
