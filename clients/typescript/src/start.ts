// Tries the places where the sidecar may be until one of them answers, and stays with it.

import { SidecarUnavailable, UnsupportedProtocol, type Attempt } from "./errors.js";
import { launch, type LaunchOptions } from "./launch.js";
import type { Link } from "./link.js";
import { candidates } from "./locate.js";
import type { SidecarOptions } from "./options.js";
import { pythonProblem, type Problem } from "./python.js";

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
    const problem = known ? undefined : await pythonProblem(attempts);
    throw new SidecarUnavailable(described(attempts, problem), attempts, attempts.at(-1)?.error, problem);
  };
}

function described(attempts: readonly Attempt[], problem: Problem | undefined): string {
  const wayOut = problem ? `. ${problem.message}` : "";
  if (attempts.length === 0) {
    return `stream-sidecar was not found: it is not on PATH, and STREAM_SIDECAR and the option command do not name it${wayOut}`;
  }
  const tried = attempts.map(({ command, error }) => `${command.join(" ")}: ${error.message}`);
  return `stream-sidecar cannot be started (${tried.join("; ")})${wayOut}`;
}
