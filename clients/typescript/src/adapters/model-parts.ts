// The events of a stream as the parts of a language model of the Vercel AI SDK.
//
// Text, reasoning, the client's calls, errors and the reason of the end are the sidecar's.
// Everything else is the provider's own part, as it came: what the provider ran, sources,
// files, usage, and the state that goes back to it. Calls wait for the end of the turn,
// which tells what is to be run; calls found in the text are what `claims` makes of them.

import type { StreamEvent } from "../stream/events.js";
import type { BlockEnd, Citation, ProviderError, ToolCall } from "../protocol.js";
import { FINISH } from "./ai-sdk-chunks.js";
import type { ModelTool, ProviderMetadata, StreamPart } from "./language-model.js";
import { ProviderState } from "./provider-state.js";
import { isFailed, Turn, type TurnEnd } from "./turn.js";

/** What becomes of calls that the model wrote into its text. */
export type ClaimPolicy = "drop" | "data" | "approve" | "promote";

/** In a tool's `providerOptions`: calls of it that were found in text wait for approval. */
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
  /** Blocks that have ended, whose state the provider's next parts may still tell. */
  readonly #ending: { readonly block: number; readonly channel: Channel }[] = [];
  readonly #claims = new Map<number, ToolCall>();
  /** The provider's own parts of calls that no call of ours has met. */
  readonly #nativeCalls: StreamPart[] = [];
  readonly #ofProvider = new Set<string>();
  readonly #urls = new Set<string>();
  #finish: StreamPart = { type: "finish" };

  constructor(options: ModelPartsOptions) {
    this.#options = options;
  }

  /** Takes a part of the provider; gives it where it is not the sidecar's to tell. */
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
        return []; // the sidecar is told, too, and has an event for it
      default:
        return [part];
    }
  }

  #nativeText(channel: Channel, part: StreamPart): StreamPart[] {
    const bare = this.#state[channel].take(part);
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

  /** What the event makes certain. */
  event(event: StreamEvent): StreamPart[] {
    const told = this.#turn.of(event);
    switch (told?.type) {
      case "text-delta":
        return this.#delta("text", told);
      case "reasoning-delta":
        return this.#delta("reasoning", told);
      case "block-end":
        return this.#blockEnd(told);
      case "tool-call":
        if (told.origin === "text" && told.block !== undefined) this.#claims.set(told.block, told);
        return [];
      case "retract":
        for (const block of told.blocks) this.#claims.delete(block);
        return [];
      case "citation":
        return this.#citation(told);
      case "error":
        return [{ type: "error", error: new ModelError(told) }];
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

  #blockEnd({ block }: BlockEnd): StreamPart[] {
    const channel = this.#open.get(block);
    if (channel) this.#ending.push({ block, channel });
    this.#open.delete(block);
    return [];
  }

  /** The ends of blocks that wait for the provider's state; called before more comes. */
  settle(): StreamPart[] {
    return this.#ending
      .splice(0)
      .map(({ block, channel }) => ({ type: `${channel}-end`, id: String(block), ...this.#state[channel].of(block) }));
  }

  /** Sources that the provider's own parts have not told. */
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

  /** Unique in a conversation, and `withClaimApproval` knows it. */
  #claimId({ block }: ToolCall): string {
    return `${CLAIM_PREFIX}${this.#options.streamId}-${block}`;
  }

  get turn(): Turn {
    return this.#turn;
  }

  /** Blocks of a stream that broke off. */
  #stillOpen(): StreamPart[] {
    return [...this.#open].map(([block, channel]) => ({ type: `${channel}-end`, id: String(block) }));
  }

  #isPromoted({ state, name, declared }: ToolCall): boolean {
    if (state !== "complete" || declared === false) return false;
    const tool = this.#options.tools.find((each) => each.name === name);
    if (this.#options.claims === "promote") return tool !== undefined;
    return this.#options.claims === "approve" && tool?.providerOptions?.["streamSidecar"]?.["claims"] === "approve";
  }

  /** A call; the provider's part of it tells its state, and the id where there was none. */
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
    const told = FINISH[finish?.reason ?? "error"] ?? "other";
    const unified = hasCalls ? "tool-calls" : told === "tool-calls" ? "stop" : told;
    const ours = this.#options.claims === "data" ? claimsOf([...this.#claims.values()]) : {};
    return {
      type: "finish",
      usage: usage ?? NO_USAGE,
      finishReason: { unified, raw: finishReason?.raw ?? finish?.raw ?? finish?.reason },
      providerMetadata: { ...providerMetadata, ...ours },
    };
  }
}

/** The SDK wants JSON as the input, of free text too. */
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

/** The calls that were found in text, for whoever wants to look at them. */
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
