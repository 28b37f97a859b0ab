// The endpoints whose responses can be cleaned: their wire, the fields of a request that
// matter, and the format of the answer.

import { ARRAY, sseOf, type BodyFormat, type EmittedWire } from "../stream/body-format.js";

/** The most bytes of a whole body, encoded or decoded, and the most characters of an event: the sidecar accepts no longer message (`maxMessageBytes`). */
export const MOST_WHOLE = 32 * 1024 * 1024;

/** The parts of a request that say how to read its answer. */
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

/** Whether answers of this address can be cleaned. */
export function isCleaned({ pathname }: URL): boolean {
  return ENDPOINTS.some(([pattern]) => pattern.test(pathname));
}

/** Reads a request; undefined if it goes to another endpoint, or its body is not a JSON object. */
export function askedOf(method: string, url: URL, body: string): Asked | undefined {
  const [pattern, wire] = ENDPOINTS.find(([each]) => each.test(url.pathname)) ?? [];
  const fields = method === "POST" && wire ? objectIn(body) : undefined;
  if (!fields || !wire) return undefined;
  const model = decoded(pattern?.exec(url.pathname)?.[1]) ?? fields["model"];
  const tools = wire === "gemini" ? declarationsIn(fields["tools"]) : fields["tools"];
  return {
    wire,
    host: url.hostname,
    ...(typeof model === "string" && { model }),
    ...(Array.isArray(tools) && { tools: tools.filter(isNamed) }),
  };
}

/** The name in a path, decoded; unchanged if its escapes are invalid. */
function decoded(name: string | undefined): string | undefined {
  try {
    return name && decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Parses a JSON object; undefined if `body` is anything else. */
export function objectIn(body: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(body) as unknown;
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** The functions in Gemini's groups: `[{functionDeclarations: [...]}]`. */
function declarationsIn(tools: unknown): unknown {
  if (!Array.isArray(tools)) return undefined;
  return tools.flatMap((group: { functionDeclarations?: readonly Record<string, unknown>[] } | null) =>
    (group?.functionDeclarations ?? []).map(({ name, description }) => ({ name, description })),
  );
}

/** Whether a tool has a name. The provider's own tools (`{type: "web_search"}`) have none. */
function isNamed(tool: unknown): boolean {
  const { name, function: called } = (tool ?? {}) as { name?: unknown; function?: { name?: unknown } };
  return typeof (called?.name ?? name) === "string";
}

/** Whether the header `content-type` names this media type, in any case (RFC 9110, 8.3.1). */
export function isOfType(contentType: string | null | undefined, type: string): boolean {
  return contentType?.toLowerCase().startsWith(type) ?? false;
}

/** The format of a streamed response; undefined for one document, and for other responses. */
export function formatOf({ wire }: Asked, url: URL, contentType: string): BodyFormat | undefined {
  if (isOfType(contentType, "text/event-stream")) return sseOf(wire);
  return wire === "gemini" && url.pathname.endsWith(":streamGenerateContent") ? ARRAY : undefined;
}
