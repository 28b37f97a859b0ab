// Params and results of `message/inspect` and `message/repair`: those of the schema where
// it has the methods, and else what protocol version 1 says of them. A sidecar that does
// not have them yet refuses with `method-not-found`.

import type { Methods, PolicyPatch, ProviderTool, Tool } from "./protocol.js";

type Of<M extends string, Part extends "params" | "result", Otherwise> = M extends keyof Methods
  ? Methods[M][Part]
  : Otherwise;

interface StoredMessages {
  /** `role`, `content`, and whatever else the host or the provider put there. */
  messages: Record<string, unknown>[];
  tools?: (Tool | ProviderTool)[] | null;
  model?: string | null;
  provider?: string | null;
  policy?: PolicyPatch | null;
}

/** A place in a message: `path` is a JSON Pointer, `start` and `end` are code points. */
interface Place {
  path: string;
  start: number;
  end: number;
  startUtf16: number;
  endUtf16: number;
}

interface Inspected {
  malformed: boolean;
  findings: (Place & { kind: string; text: string })[];
}

interface Repaired {
  changed: boolean;
  blocked: boolean;
  message?: Record<string, unknown>;
  edits: (Place & { newText: string })[];
  removed: { kind: string; path: string; text: string }[];
  reasoning?: unknown;
  toolResults?: unknown;
  toolCalls?: unknown;
}

export type InspectParams = Of<"message/inspect", "params", StoredMessages>;
export type InspectResult = Of<"message/inspect", "result", { results: Inspected[] }>;
export type RepairParams = Of<"message/repair", "params", StoredMessages>;
export type RepairResult = Of<"message/repair", "result", { results: Repaired[] }>;
