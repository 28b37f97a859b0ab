// A middleware of the Vercel AI SDK: `wrapLanguageModel({ model, middleware })` returns a model
// whose answers, streamed or whole, go through the sidecar. The sidecar reads the provider's
// raw chunks if their wire is known, or else the SDK's own parts.

import { unlessAborted } from "../cancellation.js";
import { assertSidecar, checked, data, oneOf, policy, type Checks } from "../checks.js";
import { failedResponse } from "../stream/failed-response.js";
import type { OpenParams, PolicyPatch } from "../protocol.js";
import { SidecarError } from "../errors.js";
import type { Sidecar } from "../sidecar.js";
import type { SidecarStream } from "../stream/stream.js";
import type { CallOptions, Content, GenerateResult, Model, StreamPart, StreamResult } from "./language-model.js";
import { isTimeLimit, readableOf } from "./ends.js";
import { KeptSource } from "./kept-source.js";
import { heardPolicy, Listening, LISTENING, type ListeningOptions } from "./listening.js";
import { Losses, LOSSES, type LossOptions } from "./losses.js";
import { ModelDocuments, partsOf } from "./model-documents.js";
import { preparedPrompt } from "./model-prompt.js";
import { APPROVABLE, CLAIM_PREFIX, ModelParts, type ClaimPolicy } from "./model-parts.js";
import { Preparing, PREPARING, type PreparingOptions } from "./preparing.js";
import { providerName, wireOf } from "./provider-wires.js";

export interface MiddlewareOptions extends PreparingOptions, ListeningOptions, LossOptions {
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
}

export const MIDDLEWARE: Checks<MiddlewareOptions> = {
  ...PREPARING,
  ...LISTENING,
  ...LOSSES,
  claims: oneOf("drop", "data", "promote", "approve"),
  policy,
  responseTemplate: data,
};

/** The middleware for `wrapLanguageModel` of all versions of the SDK since 6. */
export interface SidecarMiddleware {
  readonly specificationVersion: never;
  transformParams<P>(asked: { type: string; params: P; model?: Model }): Promise<P>;
  wrapGenerate<R>(asked: { doGenerate: () => PromiseLike<R>; params: object; model: Model }): Promise<R>;
  wrapStream<R>(asked: { doStream: () => PromiseLike<R>; params: object; model: Model }): Promise<R>;
}

/** Returns the middleware. One sidecar serves any number of models. Throws TypeError for options that are wrong. */
export function sidecarMiddleware(sidecar: Sidecar, options: MiddlewareOptions = {}): SidecarMiddleware {
  assertSidecar(sidecar, "sidecarMiddleware");
  const through = new Through(sidecar, checked(options, MIDDLEWARE, "sidecarMiddleware"));
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
  readonly #losses: Losses;
  readonly #preparing: Preparing;

  constructor(sidecar: Sidecar, options: MiddlewareOptions) {
    this.#sidecar = sidecar;
    this.#options = options;
    this.#losses = new Losses(sidecar.warnings, options);
    this.#preparing = new Preparing(sidecar, this.#losses, options);
  }

  /** The params with a prepared prompt; the same object if the prompt needs no change. */
  async prepared(params: CallOptions, model: Model): Promise<CallOptions> {
    const { prompt, abortSignal } = params;
    if (this.#losses.isStrict) await unlessAborted(this.#sidecar.start(), abortSignal);
    if (!prompt?.some(({ role }) => role === "assistant")) return params;
    const about = this.#params(params, model);
    const made = await this.#preparing.attempt(
      () => preparedPrompt(this.#sidecar, prompt, about, dropsSeals(params)),
      abortSignal,
    );
    if (made?.isUnsealed) this.#losses.leftOut(new SidecarError("bound", UNSEALED));
    return made && made.prompt !== prompt ? { ...params, prompt: made.prompt } : params;
  }

  /** A streamed answer. */
  async streamed(result: StreamResult, params: Asked["params"], model: Model): Promise<StreamResult> {
    const wire = wireOf(model.provider);
    const gone = new AbortController();
    const signal = params.abortSignal ? AbortSignal.any([params.abortSignal, gone.signal]) : gone.signal;
    const source = new KeptSource(result.stream, signal);
    source.readAhead();
    const stream = await this.#open({ wire: wire ?? "openai-chat", ...this.#params(params, model) }, signal);
    const showRaw = params[ASKED] ?? false;
    if (!stream) return { ...result, stream: readableOf(unread(source, showRaw), gone) };
    const parts = read({
      stream,
      source,
      listening: this.#listening(stream, model),
      losses: this.#losses,
      parts: this.#parts(params, stream.id),
      isRaw: wire !== undefined,
      showRaw,
      signal,
    });
    return { ...result, stream: readableOf(parts, gone) };
  }

  /** A whole answer; an error in its body is thrown. */
  async whole(result: GenerateResult, params: Asked["params"], model: Model): Promise<GenerateResult> {
    const signal = params.abortSignal;
    const wire = result.response?.body === undefined ? undefined : wireOf(model.provider);
    const stream = await this.#open({ wire: wire ?? "openai-chat", ...this.#params(params, model) }, signal);
    if (!stream) return result;
    const read = () => this.#partsOf(result, stream, wire !== undefined, params, model);
    const made = await this.#losses.attempt(read, signal);
    if (!made) return result;
    const failed = made.find(({ type }) => type === "error");
    if (failed) throw failed.error;
    const { finishReason = result.finishReason, providerMetadata = {} } = made.at(-1) as StreamPart;
    return { ...result, content: contentOf(made), finishReason, providerMetadata };
  }

  /** The parts of a whole answer: read from the provider's body, or else from the SDK's parts as documents. */
  async #partsOf(
    result: GenerateResult,
    stream: SidecarStream,
    hasBody: boolean,
    params: Asked["params"],
    model: Model,
  ): Promise<StreamPart[]> {
    const parts = this.#parts(params, stream.id);
    const listening = this.#listening(stream, model);
    const natives = [...partsOf(result.content)];
    const finish: StreamPart = { ...result, type: "finish" };
    const documents = new ModelDocuments();
    const chunks = hasBody ? [result.response?.body] : [...natives, finish].flatMap((part) => documents.of(part));
    const isEnd = ({ type }: StreamPart) => type === "text-end" || type === "reasoning-end";
    const made = [...natives.filter((part) => !isEnd(part)), finish].flatMap((part) => parts.native(part));
    for await (const event of stream.pipe(chunks)) made.push(...parts.event(listening.event(event)));
    made.push(...natives.filter(isEnd).flatMap((part) => parts.native(part)));
    const closed = await stream.close();
    listening.message(closed.message);
    made.push(...parts.end(parts.turn.end(closed)));
    return made;
  }

  /** The stream; undefined: the answer passes unchanged. */
  #open(params: OpenParams, signal: AbortSignal | undefined): Promise<SidecarStream | undefined> {
    const open = () => this.#sidecar.open({ ...params, policy: heardPolicy(this.#options) }, { signal });
    return this.#losses.attempt(() => unlessAborted(open(), signal), signal);
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
    return new Listening(this.#options, this.#losses, id, modelId);
  }

  #parts({ tools = [] }: CallOptions, streamId: string): ModelParts {
    return new ModelParts({ claims: this.#options.claims ?? "data", tools, streamId });
  }
}

const UNSEALED = "signed reasoning is left out of the request: it is bound to text before it that was changed";

/** Whether the host has the provider drop reasoning whose seal no longer fits: an option of `@ai-sdk/anthropic`. */
function dropsSeals({ providerOptions }: CallOptions): boolean {
  const { blockBinding } = (providerOptions?.["anthropic"]?.["thinking"] ?? {}) as { blockBinding?: unknown };
  const { prefixMismatchBehavior } = (blockBinding ?? {}) as { prefixMismatchBehavior?: unknown };
  return prefixMismatchBehavior === "drop_block";
}

interface Reading {
  readonly stream: SidecarStream;
  readonly source: KeptSource<StreamPart>;
  readonly listening: Listening;
  readonly losses: Losses;
  readonly parts: ModelParts;
  readonly isRaw: boolean;
  readonly showRaw: boolean;
  /** Aborts when the host wants no more of the answer. */
  readonly signal: AbortSignal;
}

/**
 * The parts of a streamed answer. After an abort nothing more comes; a source that breaks and a
 * time limit come after the text that was held; all of them are thrown as they are. After a
 * failure of the sidecar before the first part of its own, the source passes unchanged.
 */
async function* read(reading: Reading): AsyncGenerator<StreamPart, void, void> {
  const { stream, source, listening, losses, parts, showRaw, signal } = reading;
  const documents = new ModelDocuments();
  const passed = new Set<StreamPart>();
  let isFirst = true;
  const made = (some: StreamPart[]) => {
    if (isFirst && some.length > 0) source.forget();
    isFirst &&= some.length === 0;
    return some;
  };
  const native = (part: StreamPart) => {
    const some = part.type === "raw" ? (showRaw ? [part] : []) : parts.native(part);
    if (some.length !== 1 || some[0] !== part) return made(some);
    if (isFirst) passed.add(part);
    return some;
  };
  try {
    for await (const part of source) {
      const raw = part.type === "raw" ? [part.rawValue] : [];
      const chunks = reading.isRaw ? raw : documents.of(part);
      if (chunks.length > 0) {
        yield* made(parts.settle());
        const events = await stream.pushAll(chunks, { signal });
        for (const event of events) yield* made(parts.event(listening.event(event)));
      }
      yield* native(part);
    }
    const closed = await stream.close({}, { signal });
    for (const event of closed.events) yield* made(parts.event(listening.event(event)));
    listening.message(closed.message);
    yield* made(parts.end(parts.turn.end(closed)));
  } catch (error) {
    const isBroken = source.brokeOffWith(error);
    if (isBroken || (signal.aborted && isTimeLimit(signal))) yield* await held(reading, error);
    if (signal.aborted) throw signal.reason;
    if (isBroken) throw error;
    losses.report(error);
    if (!isFirst || losses.isStrict) throw error;
    for await (const part of unread(source, showRaw)) if (!passed.has(part)) yield part;
  } finally {
    source.stop();
    void stream[Symbol.asyncDispose]();
  }
}

/** The model's own parts, with the raw ones if the host asked for them. */
async function* unread(source: KeptSource<StreamPart>, showRaw: boolean): AsyncGenerator<StreamPart, void, void> {
  for await (const part of source.again()) if (showRaw || part.type !== "raw") yield part;
}

/**
 * The parts of the text that is held while the source breaks, without the error, which is thrown,
 * and without the ends of blocks that the break closes. After a time limit nobody waits for a
 * sidecar that hangs.
 */
async function held({ stream, listening, parts, signal }: Reading, error: unknown): Promise<StreamPart[]> {
  const ended = parts.settle();
  const closing = signal.aborted ? stream.cancel() : stream.close({ reason: "error", error: failedResponse(error) });
  const closed = await closing.catch(() => undefined); // the sidecar is gone
  if (!closed) return ended;
  const events = closed.events.map((event) => listening.event(event));
  listening.message(closed.message);
  return [...ended, ...events.filter(({ type }) => type !== "error").flatMap((event) => parts.event(event))];
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
