// Finds the sidecar for this window: the first of the candidates whose `--version` answers
// as a sidecar.

import { existsSync } from "node:fs";
import * as vscode from "vscode";
import { candidates } from "./candidates.js";
import { run } from "./run.js";
import { settings, type Settings } from "./settings.js";

/** A sidecar that can be started. */
export interface Located {
  /** Its command line, without arguments. */
  readonly command: readonly string[];
  readonly version: string;
}

/** No sidecar was found. The message is for the user; `tried` (commands and their output) is for the log. */
export class NotFound extends Error {
  override readonly name = "NotFound";

  constructor(
    readonly tried: readonly string[],
    { command, python }: Pick<Settings, "command" | "python"> = { command: [], python: "" },
  ) {
    const setting = command.length > 0 ? "command" : python !== "" ? "python" : undefined;
    const [why, way] =
      setting === undefined
        ? [
            "the command line tool “stream-sidecar” is not installed",
            "Install it (“pip install stream-sidecar”, with Python 3.11 or newer), or name its command in the settings",
          ]
        : [`the setting “streamSidecar.${setting}” leads to no stream-sidecar`, "Correct the setting, or empty it"];
    super(`Sessions cannot be checked: ${why}. ${way}.`);
  }
}

const VERSION = /^stream-sidecar (\S+)\s*$/;

/** The first candidate that works. Rejects with NotFound. */
export async function locate(context: vscode.ExtensionContext): Promise<Located> {
  const { command, python } = settings();
  const bundled = context.asAbsolutePath("bundled");
  const choice = { command, python, bundled, chosenPython: await chosenPython() };
  const tried: string[] = [];
  for (const each of candidates(choice, { env: process.env, platform: process.platform, exists: existsSync })) {
    const said = await answer(each);
    const version = VERSION.exec(said)?.[1];
    if (version !== undefined) return { command: each, version };
    tried.push(`${each.join(" ")}: ${said.trim() || "no output"}`);
  }
  throw new NotFound(tried, { command, python });
}

async function answer(command: readonly string[]): Promise<string> {
  try {
    const { code, stdout, stderr } = await run([...command, "--version"]);
    return code === 0 ? stdout : lastLine(stderr);
  } catch (error) {
    return String(error);
  }
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}

/** The part of the Python extension's interface that is used here. */
interface PythonExtension {
  readonly environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(path: { readonly path: string }): Promise<Environment | undefined>;
  };
}

interface Environment {
  readonly executable: { readonly uri?: vscode.Uri };
}

/** The interpreter selected in the Python extension; undefined if there is none, or if the folder is not trusted. */
async function chosenPython(): Promise<string | undefined> {
  if (!vscode.workspace.isTrusted) return undefined;
  const extension = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
  try {
    const { environments } = (await extension?.activate()) ?? {};
    const path = environments?.getActiveEnvironmentPath(vscode.workspace.workspaceFolders?.[0]?.uri);
    return path && (await environments?.resolveEnvironment(path))?.executable.uri?.fsPath;
  } catch {
    return undefined; // a failure of another extension must not stop this one
  }
}
