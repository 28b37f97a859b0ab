// The endpoints of providers whose responses can be made clean: which wire they speak,
// what a request says of itself, and which format its answer has.

import { ARRAY, sseOf, type BodyFormat, type EmittedWire } from "../stream/body-format.js";

/** What a request asks, as far as it tells how to read the answer. */
export interface Asked {
  readonly wire: EmittedWire;
  readonly host: string;
  readonly model?: string;
  readonly tools?: readonly unknown[];
}

const ENDPOINTS: readonly (readonly [RegExp, EmittedWire])[] = [
  [/\/chat\/completions$/, "openai-chat"],
  [/\/responses$/, "openai-responses"],
  [/\/messages$/, "anthropic"],
  [/\/models\/([^/:]+):(?:streamG|g)enerateContent$/, "gemini"],
];

/** What is asked; undefined: it is no endpoint of ours, or no request that can be read. */
export function askedOf(method: string, url: URL, body: string): Asked | undefined {
  const [pattern, wire] = ENDPOINTS.find(([each]) => each.test(url.pathname)) ?? [];
  const told = method === "POST" && wire ? objectIn(body) : undefined;
  if (!told || !wire) return undefined;
  const model = decoded(pattern?.exec(url.pathname)?.[1]) ?? told["model"];
  const tools = wire === "gemini" ? declarationsIn(told["tools"]) : told["tools"];
  return {
    wire,
    host: url.hostname,
    ...(typeof model === "string" && { model }),
    ...(Array.isArray(tools) && { tools: tools.filter(isNamed) }),
  };
}

/** A name of a path; as it stands where its escapes are none. */
function decoded(name: string | undefined): string | undefined {
  try {
    return name && decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** The JSON object that `body` is; undefined: it is none. */
export function objectIn(body: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(body) as unknown;
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Gemini declares functions in groups: `[{functionDeclarations: [...]}]`. */
function declarationsIn(tools: unknown): unknown {
  if (!Array.isArray(tools)) return undefined;
  return tools.flatMap((group: { functionDeclarations?: readonly Record<string, unknown>[] } | null) =>
    (group?.functionDeclarations ?? []).map(({ name, description }) => ({ name, description })),
  );
}

/** Tools of the provider that have no name (`{type: "web_search"}`) are not declared to us. */
function isNamed(tool: unknown): boolean {
  const { name, function: called } = (tool ?? {}) as { name?: unknown; function?: { name?: unknown } };
  return typeof (called?.name ?? name) === "string";
}

/** How a response streams; undefined: it is one document, or nothing of ours. */
export function formatOf({ wire }: Asked, url: URL, contentType: string): BodyFormat | undefined {
  if (contentType.startsWith("text/event-stream")) return sseOf(wire);
  return wire === "gemini" && url.pathname.endsWith(":streamGenerateContent") ? ARRAY : undefined;
}
