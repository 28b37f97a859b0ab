// Where a sidecar's process works, and what it has of an environment. A Python runs what
// lies on its search path before it runs what it was asked for, so the folder that the host
// has opened, which may be anybody's, must not get there: neither as the folder that the
// process works in nor by an entry of PYTHONPATH that means it.

import { existsSync } from "node:fs";
import { basename, delimiter, isAbsolute, parse, resolve } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The folder of the program that runs; its root, where an update has taken the folder away.
 * Who may write there may as well replace the program.
 */
export function ownFolder(): string {
  const { dir, root } = parse(process.execPath);
  return existsSync(dir) ? dir : root;
}

/**
 * What is inherited, without PYTHONHOME, and what is added. Of PYTHONPATH only absolute
 * entries are left: an empty or relative one is below the folder that is worked in.
 */
export function childEnvironment(inherited: Environment, added: Environment = {}): Environment {
  const rest = Object.entries(inherited).filter(([name]) => name.toUpperCase() !== "PYTHONHOME");
  const all = [...rest, ...Object.entries(added)];
  return Object.fromEntries(all.map(([name, value]) => [name, isSearchPath(name) ? absolute(value) : value]));
}

function isSearchPath(name: string): boolean {
  return name.toUpperCase() === "PYTHONPATH"; // Windows knows one name in any case
}

function absolute(path: string | undefined): string | undefined {
  return path?.split(delimiter).filter(isAbsolute).join(delimiter);
}

/** A program that a path names, as that path is meant here; a bare name is looked up on PATH. */
export function fromHere(program: string): string {
  return basename(program) === program ? program : resolve(program);
}
