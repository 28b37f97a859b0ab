// The chunks of a response in the client: the value to send, the form to keep for a replay, and
// the memory it needs.

/** A chunk. If the value is not a string, `json` is its text at the time of the push. */
export interface Chunk {
  readonly value: unknown;
  readonly json?: string;
  readonly bytes: number;
}

/** The bytes that a chunk costs besides its characters. */
const OVERHEAD = 64;

/** A slice of text. */
export function textChunk(value: string): Chunk {
  return { value, bytes: 2 * value.length + OVERHEAD };
}

/** Makes chunks from the values that a host pushes; bytes become text, or base64. */
export class ChunkReader {
  readonly #isBase64: boolean;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  constructor(encoding: string | null | undefined) {
    this.#isBase64 = encoding === "base64";
  }

  /** Returns the chunk for a value. Throws TypeError if JSON cannot represent it. */
  read(given: unknown): Chunk {
    const value = given instanceof Uint8Array ? this.#text(given) : (given ?? null);
    if (typeof value === "string") return textChunk(value);
    const json = JSON.stringify(value);
    if (json === undefined) throw new TypeError(`a ${typeof given} is not a chunk`);
    return { value, json, bytes: 2 * json.length + OVERHEAD };
  }

  /** A chunk with U+FFFD if the body ended inside a character; undefined otherwise. */
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
