// The last bytes that a process wrote to standard error. It is always drained, so that
// the process never waits for a reader, and bounded, so that it may write for ever.

import type { Readable } from "node:stream";

export const STDERR_BYTES = 65_536;

export class StderrTail {
  #pieces: Uint8Array[] = [];
  #size = 0;
  readonly #tell: ((text: string) => void) | undefined;
  readonly #decoder = new TextDecoder();

  /** `tell` gets what comes, decoded, as it comes. */
  constructor(
    stream: Readable,
    readonly limit = STDERR_BYTES,
    tell?: (text: string) => void,
  ) {
    this.#tell = tell;
    stream.on("data", (data: Buffer) => this.add(data));
    stream.on("error", () => {}); // its end is told by the end of the process
  }

  /** Decoded; a character that was cut in two at the front becomes U+FFFD. */
  toString(): string {
    return Buffer.concat(this.#pieces).subarray(-this.limit).toString("utf8");
  }

  /** More of it, from wherever it comes. */
  add(data: Uint8Array): void {
    this.#tell?.(this.#decoder.decode(data, { stream: true }));
    this.#pieces.push(data);
    this.#size += data.length;
    if (this.#size > 2 * this.limit) {
      const kept = Buffer.from(Buffer.concat(this.#pieces).subarray(-this.limit));
      this.#pieces = [kept];
      this.#size = kept.length;
    }
  }
}
