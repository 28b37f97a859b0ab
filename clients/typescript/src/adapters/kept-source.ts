// The body of a response, kept so that it can be read from its beginning again: after a failure
// the response passes unchanged.

export class KeptSource implements AsyncIterable<Uint8Array> {
  readonly #iterator: AsyncIterator<Uint8Array>;
  #kept: Uint8Array[] | undefined = [];
  #reading: Promise<unknown> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  constructor(body: ReadableStream<Uint8Array>) {
    this.#iterator = body[Symbol.asyncIterator]();
  }

  /** A reader that stops early does not stop the body. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return { next: () => this.#next() };
  }

  /** The kept slices, then the rest of the body. */
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

  /** Stops keeping the slices. */
  forget(): void {
    this.#kept = undefined;
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
