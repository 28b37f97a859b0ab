// The last bytes that a process wrote to standard error. They are always read, so that the
// process never waits, and limited, so that it may write without end.

import type { Readable } from "node:stream";

export const STDERR_BYTES = 65_536;

export class StderrTail {
  #pieces: Uint8Array[] = [];
  #size = 0;
  readonly #onText: ((text: string) => void) | undefined;
  readonly #decoder = new TextDecoder();

  /** `onText` gets the decoded text as it arrives. */
  constructor(
    stream: Readable,
    readonly limit = STDERR_BYTES,
    onText?: (text: string) => void,
  ) {
    this.#onText = onText;
    stream.on("data", (data: Buffer) => this.add(data));
    stream.on("error", () => {}); // the end of the process reports it
  }

  /** The decoded text; a character that is cut at its start becomes U+FFFD. */
  toString(): string {
    return Buffer.concat(this.#pieces).subarray(-this.limit).toString("utf8");
  }

  /** Adds bytes, also from another source. */
  add(data: Uint8Array): void {
    this.#onText?.(this.#decoder.decode(data, { stream: true }));
    this.#pieces.push(data);
    this.#size += data.length;
    if (this.#size > 2 * this.limit) {
      const kept = Buffer.from(Buffer.concat(this.#pieces).subarray(-this.limit));
      this.#pieces = [kept];
      this.#size = kept.length;
    }
  }
}
