// The body of a response that can be had from its beginning again, as long as it is kept:
// for whoever finds out late that it has to pass as it came.

export class KeptSource implements AsyncIterable<Uint8Array> {
  readonly #iterator: AsyncIterator<Uint8Array>;
  #kept: Uint8Array[] | undefined = [];
  #reading: Promise<unknown> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  constructor(body: ReadableStream<Uint8Array>) {
    this.#iterator = body[Symbol.asyncIterator]();
  }

  /** Whoever reads this and stops does not stop the body. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return { next: () => this.#next() };
  }

  /** All that came, and all that is still to come. */
  async *again(): AsyncGenerator<Uint8Array, void, void> {
    await this.#reading.catch(() => {});
    yield* this.#kept ?? [];
    this.forget();
    for (;;) {
      const { done, value } = await this.#next();
      if (done) return;
      yield value;
    }
  }

  /** Nobody will want it again. */
  forget(): void {
    this.#kept = undefined;
  }

  /** Whether this is what the body broke off with. */
  brokeOffWith(error: unknown): boolean {
    return this.#failure !== undefined && this.#failure.error === error;
  }

  /** No more is wanted. */
  stop(): void {
    this.forget();
    void this.#iterator.return?.().catch(() => {});
  }

  async #next(): Promise<IteratorResult<Uint8Array, unknown>> {
    if (this.#failure) throw this.#failure.error;
    const reading = this.#iterator.next();
    this.#reading = reading;
    try {
      const result = await reading;
      if (!result.done) this.#kept?.push(result.value);
      return result;
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }
}
