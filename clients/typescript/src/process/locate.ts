// Where the sidecar may be, in the order in which it is looked for. Only looks at the
// environment and at which files exist; starts nothing.

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
  /** The file that a package gives under this name; undefined: it is not installed. */
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

/** Who brings the sidecar along. */
export type WayName = "host" | "package" | "path" | "python" | "index" | "webassembly";

/** A way to have a sidecar: by a command line, or in a worker with the files of this folder. */
export interface Way {
  readonly name: WayName;
  readonly command?: readonly string[];
  readonly files?: string;
}

/** All ways of this machine that are worth a try, best first, in words for people. */
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
  python: "Python 3.11 or newer on PATH, which has the package",
  index: "uvx on PATH, from its cache unless allowDownload is given",
  webassembly: `the package ${WASM}`,
};
const ORDER = Object.keys(TITLES) as WayName[];

type Choice = Pick<SidecarOptions, "command" | "python" | "allowDownload" | "allowWebAssembly">;

/**
 * What to try one after the other. What the host names, by option or by STREAM_SIDECAR, is
 * all that is tried. uvx may only use what it has already fetched, unless `allowDownload` is
 * given; pipx cannot be told so.
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
 * A Python by itself (`-I`), then one with what its user has added to it by PYTHONPATH or in
 * the home (`-P`); never with the folder that it works in.
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

/** A relative place on PATH is one in the folder that the host works in, and is passed over. */
function onPath(name: string, { env, platform, exists }: Surroundings): string | undefined {
  const { isAbsolute } = platform === "win32" ? win32 : posix;
  const places = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter((place) => isAbsolute(place));
  const files = places.flatMap((place) => fileNames(name, platform).map((each) => join(place, each)));
  return files.find((file) => exists(file) && !isStub(file, platform));
}

/** Words of a command line; quotes keep blanks in one. */
function words(line: string): string[] {
  const found = line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g);
  return [...found].map(([, double, single, bare]) => double ?? single ?? bare ?? "");
}
