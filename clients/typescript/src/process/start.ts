// Tries the ways to start a sidecar until one of them answers, and uses that way from then on.

import { statSync } from "node:fs";
import { SidecarUnavailable, UnsupportedProtocol, type Attempt } from "../errors.js";
import { launch, type LaunchOptions } from "./launch.js";
import type { Link } from "../connection/link.js";
import { ways, type Way } from "./locate.js";
import type { SidecarOptions } from "../options.js";
import { pythonProblem, type Problem } from "./python.js";
import { launchWorker, PACKAGE as WASM, WEBASSEMBLY } from "../wasm/start.js";

/** Returns a function that starts a sidecar. It rejects with SidecarUnavailable or UnsupportedProtocol. */
export function starter(options: SidecarOptions): () => Promise<Link> {
  let known: Way | undefined;
  return async () => {
    const attempts: Attempt[] = [];
    assertFolder(options.cwd);
    for (const way of known ? [known] : ways(options)) {
      try {
        const link = await started(way, options);
        known = way;
        return link;
      } catch (error) {
        if (error instanceof UnsupportedProtocol) throw error;
        attempts.push({ command: way.command ?? [WEBASSEMBLY], error: error as Error });
      }
    }
    const problem = known ? undefined : await pythonProblem(attempts);
    throw new SidecarUnavailable(described(attempts, problem), attempts, attempts.at(-1)?.error, problem);
  };
}

/** A process in a folder that is missing fails as if its program were missing. */
function assertFolder(cwd: string | null | undefined): void {
  if (cwd === undefined || cwd === null || statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new SidecarUnavailable(`the option cwd names no folder: ${cwd}`, []);
}

function started({ command }: Way, options: SidecarOptions): Promise<Link> {
  if (command) {
    const timeouts = { startTimeoutMs: 60_000, shutdownTimeoutMs: 5_000 };
    return launch(command, { ...timeouts, ...options } satisfies LaunchOptions);
  }
  return launchWorker(options);
}

function described(attempts: readonly Attempt[], problem: Problem | undefined): string {
  const wayOut = problem ? `. ${problem.message}` : "";
  if (attempts.length === 0) return `stream-sidecar was not found: no ${MISSING}${wayOut}; ${INSTALL}`;
  const tried = attempts.map(({ command, error }) => `${command.join(" ")}: ${error.message}`);
  return `stream-sidecar cannot be started (${tried.join("; ")})${wayOut}`;
}

const PACKAGE = `@stream-sidecar/${process.platform}-${process.arch}`;
const MISSING = `option command, no STREAM_SIDECAR, no package ${PACKAGE}, no stream-sidecar, Python or uvx on PATH, no package ${WASM}`;
const INSTALL = `install ${PACKAGE} or ${WASM} beside the package stream-sidecar`;
