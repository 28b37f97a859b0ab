// Why no Python that was tried has the sidecar, and the way out, in words for whoever
// reads the host's error message.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Attempt } from "./errors.js";
import { startable } from "./programs.js";

/** A Python that was found: "3.10" at "/usr/bin/python3". */
export interface FoundPython {
  readonly version: string;
  readonly path: string;
}

export type PythonProblem = "python-missing" | "python-too-old" | "package-missing";

const NEEDED = [3, 11] as const;
const ASK_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])";
const PATIENCE_MS = 5_000;

/** What is wrong with the Pythons that were tried; undefined: it is something else. */
export async function pythonProblem(attempts: readonly Attempt[]): Promise<Problem | undefined> {
  const interpreters = attempts.flatMap(({ command }) => {
    const module = command.indexOf("-m");
    return command[module + 1] === "stream_sidecar" ? [command.slice(0, module).filter((word) => word !== "-P")] : [];
  });
  if (interpreters.length === 0) return attempts.length === 0 ? new Problem("python-missing") : undefined;
  const found = (await Promise.all(interpreters.map(versionOf))).filter((python) => python !== undefined);
  const fit = found.find(({ version }) => isEnough(version));
  if (fit) return new Problem("package-missing", fit);
  return found[0] ? new Problem("python-too-old", found[0]) : new Problem("python-missing");
}

export class Problem {
  constructor(
    readonly kind: PythonProblem,
    readonly python?: FoundPython,
  ) {}

  get message(): string {
    const needed = `Python ${NEEDED.join(".")} or newer is needed`;
    const { version = "", path = "" } = this.python ?? {};
    switch (this.kind) {
      case "python-missing":
        return `${needed}, and none was found; ${OR_NAME_IT}`;
      case "python-too-old":
        return `${needed}, found ${version} at ${path}; ${OR_NAME_IT}`;
      case "package-missing":
        return `Python ${version} at ${path} cannot run stream-sidecar; install the package there, or name another with the option python or command`;
    }
  }
}

const OR_NAME_IT = "or name a sidecar that brings its own with the option command or STREAM_SIDECAR";

async function versionOf(interpreter: readonly string[]): Promise<FoundPython | undefined> {
  const { file, args, ...how } = startable([...interpreter, "-c", ASK_VERSION]);
  try {
    const { stdout } = await promisify(execFile)(file, args, { ...how, timeout: PATIENCE_MS });
    return { version: stdout.trim(), path: interpreter[0] ?? "" };
  } catch {
    return undefined;
  }
}

function isEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}
