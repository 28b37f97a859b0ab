// The events of a stream as the parts of a language model of the Vercel AI SDK.
//
// Text, reasoning, the client's calls, errors and the finish reason come from the sidecar.
// Everything else is the provider's own part, unchanged: tools that the provider ran, sources,
// files, usage, and the state that is sent back to the provider. Calls wait for the end of
// the turn, which says which calls are run; `claims` says what happens to calls in the text.

import type { StreamEvent } from "../stream/events.js";
import type { BlockEnd, Citation, ProviderError, ToolCall } from "../protocol.js";
import { FINISH } from "./ai-sdk-chunks.js";
import type { ModelTool, ProviderMetadata, StreamPart } from "./language-model.js";
import { ProviderState, sealsIn } from "./provider-state.js";
import { isFailed, Turn, type TurnEnd } from "./turn.js";

/** What happens to calls that the model wrote into its text. */
export type ClaimPolicy = "drop" | "data" | "approve" | "promote";

/** In a tool's `providerOptions`: calls of this tool that were found in text wait for approval. */
export const APPROVABLE = { streamSidecar: { claims: "approve" } } as const;

export const CLAIM_PREFIX = "claim-";

export interface ModelPartsOptions {
  readonly claims: ClaimPolicy;
  readonly tools: readonly ModelTool[];
  /** The id of the stream: makes ids of promoted claims unique in a conversation. */
  readonly streamId: string;
}

type Channel = "text" | "reasoning";

export class ModelParts {
  readonly #options: ModelPartsOptions;
  readonly #turn = new Turn();
  readonly #state: Readonly<Record<Channel, ProviderState>> = {
    text: new ProviderState(),
    reasoning: new ProviderState(),
  };
  readonly #open = new Map<number, Channel>();
  /** Blocks that have ended; the provider's next parts may still bring their state. */
  readonly #ending: { readonly block: number; readonly channel: Channel }[] = [];
  readonly #claims = new Map<number, ToolCall>();
  /** The provider's own parts of calls, until the call of ours for them arrives. */
  readonly #nativeCalls: StreamPart[] = [];
  readonly #ofProvider = new Set<string>();
  readonly #urls = new Set<string>();
  #finish: StreamPart = { type: "finish" };

  constructor(options: ModelPartsOptions) {
    this.#options = options;
  }

  /** Records a part of the provider, and returns it if the sidecar does not report its content itself. */
  native(part: StreamPart): StreamPart[] {
    const { type, id = "", toolCallId = "" } = part;
    const [channel, step] = type.split("-");
    if (step !== undefined && (channel === "text" || channel === "reasoning")) return this.#nativeText(channel, part);
    switch (type) {
      case "tool-input-start":
        return this.#ifProviders(id, part);
      case "tool-input-delta":
      case "tool-input-end":
        return this.#ofProvider.has(id) ? [part] : [];
      case "tool-call":
        this.#nativeCalls.push(part);
        return this.#ifProviders(toolCallId, part);
      case "source":
        if (part.url !== undefined) this.#urls.add(part.url);
        return [part];
      case "finish":
        this.#finish = part;
        return [];
      case "error":
        return []; // the sidecar gets the error too, and has an event for it
      default:
        return [part];
    }
  }

  #nativeText(channel: Channel, part: StreamPart): StreamPart[] {
    const bare = this.#state[channel].accept(part);
    if (!bare) return [];
    const id = `native-${bare.id}`;
    const providerMetadata = bare.state as ProviderMetadata;
    return [
      { type: `${channel}-start`, id },
      { type: `${channel}-end`, id, providerMetadata },
    ];
  }

  #ifProviders(id: string, part: StreamPart): StreamPart[] {
    if (part.providerExecuted) this.#ofProvider.add(id);
    return part.providerExecuted ? [part] : [];
  }

  /** The parts for an event. */
  event(event: StreamEvent): StreamPart[] {
    const filled = this.#turn.of(event);
    switch (filled?.type) {
      case "text-delta":
        return this.#delta("text", filled);
      case "reasoning-delta":
        return this.#delta("reasoning", filled);
      case "block-end":
        return this.#blockEnd(filled);
      case "tool-call":
        if (filled.origin === "text" && filled.block !== undefined) this.#claims.set(filled.block, filled);
        return [];
      case "retract":
        for (const block of filled.blocks) this.#claims.delete(block);
        return [];
      case "citation":
        return this.#citation(filled);
      case "error":
        return [{ type: "error", error: new ModelError(filled) }];
      default:
        return [];
    }
  }

  #delta(channel: Channel, { block, text }: { block: number; text: string }): StreamPart[] {
    const id = String(block);
    const delta = { type: `${channel}-delta`, id, delta: text };
    if (this.#open.has(block)) return [delta];
    this.#open.set(block, channel);
    this.#state[channel].begin(block);
    return [{ type: `${channel}-start`, id }, delta];
  }

  #blockEnd({ block, signature, opaque, sealBroken }: BlockEnd): StreamPart[] {
    if (sealBroken) this.#state.reasoning.break(sealsIn({ signature, opaque }));
    const channel = this.#open.get(block);
    if (channel) this.#ending.push({ block, channel });
    this.#open.delete(block);
    return [];
  }

  /** The ends of blocks that wait for the provider's state; called before the next chunks. */
  settle(): StreamPart[] {
    return this.#ending
      .splice(0)
      .map(({ block, channel }) => ({ type: `${channel}-end`, id: String(block), ...this.#state[channel].of(block) }));
  }

  /** A source, unless the provider's own parts have reported it. */
  #citation({ url, title }: Citation): StreamPart[] {
    if (url === undefined || this.#urls.has(url)) return [];
    this.#urls.add(url);
    const id = `source-${this.#urls.size}`;
    return [{ type: "source", sourceType: "url", id, url, ...(title === undefined ? {} : { title }) }];
  }

  /** The calls and the end of the turn. */
  end(end: TurnEnd): StreamPart[] {
    const calls = this.#turn.calls.filter(({ block }) => block !== undefined && end.executable.has(block));
    const claims = isFailed(end.finish) ? [] : [...this.#claims.values()].filter((call) => this.#isPromoted(call));
    const parts = [
      ...calls.flatMap((call) => this.#ofModel(call)),
      ...claims.flatMap((call) => callParts(call, { toolCallId: this.#claimId(call) })),
    ];
    return [...this.settle(), ...this.#stillOpen(), ...parts, this.#finished(end, parts.length > 0)];
  }

  /** An id that is unique in a conversation, with the prefix that `withClaimApproval` looks for. */
  #claimId({ block }: ToolCall): string {
    return `${CLAIM_PREFIX}${this.#options.streamId}-${block}`;
  }

  get turn(): Turn {
    return this.#turn;
  }

  /** The ends of blocks that are open because the stream broke off. */
  #stillOpen(): StreamPart[] {
    return [...this.#open].map(([block, channel]) => ({ type: `${channel}-end`, id: String(block) }));
  }

  #isPromoted({ state, name, declared }: ToolCall): boolean {
    if (state !== "complete" || declared === false) return false;
    const tool = this.#options.tools.find((each) => each.name === name);
    if (this.#options.claims === "promote") return tool !== undefined;
    return this.#options.claims === "approve" && tool?.providerOptions?.["streamSidecar"]?.["claims"] === "approve";
  }

  /** The parts of a call; the provider's part for it has its state, and its id if the call had none. */
  #ofModel(call: ToolCall): StreamPart[] {
    const found = this.#nativeCalls.findIndex(
      ({ toolCallId, toolName }) =>
        toolCallId === call.toolCallId || (call.idSynthetic === true && toolName === call.name),
    );
    const [native] = found < 0 ? [] : this.#nativeCalls.splice(found, 1);
    const { toolCallId = call.toolCallId, providerMetadata } = native ?? {};
    return callParts(call, { toolCallId, ...(providerMetadata && { providerMetadata }) });
  }

  #finished({ finish }: TurnEnd, hasCalls: boolean): StreamPart {
    const { usage, providerMetadata, finishReason } = this.#finish;
    const reason = FINISH[finish?.reason ?? "error"] ?? "other";
    const unified = hasCalls ? "tool-calls" : reason === "tool-calls" ? "stop" : reason;
    const ours = this.#options.claims === "data" ? claimsOf([...this.#claims.values()]) : {};
    return {
      type: "finish",
      usage: usage ?? NO_USAGE,
      finishReason: { unified, raw: finishReason?.raw ?? finish?.raw ?? finish?.reason },
      providerMetadata: { ...providerMetadata, ...ours },
    };
  }
}

/** The parts of a call. The SDK needs JSON as the input, also for free text. */
function callParts(call: ToolCall, state: { toolCallId: string }): StreamPart[] {
  const { name, argumentsFormat, arguments: text } = call;
  const written = argumentsFormat === "json" ? text : JSON.stringify(text);
  const { toolCallId: id } = state;
  return [
    { type: "tool-input-start", id, toolName: name },
    { type: "tool-input-delta", id, delta: written },
    { type: "tool-input-end", id },
    { type: "tool-call", toolName: name, input: written, ...state },
  ];
}

const NO_USAGE = { inputTokens: { total: undefined }, outputTokens: { total: undefined } };

/** The metadata that lists the calls found in the text. */
function claimsOf(calls: readonly ToolCall[]): ProviderMetadata {
  if (calls.length === 0) return {};
  const claims = calls.map(({ name, input, arguments: text, state, dialect, declared }) => ({
    toolName: name,
    input: input ?? text,
    state,
    ...(dialect === undefined ? {} : { dialect }),
    ...(declared === undefined ? {} : { declared }),
  }));
  return { streamSidecar: { claims } };
}

/** An error that the provider sent instead of, or within, its answer. */
export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly kind: string;
  readonly isRetryable: boolean;
  readonly statusCode: number | undefined;

  constructor({ message, kind, retryable, httpStatus }: ProviderError) {
    super(message);
    this.kind = kind;
    this.isRetryable = retryable;
    this.statusCode = httpStatus;
  }
}
