// The body of a response, kept so that it can be read from its beginning again: after a failure
// the response passes unchanged.

import { unlessAborted } from "../cancellation.js";
import { readerOf } from "../stream/read-ahead.js";

/** How many slices are read before the first reader asks. */
const MOST_AHEAD = 64;

export class KeptSource<T = Uint8Array> implements AsyncIterable<T> {
  readonly #iterator: AsyncIterator<unknown>;
  readonly #signal: AbortSignal;
  #kept: T[] | undefined = [];
  #room: number;
  #ahead: Promise<IteratorResult<unknown>>[] = [];
  #reading: Promise<unknown> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  /**
   * A reader gets the reason of `signal` as soon as it aborts. `most`: the bytes that are kept; of a
   * longer body nothing is.
   */
  constructor(body: ReadableStream<T>, signal: AbortSignal, most = Infinity) {
    this.#iterator = readerOf(body);
    this.#signal = signal;
    this.#room = most;
  }

  /** Whether everything that was read can be read again. */
  get isWhole(): boolean {
    return this.#kept !== undefined;
  }

  /**
   * Reads what comes before the first reader: a body that breaks loses everything that nobody has
   * read.
   */
  readAhead(): void {
    this.#ahead = Array.from({ length: MOST_AHEAD }, () => this.#iterator.next());
    for (const each of this.#ahead) each.catch(() => {});
  }

  /** A reader that stops early does not stop the body. */
  [Symbol.asyncIterator](): AsyncIterator<T> {
    return { next: () => this.#next() };
  }

  /** The kept slices, then the rest of the body. */
  async *again(): AsyncGenerator<T, void, void> {
    await this.#reading.catch(() => {});
    yield* this.#kept ?? [];
    this.forget();
    for (;;) {
      const { done, value } = await this.#next();
      if (done) return;
      yield value;
    }
  }

  /** Stops keeping the slices. */
  forget(): void {
    this.#kept = undefined;
  }

  /** The error that the body broke off with. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  /** Whether this is the error that the body broke off with. */
  brokeOffWith(error: unknown): boolean {
    return this.#failure !== undefined && this.#failure.error === error;
  }

  /** Stops the body: no more slices are needed. */
  stop(): void {
    this.forget();
    void this.#iterator.return?.().catch(() => {});
  }

  async #next(): Promise<IteratorResult<T, unknown>> {
    if (this.#failure) throw this.#failure.error;
    const reading = (this.#ahead.shift() ?? this.#iterator.next()) as Promise<IteratorResult<T, unknown>>;
    this.#reading = reading;
    try {
      const result = await unlessAborted(reading, this.#signal);
      if (!result.done) this.#keep(result.value);
      return result;
    } catch (error) {
      if (!this.#signal.aborted) this.#failure = { error };
      throw error;
    }
  }

  #keep(slice: T): void {
    if (ArrayBuffer.isView(slice)) this.#room -= slice.byteLength;
    if (this.#room < 0) this.forget();
    this.#kept?.push(slice);
  }
}
