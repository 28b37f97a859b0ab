// Whether processes can be started. `index.ts` provides the functions for it; a browser has no
// processes, and imports `stream-sidecar/wasm` instead.

import { SidecarUnavailable } from "../errors.js";
import type { Link } from "../connection/link.js";
import type { Way } from "./locate.js";
import type { SidecarOptions } from "../options.js";

export interface Processes {
  /** The ways to start a sidecar, best first. */
  locate(options: SidecarOptions): Located;
  /** Returns a function that starts a sidecar each time it is called. */
  starter(options: SidecarOptions): () => Promise<Link>;
}

/** The ways to start a sidecar; `toString()` is for people. */
export interface Located {
  readonly ways: readonly Way[];
  toString(): string;
}

const NONE: Processes = {
  locate: () => ({ ways: [], toString: () => "no process can be started here" }),
  starter: () => {
    const message = "no process can be started here; use spawn of stream-sidecar/wasm, or fromConnection";
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
