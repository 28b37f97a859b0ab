// Which web pages may use the gateway: those of its own origin, and those that the user allows. A
// browser sends the requests of any page to this machine, with the page's origin. It keeps the
// answer from a foreign page, but the provider has then been asked, at the user's cost. The
// provider cannot refuse such a request, because the gateway sends the provider's own name.

import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";

const ANY = "*";

/** The origin of web pages, `*` for all, or `null` for those without one. Throws TypeError for anything else. */
export function checkedOrigin(text: string): string {
  const origin = text.toLowerCase();
  if (origin === ANY || origin === "null" || /^[a-z][a-z\d+.-]*:\/\/[^/?#@\s]+$/.test(origin)) return origin;
  throw new TypeError(`${text}: not an origin, such as http://localhost:3000`);
}

export class Origins {
  readonly #allowed: ReadonlySet<string>;

  /** Throws TypeError for what is no origin. */
  constructor(allowed: readonly string[] = []) {
    this.#allowed = new Set(allowed.map(checkedOrigin));
  }

  /** Why a request is refused; undefined: no foreign page sends it. */
  refusal(request: IncomingMessage): string | undefined {
    if (isRebound(request)) return "on this machine, call it by an address or a local name";
    const { origin, "sec-fetch-site": site } = request.headers;
    const isForeign = site === "cross-site" || (origin !== undefined && !isOwn(request, origin));
    if (!isForeign || this.#allows(origin)) return undefined;
    return `web pages of ${origin ?? "another site"} may not use it; --allow-origin allows it`;
  }

  /** Lets an allowed page read the answer. True: the request only asked whether the page may, and is answered. */
  admit(request: IncomingMessage, reply: ServerResponse): boolean {
    const { origin, ...headers } = request.headers;
    if (origin === undefined || isOwn(request, origin) || !this.#allows(origin)) return false;
    reply.setHeader("Access-Control-Allow-Origin", origin);
    const { "access-control-request-method": method, "access-control-request-headers": asked } = headers;
    if (request.method !== "OPTIONS" || method === undefined) return false;
    reply.setHeader("Access-Control-Allow-Methods", method);
    if (asked !== undefined) reply.setHeader("Access-Control-Allow-Headers", asked);
    reply.writeHead(204).end();
    return true;
  }

  #allows(origin: string | undefined): boolean {
    return this.#allowed.has(ANY) || (origin !== undefined && this.#allowed.has(origin.toLowerCase()));
  }
}

/** Whether a page has the origin of the gateway itself, as its browser calls it. */
function isOwn({ headers: { host = "" } }: IncomingMessage, origin: string): boolean {
  return origin.toLowerCase() === `http://${host.toLowerCase()}`;
}

/**
 * Whether a request to the loopback address has a public domain name in `Host`: it comes from a
 * web page whose domain was made to resolve to this machine (DNS rebinding), so that the page has
 * the gateway's origin.
 */
function isRebound({ headers: { host = "" }, socket }: IncomingMessage): boolean {
  const isHere = /^(::1$|(::ffff:)?127\.)/.test(socket.localAddress ?? "");
  const name = host
    .replace(/:\d+$/, "")
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
  return isHere && name.includes(".") && isIP(name) === 0 && !/\.(localhost|local|internal)$/i.test(name);
}
