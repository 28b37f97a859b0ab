// Whether there are processes: `index.ts` says how they are started, and a browser, which
// has none, imports `stream-sidecar/wasm` and not that.

import { SidecarUnavailable } from "./errors.js";
import type { Link } from "./link.js";
import type { SidecarOptions } from "./options.js";

export interface Processes {
  /** Starts a sidecar each time it is called. */
  starter(options: SidecarOptions): () => Promise<Link>;
}

const NONE: Processes = {
  starter: () => {
    const message = "no process can be started here; take spawn of stream-sidecar/wasm, or fromConnection";
    return () => Promise.reject(new SidecarUnavailable(message, []));
  },
};

let processes = NONE;

export function provide(given: Processes): void {
  processes = given;
}

export function starter(options: SidecarOptions): () => Promise<Link> {
  return processes.starter(options);
}
