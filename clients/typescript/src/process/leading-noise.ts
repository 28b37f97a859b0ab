// Skips text on standard output before the first frame: output of a wrapper that starts the
// sidecar (`conda run`, a shell script), which goes to the log. After the first frame nothing is
// skipped, because that would hide a broken sidecar.

const HEADER = /content-length: {0,8}\d{1,15} {0,8}\r\n/i;
const NAME = "content-length:";
const VALUE = /^content-length: {0,8}\d{0,15} {0,8}\r?$/i;
const LONGEST_HEADER = 64;
/** How many bytes may come before the first frame. */
const MOST_BYTES = 65_536;
const NOTHING = new Uint8Array();
const LATIN1 = new TextDecoder("latin1");

export class LeadingNoise {
  readonly #onNoise: (noise: Uint8Array) => void;
  /** Bytes that may be the beginning of a header. */
  #held = NOTHING;
  #skipped = 0;
  #isOver = false;

  constructor(onNoise: (noise: Uint8Array) => void) {
    this.#onNoise = onNoise;
  }

  /** The bytes from the first header on. After too much noise, all bytes: they are an error then. */
  push(data: Uint8Array): Uint8Array {
    if (this.#isOver) return data;
    const bytes = Buffer.concat([this.#held, data]);
    const text = LATIN1.decode(bytes);
    const header = text.search(HEADER);
    this.#isOver = header >= 0 || this.#skipped + bytes.length > MOST_BYTES;
    const start = this.#isOver ? Math.max(header, 0) : beginningIn(text);
    this.#skip(bytes.subarray(0, start));
    this.#held = this.#isOver ? NOTHING : bytes.subarray(start);
    return this.#isOver ? bytes.subarray(start) : NOTHING;
  }

  #skip(noise: Uint8Array): void {
    if (noise.length === 0) return;
    this.#skipped += noise.length;
    this.#onNoise(noise);
  }
}

/** Where a possible beginning of a header starts; the length of `text` if there is none. */
function beginningIn(text: string): number {
  let at = Math.max(0, text.length - LONGEST_HEADER);
  while (at < text.length && !mayBecome(text.slice(at))) at++;
  return at;
}

function mayBecome(end: string): boolean {
  return NAME.startsWith(end.toLowerCase()) || VALUE.test(end);
}
