// Where the sidecar may be, in the order in which it is looked for. This module looks only
// at the settings, at the environment and at which files exist; it starts nothing.

import { delimiter, join, posix, win32 } from "node:path";
import { fileNames, isStub } from "../../typescript/src/process/programs.js";

/** What the user and the editor have chosen. */
export interface Choice {
  /** The setting `streamSidecar.command`; empty: not set. */
  readonly command: readonly string[];
  /** The setting `streamSidecar.python`; empty: not set. */
  readonly python: string;
  /** The interpreter of the Python extension, in a folder that is trusted. */
  readonly chosenPython: string | undefined;
  /** The folder `bundled` of this extension. */
  readonly bundled: string;
}

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly exists: (file: string) => boolean;
}

/**
 * Options of the interpreter: first without anything that its user added (`-I`), then with the
 * packages of PYTHONPATH and of the home folder (`-P`). Neither option imports from the folder
 * that is open.
 */
const ALONE = "-I";
const MODULES = [ALONE, "-P"].map((alone) => [alone, "-m", "stream_sidecar"]);

/** The command lines to try, without our arguments. If the user names a command, it is the only one. */
export function candidates(choice: Choice, { env, platform, exists }: Surroundings): string[][] {
  const isWindows = platform === "win32";
  const onPath = (name: string) => find(name, isWindows ? ";" : delimiter, { env, platform, exists });
  const [first, ...rest] = choice.command;
  // A bare name is looked up here, because Windows would look in the folder that is open.
  if (first !== undefined) return [[(/[\\/]/.test(first) ? undefined : onPath(first)) ?? first, ...rest]];
  const binary = join(choice.bundled, "stream-sidecar", isWindows ? "stream-sidecar.exe" : "stream-sidecar");
  const archive = join(choice.bundled, "stream-sidecar.pyz");

  const row = (name: string, ...args: string[]) => {
    const file = onPath(name);
    return file === undefined ? [] : [[file, ...args]];
  };

  const isNamed = choice.python !== "";
  const chosen = choice.chosenPython === undefined ? [] : [[choice.chosenPython]];
  const pythons = isNamed
    ? [[choice.python]]
    : [...chosen, ...row("python3"), ...row("python"), ...(isWindows ? row("py", "-3") : [])];
  return [
    ...(!isNamed && exists(binary) ? [[binary]] : []),
    ...(exists(archive) ? pythons.map((python) => [...python, ALONE, archive]) : []),
    ...(isNamed ? [] : row("stream-sidecar")),
    ...pythons.flatMap((python) => MODULES.map((module) => [...python, ...module])),
  ];
}

/** Relative entries of PATH are skipped: they are in the folder that is open. */
function find(name: string, separator: string, { env, platform, exists }: Surroundings): string | undefined {
  const { isAbsolute } = platform === "win32" ? win32 : posix;
  const places = (env["PATH"] ?? env["Path"] ?? "").split(separator).filter((place) => isAbsolute(place));
  const files = places.flatMap((place) => fileNames(name, platform).map((each) => join(place, each)));
  return files.find((file) => exists(file) && !isStub(file, platform));
}
