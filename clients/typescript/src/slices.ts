// What is pushed, in requests of a bounded size. The pipe to the sidecar is first in, first
// out: a request that takes long keeps all other streams waiting, and between two short
// ones they have their turn. So long strings are cut, and short chunks that are there at
// the same time go together only so far.

import { textChunk, type Chunk } from "./chunks.js";

/** Code points of a slice, which is a request of its own. */
const SLICE = 2_048;
/** Characters of a request of several chunks. */
const REQUEST = 8_192;

/** The chunks in requests, in order. `mayCut`: strings are slices of something, so that they may be cut anywhere. */
export function* requestsOf(chunks: Iterable<Chunk>, mayCut: boolean): Generator<Chunk[]> {
  let request: Chunk[] = [];
  let size = 0;
  for (const chunk of chunks) {
    const slices = mayCut ? slicesOf(chunk) : [];
    const more = (chunk.json ?? (chunk.value as string)).length;
    if (request.length > 0 && (slices.length > 0 || size + more > REQUEST)) {
      yield request;
      [request, size] = [[], 0];
    }
    if (slices.length > 0) {
      yield* slices.map((slice) => [slice]);
    } else {
      request.push(chunk);
      size += more;
    }
  }
  if (request.length > 0) yield request;
}

/** A long string in slices; nothing: the chunk is none. */
function slicesOf({ value }: Chunk): Chunk[] {
  if (typeof value !== "string" || value.length <= SLICE) return [];
  const slices: Chunk[] = [];
  for (let start = 0; start < value.length;) {
    const end = endOfSlice(value, start);
    slices.push(textChunk(value.slice(start, end)));
    start = end;
  }
  return slices;
}

/** Never between the halves of a character. */
function endOfSlice(text: string, start: number): number {
  let end = start;
  for (let points = 0; points < SLICE && end < text.length; points += 1) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return end;
}
