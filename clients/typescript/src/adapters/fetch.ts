// A `fetch` for the SDKs of providers, whose responses are clean: what the model leaked is
// in its place, and the SDK reads what its provider would have sent. Streams and whole
// responses of Chat Completions, Responses, Messages and Gemini; everything else passes
// untouched, and so does everything where the sidecar cannot be had.

import type { BodyFormat } from "../body-format.js";
import { SidecarError } from "../errors.js";
import type { OpenParams, PolicyPatch } from "../protocol.js";
import type { Sidecar } from "../sidecar.js";
import type { Source } from "../read-ahead.js";
import type { SidecarStream } from "../stream.js";
import { askedOf, formatOf, type Asked } from "./endpoints.js";

export interface SidecarFetchOptions {
  /** What sends the requests. The global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Calls that the model wrote into its text are left out, left in the text, or made calls. "drop". */
  claims?: "drop" | "text" | "promote";
  policy?: PolicyPatch;
  /** Called where a response passes as it came, because there is no sidecar to read it. */
  onLost?: (error: unknown) => void;
}

/** The `fetch`; hand it to an SDK as its option of that name. */
export function sidecarFetch(sidecar: Sidecar, options: SidecarFetchOptions = {}): typeof globalThis.fetch {
  const send = options.fetch ?? globalThis.fetch;
  const cleaner = new Cleaner(sidecar, options);
  return async (input, init) => {
    const asked = await readRequest(input, init);
    const response = await send(input, init);
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
  return asked && { url, asked };
}

class Cleaner {
  readonly #sidecar: Sidecar;
  readonly #options: SidecarFetchOptions;

  constructor(sidecar: Sidecar, options: SidecarFetchOptions) {
    this.#sidecar = sidecar;
    this.#options = options;
  }

  async clean(response: Response, url: URL, asked: Asked): Promise<Response> {
    const type = response.headers.get("content-type") ?? "";
    const format = formatOf(asked, url, type);
    if (format) return this.#streamed(response, asked, format);
    return type.startsWith("application/json") ? this.#whole(response, asked) : response;
  }

  async #streamed(response: Response, asked: Asked, format: BodyFormat): Promise<Response> {
    const stream = await this.#unlessLost(
      this.#sidecar.openStream({ ...this.#params(asked), framing: format.framing }),
    );
    if (!stream || stream.passThrough) return response;
    const body = ReadableStream.from(this.#written(stream, response.body ?? [], format));
    return answer(body as ReadableStream<Uint8Array>, response);
  }

  async #whole(response: Response, asked: Asked): Promise<Response> {
    const text = await response.text();
    const params = { ...this.#params(asked), framing: "json" as const, body: text };
    const normalized = await this.#unlessLost(this.#sidecar.normalize(params));
    return answer(normalized?.body ? JSON.stringify(normalized.body) : text, response);
  }

  /** The clean body, as it is made; what breaks it off is thrown behind what was certain. */
  async *#written(stream: SidecarStream, source: Source, format: BodyFormat): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    let isFirst = true;
    try {
      for await (const chunk of stream.pipeChunks(source)) {
        yield encoder.encode(format.document(chunk, isFirst));
        isFirst = false;
      }
    } catch (error) {
      if (error instanceof SidecarError) this.#options.onLost?.(error);
      throw error;
    }
    yield encoder.encode(format.end(isFirst));
  }

  #params({ wire, model, tools }: Asked): OpenParams {
    const { claims = "drop", policy } = this.#options;
    return {
      wire,
      emit: { wire, claims },
      ...(model !== undefined && { model }),
      ...(tools && { tools: tools as NonNullable<OpenParams["tools"]> }),
      ...(policy && { policy }),
    };
  }

  /** undefined: there is no sidecar that could do it. */
  async #unlessLost<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof SidecarError)) throw error;
      this.#options.onLost?.(error);
      return undefined;
    }
  }
}

/** The response with another body, of which neither length nor encoding are known. */
function answer(body: string | ReadableStream<Uint8Array>, { status, statusText, headers: given }: Response): Response {
  const headers = new Headers(given);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
  return new Response(body, { status, statusText, headers });
}
