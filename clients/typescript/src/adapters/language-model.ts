// Types of the Vercel AI SDK's language models: the part that the middleware reads and makes, as
// it is in specifications 3 and 4.

import type { FinishReason } from "./ai-sdk-chunks.js";

/** State by the name of its provider; the SDK sends it back in the next turn. */
export type ProviderMetadata = Record<string, Record<string, unknown>>;

/** A part of a model's stream. Parts that the middleware does not know pass unchanged. */
export interface StreamPart {
  readonly type: string;
  readonly id?: string;
  readonly delta?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: string;
  readonly providerExecuted?: boolean;
  readonly dynamic?: boolean;
  readonly providerMetadata?: ProviderMetadata;
  readonly rawValue?: unknown;
  readonly sourceType?: string;
  readonly url?: string;
  readonly title?: string;
  readonly mediaType?: string;
  readonly error?: unknown;
  readonly finishReason?: Finished;
  readonly usage?: unknown;
}

/** Why a model stopped: the unified reason, and the provider's own. */
export interface Finished {
  readonly unified: FinishReason;
  readonly raw: string | undefined;
}

/** A part of a whole answer. */
export interface Content extends Omit<StreamPart, "delta"> {
  readonly text?: string;
}

export interface StreamResult {
  readonly stream: ReadableStream<StreamPart>;
}

export interface GenerateResult {
  readonly content: readonly Content[];
  readonly finishReason: Finished;
  readonly usage: unknown;
  readonly providerMetadata?: ProviderMetadata;
  readonly response?: { readonly body?: unknown };
}

/** The options of a call of a model. */
export interface CallOptions {
  readonly prompt?: readonly PromptMessage[];
  readonly tools?: readonly ModelTool[];
  readonly abortSignal?: AbortSignal;
  readonly includeRawChunks?: boolean;
  readonly providerOptions?: ProviderMetadata;
}

/** A message of a prompt; a system message's content is a string. */
export interface PromptMessage {
  readonly role: string;
  readonly content: string | readonly PromptPart[];
}

export interface PromptPart {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly providerExecuted?: boolean;
  readonly providerOptions?: ProviderMetadata;
}

export interface ModelTool {
  readonly type: string;
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
  readonly providerOptions?: ProviderMetadata;
}

export interface Model {
  readonly provider: string;
  readonly modelId: string;
}
