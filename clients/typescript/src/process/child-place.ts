// The working directory and the environment of a sidecar's process. A Python runs modules on its
// search path before it runs the requested program. So the folder that the host has opened, whose
// content may be untrusted, must not get on the search path: neither as the working directory nor
// by a relative entry of PYTHONPATH.

import { existsSync } from "node:fs";
import { basename, delimiter, isAbsolute, parse, resolve } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The folder of the running program, or its root if an update has removed that folder. A person
 * who can write there can also replace the program.
 */
export function ownFolder(): string {
  const { dir, root } = parse(process.execPath);
  return existsSync(dir) ? dir : root;
}

/**
 * The inherited variables without PYTHONHOME, and the added ones. Only absolute entries of
 * PYTHONPATH are kept: empty and relative entries are in the working directory.
 */
export function childEnvironment(inherited: Environment, added: Environment = {}): Environment {
  const rest = Object.entries(inherited).filter(([name]) => name.toUpperCase() !== "PYTHONHOME");
  const all = [...rest, ...Object.entries(added)];
  return Object.fromEntries(all.map(([name, value]) => [name, isSearchPath(name) ? absolute(value) : value]));
}

function isSearchPath(name: string): boolean {
  return name.toUpperCase() === "PYTHONPATH"; // Windows ignores the case of names
}

function absolute(path: string | undefined): string | undefined {
  return path?.split(delimiter).filter(isAbsolute).join(delimiter);
}

/** The absolute path of a program, relative to the host's working directory. A bare name is looked up on PATH. */
export function fromHere(program: string): string {
  return basename(program) === program ? program : resolve(program);
}
