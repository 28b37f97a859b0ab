// Provides a link whenever one is needed: makes it on demand, once for all callers, and again
// after a loss, as often as `Restarts` allows. The first start has one try, so that a host learns
// immediately that there is no sidecar. After a successful start, failed starts are retried until
// the restarts are used up, because a process may also be killed while it starts.

import { ConnectionLost, GaveUp, SidecarClosed, UnsupportedProtocol } from "../errors.js";
import type { Link } from "./link.js";
import type { Settings, SidecarState } from "../options.js";
import type { Restarts } from "./restarts.js";

export type Connect = () => Promise<Link>;

export class Supervisor {
  readonly #connect: Connect;
  readonly #restarts: Restarts;
  readonly #onLost: (loss: ConnectionLost) => void;
  readonly #onState: (state: SidecarState) => void;
  readonly #listeners = new Set<(state: SidecarState) => void>();
  #state: SidecarState = "idle";
  #link: Link | undefined;
  #making: Promise<Link> | undefined;
  #hasWorked = false;
  #lastError: unknown;
  #isClosed = false;

  constructor(connect: Connect, restarts: Restarts, { onLost, onState }: Pick<Settings, "onLost" | "onState">) {
    this.#connect = connect;
    this.#restarts = restarts;
    this.#onLost = onLost;
    this.#onState = onState;
  }

  get state(): SidecarState {
    return this.#state;
  }

  /** Calls `listener`, which does not throw, with each new state; returns a function that ends this. */
  listen(listener: (state: SidecarState) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The live link; undefined if there is none. */
  get current(): Link | undefined {
    return this.#link?.isLost ? undefined : this.#link;
  }

  /** A live link. Rejects with SidecarUnavailable, UnsupportedProtocol or SidecarClosed. */
  async link(): Promise<Link> {
    if (this.#isClosed) throw new SidecarClosed();
    if (this.current) return this.current;
    this.#making ??= this.#make().finally(() => (this.#making = undefined));
    return this.#making;
  }

  /** Ends the link for good. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#making?.catch(() => {});
    await this.current?.end();
    this.#enter("lost");
  }

  /**
   * Ends the link and makes a new one, in which open streams continue. A person asks for it, so
   * it starts however often the sidecar has failed, and those failures no longer count.
   */
  async restart(): Promise<Link> {
    this.#restarts.reset();
    await this.#making?.catch(() => {});
    this.#restarts.reset();
    const old = this.current;
    this.#link = undefined;
    old?.lose(new ConnectionLost("the host restarts the sidecar"));
    await old?.end();
    return this.link();
  }

  #enter(state: SidecarState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#onState(state);
    for (const listener of [...this.#listeners]) listener(state);
  }

  async #make(): Promise<Link> {
    this.#enter(this.#hasWorked ? "restarting" : "starting");
    try {
      return await this.#try();
    } catch (error) {
      this.#enter("lost");
      throw error;
    }
  }

  async #try(): Promise<Link> {
    for (;;) {
      const due = await this.#restarts.ready();
      if (due !== true) throw this.#givenUp(due);
      if (this.#isClosed) throw new SidecarClosed();
      try {
        return this.#supervised(await this.#connect());
      } catch (error) {
        this.#lastError = error;
        this.#restarts.failed();
        if (!this.#hasWorked || error instanceof UnsupportedProtocol) throw error;
      }
    }
  }

  #supervised(link: Link): Link {
    this.#link = link;
    this.#hasWorked = true;
    this.#enter("running");
    link.onLost((loss) => {
      if (this.#isClosed || this.#link !== link) return;
      this.#enter(loss.isFinal ? "lost" : "restarting");
      this.#lastError = loss;
      if (!loss.isFinal) this.#restarts.failed();
      this.#onLost(loss);
    });
    return link;
  }

  #givenUp(retryAfterMs: number): Error {
    const last = this.#lastError;
    return last instanceof UnsupportedProtocol ? last : new GaveUp(last, retryAfterMs);
  }
}
