// Types of the parts that the adapters for the Vercel AI SDK make, and its finish reasons.

import type { Retract, ToolCall } from "../protocol.js";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };

/** The sidecar's own data about a part, under its name. */
export type Metadata = { streamSidecar: { [key: string]: Json | undefined } };

export type FinishReason = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";

/** The SDK's finish reason for each of ours; any other reason is `other`. */
export const FINISH: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  "context-length": "length",
  "content-filter": "content-filter",
  refusal: "content-filter",
  "tool-calls": "tool-calls",
  malformed: "error",
  error: "error",
};

interface Tool {
  toolCallId: string;
  providerExecuted?: boolean;
  dynamic?: boolean;
}

/** A call found in text, which must not simply be run: `data-claim`, with the block's number as its id. */
export interface Claim {
  block: number;
  toolCallId: string;
  toolName: string;
  input: unknown;
  state: ToolCall["state"];
  origin: ToolCall["origin"];
  kind: ToolCall["kind"];
  declared?: boolean;
  dialect?: string;
  /** Why it is retracted, in a part that replaces the first part. */
  retracted?: Retract["reason"];
}

/** The parts that the adapter makes: a subset of the SDK's own SidecarUIMessageChunk. */
export type SidecarUIMessageChunk =
  | { type: "start"; messageId?: string }
  | { type: "start-step" | "finish-step" }
  | { type: "text-start" | "reasoning-start" | "text-end" | "reasoning-end"; id: string; providerMetadata?: Metadata }
  | { type: "text-delta" | "reasoning-delta"; id: string; delta: string }
  | ({ type: "tool-input-start"; toolName: string } & Tool)
  | { type: "tool-input-delta"; toolCallId: string; inputTextDelta: string }
  | ({ type: "tool-input-available"; toolName: string; input: unknown; providerMetadata: Metadata } & Tool)
  | ({
      type: "tool-input-error";
      toolName: string;
      input: unknown;
      errorText: string;
      providerMetadata?: Metadata;
    } & Tool)
  | ({ type: "tool-output-available"; output: unknown } & Tool)
  | ({ type: "tool-output-error"; errorText: string } & Tool)
  | { type: "source-url"; sourceId: string; url: string; title?: string }
  | { type: "source-document"; sourceId: string; mediaType: string; title: string }
  | { type: `data-${"reclassify" | "retract" | "block-state" | "tool-result"}`; data: unknown }
  | { type: "data-claim"; id: string; data: Claim }
  | { type: "message-metadata"; messageMetadata: unknown }
  | { type: "error"; errorText: string }
  | { type: "finish"; finishReason: FinishReason }
  | { type: "abort" };
