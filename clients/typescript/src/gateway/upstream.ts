// The provider behind a gateway. A request goes to it as it came. Its answer has two forms:
// the bytes that came, and a `Response` that can be read.

import { Agent, request as byHttp, type IncomingMessage } from "node:http";
import { Agent as SecureAgent, request as byHttps } from "node:https";
import { buffer } from "node:stream/consumers";
import { pipeline, Readable, type Duplex } from "node:stream";
import * as zlib from "node:zlib";

/** Headers of one connection, which no proxy hands on (RFC 9110, 7.6.1). */
const OF_THE_CONNECTION = new Set([
  ...["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"],
  ...["host", "expect"],
]);
/** Node.js has it from 22.15 on. */
const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Duplex };
/** Events of a compressed stream come as soon as they are there, also where it breaks off. */
const EAGER = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH };
const DECODERS: ReadonlyMap<string, () => Duplex> = new Map<string, () => Duplex>([
  ["gzip", () => zlib.createGunzip(EAGER)],
  ["x-gzip", () => zlib.createGunzip(EAGER)],
  ["deflate", () => zlib.createInflate(EAGER)],
  ["br", () => zlib.createBrotliDecompress()],
  ...(createZstdDecompress ? ([["zstd", createZstdDecompress]] as const) : []),
]);
/** Bytes of headers, both ways: as many as a whole sign-in needs. */
export const MOST_HEADERS = 256 * 1024;
const SECURE = { keepAlive: true };
/** Answers that have no body (RFC 9110, 15), whatever their headers say. */
const WITHOUT_BODY = new Set([204, 205, 304]);

export interface OutgoingRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly body: Readable | Uint8Array;
  readonly signal: AbortSignal;
}

/** Header names and values as they were written, one by one. */
export type RawHeaders = readonly string[];
type Headers = Record<string, string[]>;

/** Of what a request or an answer has: all that is not of its connection. */
export function passedOn(raw: RawHeaders): Headers {
  const headers: Headers = {};
  for (let at = 0; at < raw.length; at += 2) {
    const [name = "", value = ""] = raw.slice(at, at + 2);
    if (!OF_THE_CONNECTION.has(name.toLowerCase())) (headers[name] ??= []).push(value);
  }
  return headers;
}

/** The same without some of them. */
export function without(headers: Headers, ...names: readonly string[]): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name.toLowerCase())));
}

type Decoder = (source: Readable) => Readable;

/** Takes the encoding off bytes; undefined: it is one that cannot be undone. */
export function decoderOf(encoding = "identity"): Decoder | undefined {
  if (encoding === "identity" || encoding === "") return (source) => source;
  const make = DECODERS.get(encoding.toLowerCase());
  return make && ((source) => pipeline(source, make(), () => {}));
}

export class Upstream {
  readonly #base: URL;
  readonly #agent: Agent;

  constructor(base: URL) {
    this.#base = base;
    this.#agent = base.protocol === "https:" ? new SecureAgent(SECURE) : new Agent({ keepAlive: true });
  }

  /**
   * Where a path of the gateway leads: always to this provider, whatever the path says
   * (`//other.example`, an absolute address). What the base ends with, and the path begins
   * with, stands there once.
   */
  url(path: string): URL {
    const base = this.#base.pathname.replace(/\/$/, "");
    const ends = base.split("/").map((_, at, parts) => `/${parts.slice(at + 1).join("/")}`);
    const shared = ends.find((end) => end !== "/" && (path === end || path.startsWith(`${end}/`))) ?? "";
    return new URL(`${this.#base.origin}${base}/${path.slice(shared.length).replace(/^\//, "")}`);
  }

  /** Asks once more where a kept connection had just been closed. */
  send(url: URL, request: OutgoingRequest, mayRepeat = true): Promise<IncomingMessage> {
    const { method, headers, body, signal } = request;
    return new Promise((resolve, reject) => {
      const send = url.protocol === "https:" ? byHttps : byHttp;
      const limits = { agent: this.#agent, signal, maxHeaderSize: MOST_HEADERS };
      const sent = send(url, { method, headers: { ...headers, host: url.host }, ...limits }, resolve);
      sent.on("error", (error: NodeJS.ErrnoException) => {
        const isStale = error.code === "ECONNRESET" && sent.reusedSocket && body instanceof Uint8Array;
        if (isStale && mayRepeat) this.send(url, request, false).then(resolve, reject);
        else reject(error);
      });
      if (body instanceof Uint8Array) sent.end(body);
      else pipeline(body, sent, () => {});
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** An answer to be read: `response` is what it says, `message` and `kept` the bytes that came. */
export interface ReadAnswer {
  readonly response: Response;
  readonly message: IncomingMessage;
  /** A body that came whole, and its text. */
  readonly kept?: { readonly bytes: Uint8Array; readonly text: string };
}

/**
 * A whole body is read at once. A stream is read when somebody reads the response. A body
 * whose encoding cannot be undone is not read: its response is empty. `onRead` gets each
 * piece that is read.
 */
export async function readable(message: IncomingMessage, onRead?: (bytes: Uint8Array) => void): Promise<ReadAnswer> {
  const { statusCode = 502, statusMessage = "", headers } = message;
  const init = { status: statusCode, statusText: statusMessage, headers: plain(message.rawHeaders) };
  const decode = decoderOf(headers["content-encoding"]);
  if (!decode || WITHOUT_BODY.has(statusCode)) return { response: new Response(null, init), message };
  const isWhole = (headers["content-type"] ?? "").startsWith("application/json");
  if (!isWhole) return { response: new Response(lazily(message, decode, onRead), init), message };
  const bytes = await buffer(message);
  onRead?.(bytes);
  const text = (await buffer(decode(streamOf(bytes)))).toString();
  return { response: new Response(text, init), message, kept: { bytes, text } };
}

/** Headers of a body that has no encoding and no length any more. */
function plain(raw: RawHeaders): [string, string][] {
  const left = without(passedOn(raw), "content-encoding", "content-length");
  return Object.entries(left).flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));
}

function lazily(
  message: IncomingMessage,
  decode: Decoder,
  onRead?: (bytes: Uint8Array) => void,
): ReadableStream<Uint8Array> {
  async function* read() {
    for await (const bytes of decode(message)) {
      onRead?.(bytes as Uint8Array);
      yield bytes as Uint8Array;
    }
  }
  return ReadableStream.from(read()) as ReadableStream<Uint8Array>;
}

/** Bytes as a stream of one piece. */
export function streamOf(bytes: Uint8Array): Readable {
  return Readable.from([bytes]);
}
