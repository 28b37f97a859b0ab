// Programs of a system: how they are called on PATH, which of them are none, and how they
// are started. Windows leaves batch files (.cmd, .bat) to its shell, and node starts none by
// itself, because the shell reads the words once more and some characters mean something
// to it. pyenv, npm and many an installer put such files on PATH.

/** How a program may be called on PATH, the best first. */
export function fileNames(name: string, platform: string): string[] {
  return (platform === "win32" ? [".exe", ".com", ".cmd", ".bat"] : [""]).map((ending) => name + ending);
}

/** What of macOS opens an installer where Xcode's tools are not there, and is too old where they are. */
export function isStub(file: string, platform: string): boolean {
  return platform === "darwin" && file === "/usr/bin/python3";
}

/** What to give to `spawn`; the shell where the program is a batch file. */
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

/** A word that the shell passes on, and the program reads, as it is. */
function quoted(word: string): string {
  const escaped = word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, "$1$1");
  return `"${escaped}"`.replace(/[()\][%!^"`<>&|;, *?]/g, "^$&");
}
