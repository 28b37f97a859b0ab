// The calls of one stream, one after the other, however many a host makes at once. Pushes
// that wait for their turn go to the sidecar together; each gets what it would have got
// alone. The turn of a call is at the end of a turn of the event loop, so that all that
// arrives in it goes in one request, and nothing waits for what has not arrived.

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

/** Pushes of one request. */
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
  /** What the next push may go with: it waits, and is the last that does. */
  #gathered: Gathered | undefined;

  constructor(core: StreamCore, gate: Gate, maxQueued: number) {
    this.#core = core;
    this.#gate = gate;
    this.#maxQueued = maxQueued;
  }

  /** `isPatient`: waits however many wait, and goes alone. `isLast`: the plain end of the stream comes next. */
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

  /** Any other call. */
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

  /** In one request; where that fails, one by one, so that each fails for itself. */
  async #send(pushes: readonly Push[]): Promise<void> {
    const all = pushes.length > 1 && (await this.#core.pushEach(pushes.map(({ chunks }) => chunks)));
    for (const [at, { chunks, isLast, resolve, reject }] of pushes.entries()) {
      const one = all && all[at];
      if (one) resolve(one);
      else await this.#core.push(chunks, isLast).then(resolve, (error: unknown) => reject(passedOver(error)));
    }
  }

  /** After all calls before this one; what fails for good fails all that follow. */
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

/** A call that was refused has changed nothing, and one that was never sent neither. */
function endsNothing(error: unknown): boolean {
  return error instanceof RefusedError || error instanceof QueueFull;
}

/** The error of one of several pushes; throws what is that of all behind it, too. */
function passedOver(error: unknown): unknown {
  if (endsNothing(error)) return error;
  throw error;
}
