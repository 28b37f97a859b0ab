// Programs of a system: their file names on PATH, stubs that are no programs, and how they are
// started. On Windows the shell runs batch files (.cmd, .bat), which pyenv, npm and many
// installers put on PATH. Node.js does not start batch files, because the shell parses their
// arguments again, and some characters are special there.

/** The possible file names of a program, best first. */
export function fileNames(name: string, platform: string): string[] {
  return (platform === "win32" ? [".exe", ".com", ".cmd", ".bat"] : [""]).map((ending) => name + ending);
}

/** Whether this is the `python3` of macOS: without Xcode's tools it opens an installer, and with them it is too old. */
export function isStub(file: string, platform: string): boolean {
  return platform === "darwin" && file === "/usr/bin/python3";
}

/** The arguments for `spawn`; for a batch file the program is the shell. */
export interface Startable {
  readonly file: string;
  readonly args: readonly string[];
  /** The words are quoted already. */
  readonly windowsVerbatimArguments?: boolean;
}

export function startable(command: readonly string[], { platform, env }: NodeJS.Process = process): Startable {
  const [file = "", ...args] = command;
  if (platform !== "win32" || !/\.(?:cmd|bat)$/i.test(file)) return { file, args };
  const line = [file, ...args].map(quoted).join(" ");
  return {
    file: env["ComSpec"] ?? "cmd.exe",
    args: ["/d", "/s", "/c", `"${line}"`],
    windowsVerbatimArguments: true,
  };
}

/** A word, quoted so that it is unchanged after the shell and the program have parsed it. */
function quoted(word: string): string {
  const escaped = word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, "$1$1");
  return `"${escaped}"`.replace(/[()\][%!^"`<>&|;, *?]/g, "^$&");
}
