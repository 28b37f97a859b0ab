// A gateway in front of a provider. An agent that calls it needs no change, and gets the
// provider's answers without leaks. Everything else passes byte for byte: other endpoints,
// headers, keys, errors, compressed bodies. Without a sidecar everything passes unchanged.

/// <reference types="node" preserve="true" />

import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import { SidecarPool, type Sidecar } from "stream-sidecar";
import type { SidecarFetchOptions } from "stream-sidecar/fetch";
import {
  askedOf,
  callback,
  checked,
  cleaningFetch,
  data,
  FETCH,
  formatOf,
  guarded,
  isOfType,
  text,
  type Checks,
} from "stream-sidecar/internal";
import { upstreamUrl } from "./addresses.js";
import { healthOf } from "./health.js";
import { phrase, reasonOf, type TurnReport } from "./lines.js";
import { Origins } from "./origins.js";
import { Recorder } from "./tape.js";
import { Turns, type Turn } from "./turns.js";
import {
  decodable,
  MOST_HEADER_LINES,
  MOST_HEADERS,
  passedOn,
  readable,
  Upstream,
  wholeOf,
  without,
  type Headers,
  type ReadAnswer,
} from "./upstream.js";

export type { Phrase, PhraseKind, TurnReport } from "./lines.js";

export interface GatewayOptions extends Pick<
  SidecarFetchOptions,
  "provider" | "policy" | "responseTemplate" | "claims" | "prepare"
> {
  /** The base URL of the provider for each path: a scheme, a host and a path. `/` is for all other paths. */
  upstreams: Readonly<Record<string, string | URL>>;
  /** A folder in which each turn is recorded with its contents: request, provider's answer, agent's answer. */
  record?: string;
  /** Origins of web pages that may use the gateway, such as `http://localhost:3000`; `*` is for all. Default: none but its own. */
  allowOrigins?: readonly string[];
  /** Called at the end of each request with a line for people: what was removed, what was mended, how it ended. */
  onTurn?: (line: string, report: TurnReport) => void;
  /** Called with a line for people: why answers or requests pass unchanged. */
  onTrouble?: (line: string) => void;
}

const { provider, policy, responseTemplate, claims, prepare } = FETCH;
const OPTIONS: Checks<GatewayOptions> = {
  ...{ provider, policy, responseTemplate, claims, prepare },
  upstreams: data,
  record: text,
  allowOrigins: data,
  onTurn: callback,
  onTrouble: callback,
};

/**
 * Returns the server; call its `listen`. The server never ends the sidecar. With a pool, each
 * turn uses one of the processes. Throws TypeError for wrong options, and the system's error if
 * the folder of the records cannot be made.
 */
export function createGateway(sidecars: Sidecar | SidecarPool, options: GatewayOptions): Server {
  const pool = sidecars instanceof SidecarPool ? sidecars : new SidecarPool([sidecars]);
  const gateway = new Gateway(pool, checked(options, OPTIONS, "createGateway"));
  // An upload may take as long as it likes, headers may not.
  const limits = { maxHeaderSize: MOST_HEADERS, requestTimeout: 0, headersTimeout: 60_000 };
  const server = createServer(limits, (request, reply) => void gateway.answer(request, reply));
  server.maxHeadersCount = MOST_HEADER_LINES;
  server.on("close", () => gateway.close());
  return server;
}

const UNREAD = "a body has more than 32 MiB, or cannot be decoded";
const NO_OBJECT = "the answer is no JSON object, as its type says";

/** Writing this sends the headers with their bytes unchanged; `flushHeaders` would write them as UTF-8. */
const NOTHING = Buffer.alloc(0);

/** The path of the gateway's own status; no provider has it. */
const HEALTH = "/health";

/** The most refusals that are shown. */
const MOST_REFUSED = 20;

interface Route {
  readonly upstream: Upstream;
  readonly url: URL;
}

class Gateway {
  readonly #pool: SidecarPool;
  readonly #options: GatewayOptions;
  readonly #upstreams: readonly (readonly [string, Upstream])[];
  readonly #origins: Origins;
  readonly #recorder: Recorder | undefined;
  readonly #turns: Turns;
  readonly #refused = new Set<string>();
  #lost = "";

  constructor(pool: SidecarPool, options: GatewayOptions) {
    this.#pool = pool;
    const [sidecar] = pool.sidecars;
    this.#turns = new Turns(guarded(sidecar, "onTurn", options.onTurn));
    this.#options = {
      ...options,
      onTrouble: guarded(sidecar, "onTrouble", options.onTrouble),
    };
    this.#origins = new Origins(options.allowOrigins);
    const unrecorded = (error: Error) => this.#options.onTrouble?.(phrase("unrecorded", reasonOf(error)).text);
    this.#recorder = options.record === undefined ? undefined : new Recorder(options.record, unrecorded);
    const upstreams = Object.entries(options.upstreams).sort(([one], [other]) => other.length - one.length);
    this.#upstreams = upstreams.map(([path, base]) => [path.replace(/\/$/, ""), new Upstream(upstreamUrl(base))]);
  }

  async answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const gone = new AbortController();
    reply.sendDate = false; // the provider's date is passed on
    reply.on("close", () => gone.abort());
    let turn: Turn | undefined;
    try {
      const route = this.#routeOf(request.url ?? "/");
      const refusal = this.#origins.refusal(request);
      if (refusal !== undefined) this.#refuse(reply, refusal);
      else if (this.#origins.admit(request, reply)) return;
      else if (request.url === HEALTH) await this.#sendHealth(reply);
      else if (!route) fail(reply, 404, "no upstream has this path");
      else if (isWebSocket(request, route.url)) fail(reply, 426, "answers over a WebSocket are not cleaned, use HTTP");
      else {
        turn = this.#turns.begin(request, reply);
        if (isCleaned(request, route.url)) await this.#clean(request, reply, route, turn, gone.signal);
        else await this.#pass(request, reply, route, gone.signal);
      }
    } catch (error) {
      if (gone.signal.aborted) return;
      if (reply.headersSent) return void reply.destroy(error as Error);
      turn?.unanswered(error);
      fail(reply, 502, phrase("unanswered", reasonOf(error)).text);
    }
  }

  close(): void {
    for (const [, upstream] of this.#upstreams) upstream.close();
  }

  #routeOf(path: string): Route | undefined {
    const found = this.#upstreams.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`) || prefix === "");
    return found && { upstream: found[1], url: found[1].url(path.slice(found[0].length)) };
  }

  /** Passes request and answer unchanged. */
  async #pass(
    request: IncomingMessage,
    reply: ServerResponse,
    { upstream, url }: Route,
    signal: AbortSignal,
    read?: Uint8Array,
  ) {
    const { method = "GET", rawHeaders } = request;
    const body = read ?? (hasBody(request) ? request : new Uint8Array());
    passOn({ message: await upstream.send(url, { method, headers: passedOn(rawHeaders), body, signal }) }, reply);
  }

  async #clean(request: IncomingMessage, reply: ServerResponse, route: Route, turn: Turn, signal: AbortSignal) {
    const { upstream, url } = route;
    turn.expect(this.#options.claims);
    const lose = (error: unknown) => {
      turn.lost(error);
      this.#reportLost(error);
    };
    const { bytes, text } = (await wholeOf(request)) ?? {};
    if (bytes === undefined || text === undefined) {
      lose(UNREAD);
      return this.#pass(request, reply, route, signal, bytes);
    }
    const asked = askedOf("POST", url, text);
    const headers = decodable(passedOn(request.rawHeaders));
    const tape = this.#recorder?.turn();
    tape?.follow(reply);
    const record = (read: Uint8Array) => tape?.write("came", read);
    let came!: ReadAnswer;
    const send = async (_input: unknown, init?: RequestInit) => {
      const isOwn = init?.body === text;
      const body = isOwn ? bytes : Buffer.from(String(init?.body));
      const sized = isOwn ? headers : withSet(headers, new Headers(init?.headers), body.length);
      tape?.write("request", body);
      const message = await upstream.send(url, { method: "POST", headers: sized, body, signal });
      const { "content-type": type = "" } = message.headers;
      const isWhole = isOfType(type, "application/json") && !(asked && formatOf(asked, type));
      came = await readable(message, isWhole, record);
      if (came.isUnread) lose(UNREAD);
      else if (came.whole?.text && !/^\s*\{/.test(came.whole.text)) lose(NO_OBJECT);
      return came.response;
    };
    const { provider, policy, responseTemplate, claims, prepare } = this.#options;
    const chosen = { ...(provider && { provider }), ...(policy && { policy }), ...(claims && { claims }) };
    const cleaning: SidecarFetchOptions = {
      ...chosen,
      ...(responseTemplate && { responseTemplate }),
      ...(prepare !== undefined && { prepare }),
      fetch: send as typeof fetch,
      onEvent: (event) => turn.event(event),
      onLost: lose,
    };
    const listener = { onPrepared: turn.prepared, onStats: turn.stats };
    const fetching = cleaningFetch(this.#pool.of(crypto.randomUUID()), cleaning, listener);
    const given = headers.map(([name, value]): [string, string] => [name, value]);
    const response = await fetching(url, { method: "POST", headers: given, body: text, signal });
    const isUntouched = came.response === response;
    const body = came.whole && !isUntouched ? Buffer.from(await response.arrayBuffer()) : undefined;
    if (isUntouched || isSame(body, came.whole?.text)) passOn(came, reply, record);
    else await write(response, reply, came.message, body);
  }

  /** Refuses a request of a web page. Only the first lines are shown, because pages may go on for ever. */
  #refuse(reply: ServerResponse, why: string): void {
    fail(reply, 403, why);
    if (this.#refused.size >= MOST_REFUSED || this.#refused.has(why)) return;
    this.#refused.add(why);
    this.#options.onTrouble?.(phrase("refused", why).text);
  }

  async #sendHealth(reply: ServerResponse): Promise<void> {
    const upstreams = Object.fromEntries(
      Object.entries(this.#options.upstreams).map(([at, base]) => [at, String(base)]),
    );
    const health = await healthOf(this.#pool.sidecars, this.#turns);
    reply.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ ...health, upstreams }));
  }

  /** Reports a problem, unless it is the same as the last one. */
  #reportLost(error: unknown): void {
    const { text } = phrase("uncleaned", reasonOf(error));
    if (text !== this.#lost) this.#options.onTrouble?.(text);
    this.#lost = text;
  }
}

/**
 * Whether a client asks for a WebSocket at an endpoint whose answers are cleaned. Codex then asks
 * over HTTP at once. To any other refusal it answers with attempts for ten seconds.
 */
function isWebSocket({ headers: { upgrade = "" } }: IncomingMessage, url: URL): boolean {
  return upgrade.toLowerCase() === "websocket" && askedOf("POST", url, "{}") !== undefined;
}

/** Whether a request goes to an endpoint whose answers can be cleaned. */
function isCleaned({ method = "" }: IncomingMessage, url: URL): boolean {
  return askedOf(method, url, "{}") !== undefined;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}

/**
 * The headers of a new body of this length: `made` has those that were set. They keep the agent's
 * spelling, and so do all others, each as it came.
 */
function withSet(headers: Headers, made: globalThis.Headers, length: number): Headers {
  const before = new Headers([...headers].map(([name, value]): [string, string] => [name, value]));
  const set = [...made].filter(([name, value]) => value !== before.get(name));
  const names = new Map(headers.map(([name]) => [name.toLowerCase(), name]));
  const spelled = set.map(([name, value]): [string, string] => [names.get(name) ?? name, value]);
  const kept = without(headers, "content-encoding", "content-length", ...set.map(([name]) => name));
  return [...kept, ...spelled, ["content-length", String(length)]];
}

/** Passes an answer unchanged. `onRead` gets the bytes that were not read before. */
function passOn(
  { message, whole }: Pick<ReadAnswer, "message" | "whole">,
  reply: ServerResponse,
  onRead: (bytes: Uint8Array) => void = () => {},
): void {
  begin(reply, message.statusCode ?? 502, message.statusMessage, passedOn(message.rawHeaders));
  if (whole) return end(reply, message, whole.bytes);
  reply.write(NOTHING);
  message.on("data", onRead).on("end", () => addTrailers(reply, message));
  pipeline(message, reply, (error) => error && reply.destroy());
}

/** Begins an answer. The headers that the gateway has set itself stand in the place of the provider's. */
function begin(reply: ServerResponse, status: number, reason: string | undefined, headers: Headers): void {
  const own = reply.getHeaderNames();
  if (own.length === 0) return void reply.writeHead(status, reason, headers.flat());
  // Beside its own headers Node.js 20 would write only the last of several of one name.
  for (const [name, value] of without(headers, ...own)) reply.appendHeader(name, value);
  reply.writeHead(status, reason);
}

function end(reply: ServerResponse, message: IncomingMessage, body: Uint8Array): void {
  addTrailers(reply, message);
  reply.end(body);
}

/** Adds the trailers of a message whose body has ended. */
function addTrailers(reply: ServerResponse, { rawTrailers }: IncomingMessage): void {
  reply.addTrailers(passedOn(rawTrailers));
}

/** Whether a body is the other's text, or equal as JSON: then nothing was cleaned, and the original bytes are sent. */
function isSame(one: Buffer | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return one.equals(Buffer.from(other)) || isDeepStrictEqual(JSON.parse(one.toString()), JSON.parse(other));
}

async function write(
  response: Response,
  reply: ServerResponse,
  message: IncomingMessage,
  whole?: Uint8Array,
): Promise<void> {
  begin(reply, response.status, response.statusText, [...response.headers]);
  if (whole !== undefined) return end(reply, message, whole);
  reply.write(NOTHING);
  const body = response.body ? Readable.fromWeb(response.body as never) : Readable.from([]);
  body.on("end", () => addTrailers(reply, message));
  await new Promise<void>((resolve) =>
    pipeline(body, reply, (error) => {
      if (error) reply.destroy();
      resolve();
    }),
  );
}

function fail(reply: ServerResponse, status: number, message: string): void {
  const error = { type: "gateway_error", message: `stream-sidecar-gateway: ${message}` };
  // The reason is named, because an upstream's invalid one would be written again.
  const headers = { "content-type": "application/json" };
  reply.writeHead(status, STATUS_CODES[status], headers).end(JSON.stringify({ type: "error", error }));
}
