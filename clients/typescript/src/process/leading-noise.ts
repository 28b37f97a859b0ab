// What a process writes to standard output before its first frame: the words of a wrapper
// that starts it (`conda run`, a shell script). It is passed over, and told for the log.
// Behind the first frame nothing is: there it would hide a broken sidecar.

const HEADER = /content-length: {0,8}\d{1,15} {0,8}\r\n/i;
const NAME = "content-length:";
const VALUE = /^content-length: {0,8}\d{0,15} {0,8}\r?$/i;
const LONGEST_HEADER = 64;
/** Who writes more than this means no frames. */
const MOST_BYTES = 65_536;
const NOTHING = new Uint8Array();
const LATIN1 = new TextDecoder("latin1");

export class LeadingNoise {
  readonly #tell: (noise: Uint8Array) => void;
  /** What may be the beginning of a header. */
  #held = NOTHING;
  #told = 0;
  #isOver = false;

  constructor(tell: (noise: Uint8Array) => void) {
    this.#tell = tell;
  }

  /** What of the bytes so far is not noise; all of them where they are too many. */
  push(data: Uint8Array): Uint8Array {
    if (this.#isOver) return data;
    const bytes = Buffer.concat([this.#held, data]);
    const text = LATIN1.decode(bytes);
    const header = text.search(HEADER);
    this.#isOver = header >= 0 || this.#told + bytes.length > MOST_BYTES;
    const start = this.#isOver ? Math.max(header, 0) : beginningIn(text);
    this.#pass(bytes.subarray(0, start));
    this.#held = this.#isOver ? NOTHING : bytes.subarray(start);
    return this.#isOver ? bytes.subarray(start) : NOTHING;
  }

  #pass(noise: Uint8Array): void {
    if (noise.length === 0) return;
    this.#told += noise.length;
    this.#tell(noise);
  }
}

/** Where something begins that may become a header; the length of `text`: nowhere. */
function beginningIn(text: string): number {
  let at = Math.max(0, text.length - LONGEST_HEADER);
  while (at < text.length && !mayBecome(text.slice(at))) at++;
  return at;
}

function mayBecome(end: string): boolean {
  return NAME.startsWith(end.toLowerCase()) || VALUE.test(end);
}
