// A `fetch` with clean responses for the SDKs of providers: leaked text is moved to its channel,
// and the SDK reads the format of its provider. It cleans streams and whole responses of Chat
// Completions, Responses, Messages and Gemini. Everything else passes unchanged: other
// responses, and all responses if no sidecar can be started.

import { unlessAborted } from "../cancellation.js";
import { assertSidecar, callback, checked, data, flag, oneOf, policy, text, type Checks } from "../checks.js";
import type { BodyFormat } from "../stream/body-format.js";
import { SidecarError } from "../errors.js";
import type { OpenParams, PolicyPatch, PrepareResult, Stats } from "../protocol.js";
import type { NormalizedMessage, Sidecar } from "../sidecar.js";
import { selected, type HeadersLike } from "../stream/headers.js";
import type { SidecarStream } from "../stream/stream.js";
import { askedOf, formatOf, isCleaned, isOfType, MOST_WHOLE, objectIn, type Asked } from "./endpoints.js";
import { isTimeLimit, readableOf } from "./ends.js";
import { KeptSource } from "./kept-source.js";
import { parseExact, stringifyExact } from "./exact-numbers.js";
import { heardPolicy, isTooLong, Listening, LISTENING, type ListeningOptions } from "./listening.js";
import { Losses, LOSSES, type LossOptions } from "./losses.js";
import { Preparing, PREPARING, type PreparingOptions } from "./preparing.js";
import { wordsOf } from "../warnings.js";

export interface SidecarFetchOptions extends PreparingOptions, ListeningOptions, LossOptions {
  /** Sends the requests. Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Calls that the model wrote into its text are left out, kept in the text, or turned into calls. Default: "drop". */
  claims?: "drop" | "text" | "promote";
  /** Documents that the provider's official SDKs cannot read are written anew. Default: false. */
  rewrite?: boolean;
  policy?: PolicyPatch;
  /** How the model writes; replaces the profile of its name (protocol.md, "Response templates"). */
  responseTemplate?: OpenParams["responseTemplate"];
  /** The provider, if the host of the address does not show it ("groq" for a proxy). */
  provider?: string;
}

export const FETCH: Checks<SidecarFetchOptions> = {
  ...PREPARING,
  ...LISTENING,
  ...LOSSES,
  fetch: callback,
  claims: oneOf("drop", "text", "promote"),
  rewrite: flag,
  policy,
  responseTemplate: data,
  provider: text,
};

/**
 * Returns the `fetch`; pass it to an SDK as its option `fetch`. What the host does to a response
 * stays what it is: an abort, a timeout and a connection that breaks give the exceptions that
 * they give without a sidecar. Throws TypeError for options that are wrong.
 */
export function sidecarFetch(sidecar: Sidecar, options: SidecarFetchOptions = {}): typeof globalThis.fetch {
  assertSidecar(sidecar, "sidecarFetch");
  return cleaningFetch(sidecar, checked(options, FETCH, "sidecarFetch"));
}

/** A proxy writes these into its log. The events reach it by its options. */
export interface ProxyListener {
  /** Called with the result for each request that was prepared. */
  onPrepared(result: PrepareResult): void;
  /** Called with the counters of each answer that was read to its end, or to where it broke off. */
  onStats(stats: Stats): void;
}

/**
 * `sidecarFetch` without its checks, for this package and the gateway.
 * `proxy`: for a reader that gets no exceptions. A connection that breaks is a document
 * of the body as well, and a response that cannot be cleaned is returned itself.
 */
export function cleaningFetch(
  sidecar: Sidecar,
  options: SidecarFetchOptions,
  proxy: ProxyListener | undefined = undefined,
): typeof globalThis.fetch {
  const send = options.fetch ?? globalThis.fetch; // not the later one, which may be this one
  const cleaner = new Cleaner(sidecar, options, proxy);
  return async (input, init) => {
    const { read, sent } = await readRequest(input, init);
    if (!read) return send(input, sent);
    const signal = init?.signal ?? (input instanceof Request ? input.signal : null) ?? undefined;
    const prepared = await cleaner.prepared(read, signal);
    const response = await send(input, prepared ? { ...init, ...prepared } : sent);
    return response.ok && response.body ? cleaner.clean(response, read, signal) : response;
  };
}

type HeadersGiven = NonNullable<RequestInit["headers"]>;

/**
 * Reads a request whose answer is cleaned; `sent` is what to send. A body that can be read only
 * once is replaced by its bytes; all others are not consumed.
 */
async function readRequest(input: Parameters<typeof fetch>[0], init: RequestInit | undefined) {
  const request = input instanceof Request ? input : undefined;
  const url = new URL(request?.url ?? String(input), "http://localhost");
  const method = init?.method ?? request?.method ?? "GET";
  const given = init?.body ?? (request?.body ? request.clone().body : undefined);
  if (method !== "POST" || !given || !isCleaned(url)) return { sent: init };
  const bytes = await new Response(given).arrayBuffer();
  const body = new TextDecoder().decode(bytes);
  const asked = askedOf(method, url, body);
  const isConsumed = Symbol.asyncIterator in Object(init?.body) || init?.body instanceof ReadableStream;
  const headers: HeadersGiven = init?.headers ?? request?.headers ?? {};
  return { sent: isConsumed ? { ...init, body: bytes } : init, read: asked && { asked, body, headers } };
}

/** The headers with those that must be set, without the old length. */
function withSet(given: HeadersGiven, toSet: Readonly<Record<string, unknown>>): Headers {
  const headers = new Headers(given);
  headers.delete("content-length");
  for (const [name, value] of Object.entries(toSet)) headers.set(name, String(value));
  return headers;
}

/** Whether a signature of AWS covers the body, which must not change then. */
function coversBody(headers: HeadersGiven): boolean {
  const [authorization = ""] = Object.values(selected(headers as HeadersLike, ["authorization"]));
  return authorization.startsWith("AWS4-HMAC");
}

/** A response that is being cleaned. */
interface Reading {
  readonly stream: SidecarStream;
  readonly listening: Listening;
  readonly source: KeptSource;
  readonly format: BodyFormat;
  /** Aborts when the host wants no more of the response. */
  readonly signal: AbortSignal;
}

class Cleaner {
  readonly #sidecar: Sidecar;
  readonly #options: SidecarFetchOptions;
  readonly #losses: Losses;
  readonly #preparing: Preparing;
  readonly #proxy: ProxyListener | undefined;

  constructor(sidecar: Sidecar, options: SidecarFetchOptions, proxy: ProxyListener | undefined) {
    this.#sidecar = sidecar;
    this.#options = options;
    this.#losses = new Losses(sidecar.warnings, options);
    this.#preparing = new Preparing(sidecar, this.#losses, options);
    this.#proxy = proxy;
  }

  /** Whether the reader gets no exceptions. */
  get #isProxy(): boolean {
    return this.#proxy !== undefined;
  }

  /** The prepared body to send, with its headers; undefined: the caller's own request. */
  async prepared({ asked, body, headers }: ReadRequest, signal: Signal) {
    if (this.#losses.isStrict) await unlessAborted(this.#sidecar.start(), signal);
    if (coversBody(headers)) return undefined;
    // What stays in the text of an answer stays in the next request.
    const kept = this.#options.claims === "text" && { claims: "include" as const };
    const request = { ...this.#about(asked), wire: asked.wire, body: parseExact(body), ...kept };
    const result = await this.#preparing.request(request, headers as HeadersLike, signal);
    if (result) this.#proxy?.onPrepared(result);
    if (!result?.changed || !result.body) return undefined;
    return { body: stringifyExact(result.body), headers: withSet(headers, result.headers ?? {}) };
  }

  async clean(response: Response, read: ReadRequest, signal: Signal): Promise<Response> {
    const { asked } = read;
    const type = response.headers.get("content-type");
    const format = formatOf(asked, type ?? "");
    if (!format && !isOfType(type, "application/json")) {
      this.#losses.report(new SidecarError("unsupported", `a response of the type "${type ?? ""}" is not read`));
      return response;
    }
    const gone = new AbortController();
    const over = signal ? AbortSignal.any([signal, gone.signal]) : gone.signal;
    const most = format ? MOST_KEPT : Infinity; // the reader of a whole body has its own bound
    const source = new KeptSource(response.body as ReadableStream<Uint8Array>, over, most);
    const slices = format ? await this.#streamed(source, read, format, over) : this.#whole(source, read, over);
    if (!slices && this.#isProxy) return response;
    return answer(readableOf(slices ?? source.again(), gone), response);
  }

  /** The slices of a clean stream; undefined: the response passes unchanged. */
  async #streamed(
    source: KeptSource,
    read: ReadRequest,
    format: BodyFormat,
    signal: AbortSignal,
  ): Promise<Slices | undefined> {
    const params = { ...this.#params(read), framing: format.framing, policy: heardPolicy(this.#options) };
    const open = async () => emitting(await this.#sidecar.open(params, { signal }));
    if (!this.#isProxy) source.readAhead();
    const stream = await this.#losses.attempt(() => unlessAborted(open(), signal), signal);
    if (!stream) return undefined;
    const listening = new Listening(this.#options, this.#losses, stream.id, read.asked.model);
    return this.#written({ stream, listening, source, format, signal });
  }

  /** The slices of a whole response, which is read when its reader wants it, as without a sidecar. */
  async *#whole(source: KeptSource, read: ReadRequest, signal: AbortSignal): Slices {
    try {
      const bytes = await wholeOf(source);
      if (!bytes) return yield* this.#again(source, new SidecarError("unsupported", TOO_LONG));
      const body = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
      const clean = objectIn(body) && (await this.#normalized(body, read, signal));
      yield clean ? new TextEncoder().encode(JSON.stringify(clean)) : bytes;
    } finally {
      source.stop();
    }
  }

  #normalized(body: string, read: ReadRequest, signal: AbortSignal): Promise<object | undefined> {
    // Ids of promoted calls contain the stream's id, so two turns must not share it.
    const streamId = crypto.randomUUID();
    const params = { ...this.#params(read), framing: "json" as const, body, streamId };
    const listening = new Listening(this.#options, this.#losses, streamId, read.asked.model);
    return this.#losses.attempt(async () => {
      const normalized = await this.#sidecar.normalize(params, { signal });
      const body = reported(normalized, listening);
      if (body) this.#proxy?.onStats(normalized.stats);
      return body;
    }, signal);
  }

  /**
   * The clean body, as it is made. After a failure of the sidecar before the first document, the
   * source passes unchanged, unless so much came that it was not kept. Any other failure is thrown,
   * after everything that was certain.
   */
  async *#written(reading: Reading): Slices {
    const { stream, listening, source, format, signal } = reading;
    const encoder = new TextEncoder();
    let isFirst = true;
    const write = (chunk: Record<string, unknown>) => {
      const document = format.document(chunk, isFirst);
      isFirst = false;
      source.forget();
      return encoder.encode(document);
    };
    const piped = this.#isProxy ? stream.pipeChunks(source, listening.event) : stream.pipeBare(source, listening.event);
    try {
      for await (const chunk of piped) {
        if (signal.aborted && !isTimeLimit(signal)) throw signal.reason;
        yield write(chunk);
      }
      const isMarked = await this.#closed(reading);
      yield encoder.encode(format.end(isFirst, isMarked));
    } catch (error) {
      if (signal.aborted) {
        const held = await stopped(reading);
        yield* held.map(write);
        throw signal.reason;
      }
      const isBroken = source.brokeOffWith(error);
      if (isBroken) await this.#closed(reading);
      else if (isFirst && source.isWhole) return yield* this.#again(source, error);
      else if (this.#isProxy) yield write(format.failure(wordsOf(error)));
      else this.#losses.report(error);
      throw source.failure ? source.failure.error : error; // whatever else failed at the end
    } finally {
      source.stop();
    }
  }

  /** Closes the stream and reports its message; returns whether the source had its mark of the end. */
  async #closed({ stream, listening }: Reading): Promise<boolean> {
    const { message, stats, isMarked = false } = await stream.close();
    this.#proxy?.onStats(stats);
    listening.message(message);
    return isMarked;
  }

  async *#again(source: KeptSource, error: unknown): Slices {
    if (this.#losses.isStrict) throw error;
    this.#losses.report(error);
    yield* source.again();
  }

  #params({ asked, headers }: ReadRequest): OpenParams {
    const { claims = "drop", rewrite } = this.#options;
    const isPrepared = this.#preparing.isCertain && !coversBody(headers);
    const reasoning = isPrepared && { reasoning: "include" as const };
    const emit = { wire: asked.wire, claims, ...reasoning, ...(rewrite && { rewrite }) };
    return { ...this.#about(asked), wire: asked.wire, emit };
  }

  /** The params about the model and the provider. */
  #about({ host, model, tools }: Asked) {
    const { provider, policy, responseTemplate } = this.#options;
    return {
      provider: provider ?? host,
      ...(model !== undefined && { model }),
      ...(tools && { tools: tools as NonNullable<OpenParams["tools"]> }),
      ...(policy && { policy }),
      ...(responseTemplate && { responseTemplate }),
    };
  }
}

type Slices = AsyncGenerator<Uint8Array, void, void>;
type Signal = AbortSignal | undefined;
type ReadRequest = NonNullable<Awaited<ReturnType<typeof readRequest>>["read"]>;

/**
 * The end of a response that its reader no longer wants. After an abort nothing more is written,
 * and nobody waits. After a time limit the documents of the text that was held are returned.
 */
async function stopped({ stream, listening, signal }: Reading): Promise<readonly Record<string, unknown>[]> {
  const ended = stream.cancel().then((closed) => {
    closed.events.forEach(listening.event);
    listening.message(closed.message);
    return closed.chunks ?? [];
  });
  const held = ended.catch(() => []); // the sidecar hangs, or is gone
  return isTimeLimit(signal) ? held : [];
}

/** All bytes of a source; undefined if they are too many: then they can be read again. */
async function wholeOf(source: KeptSource): Promise<Uint8Array | undefined> {
  const slices: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const slice of source) {
    slices.push(slice as Uint8Array<ArrayBuffer>);
    size += slice.length;
    if (size > MOST_WHOLE) return undefined;
  }
  source.forget();
  return new Uint8Array(await new Blob(slices).arrayBuffer());
}

/** The most bytes of a stream that are kept before its first document. */
const MOST_KEPT = 16 * 1024 * 1024;

const TOO_LONG = "a body has more than 32 MiB";

/** The stream; throws if the sidecar is too old to emit the documents of the clean stream. */
function emitting(stream: SidecarStream): SidecarStream {
  if (stream.opened.emit) return stream;
  stream.cancel().catch(() => {});
  throw new SidecarError("unsupported", "the sidecar does not know the option emit of stream/open");
}

/** The clean body; undefined if the sidecar could not read the body. Throws if it is too long. */
function bodyOf({ body, events }: NormalizedMessage): object | undefined {
  if (events.some(isTooLong)) throw new SidecarError("unsupported", "the answer is too long for the sidecar");
  const codes = events.flatMap((event) => (event.type === "diagnostic" ? [event.code] : []));
  return codes.some((code) => UNREAD.has(code)) ? undefined : (body ?? undefined);
}

/** Codes of diagnostics about documents that the wire does not know. */
const UNREAD: ReadonlySet<string> = new Set(["malformed-chunk", "unknown-chunk"]);

/** The response with a new body, without the old length and encoding. */
function answer(body: ReadableStream<Uint8Array>, response: Response): Response {
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
  const made = new Response(body, { status, statusText, headers });
  const { url, redirected } = response;
  return Object.defineProperties(made, { url: { value: url }, redirected: { value: redirected } });
}

/** Reports the events to the host and returns the clean body; undefined: the response passes unchanged. */
function reported(normalized: NormalizedMessage, listening: Listening): object | undefined {
  const body = bodyOf(normalized);
  if (!body) return undefined;
  normalized.events.forEach(listening.event);
  listening.message(normalized.message);
  return body;
}
