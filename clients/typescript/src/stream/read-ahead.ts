// Reads a source of chunks ahead of its consumer, up to a limit. Chunks that arrive in one turn
// of the event loop, or during the wait for an answer, are sent together in the next push. A slow
// source gives its chunks one by one, a fast source in batches. If the consumer stops, the source
// stops too.

import type { Chunk } from "./chunks.js";
import { endOfTurn } from "./turn-end.js";

/** The part of a `ReadableStream` that is needed: not every platform can iterate over one. */
export interface ReadableLike {
  getReader(): {
    read(): Promise<{ done: boolean; value?: unknown }>;
    cancel(reason?: unknown): Promise<void>;
  };
}

/** The chunks of a response; a string or bytes are one chunk. */
export type Source = AsyncIterable<unknown> | Iterable<unknown> | ReadableLike;

export interface ReadAheadLimits {
  readonly maxChunks: number;
  readonly maxBytes: number;
}

export class ReadAhead {
  readonly #iterator: AsyncIterator<unknown> | Iterator<unknown>;
  readonly #isAsync: boolean;
  readonly #read: (given: unknown) => Chunk;
  readonly #limits: ReadAheadLimits;
  #chunks: Chunk[] = [];
  #bytes = 0;
  #isFilling = false;
  #isOver = false;
  #error: { readonly error: unknown } | undefined;
  #wake = () => {};

  /** Throws TypeError if `source` is no source. */
  constructor(source: Source, read: (given: unknown) => Chunk, limits: ReadAheadLimits) {
    this.#iterator = iteratorOf(source);
    this.#isAsync = !isIterable(source);
    this.#read = read;
    this.#limits = limits;
  }

  /** The available chunks, at least one; undefined at the end. Throws the error of the source. */
  async take(): Promise<Chunk[] | undefined> {
    void this.#fill();
    if (this.#chunks.length === 0 && !this.#isOver) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
      if (!this.#isOver) await endOfTurn();
    }
    const taken = this.#chunks;
    [this.#chunks, this.#bytes] = [[], 0];
    if (taken.length > 0) {
      void this.#fill();
      return taken;
    }
    if (this.#error) throw this.#error.error;
    return undefined;
  }

  /** Whether everything was taken, and the source has ended without an error. */
  get isAtEnd(): boolean {
    return this.#isOver && this.#chunks.length === 0 && !this.#error;
  }

  /** Stops the source, without waiting for it. A `take` that waits throws `reason`. */
  stop(reason?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (reason) this.#error = { error: reason };
    this.#wake();
    void Promise.resolve(this.#iterator.return?.()).catch(() => {});
  }

  async #fill(): Promise<void> {
    if (this.#isFilling) return;
    this.#isFilling = true;
    try {
      while (!this.#isOver && this.#hasRoom()) {
        const next = this.#iterator.next();
        const { done, value } = this.#isAsync ? await next : (next as IteratorResult<unknown>);
        if (done) this.#isOver = true;
        else this.#keep(this.#read(value));
      }
    } catch (error) {
      this.#error = { error };
      this.#isOver = true;
    } finally {
      this.#isFilling = false;
      this.#wake();
    }
  }

  #hasRoom(): boolean {
    return this.#chunks.length < this.#limits.maxChunks && this.#bytes < this.#limits.maxBytes;
  }

  #keep(chunk: Chunk): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.bytes;
    this.#wake();
  }
}

function isIterable(source: Source): source is Iterable<unknown> {
  return !(Symbol.asyncIterator in Object(source)) && Symbol.iterator in Object(source);
}

function iteratorOf(source: Source): AsyncIterator<unknown> | Iterator<unknown> {
  if (typeof source === "string" || source instanceof Uint8Array) return [source].values();
  const has = (name: PropertyKey) =>
    typeof (source as unknown as Record<PropertyKey, unknown> | null)?.[name] === "function";
  if (has("getReader")) return readerOf(source as ReadableLike);
  if (has(Symbol.asyncIterator)) return (source as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  if (has(Symbol.iterator)) return (source as Iterable<unknown>)[Symbol.iterator]();
  const hint = typeof source === "object" && source !== null && "body" in source ? "; pass its body" : "";
  throw new TypeError(`a source of chunks is an iterable or a ReadableStream, not ${kindOf(source)}${hint}`);
}

function kindOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  return (value as Partial<object>).constructor?.name ?? "an object";
}

/** Reads a stream. `return` stops it at once; the iterator of a stream would first wait for a read that is under way. */
export function readerOf(stream: ReadableLike): AsyncIterator<unknown> {
  const reader = stream.getReader();
  return {
    next: () => reader.read() as Promise<IteratorResult<unknown>>,
    return: async () => {
      await reader.cancel();
      return { done: true, value: undefined };
    },
  };
}
