// Makes requests of a limited size from pushed chunks. The pipe to the sidecar is first in, first
// out: during a long request all other streams wait, and between two short requests they have
// their turn. So long strings are cut, and short chunks that wait at the same time are joined
// only up to a limit.

import { textChunk, type Chunk } from "./chunks.js";

/** Code points of a slice, which is sent as one request. */
const SLICE = 2_048;
/** Characters of a request with several chunks. */
const REQUEST = 8_192;

/** Whether a push of `bytes` may share a request with pushes of `others` bytes. */
export function mayShare(bytes: number, others: number): boolean {
  return bytes <= 2 * SLICE && others + bytes <= 2 * REQUEST;
}

/** The chunks in requests, in order. `mayCut`: strings are slices of a body or text, so they may be cut anywhere. */
export function* requestsOf(chunks: Iterable<Chunk>, mayCut: boolean): Generator<Chunk[]> {
  let request: Chunk[] = [];
  let size = 0;
  for (const chunk of chunks) {
    const { value, json } = chunk;
    const text = json ?? (value as string);
    const isCut = mayCut && json === undefined && text.length > SLICE;
    if (request.length > 0 && (isCut || size + text.length > REQUEST)) {
      yield request;
      [request, size] = [[], 0];
    }
    if (isCut) {
      yield* slicesOf(text);
    } else {
      request.push(chunk);
      size += text.length;
    }
  }
  if (request.length > 0) yield request;
}

/** The slices of a long string, made on demand. */
function* slicesOf(text: string): Generator<Chunk[]> {
  for (let start = 0; start < text.length;) {
    const end = endOfSlice(text, start);
    yield [textChunk(text.slice(start, end))];
    start = end;
  }
}

/** The end of a slice, never between the halves of a surrogate pair. */
function endOfSlice(text: string, start: number): number {
  let end = start;
  for (let points = 0; points < SLICE && end < text.length; points += 1) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return end;
}
