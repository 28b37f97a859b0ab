// A middleware of the Vercel AI SDK: `wrapLanguageModel({ model, middleware })` returns a model
// whose answers, streamed or whole, go through the sidecar. The sidecar reads the provider's
// raw chunks if their wire is known, or else the SDK's own parts.

import type { ClosedStream } from "../stream/events.js";
import { failedResponse } from "../stream/failed-response.js";
import type { OpenParams, PolicyPatch } from "../protocol.js";
import type { Sidecar } from "../sidecar.js";
import type { SidecarStream } from "../stream/stream.js";
import type { CallOptions, Content, GenerateResult, Model, StreamPart, StreamResult } from "./language-model.js";
import { Listening, type ListeningOptions } from "./listening.js";
import { ModelDocuments, partsOf } from "./model-documents.js";
import { preparedPrompt } from "./model-prompt.js";
import { APPROVABLE, CLAIM_PREFIX, ModelParts, type ClaimPolicy } from "./model-parts.js";
import { Preparing } from "./preparing.js";
import { providerName, wireOf } from "./provider-wires.js";

export interface MiddlewareOptions extends ListeningOptions {
  /**
   * What happens to calls that the model wrote into its text. `drop`: they are left out. `data`,
   * the default: `providerMetadata.streamSidecar.claims` of the finish lists them. `promote`:
   * at the end of a successful turn, calls of the given tools become calls. `approve`: the same
   * for tools of `withClaimApproval`; the SDK asks before it runs them.
   */
  claims?: ClaimPolicy;
  policy?: PolicyPatch;
  /** How the model writes; replaces the profile of its name (protocol.md, "Response templates"). */
  responseTemplate?: OpenParams["responseTemplate"];
  /**
   * Whether earlier answers in the prompt are sent without leaked text, and without reasoning
   * that the provider refuses. Default: true. false sends the prompt unchanged.
   */
  prepare?: boolean;
  /**
   * Called if there is no sidecar: the model's answer passes unchanged. Without this option
   * that is an error. Also called if a prompt is sent unprepared, and with an error that a
   * listener throws.
   */
  onLost?: (error: unknown) => void;
}

/** The middleware for `wrapLanguageModel` of all versions of the SDK since 6. */
export interface SidecarMiddleware {
  readonly specificationVersion: never;
  transformParams<P>(asked: { type: string; params: P; model?: Model }): Promise<P>;
  wrapGenerate<R>(asked: { doGenerate: () => PromiseLike<R>; params: object; model: Model }): Promise<R>;
  wrapStream<R>(asked: { doStream: () => PromiseLike<R>; params: object; model: Model }): Promise<R>;
}

/** Returns the middleware. One sidecar serves any number of models. */
export function sidecarMiddleware(sidecar: Sidecar, options: MiddlewareOptions = {}): SidecarMiddleware {
  const through = new Through(sidecar, options);
  const middleware = {
    specificationVersion: "v3",
    transformParams: async ({ type, params, model }: { type: string; params: CallOptions; model?: Model }) => {
      const prepared = model ? await through.prepared(params, model) : params;
      if (type !== "stream") return prepared;
      return { ...prepared, [ASKED]: params.includeRawChunks ?? false, includeRawChunks: true };
    },
    wrapGenerate: async ({ doGenerate, params, model }: Asked) => through.whole(await doGenerate(), params, model),
    wrapStream: async ({ doStream, params, model }: Asked) => through.streamed(await doStream(), params, model),
  };
  return middleware as unknown as SidecarMiddleware;
}

/** Tools whose calls may also be found in text; such calls wait for approval. Their own `needsApproval` still applies. */
export function withClaimApproval<T extends Readonly<Record<string, object>>>(tools: T): T {
  const made = Object.entries(tools).map(([name, tool]) => [name, approvable(tool)]);
  return Object.fromEntries(made) as T;
}

/** Whether the host asked for raw chunks itself. */
const ASKED = Symbol("includeRawChunks");

interface Asked {
  readonly doGenerate: () => PromiseLike<GenerateResult>;
  readonly doStream: () => PromiseLike<StreamResult>;
  readonly params: CallOptions & { readonly [ASKED]?: boolean };
  readonly model: Model;
}

interface Approval {
  readonly providerOptions?: object;
  readonly needsApproval?:
    boolean | ((input: unknown, asked: { toolCallId: string }) => boolean | PromiseLike<boolean>);
}

function approvable(tool: object): object {
  const { needsApproval = false, providerOptions } = tool as Approval;
  const asks: Approval["needsApproval"] = async (input, asked) =>
    asked.toolCallId.startsWith(CLAIM_PREFIX) ||
    (typeof needsApproval === "function" ? needsApproval(input, asked) : needsApproval);
  return { ...tool, needsApproval: asks, providerOptions: { ...providerOptions, ...APPROVABLE } };
}

class Through {
  readonly #sidecar: Sidecar;
  readonly #options: MiddlewareOptions;
  readonly #preparing: Preparing;

  constructor(sidecar: Sidecar, options: MiddlewareOptions) {
    this.#sidecar = sidecar;
    this.#options = options;
    this.#preparing = new Preparing(sidecar, options);
  }

  /** The params with a prepared prompt; the same object if the prompt needs no change. */
  async prepared(params: CallOptions, model: Model): Promise<CallOptions> {
    const { prompt } = params;
    if (!prompt?.some(({ role }) => role === "assistant")) return params;
    const about = this.#params(params, model);
    const made = await this.#preparing.attempt(() => preparedPrompt(this.#sidecar, prompt, about));
    return made && made !== prompt ? { ...params, prompt: made } : params;
  }

  /** A streamed answer. */
  async streamed(result: StreamResult, params: Asked["params"], model: Model): Promise<StreamResult> {
    const wire = wireOf(model.provider);
    const stream = await this.#open({ wire: wire ?? "openai-chat", ...this.#params(params, model) });
    if (!stream) return result;
    const parts = this.#parts(params, stream.id);
    const chunks = read(result.stream, {
      stream,
      listening: this.#listening(stream, model),
      parts,
      isRaw: wire !== undefined,
      showRaw: params[ASKED] ?? false,
      signal: params.abortSignal,
    });
    return { ...result, stream: ReadableStream.from(chunks) as ReadableStream<StreamPart> };
  }

  /** A whole answer: read from the provider's body, or else from the SDK's parts as documents. */
  async whole(result: GenerateResult, params: Asked["params"], model: Model): Promise<GenerateResult> {
    const wire = result.response?.body === undefined ? undefined : wireOf(model.provider);
    const stream = await this.#open({ wire: wire ?? "openai-chat", ...this.#params(params, model) });
    if (!stream) return result;
    const parts = this.#parts(params, stream.id);
    const listening = this.#listening(stream, model);
    const natives = [...partsOf(result.content)];
    const finish: StreamPart = { ...result, type: "finish" };
    const documents = new ModelDocuments();
    const chunks = wire ? [result.response?.body] : [...natives, finish].flatMap((part) => documents.of(part));
    const isEnd = ({ type }: StreamPart) => type === "text-end" || type === "reasoning-end";
    const made = [...natives.filter((part) => !isEnd(part)), finish].flatMap((part) => parts.native(part));
    for await (const event of stream.pipe(chunks)) made.push(...parts.event(listening.event(event)));
    made.push(...natives.filter(isEnd).flatMap((part) => parts.native(part)));
    const closed = await stream.close();
    listening.message(closed.message);
    made.push(...parts.end(parts.turn.end(closed)));
    const { finishReason = result.finishReason, providerMetadata = {} } = made.at(-1) as StreamPart;
    const failed = made.find(({ type }) => type === "error");
    if (failed) throw failed.error;
    return { ...result, content: contentOf(made), finishReason, providerMetadata };
  }

  async #open(params: OpenParams): Promise<SidecarStream | undefined> {
    try {
      return await this.#sidecar.openStream(params);
    } catch (error) {
      if (!this.#options.onLost) throw error;
      this.#options.onLost(error);
      return undefined;
    }
  }

  #params({ tools }: CallOptions, model: Model): OpenParams {
    const { policy, responseTemplate } = this.#options;
    const declared = tools?.map(({ name, description, inputSchema }) => ({
      name,
      ...(description === undefined ? {} : { description }),
      ...(inputSchema === undefined ? {} : { inputSchema: inputSchema as Record<string, unknown> }),
    }));
    return {
      provider: providerName(model.provider),
      model: model.modelId,
      ...(declared && { tools: declared }),
      ...(policy && { policy }),
      ...(responseTemplate && { responseTemplate }),
    };
  }

  #listening({ id }: SidecarStream, { modelId }: Model): Listening {
    return new Listening(this.#options, id, modelId);
  }

  #parts({ tools = [] }: CallOptions, streamId: string): ModelParts {
    return new ModelParts({ claims: this.#options.claims ?? "data", tools, streamId });
  }
}

interface Reading {
  readonly stream: SidecarStream;
  readonly listening: Listening;
  readonly parts: ModelParts;
  readonly isRaw: boolean;
  readonly showRaw: boolean;
  readonly signal: AbortSignal | undefined;
}

/** The parts of a streamed answer. A broken upstream ends it with an error part; an abort is thrown. */
async function* read(source: ReadableStream<StreamPart>, reading: Reading): AsyncGenerator<StreamPart> {
  const { stream, parts, listening, signal } = reading;
  const documents = new ModelDocuments();
  let closed: ClosedStream;
  let failure: { error: unknown } | undefined;
  try {
    for await (const part of source as unknown as AsyncIterable<StreamPart>) {
      const isRaw = part.type === "raw";
      const chunks = reading.isRaw ? (isRaw ? [part.rawValue] : []) : documents.of(part);
      if (chunks.length > 0) {
        yield* parts.settle();
        for (const event of await stream.pushAll(chunks)) yield* parts.event(listening.event(event));
      }
      if (!isRaw) yield* parts.native(part);
      else if (reading.showRaw) yield part;
    }
    closed = await stream.close();
  } catch (error) {
    if (signal?.aborted) throw error;
    failure = { error };
    closed = await stream.close({ reason: "error", error: failedResponse(error) });
  } finally {
    await stream[Symbol.asyncDispose]();
  }
  for (const event of closed.events) yield* parts.event(listening.event(event));
  listening.message(closed.message);
  // The sidecar has an event for the failure, unless the sidecar is lost.
  if (failure && !closed.message.errors.length) yield { type: "error", error: failure.error };
  yield* parts.end(parts.turn.end(closed));
}

/** The content of a whole answer, from the parts of a stream. */
function contentOf(parts: readonly StreamPart[]): Content[] {
  const content: Content[] = [];
  const open = new Map<string, { type: string; text: string }>();
  for (const part of parts) {
    const [channel = "", step] = part.type.split("-");
    const isBlock = step !== undefined && (channel === "text" || channel === "reasoning");
    if (!isBlock) {
      if (!NOT_CONTENT.test(part.type)) content.push(part);
    } else if (step === "start") {
      const block = { type: channel, text: "" };
      open.set(part.id ?? "", block);
      content.push(block);
    } else if (step === "delta") {
      const block = open.get(part.id ?? "");
      if (block) block.text += part.delta ?? "";
    } else {
      Object.assign(
        open.get(part.id ?? "") ?? {},
        part.providerMetadata && { providerMetadata: part.providerMetadata },
      );
    }
  }
  return content;
}

/** Types of parts that are not content of a whole answer. */
const NOT_CONTENT = /^(finish|error|tool-input-.*)$/;
