// The provider of a gateway. Requests are sent to it unchanged. Its answer has two forms: the
// received bytes, and a `Response` that can be read.

import { Agent, request as byHttp, type ClientRequest, type IncomingMessage } from "node:http";
import { Agent as SecureAgent, request as byHttps } from "node:https";
import type { Socket } from "node:net";
import { pipeline, Readable, type Duplex } from "node:stream";
import * as zlib from "node:zlib";
import { MOST_WHOLE } from "stream-sidecar/internal";

/** Headers of one connection, which no proxy forwards (RFC 9110, 7.6.1). */
const OF_THE_CONNECTION = [
  ...["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "host", "expect"],
  ...["proxy-connection", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization"],
];
/** Methods of requests that may be sent twice (RFC 9110, 9.2.2). */
const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);
/** Errors of an idle connection that the provider had closed before the request was sent. */
const CLOSED = new Set(["ECONNRESET", "EPIPE"]);
/** Available since Node.js 22.15. */
const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Duplex };
/** Events of a compressed stream are decoded as soon as they arrive, also before the stream breaks off. */
const EAGER = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH };
const DECODERS: ReadonlyMap<string, () => Duplex> = new Map<string, () => Duplex>([
  ["gzip", () => zlib.createGunzip(EAGER)],
  ["x-gzip", () => zlib.createGunzip(EAGER)],
  ["deflate", () => zlib.createInflate(EAGER)],
  ["br", () => zlib.createBrotliDecompress()],
  ...(createZstdDecompress ? ([["zstd", createZstdDecompress]] as const) : []),
]);
/** The most bytes of headers, both ways: a sign-in may need many. */
export const MOST_HEADERS = 256 * 1024;
/** No limit but that of the bytes: Node.js would leave out the headers above it, without an error. */
export const MOST_HEADER_LINES = 0;
const SECURE = { keepAlive: true };
/** Status codes of answers without a body (RFC 9110, 15), whatever their headers say. */
const WITHOUT_BODY = new Set([204, 205, 304]);

export interface OutgoingRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly body: Readable | Uint8Array;
  readonly signal: AbortSignal;
}

/** Names and values as they were received, in order. */
export type Headers = readonly [string, string][];

/** The headers or trailers of a message, without the headers of its connection. */
export function passedOn(raw: readonly string[]): Headers {
  const pairs = raw.flatMap((name, at): Headers => (at % 2 === 0 ? [[name, raw[at + 1] ?? ""]] : []));
  const connections = pairs.filter(([name]) => name.toLowerCase() === "connection");
  const named = connections.flatMap(([, value]) => value.toLowerCase().split(","));
  return without(pairs, ...OF_THE_CONNECTION, ...named.map((name) => name.trim()));
}

/** The headers without those with these names. */
export function without(headers: Headers, ...names: readonly string[]): Headers {
  return headers.filter(([name]) => !names.includes(name.toLowerCase()));
}

/** The headers, accepting only encodings of an answer that can be decoded here. */
export function decodable(headers: Headers): Headers {
  return headers.map(([name, value]) => [name, name.toLowerCase() === "accept-encoding" ? codingsOf(value) : value]);
}

function codingsOf(accepted: string): string {
  const codings = accepted.split(",");
  const known = codings.filter((each) => decoderOf(each.replace(/;.*/, "").trim()));
  return known.length === codings.length ? accepted : known.join(",").trim() || "identity";
}

type Decoder = (source: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/** The decoder for an encoding; undefined if there is none. */
function decoderOf(encoding = "identity"): Decoder | undefined {
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
   * The URL for a path of the gateway. It always leads to this provider, whatever the path is
   * (`//other.example`, an absolute address). If the end of the base equals the start of the
   * path (`/v1`), it appears once.
   */
  url(path: string): URL {
    const base = this.#base.pathname.replace(/\/$/, "");
    const ends = base.split("/").map((_, at, parts) => `/${parts.slice(at + 1).join("/")}`);
    const shared = ends.find((end) => end !== "/" && (path === end || path.startsWith(`${end}/`))) ?? "";
    return new URL(`${this.#base.origin}${base}/${path.slice(shared.length).replace(/^\//, "")}`);
  }

  /**
   * Sends a request. If an idle connection had just been closed, an idempotent request without
   * a body is sent once more, on a new connection. Any other request may have been processed.
   */
  async send(url: URL, request: OutgoingRequest, mayRepeat = true): Promise<IncomingMessage> {
    const { method, headers, body, signal } = request;
    const send = url.protocol === "https:" ? byHttps : byHttp;
    const sent = send(url, { method, signal, agent: mayRepeat && this.#agent, maxHeaderSize: MOST_HEADERS });
    sent.maxHeadersCount = MOST_HEADER_LINES;
    try {
      const answered = answerTo(sent);
      for (const [name, value] of headers) sent.appendHeader(name, value);
      // Without this header, Node.js would send the body of a GET or DELETE without its end.
      if (isStream(body) && !sent.hasHeader("content-length")) sent.setHeader("transfer-encoding", "chunked");
      if (isStream(body)) body.pipe(sent);
      else sent.end(body);
      return await answered;
    } catch (error) {
      sent.destroy();
      const isStale = sent.reusedSocket && CLOSED.has((error as NodeJS.ErrnoException).code ?? "");
      const isRepeatable = mayRepeat && IDEMPOTENT.has(method) && !isStream(body) && body.length === 0;
      if (isStale && isRepeatable) return this.send(url, request, false);
      throw error;
    }
  }

  close(): void {
    this.#agent.destroy();
  }
}

function isStream(body: Readable | Uint8Array): body is Readable {
  return !(body instanceof Uint8Array);
}

/** The answer to a request; rejected however the request ends without one. */
function answerTo(sent: ClientRequest): Promise<IncomingMessage> {
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    const refuse = ({ statusCode = 0 }: IncomingMessage) => reject(new Error(`its status is ${statusCode}`));
    sent.on("response", (message) => ((message.statusCode ?? 0) < 200 ? refuse(message) : resolve(message)));
    // Without this listener, Node.js closes the connection, and neither answers nor fails.
    sent.on("upgrade", (message, socket: Socket) => (socket.destroy(), refuse(message)));
    sent.on("error", reject);
    sent.on("close", () => reject(new Error("it closed the connection")));
  });
  answered.catch(() => {}); // who waits gets the error, also one of the sending
  return answered;
}

/** A whole body. It has no `text` if it cannot be decoded, or is too long. */
export interface Whole {
  readonly bytes: Uint8Array;
  readonly text?: string;
}

/** Reads the body of a message; undefined if it is too long: then the message can be read again. */
export async function wholeOf(message: IncomingMessage): Promise<Whole | undefined> {
  const bytes = await gathered(message.iterator({ destroyOnReturn: false }));
  if (bytes.length > MOST_WHOLE) return void message.unshift(bytes);
  const text = await textOf(bytes, message.headers["content-encoding"]);
  return { bytes, ...(text !== undefined && { text }) };
}

async function textOf(bytes: Uint8Array, encoding: string | undefined): Promise<string | undefined> {
  const decode = decoderOf(encoding);
  try {
    const decoded = decode && (await gathered(decode(Readable.from([bytes]))));
    return decoded && decoded.length <= MOST_WHOLE ? decoded.toString() : undefined;
  } catch {
    return undefined; // the receiver gets the broken bytes
  }
}

/** The bytes of a source; stops if there are too many. */
async function gathered(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of source) {
    pieces.push(piece);
    size += piece.length;
    if (size > MOST_WHOLE) break;
  }
  return Buffer.concat(pieces);
}

/** An answer: `response` to be read, `message` and `whole` with the received bytes. */
export interface ReadAnswer {
  readonly response: Response;
  readonly message: IncomingMessage;
  readonly whole?: Whole;
  /** The answer should be read, but cannot be decoded, or is too long. */
  readonly isUnread?: boolean;
}

/** A response that is not read: the message passes unchanged. */
const UNREAD = Response.error();

/**
 * Makes an answer readable. A whole answer is read immediately, a stream when its response is
 * read. Errors, and answers that cannot be decoded or are too long, are not read. `onRead` gets
 * each piece that is read.
 */
export async function readable(
  message: IncomingMessage,
  isWhole: boolean,
  onRead?: (bytes: Uint8Array) => void,
): Promise<ReadAnswer> {
  const { statusCode = 0, statusMessage = "", headers } = message;
  const decode = decoderOf(headers["content-encoding"]);
  if (statusCode >= 300 || WITHOUT_BODY.has(statusCode)) return { response: UNREAD, message };
  if (!decode) return { response: UNREAD, message, isUnread: true };
  // The response has a body without an encoding.
  const plain = without(passedOn(message.rawHeaders), "content-encoding", "content-length");
  const init = { status: statusCode, statusText: statusMessage, headers: [...plain] };
  if (!isWhole) return { response: new Response(lazily(message, decode, onRead), init), message };
  const whole = await wholeOf(message);
  if (!whole) return { response: UNREAD, message, isUnread: true };
  onRead?.(whole.bytes);
  if (whole.text === undefined) return { response: UNREAD, message, whole, isUnread: true };
  return { response: new Response(whole.text, init), message, whole };
}

function lazily(
  message: IncomingMessage,
  decode: Decoder,
  onRead?: (bytes: Uint8Array) => void,
): ReadableStream<Uint8Array> {
  async function* read() {
    for await (const bytes of decode(arrived(message))) {
      onRead?.(bytes);
      yield bytes;
    }
  }
  return ReadableStream.from(read()) as ReadableStream<Uint8Array>;
}

/** The bytes of a message. If it breaks off, first those that arrived before. */
async function* arrived(message: IncomingMessage): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* message;
  } catch (error) {
    for (let rest = message.read() as Uint8Array | null; rest; rest = message.read() as Uint8Array | null) yield rest;
    throw error;
  }
}
