// Types of the `session/update`s of the Agent Client Protocol that the adapter makes.

import type { Location } from "./acp-locations.js";

export type ToolKind =
  "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "switch_mode" | "other";

/** Marks a call that is not run, whatever its status. */
export type ClaimMeta = {
  streamSidecar: { claim: true; reason: string; origin?: string; declared?: boolean };
};

export interface Call {
  toolCallId: string;
  _meta?: ClaimMeta;
  title?: string;
  name?: string;
  kind?: ToolKind;
  status?: "pending" | "in_progress" | "completed" | "failed";
  rawInput?: unknown;
  rawOutput?: unknown;
  locations?: Location[];
  content?: { type: "content"; content: { type: "text"; text: string } }[];
}

interface Chunk {
  content: { type: "text"; text: string };
  messageId: string;
}

/** The updates that the adapter makes: a subset of the protocol's own SessionUpdate. */
export type SessionUpdate =
  | ({ sessionUpdate: "agent_message_chunk" } & Chunk)
  | ({ sessionUpdate: "agent_thought_chunk" } & Chunk)
  | ({ sessionUpdate: "tool_call" } & Call & { title: string })
  | ({ sessionUpdate: "tool_call_update" } & Call)
  | { sessionUpdate: "usage_update"; used: number; size: number };

interface Whole {
  messageId: string;
  content: { type: "text"; text: string }[];
}

/** The updates of version 2 that the adapter makes: a subset of its own SessionUpdate. */
export type SessionUpdateV2 =
  | Exclude<SessionUpdate, { sessionUpdate: "tool_call" }>
  | ({ sessionUpdate: "agent_message" } & Whole)
  | ({ sessionUpdate: "agent_thought" } & Whole);
