// The endpoints whose responses can be cleaned: their wire, the fields of a request that
// matter, and the format of the answer.

import { ARRAY, sseOf, type BodyFormat, type EmittedWire } from "../stream/body-format.js";
import { ENDPOINTS } from "./endpoint-table.js";

/** The most bytes of a whole body, encoded or decoded, and the most characters of an event: the sidecar accepts no longer message (`maxMessageBytes`). */
export const MOST_WHOLE = 32 * 1024 * 1024;

/** The parts of a request that say how to read its answer. */
export interface Asked {
  readonly wire: EmittedWire;
  readonly host: string;
  readonly model?: string;
  readonly tools?: readonly unknown[];
  /** Whether a response without server-sent events is a JSON array. */
  readonly isArray: boolean;
}

interface Endpoint {
  readonly path: string;
  readonly wire: EmittedWire;
  readonly framing?: "json-array";
  readonly declarations?: string;
}

/** Each endpoint with a pattern for the end of its path; a group of the pattern has the model. */
const ROWS = ENDPOINTS.map((row: Endpoint) => ({ ...row, pattern: patternOf(row.path) }));

function patternOf(path: string): RegExp {
  return new RegExp(`${path.replace("{model}", "([^/:]+)")}$`); // a path has no other signs of patterns
}

function endpointOf({ pathname }: URL) {
  return ROWS.find(({ pattern }) => pattern.test(pathname));
}

/** Whether answers of this address can be cleaned. */
export function isCleaned(url: URL): boolean {
  return endpointOf(url) !== undefined;
}

/** Reads a request; undefined if it goes to another endpoint, or its body is not a JSON object. */
export function askedOf(method: string, url: URL, body: string): Asked | undefined {
  const endpoint = method === "POST" ? endpointOf(url) : undefined;
  const fields = endpoint && objectIn(body);
  if (!fields) return undefined;
  const { wire, pattern, framing, declarations } = endpoint;
  const model = decoded(pattern.exec(url.pathname)?.[1]) ?? fields["model"];
  const tools = declarations ? declarationsIn(fields["tools"], declarations) : fields["tools"];
  return {
    wire,
    host: url.hostname,
    isArray: framing === "json-array",
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

/** The functions that are declared in groups: `[{member: [...]}]`. */
function declarationsIn(tools: unknown, member: string): unknown {
  if (!Array.isArray(tools)) return undefined;
  return tools.flatMap((group: Record<string, readonly Record<string, unknown>[]> | null) =>
    (group?.[member] ?? []).map(({ name, description }) => ({ name, description })),
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
export function formatOf({ wire, isArray }: Asked, contentType: string): BodyFormat | undefined {
  if (isOfType(contentType, "text/event-stream")) return sseOf(wire);
  return isArray ? ARRAY : undefined;
}
