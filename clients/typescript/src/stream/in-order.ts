// Runs the calls of one stream one after the other, however many a host makes at the same time.
// Pushes that wait for their turn are sent together, and each gets the result that it would have
// got alone. A call's turn comes at the end of a turn of the event loop: everything that arrives
// in that turn is sent in one request, and nothing waits for calls that have not arrived.

import type { Chunk } from "./chunks.js";
import { QueueFull, RefusedError } from "../errors.js";
import type { Pushed } from "./events.js";
import type { Gate, Work } from "../connection/gate.js";
import type { StreamCore } from "./remote-stream.js";
import { mayShare } from "./slices.js";
import { endOfTurn } from "./turn-end.js";

interface Push {
  readonly chunks: readonly Chunk[];
  readonly isLast: boolean;
  resolve(pushed: Pushed): void;
  reject(error: unknown): void;
}

/** The pushes of one request. */
interface Gathered {
  readonly pushes: Push[];
  bytes: number;
}

export class InOrder {
  readonly #core: StreamCore;
  readonly #gate: Gate;
  readonly #maxQueued: number;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #failure: { readonly error: unknown } | undefined;
  /** The waiting request that the next push may join; it is the last that waits. */
  #gathered: Gathered | undefined;

  constructor(core: StreamCore, gate: Gate, maxQueued: number) {
    this.#core = core;
    this.#gate = gate;
    this.#maxQueued = maxQueued;
  }

  /**
   * Pushes chunks. `isPatient`: waits even if the queue is full, and is sent alone. `isLast`: the
   * plain end of the stream follows.
   */
  push(chunks: readonly Chunk[], isPatient = false, isLast = false): Promise<Pushed> {
    return this.#counted(isPatient, () => {
      const bytes = chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
      const shares = !isPatient && mayShare(bytes, 0);
      const before = shares && this.#gathered;
      const gathered = before && mayShare(bytes, before.bytes) ? before : this.#begin(isPatient);
      this.#gathered = shares ? gathered : undefined;
      gathered.bytes += bytes;
      return new Promise((resolve, reject) => gathered.pushes.push({ chunks, isLast, resolve, reject }));
    });
  }

  /** Runs any other call. */
  call<T>(work: () => Promise<T>, isPatient = false): Promise<T> {
    return this.#counted(isPatient, () => this.#inTurn(work, () => ({ isPatient })));
  }

  async #counted<T>(isPatient: boolean, work: () => Promise<T>): Promise<T> {
    if (!isPatient && this.#waiting > this.#maxQueued) throw new QueueFull(this.#maxQueued);
    this.#waiting += 1;
    return work().finally(() => (this.#waiting -= 1));
  }

  #begin(isPatient: boolean): Gathered {
    const gathered: Gathered = { pushes: [], bytes: 0 };
    const sent = this.#inTurn(
      () => this.#send(gathered.pushes),
      () => {
        if (this.#gathered === gathered) this.#gathered = undefined;
        return { isPatient, bytes: gathered.bytes };
      },
    );
    sent.catch((error: unknown) => gathered.pushes.forEach(({ reject }) => reject(error)));
    return gathered;
  }

  /** Sends pushes in one request; if that fails, one by one, so that each fails separately. */
  async #send(pushes: readonly Push[]): Promise<void> {
    const all = pushes.length > 1 && (await this.#core.pushEach(pushes.map(({ chunks }) => chunks)));
    for (const [at, { chunks, isLast, resolve, reject }] of pushes.entries()) {
      const one = all && all[at];
      if (one) resolve(one);
      else await this.#core.push(chunks, isLast).then(resolve, (error: unknown) => reject(ofOnePush(error)));
    }
  }

  /** Runs `work` after all earlier calls. An error that ends the stream fails all later calls. */
  #inTurn<T>(work: () => Promise<T>, what: () => Work): Promise<T> {
    this.#gathered = undefined;
    const mine = this.#last.then(endOfTurn).then(() => {
      const bounds = what();
      if (this.#failure) throw this.#failure.error;
      return this.#gate.run(work, bounds);
    });
    this.#last = mine.catch((error: unknown) => {
      if (endsNothing(error)) return;
      this.#failure ??= { error };
      this.#core.forget();
    });
    return mine;
  }
}

/** Whether the call has changed nothing: it was refused, or never sent. */
function endsNothing(error: unknown): boolean {
  return error instanceof RefusedError || error instanceof QueueFull;
}

/** The error of one of several pushes; throws an error that also ends the pushes after it. */
function ofOnePush(error: unknown): unknown {
  if (endsNothing(error)) return error;
  throw error;
}
