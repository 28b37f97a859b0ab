// Why no tried Python can run the sidecar, and what to do about it, for the reader of the host's
// error message.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { childEnvironment, fromHere, ownFolder } from "./child-place.js";
import type { Attempt, FoundPython, PythonProblem } from "../errors.js";
import { startable } from "./programs.js";

const NEEDED = [3, 11] as const;
/** `-E`, because an old Python has no other option to ignore PYTHONPATH. */
const ASK_VERSION = ["-E", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"];
const PATIENCE_MS = 5_000;

/** The problem with the Pythons that were tried; undefined if the problem is another. */
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
        return `${needed}, but none was found; ${OR_NAME_IT}`;
      case "python-too-old":
        return `${needed}, found ${version} at ${path}; ${OR_NAME_IT}`;
      case "package-missing":
        return `Python ${version} at ${path} cannot run stream-sidecar; install the package there, or name another Python with the option python`;
    }
  }
}

const OR_NAME_IT = "or name a sidecar that includes a Python, with the option command or STREAM_SIDECAR";

/** The words that start the Python of a command, with their text as the key; empty if it has none. */
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
