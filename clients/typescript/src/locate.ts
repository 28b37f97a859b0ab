// Where the sidecar may be, in the order in which it is looked for. Only looks at the
// environment and at which files exist; starts nothing.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { SidecarOptions } from "./options.js";

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly exists: (file: string) => boolean;
}

const here: Surroundings = { env: process.env, platform: process.platform, exists: existsSync };

type Choice = Pick<SidecarOptions, "command" | "python" | "allowDownload">;

/**
 * Command lines to try one after the other. One that the host names, by option or by
 * STREAM_SIDECAR, is the only one. uvx may only use what it has already fetched, unless
 * `allowDownload` is given; pipx cannot be told so.
 */
export function candidates(choice: Choice, { env, platform, exists }: Surroundings = here): string[][] {
  const { command, python, allowDownload = false } = choice;
  if (command !== undefined) return [typeof command === "string" ? [command, "--stdio"] : [...command]];
  const named = env["STREAM_SIDECAR"];
  if (named) return [[...(exists(named) ? [named] : words(named)), "--stdio"]];
  // Never a folder named `sidecar` in the directory that the host works in.
  const serve = ["-P", "-m", "sidecar", "--stdio"];
  if (python !== undefined) return [[python, ...serve]];

  const onPath = (name: string) => find(name, { env, platform, exists });
  const row = (name: string, ...args: string[]) => {
    const file = onPath(name);
    return file === undefined ? [] : [[file, ...args]];
  };
  const offline = allowDownload ? [] : ["--offline"];
  return [
    ...row("stream-sidecar", "--stdio"),
    ...row("uvx", ...offline, "stream-sidecar", "--stdio"),
    ...(allowDownload ? row("pipx", "run", "stream-sidecar", "--stdio") : []),
    ...row("python3", ...serve),
    ...row("python", ...serve),
    ...row("py", "-3", ...serve),
  ];
}

function find(name: string, { env, platform, exists }: Surroundings): string | undefined {
  const endings = platform === "win32" ? [".exe", ".com"] : [""];
  const places = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter((place) => place !== "");
  const files = places.flatMap((place) => endings.map((ending) => join(place, name + ending)));
  return files.find(exists);
}

/** Words of a command line; quotes keep blanks in one. */
function words(line: string): string[] {
  const found = line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g);
  return [...found].map(([, double, single, bare]) => double ?? single ?? bare ?? "");
}
