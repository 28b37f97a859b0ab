// Tries the places where the sidecar may be until one of them answers, and stays with it.

import { SidecarUnavailable, UnsupportedProtocol, type Attempt } from "./errors.js";
import { launch, type LaunchOptions } from "./launch.js";
import type { Link } from "./link.js";
import { candidates } from "./locate.js";
import type { SidecarOptions } from "./options.js";

/** Starts a sidecar each time it is called; rejects with SidecarUnavailable or UnsupportedProtocol. */
export function starter(options: SidecarOptions): () => Promise<Link> {
  const launchOptions: LaunchOptions = {
    startTimeoutMs: 15_000,
    shutdownTimeoutMs: 2_000,
    ...options,
  };
  let known: readonly string[] | undefined;
  return async () => {
    const attempts: Attempt[] = [];
    for (const command of known ? [known] : candidates(options)) {
      try {
        const link = await launch(command, launchOptions);
        known = command;
        return link;
      } catch (error) {
        if (error instanceof UnsupportedProtocol) throw error;
        attempts.push({ command, error: error as Error });
      }
    }
    throw new SidecarUnavailable(described(attempts), attempts, attempts.at(-1)?.error);
  };
}

function described(attempts: readonly Attempt[]): string {
  if (attempts.length === 0) {
    return "stream-sidecar was not found: it is not on PATH, and STREAM_SIDECAR and the option command do not name it";
  }
  const tried = attempts.map(({ command, error }) => `${command.join(" ")}: ${error.message}`);
  return `stream-sidecar cannot be started (${tried.join("; ")})`;
}
