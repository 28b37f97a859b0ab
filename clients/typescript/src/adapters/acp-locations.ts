// The files that a call works on, as editors need them: absolute paths, with a line.

import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { ToolCall } from "../protocol.js";

export interface Location {
  path: string;
  line?: number;
}

/** Names of arguments that hold a path, and names that hold a line of the file (counted from 1). */
const PATHS = ["path", "file_path", "filePath", "filepath", "file", "filename", "uri", "target_file", "targetFile"];
const MORE_PATHS = ["source", "destination", "old_path", "new_path", "oldPath", "newPath"];
const LINES = ["line", "start_line", "startLine", "line_number", "lineNumber"];

/** Kinds of calls for which arguments with these names are files. */
const ON_FILES: ReadonlySet<string> = new Set(["read", "edit", "delete", "move", "search"]);

/** The files of a call. Relative paths start from `cwd`; without it they are left out. */
export function locationsOf({ kind, input }: ToolCall, cwd: string | undefined): Location[] {
  if (!ON_FILES.has(kind) || typeof input !== "object" || input === null) return [];
  const given = input as Readonly<Record<string, unknown>>;
  const paths = [...PATHS, ...MORE_PATHS].flatMap((name) => pathOf(given[name], cwd) ?? []);
  const line = LINES.map((name) => given[name]).find((value) => Number.isInteger(value) && (value as number) > 0);
  return [...new Set(paths)].map((path) => ({ path, ...(line !== undefined && { line: line as number }) }));
}

function pathOf(value: unknown, cwd: string | undefined): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  if (value.startsWith("file://")) return ofUrl(value);
  if (isAbsolute(value)) return value;
  return cwd === undefined || value.includes("://") ? undefined : resolve(cwd, value);
}

function ofUrl(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined; // a file of another machine, or an invalid URL
  }
}
