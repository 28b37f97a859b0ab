// A `fetch` for the SDKs of providers, whose responses are clean: what the model leaked is
// in its place, and the SDK reads what its provider would have sent. Streams and whole
// responses of Chat Completions, Responses, Messages and Gemini; everything else passes
// untouched: what is no answer of that kind, and what no sidecar can be had for, or only
// one that answers nonsense.

import type { BodyFormat } from "../stream/body-format.js";
import { SidecarError } from "../errors.js";
import type { OpenParams, PolicyPatch } from "../protocol.js";
import type { NormalizedMessage, Sidecar } from "../sidecar.js";
import type { SidecarStream } from "../stream/stream.js";
import { askedOf, formatOf, objectIn, type Asked } from "./endpoints.js";
import { KeptSource } from "./kept-source.js";
import { parseExact, stringifyExact } from "./exact-numbers.js";
import { Listening, type ListeningOptions } from "./listening.js";
import { Preparing, type PreparingOptions } from "./preparing.js";

export interface SidecarFetchOptions extends PreparingOptions, ListeningOptions {
  /** What sends the requests. The global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Calls that the model wrote into its text are left out, left in the text, or made calls. "drop". */
  claims?: "drop" | "text" | "promote";
  policy?: PolicyPatch;
  /** How the model writes, in place of what its name says (protocol.md, "Response templates"). */
  responseTemplate?: OpenParams["responseTemplate"];
  /** Who answers, where the host of the address does not say it ("groq" behind a proxy). */
  provider?: string;
  /**
   * Called where a response passes as it came, because no sidecar can read it, where one
   * breaks off, where a request goes out as it came, because it could not be prepared, and
   * with what a listener throws.
   */
  onLost?: (error: unknown) => void;
}

/** The `fetch`; hand it to an SDK as its option of that name. */
export function sidecarFetch(sidecar: Sidecar, options: SidecarFetchOptions = {}): typeof globalThis.fetch {
  const send = options.fetch ?? globalThis.fetch;
  const cleaner = new Cleaner(sidecar, options);
  return async (input, init) => {
    const asked = await readRequest(input, init);
    const body = asked && (await cleaner.prepared(asked));
    const response = await (body === undefined ? send(input, init) : send(...withBody(input, init, body)));
    if (!asked || !response.ok || !response.body) return response;
    return cleaner.clean(response, asked.url, asked.asked);
  };
}

/** What a request asks; undefined: the answer is not ours. The request is left as it is. */
async function readRequest(input: Parameters<typeof fetch>[0], init: RequestInit | undefined) {
  const request = input instanceof Request ? input : undefined;
  const url = new URL(request?.url ?? String(input), "http://localhost");
  const method = init?.method ?? request?.method ?? "GET";
  const given = init?.body ?? (request?.body ? request.clone() : undefined);
  if (method !== "POST" || !given || given instanceof ReadableStream) return undefined;
  const body = await new Response(given instanceof Request ? given.body : given).text();
  const asked = askedOf(method, url, body);
  return asked && { url, asked, body };
}

/** The same request with another body, whose length is another one. */
function withBody(input: Parameters<typeof fetch>[0], init: RequestInit | undefined, body: string) {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
  headers.delete("content-length");
  return [input, { ...init, headers, body }] as const;
}

class Cleaner {
  readonly #sidecar: Sidecar;
  readonly #options: SidecarFetchOptions;
  readonly #preparing: Preparing;

  constructor(sidecar: Sidecar, options: SidecarFetchOptions) {
    this.#sidecar = sidecar;
    this.#options = options;
    this.#preparing = new Preparing(sidecar, options);
  }

  /** The body to send; undefined: the caller's own bytes. */
  async prepared({ asked, body }: { asked: Asked; body: string }): Promise<string | undefined> {
    const request = { ...this.#about(asked), wire: asked.wire, body: parseExact(body) };
    const told = await this.#preparing.attempt(() => this.#sidecar.prepare(request));
    return told?.changed && told.body ? stringifyExact(told.body) : undefined;
  }

  async clean(response: Response, url: URL, asked: Asked): Promise<Response> {
    const type = response.headers.get("content-type") ?? "";
    const format = formatOf(asked, url, type);
    if (format) return this.#streamed(response, asked, format);
    return type.startsWith("application/json") ? this.#whole(response, asked) : response;
  }

  async #streamed(response: Response, asked: Asked, format: BodyFormat): Promise<Response> {
    if (!response.body) return response;
    const params = { ...this.#params(asked), framing: format.framing };
    const stream = await this.#unlessLost(async () => emitting(await this.#sidecar.openStream(params)));
    if (!stream || stream.passThrough) return response;
    const source = new KeptSource(response.body);
    const listening = new Listening(this.#options, stream.id, asked.model);
    const body = ReadableStream.from(this.#written({ stream, listening }, source, format));
    return answer(body as ReadableStream<Uint8Array>, response);
  }

  /** Read from a copy, so that the response itself can pass. */
  async #whole(response: Response, asked: Asked): Promise<Response> {
    const text = await response.clone().text();
    if (!objectIn(text)) return response;
    // Ids of promoted calls are made of it: two turns must not have one.
    const streamId = crypto.randomUUID();
    const params = { ...this.#params(asked), framing: "json" as const, body: text, streamId };
    const listening = new Listening(this.#options, streamId, asked.model);
    const body = await this.#unlessLost(async () => told(await this.#sidecar.normalize(params), listening));
    return body ? answer(JSON.stringify(body), response) : response;
  }

  /**
   * The clean body, as it is made. What goes wrong before anything of it was given lets the
   * source pass as it came; what breaks it off later is thrown behind what was certain.
   */
  async *#written({ stream, listening }: Told, source: KeptSource, format: BodyFormat): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    let isFirst = true;
    try {
      for await (const chunk of stream.pipeChunks(source, listening.event)) {
        const document = format.document(chunk, isFirst);
        isFirst = false;
        source.forget();
        yield encoder.encode(document);
      }
      const { message, isMarked = false } = await stream.close();
      listening.message(message);
      yield encoder.encode(format.end(isFirst, isMarked));
    } catch (error) {
      if (source.brokeOffWith(error)) listening.message((await stream.close()).message);
      else this.#options.onLost?.(error);
      if (!isFirst) throw error;
      yield* source.again();
    } finally {
      source.stop();
    }
  }

  #params(asked: Asked): OpenParams {
    const { claims = "drop" } = this.#options;
    const reasoning = this.#preparing.isCertain && { reasoning: "include" as const };
    return { ...this.#about(asked), wire: asked.wire, emit: { wire: asked.wire, claims, ...reasoning } };
  }

  /** What is known of the model and who answers. */
  #about({ host, model, tools }: Asked) {
    const { provider = host, policy, responseTemplate } = this.#options;
    return {
      provider,
      ...(model !== undefined && { model }),
      ...(tools && { tools: tools as NonNullable<OpenParams["tools"]> }),
      ...(policy && { policy }),
      ...(responseTemplate && { responseTemplate }),
    };
  }

  /** undefined: there is no sidecar that could do it, or it does not know how. */
  async #unlessLost<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#options.onLost?.(error);
      return undefined;
    }
  }
}

interface Told {
  readonly stream: SidecarStream;
  readonly listening: Listening;
}

/** A stream whose documents are to be had; throws where the sidecar is too old for it. */
function emitting(stream: SidecarStream): SidecarStream {
  if (stream.opened.emit || stream.passThrough) return stream;
  stream.cancel().catch(() => {});
  throw new SidecarError("unsupported", "the sidecar does not know the option emit of stream/open");
}

/** The clean body; undefined: nothing was read of the one that came. Throws where it is too long. */
function bodyOf({ body, events }: NormalizedMessage): object | undefined {
  const codes = events.flatMap((event) => (event.type === "diagnostic" ? [event.code] : []));
  if (codes.includes("document-limit")) throw new SidecarError("unsupported", "the answer is too long for the sidecar");
  return codes.some((code) => UNREAD.has(code)) ? undefined : (body ?? undefined);
}

/** What is said of a document that the wire does not know. */
const UNREAD: ReadonlySet<string> = new Set(["malformed-chunk", "unknown-chunk"]);

/** The response with another body, of which neither length nor encoding are known. */
function answer(body: string | ReadableStream<Uint8Array>, { status, statusText, headers: given }: Response): Response {
  const headers = new Headers(given);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
  return new Response(body, { status, statusText, headers });
}

/** The clean body, whose events the host has heard; undefined: it passes as it came. */
function told(normalized: NormalizedMessage, listening: Listening): object | undefined {
  const body = bodyOf(normalized);
  if (!body) return undefined;
  normalized.events.forEach(listening.event);
  listening.message(normalized.message);
  return body;
}
