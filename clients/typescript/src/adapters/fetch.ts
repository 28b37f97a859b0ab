// A `fetch` for the SDKs of providers, whose responses are clean: what the model leaked is
// in its place, and the SDK reads what its provider would have sent. Streams and whole
// responses of Chat Completions, Responses, Messages and Gemini; everything else passes
// untouched: what is no answer of that kind, and what no sidecar can be had for, or only
// one that answers nonsense.

import type { BodyFormat, EmittedWire } from "../body-format.js";
import { SidecarError } from "../errors.js";
import type { OpenParams, PolicyPatch } from "../protocol.js";
import type { NormalizedMessage, Sidecar } from "../sidecar.js";
import type { SidecarStream } from "../stream.js";
import { askedOf, formatOf, objectIn, type Asked } from "./endpoints.js";
import { KeptSource } from "./kept-source.js";

export interface SidecarFetchOptions {
  /** What sends the requests. The global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Calls that the model wrote into its text are left out, left in the text, or made calls. "drop". */
  claims?: "drop" | "text" | "promote";
  policy?: PolicyPatch;
  /**
   * Requests go out without what the model leaked before, and without reasoning that their
   * provider refuses. true; false sends them as they are, and asks nobody.
   */
  prepare?: boolean;
  /** Who answers, where the host of the address does not say it ("groq" behind a proxy). */
  provider?: string;
  /**
   * Called where a response passes as it came, because no sidecar can read it, where one
   * breaks off, and where a request goes out as it came, because it could not be prepared.
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
  #saysOld = false;

  constructor(sidecar: Sidecar, options: SidecarFetchOptions) {
    this.#sidecar = sidecar;
    this.#options = options;
  }

  /** The body to send; undefined: the caller's own bytes. */
  async prepared({ url, asked, body }: { url: URL; asked: Asked; body: string }): Promise<string | undefined> {
    if (this.#options.prepare === false || !(await this.#canPrepare())) return undefined;
    const { wire, model, tools } = this.#params(asked);
    const { provider = url.hostname, policy } = this.#options;
    const params = { wire: wire as EmittedWire, provider, body: objectIn(body) ?? {}, ...(model && { model }) };
    const more = { ...(tools && { tools }), ...(policy && { policy }) };
    const told = await this.#unlessLost(() => this.#sidecar.prepare({ ...params, ...more }));
    return told?.changed && told.body ? JSON.stringify(told.body) : undefined;
  }

  async clean(response: Response, url: URL, asked: Asked): Promise<Response> {
    const type = response.headers.get("content-type") ?? "";
    const format = formatOf(asked, url, type);
    if (format) return this.#streamed(response, asked, format);
    return type.startsWith("application/json") ? this.#whole(response, asked) : response;
  }

  async #streamed(response: Response, asked: Asked, format: BodyFormat): Promise<Response> {
    const params = { ...this.#params(asked), framing: format.framing };
    const stream = await this.#unlessLost(async () => emitting(await this.#sidecar.openStream(params)));
    if (!stream || stream.passThrough || !response.body) return response;
    const source = new KeptSource(response.body);
    const body = ReadableStream.from(this.#written(stream, source, format));
    return answer(body as ReadableStream<Uint8Array>, response);
  }

  /** Read from a copy, so that the response itself can pass. */
  async #whole(response: Response, asked: Asked): Promise<Response> {
    const text = await response.clone().text();
    if (!objectIn(text)) return response;
    const params = { ...this.#params(asked), framing: "json" as const, body: text };
    const body = await this.#unlessLost(async () => bodyOf(await this.#sidecar.normalize(params)));
    return body ? answer(JSON.stringify(body), response) : response;
  }

  /**
   * The clean body, as it is made. What goes wrong before anything of it was given lets the
   * source pass as it came; what breaks it off later is thrown behind what was certain.
   */
  async *#written(stream: SidecarStream, source: KeptSource, format: BodyFormat): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    let isFirst = true;
    try {
      for await (const chunk of stream.pipeChunks(source)) {
        const document = format.document(chunk, isFirst);
        isFirst = false;
        source.forget();
        yield encoder.encode(document);
      }
      yield encoder.encode(format.end(isFirst));
    } catch (error) {
      if (!source.brokeOffWith(error)) this.#options.onLost?.(error);
      if (!isFirst) throw error;
      yield* source.again();
    } finally {
      source.stop();
    }
  }

  #params({ wire, model, tools }: Asked): OpenParams {
    const { claims = "drop", policy } = this.#options;
    return {
      wire,
      emit: { wire, claims, ...(this.#includes() && { reasoning: "include" as const }) },
      ...(model !== undefined && { model }),
      ...(tools && { tools: tools as NonNullable<OpenParams["tools"]> }),
      ...(policy && { policy }),
    };
  }

  /** Whether what comes back is prepared, so that all reasoning may go out. */
  #includes(): boolean {
    return this.#options.prepare !== false && (this.#sidecar.capabilities?.methods?.includes(PREPARE) ?? false);
  }

  /** An older sidecar cannot, which is said once; that none can be had is said of the answer. */
  async #canPrepare(): Promise<boolean> {
    try {
      const known = await this.#sidecar.start();
      if (!known || known.methods?.includes(PREPARE)) return true;
    } catch {
      return false;
    }
    if (!this.#saysOld) this.#options.onLost?.(new SidecarError("unsupported", OLD));
    this.#saysOld = true;
    return false;
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

const PREPARE = "request/prepare";
const OLD = `the sidecar is too old for ${PREPARE}: requests go out as they came`;

/** A stream whose documents are to be had; throws where the sidecar is too old for it. */
function emitting(stream: SidecarStream): SidecarStream {
  if (stream.opened.emit || stream.passThrough) return stream;
  stream.cancel().catch(() => {});
  throw new SidecarError("unsupported", "the sidecar does not know the option emit of stream/open");
}

/** The clean body; undefined: nothing was read of the one that came. */
function bodyOf({ body, events }: NormalizedMessage): object | undefined {
  const isUnread = events.some((event) => event.type === "diagnostic" && UNREAD.has(event.code));
  return isUnread ? undefined : (body ?? undefined);
}

/** What is said of a document that the wire does not know. */
const UNREAD: ReadonlySet<string> = new Set(["malformed-chunk", "unknown-chunk"]);

/** The response with another body, of which neither length nor encoding are known. */
function answer(body: string | ReadableStream<Uint8Array>, { status, statusText, headers: given }: Response): Response {
  const headers = new Headers(given);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
  return new Response(body, { status, statusText, headers });
}
