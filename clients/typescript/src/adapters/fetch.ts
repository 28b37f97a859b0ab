// A `fetch` with clean responses for the SDKs of providers: leaked text is moved to its channel,
// and the SDK reads the format of its provider. It cleans streams and whole responses of Chat
// Completions, Responses, Messages and Gemini. Everything else passes unchanged: other
// responses, and all responses if no sidecar can be started.

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
  /** Sends the requests. Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Calls that the model wrote into its text are left out, kept in the text, or turned into calls. Default: "drop". */
  claims?: "drop" | "text" | "promote";
  policy?: PolicyPatch;
  /** How the model writes; replaces the profile of its name (protocol.md, "Response templates"). */
  responseTemplate?: OpenParams["responseTemplate"];
  /** The provider, if the host of the address does not show it ("groq" for a proxy). */
  provider?: string;
  /**
   * Called if a response passes unchanged because no sidecar can read it, if a response breaks
   * off, if a request is sent unprepared, and with an error that a listener throws.
   */
  onLost?: (error: unknown) => void;
}

/** Returns the `fetch`; pass it to an SDK as its option `fetch`. */
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

/** Reads a request without consuming it; undefined if its answer is not cleaned. */
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

/** The arguments of `fetch` with a new body, without the old length. */
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

  /** The prepared body to send; undefined: the caller's own bytes. */
  async prepared({ asked, body }: { asked: Asked; body: string }): Promise<string | undefined> {
    const request = { ...this.#about(asked), wire: asked.wire, body: parseExact(body) };
    const result = await this.#preparing.attempt(() => this.#sidecar.prepare(request));
    return result?.changed && result.body ? stringifyExact(result.body) : undefined;
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

  /** Reads a copy, so that the response itself can pass. */
  async #whole(response: Response, asked: Asked): Promise<Response> {
    const text = await response.clone().text();
    if (!objectIn(text)) return response;
    // Ids of promoted calls contain the stream's id, so two turns must not share it.
    const streamId = crypto.randomUUID();
    const params = { ...this.#params(asked), framing: "json" as const, body: text, streamId };
    const listening = new Listening(this.#options, streamId, asked.model);
    const body = await this.#unlessLost(async () => reported(await this.#sidecar.normalize(params), listening));
    return body ? answer(JSON.stringify(body), response) : response;
  }

  /**
   * The clean body, as it is made. After a failure before its first document, the source passes
   * unchanged. A later failure is thrown, after everything that was certain.
   */
  async *#written({ stream, listening }: Reading, source: KeptSource, format: BodyFormat): AsyncGenerator<Uint8Array> {
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

  /** The params about the model and the provider. */
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

  /** The result of `work`; undefined if there is no sidecar, or if it cannot do the work. */
  async #unlessLost<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#options.onLost?.(error);
      return undefined;
    }
  }
}

interface Reading {
  readonly stream: SidecarStream;
  readonly listening: Listening;
}

/** The stream; throws if the sidecar is too old to emit the documents of the clean stream. */
function emitting(stream: SidecarStream): SidecarStream {
  if (stream.opened.emit || stream.passThrough) return stream;
  stream.cancel().catch(() => {});
  throw new SidecarError("unsupported", "the sidecar does not know the option emit of stream/open");
}

/** The clean body; undefined if the sidecar could not read the body. Throws if it is too long. */
function bodyOf({ body, events }: NormalizedMessage): object | undefined {
  const codes = events.flatMap((event) => (event.type === "diagnostic" ? [event.code] : []));
  if (codes.includes("document-limit")) throw new SidecarError("unsupported", "the answer is too long for the sidecar");
  return codes.some((code) => UNREAD.has(code)) ? undefined : (body ?? undefined);
}

/** Codes of diagnostics about documents that the wire does not know. */
const UNREAD: ReadonlySet<string> = new Set(["malformed-chunk", "unknown-chunk"]);

/** The response with a new body, without the old length and encoding. */
function answer(body: string | ReadableStream<Uint8Array>, { status, statusText, headers: given }: Response): Response {
  const headers = new Headers(given);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
  return new Response(body, { status, statusText, headers });
}

/** Reports the events to the host and returns the clean body; undefined: the response passes unchanged. */
function reported(normalized: NormalizedMessage, listening: Listening): object | undefined {
  const body = bodyOf(normalized);
  if (!body) return undefined;
  normalized.events.forEach(listening.event);
  listening.message(normalized.message);
  return body;
}
