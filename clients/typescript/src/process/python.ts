// Why no Python that was tried has the sidecar, and the way out, in words for whoever
// reads the host's error message.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { childEnvironment, fromHere, ownFolder } from "./child-place.js";
import type { Attempt, FoundPython, PythonProblem } from "../errors.js";
import { startable } from "./programs.js";

const NEEDED = [3, 11] as const;
/** `-E`, because an old one knows no other way to leave PYTHONPATH alone. */
const ASK_VERSION = ["-E", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"];
const PATIENCE_MS = 5_000;

/** What is wrong with the Pythons that were tried; undefined: it is something else. */
export async function pythonProblem(attempts: readonly Attempt[]): Promise<Problem | undefined> {
  const interpreters = new Map(attempts.flatMap(({ command }) => interpreterOf(command)));
  if (interpreters.size === 0) return attempts.length === 0 ? new Problem("python-missing") : undefined;
  const asked = [...interpreters.values()].map(versionOf);
  const found = (await Promise.all(asked)).filter((python) => python !== undefined);
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

/** What starts the Python of a command, by itself in words; nothing: it has none. */
function interpreterOf(command: readonly string[]): readonly (readonly [string, readonly string[]])[] {
  const module = command.indexOf("-m");
  if (command[module + 1] !== "stream_sidecar") return [];
  const words = command.slice(0, module).filter((word) => word !== "-I" && word !== "-P");
  return [[words.join(" "), words]];
}

async function versionOf(interpreter: readonly string[]): Promise<FoundPython | undefined> {
  const { file, args, ...how } = startable([...interpreter, ...ASK_VERSION]);
  const options = { ...how, cwd: ownFolder(), env: childEnvironment(process.env), timeout: PATIENCE_MS };
  try {
    const { stdout } = await promisify(execFile)(fromHere(file), args, options);
    return { version: stdout.trim(), path: interpreter[0] ?? "" };
  } catch {
    return undefined;
  }
}

function isEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}
