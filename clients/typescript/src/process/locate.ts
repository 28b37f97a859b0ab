// Where the sidecar may be, in the order in which it is looked for. This module looks only at the
// environment and at which files exist; it starts nothing.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join, posix, win32 } from "node:path";
import type { SidecarOptions } from "../options.js";
import { PACKAGE as WASM } from "../wasm/start.js";
import { fileNames, isStub } from "./programs.js";

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly arch: string;
  readonly exists: (file: string) => boolean;
  /** The file of a package with this name; undefined if the package is not installed. */
  readonly resolve: (name: string) => string | undefined;
}

const here: Surroundings = {
  env: process.env,
  platform: process.platform,
  arch: process.arch,
  exists: existsSync,
  resolve: (name) => {
    try {
      return createRequire(typeof __filename === "string" ? __filename : import.meta.url).resolve(name);
    } catch {
      return undefined;
    }
  },
};

/** Where a sidecar was found. */
export type WayName = "host" | "package" | "path" | "python" | "index" | "webassembly";

/** A way to start a sidecar: by a command line, or in a worker with the files of a folder. */
export interface Way {
  readonly name: WayName;
  readonly command?: readonly string[];
  readonly files?: string;
}

/** The ways in words for people, best first, with the places where nothing was found. */
export function described(found: readonly Way[]): string {
  const lines = ORDER.map((name) => {
    const places = found.filter((way) => way.name === name).map(({ command, files }) => command?.join(" ") ?? files);
    return `${name}: ${places.join(", or ") || `not found (${TITLES[name]})`}`;
  });
  return lines.join("\n");
}

const TITLES: Readonly<Record<WayName, string>> = {
  host: "the options command and python, and STREAM_SIDECAR",
  package: "the package @stream-sidecar/<os>-<arch> beside this one",
  path: "stream-sidecar on PATH",
  python: "Python 3.11 or newer on PATH that has the package",
  index: "uvx on PATH, from its cache unless allowDownload is given",
  webassembly: `the package ${WASM}`,
};
const ORDER = Object.keys(TITLES) as WayName[];

type Choice = Pick<SidecarOptions, "command" | "python" | "allowDownload" | "allowWebAssembly">;

/**
 * The ways to try, one after the other. If the host names a command, by an option or by
 * STREAM_SIDECAR, nothing else is tried. Without `allowDownload`, uvx uses only its cache; pipx
 * has no option for that and is left out.
 */
export function ways(choice: Choice = {}, surroundings: Surroundings = here): Way[] {
  const named = namedBy(choice, surroundings);
  if (named) return listed("host", named);
  const { allowDownload = false, allowWebAssembly = true } = choice;
  const row = (name: string, ...args: string[]) => {
    const file = onPath(name, surroundings);
    return file === undefined ? [] : [[file, ...args]];
  };
  const pythons = [...row("python3"), ...row("python"), ...row("py", "-3")];
  const offline = allowDownload ? [] : ["--offline"];
  const uvx = row("uvx", ...offline, PROGRAM, "--stdio");
  return [
    ...listed("package", packaged(surroundings)),
    ...listed("path", row(PROGRAM, "--stdio")),
    ...listed("python", pythons.flatMap(serving)),
    ...listed("index", [...uvx, ...(allowDownload ? row("pipx", "run", PROGRAM, "--stdio") : [])]),
    ...(allowWebAssembly ? inWorker(surroundings) : []),
  ];
}

const PROGRAM = "stream-sidecar";

/**
 * The command lines for a Python: first without anything that its user added (`-I`), then with
 * the packages of PYTHONPATH and of the home folder (`-P`). Neither imports from the working
 * directory.
 */
function serving(python: readonly string[]): string[][] {
  return ["-I", "-P"].map((alone) => [...python, alone, "-m", "stream_sidecar", "--stdio"]);
}

function listed(name: WayName, commands: readonly string[][]): Way[] {
  return commands.map((command) => ({ name, command }));
}

function namedBy({ command, python }: Choice, { env, exists }: Surroundings): string[][] | undefined {
  if (command !== undefined) return [typeof command === "string" ? [command, "--stdio"] : [...command]];
  if (python !== undefined) return serving([python]);
  const named = env["STREAM_SIDECAR"];
  return named ? [[...(exists(named) ? [named] : words(named)), "--stdio"]] : undefined;
}

/** The program of the package for this system and processor. */
function packaged({ platform, arch, resolve, exists }: Surroundings): string[][] {
  const about = resolve(`@stream-sidecar/${platform}-${arch}/package.json`);
  if (about === undefined) return [];
  const program = join(dirname(about), PROGRAM, platform === "win32" ? `${PROGRAM}.exe` : PROGRAM);
  return exists(program) ? [[program, "--stdio"]] : [];
}

function inWorker({ resolve }: Surroundings): Way[] {
  const about = resolve(`${WASM}/package.json`);
  return about === undefined ? [] : [{ name: "webassembly", files: dirname(about) }];
}

/** Looks up a program on PATH. Relative entries are skipped: they are in the host's working directory. */
function onPath(name: string, { env, platform, exists }: Surroundings): string | undefined {
  const { isAbsolute } = platform === "win32" ? win32 : posix;
  const places = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter((place) => isAbsolute(place));
  const files = places.flatMap((place) => fileNames(name, platform).map((each) => join(place, each)));
  return files.find((file) => exists(file) && !isStub(file, platform));
}

/** The words of a command line; quotes protect blanks. */
function words(line: string): string[] {
  const found = line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g);
  return [...found].map(([, double, single, bare]) => double ?? single ?? bare ?? "");
}
