// Tells at once when what comes is no frame. vscode-jsonrpc reads the frames; it would
// also wait for ever for the rest of a header, or of a length, that never was one.

const LONGEST_HEADER = 1_024;
const LARGEST_BODY = 1 << 30;
const END = "\r\n\r\n";
const BEGINNING = /^[A-Za-z-]*(:|$)/;
const LENGTH = /^content-length: *(\d+) *$/im;

export class FrameGuard {
  #header = "";
  #rest = 0;

  /** What is wrong with these bytes; undefined: nothing so far. */
  check(data: Buffer): string | undefined {
    let at = 0;
    while (at < data.length) {
      if (this.#rest === 0) {
        const before = this.#header.length;
        this.#header += data.toString("latin1", at, at + LONGEST_HEADER);
        const end = this.#header.indexOf(END);
        if (this.#isNone(end)) return `it wrote ${JSON.stringify(this.#header.slice(0, 100))}`;
        if (end < 0) return undefined; // the rest of the header is still to come
        at += end + END.length - before;
        this.#header = "";
      }
      const step = Math.min(this.#rest, data.length - at);
      this.#rest -= step;
      at += step;
    }
    return undefined;
  }

  /** Whether the header, which is whole when it has its `end`, can be one no more. */
  #isNone(end: number): boolean {
    const header = end < 0 ? this.#header : this.#header.slice(0, end);
    if (!BEGINNING.test(header) || header.length > LONGEST_HEADER) return true;
    if (end < 0) return this.#header.length >= LONGEST_HEADER;
    this.#rest = Number(LENGTH.exec(header)?.[1]);
    return !(this.#rest <= LARGEST_BODY);
  }
}
