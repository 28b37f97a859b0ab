// The chunks of a response as the client holds them: what is sent, what is kept to be
// sent again, and how much memory that takes.

/** `json` is there where the value is no string, as it was when it was handed over. */
export interface Chunk {
  readonly value: unknown;
  readonly json?: string;
  readonly bytes: number;
}

/** What a chunk costs beside its characters. */
const OVERHEAD = 64;

/** A slice of text. */
export function textChunk(value: string): Chunk {
  return { value, bytes: 2 * value.length + OVERHEAD };
}

/** Turns what a host hands over into chunks; bytes become text, or base64. */
export class ChunkReader {
  readonly #isBase64: boolean;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  constructor(encoding: string | null | undefined) {
    this.#isBase64 = encoding === "base64";
  }

  /** Throws TypeError for what JSON cannot hold. */
  read(given: unknown): Chunk {
    const value = given instanceof Uint8Array ? this.#text(given) : (given ?? null);
    if (typeof value === "string") return textChunk(value);
    const json = JSON.stringify(value);
    if (json === undefined) throw new TypeError(`a ${typeof given} is no chunk`);
    return { value, json, bytes: 2 * json.length + OVERHEAD };
  }

  /** What is left of a character that was cut off by the end; undefined: nothing. */
  end(): Chunk | undefined {
    const rest = this.#decoder.decode();
    return rest === "" ? undefined : this.read(rest);
  }

  #text(data: Uint8Array): string {
    if (!this.#isBase64) return this.#decoder.decode(data, { stream: true });
    if ("Buffer" in globalThis) return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
    return btoa(Array.from(data, (byte) => String.fromCharCode(byte)).join("")); // in a browser
  }
}
