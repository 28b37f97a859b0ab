// Reads messages from the frames of the base protocol: `Content-Length: 2\r\n\r\n{}`. Frames may
// be cut anywhere. Input that is not a frame, or not JSON, is reported immediately.

const LONGEST_HEADER = 1_024;
const LARGEST_BODY = 1 << 30;
const END = "\r\n\r\n";
const BEGINNING = /^[A-Za-z-]*(:|$)/;
const LENGTH = /^content-length: *(\d+) *$/im;

export class FrameReader {
  #header = "";
  #body: Uint8Array[] = [];
  /** How many bytes of the body are missing. */
  #rest = 0;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

  /** The messages that are complete now. Throws NoFrame for anything else, and is unusable after that. */
  *push(data: Uint8Array): Generator<unknown, void, void> {
    let at = 0;
    while (at < data.length) {
      if (this.#rest === 0) {
        const end = this.#readHeader(data.subarray(at, at + LONGEST_HEADER));
        if (end === undefined) return; // the header is not complete
        at += end;
      }
      const part = data.subarray(at, at + this.#rest);
      this.#rest -= part.length;
      at += part.length;
      this.#body.push(part);
      if (this.#rest === 0) yield this.#message();
    }
  }

  /** Where in `data` the header ends; undefined: it is not complete. */
  #readHeader(data: Uint8Array): number | undefined {
    const before = this.#header.length;
    this.#header += latin1(data);
    const end = this.#header.indexOf(END);
    const header = end < 0 ? this.#header : this.#header.slice(0, end);
    if (!this.#canBe(header, end >= 0)) throw new NoFrame(`it wrote ${JSON.stringify(this.#header.slice(0, 100))}`);
    if (end < 0) return undefined;
    this.#rest = Number(LENGTH.exec(header)?.[1]);
    this.#header = "";
    return end + END.length - before;
  }

  #canBe(header: string, isWhole: boolean): boolean {
    if (!BEGINNING.test(header) || header.length > LONGEST_HEADER) return false;
    if (!isWhole) return header.length < LONGEST_HEADER;
    const length = Number(LENGTH.exec(header)?.[1]);
    return length > 0 && length <= LARGEST_BODY;
  }

  #message(): unknown {
    const body = this.#body.splice(0);
    try {
      return JSON.parse(this.#decoder.decode(joined(body))) as unknown;
    } catch (cause) {
      throw new NoFrame("a message is not JSON", { cause });
    }
  }
}

export class NoFrame extends Error {
  override readonly name = "NoFrame";
}

/** The frame of a message. Throws TypeError if JSON cannot represent it. */
export function frameOf(message: object): Uint8Array {
  const body = JSON.stringify(message);
  const length = globalThis.Buffer?.byteLength(body) ?? ENCODER.encode(body).length;
  return ENCODER.encode(`Content-Length: ${length}${END}${body}`);
}

const ENCODER = new TextEncoder();
const LATIN1 = new TextDecoder("latin1");

function latin1(data: Uint8Array): string {
  return LATIN1.decode(data);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1 && parts[0]) return parts[0];
  const whole = new Uint8Array(parts.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
