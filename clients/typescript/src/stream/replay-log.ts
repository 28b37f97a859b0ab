// The chunks that a stream has pushed, kept so that they can be pushed again. Each stream and all
// streams together have a limit; after a stream exceeds one, nothing of it is kept.

import type { Chunk } from "./chunks.js";

/** The bytes that all logs may hold together. */
export class Budget {
  #used = 0;

  constructor(readonly maxBytes: number) {}

  get used(): number {
    return this.#used;
  }

  take(bytes: number): boolean {
    if (this.#used + bytes > this.maxBytes) return false;
    this.#used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}

/** A chunk without the value, which the host may have changed since. */
type Kept = string | { readonly json: string };

/** The size of a push of a replay: other streams wait no longer for it than for any other push. */
const BATCH_BYTES = 16 << 10;

export class ReplayLog {
  readonly #budget: Budget;
  readonly #maxBytes: number;
  #kept: [Kept, number][] | undefined = [];
  #bytes = 0;

  constructor(budget: Budget, maxBytes: number) {
    this.#budget = budget;
    this.#maxBytes = maxBytes;
  }

  /** Whether everything that was added is still kept. */
  get isWhole(): boolean {
    return this.#kept !== undefined;
  }

  add(chunks: readonly Chunk[]): void {
    for (const { value, json, bytes } of chunks) {
      if (this.#kept === undefined) return;
      if (this.#bytes + bytes > this.#maxBytes || !this.#budget.take(bytes)) return this.drop();
      this.#kept.push([json === undefined ? (value as string) : { json }, bytes]);
      this.#bytes += bytes;
    }
  }

  /** How many chunks are kept. */
  get length(): number {
    return this.#kept?.length ?? 0;
  }

  /** Removes the chunks after the first `length`. */
  shorten(length: number): void {
    for (const [, bytes] of this.#kept?.splice(length) ?? []) {
      this.#budget.give(bytes);
      this.#bytes -= bytes;
    }
  }

  /** Removes everything, and keeps nothing more. */
  drop(): void {
    this.#budget.give(this.#bytes);
    this.#kept = undefined;
    this.#bytes = 0;
  }

  /** The kept chunks, in order, in batches of a limited size. */
  *batches(): Generator<unknown[]> {
    let batch: unknown[] = [];
    let size = 0;
    for (const [kept, bytes] of this.#kept ?? []) {
      if (size > 0 && size + bytes > BATCH_BYTES) {
        yield batch;
        [batch, size] = [[], 0];
      }
      batch.push(typeof kept === "string" ? kept : JSON.parse(kept.json));
      size += bytes;
    }
    if (batch.length > 0) yield batch;
  }
}
