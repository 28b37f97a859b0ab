// The addresses of a gateway: those of its upstreams, and the one that it is called by.

import { isIPv6 } from "node:net";

/** An address of all interfaces, by which nobody can call -> this machine's own, by which it can be called. */
const CALLABLE: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** The base URL of a server. `host`: the host in its settings. `address`, `port`: those that it got. */
export function baseOf(host: string, { address, port }: { readonly address: string; readonly port: number }): string {
  const name = CALLABLE[address] ?? host;
  return `http://${isIPv6(name) ? `[${name}]` : name}:${port}`;
}

/**
 * The address of an upstream: a scheme, a host and a path. A user, a password and a query are
 * often secrets. They would not be sent, and could be read in the log and in `/health`, so they
 * are refused: throws TypeError, without them in its message.
 */
export function upstreamUrl(address: string | URL): URL {
  const shown = withoutSecrets(String(address));
  const url = URL.canParse(String(address)) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new TypeError(`${shown}: not an HTTP address`);
  const { username, password, search, hash } = url;
  if (!username && !password && !search && !hash) return url;
  throw new TypeError(`${shown}: an upstream has no user, password or query; the agent sends its key itself`);
}

/** An address for people, also one that is none. */
function withoutSecrets(address: string): string {
  return address.replace(/^([a-z][\w+.-]*:\/\/)?.*@/is, "$1***@").replace(/[?#].*/s, "?***");
}
