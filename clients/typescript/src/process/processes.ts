// Whether there are processes: `index.ts` says how they are started, and a browser, which
// has none, imports `stream-sidecar/wasm` and not that.

import { SidecarUnavailable } from "../errors.js";
import type { Link } from "../connection/link.js";
import type { Way } from "./locate.js";
import type { SidecarOptions } from "../options.js";

export interface Processes {
  /** The ways to one, best first, and the same in words. */
  locate(options: SidecarOptions): Located;
  /** Starts a sidecar each time it is called. */
  starter(options: SidecarOptions): () => Promise<Link>;
}

/** Where a sidecar may be had. */
export interface Located {
  readonly ways: readonly Way[];
  toString(): string;
}

const NONE: Processes = {
  locate: () => ({ ways: [], toString: () => "no process can be started here" }),
  starter: () => {
    const message = "no process can be started here; take spawn of stream-sidecar/wasm, or fromConnection";
    return () => Promise.reject(new SidecarUnavailable(message, []));
  },
};

let processes = NONE;

export function provide(given: Processes): void {
  processes = given;
}

export function locate(options: SidecarOptions): Located {
  return processes.locate(options);
}

export function starter(options: SidecarOptions): () => Promise<Link> {
  return processes.starter(options);
}
