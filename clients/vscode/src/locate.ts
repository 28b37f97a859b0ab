// Finds the sidecar that this window works with: the first command line of the
// candidates that says which version it is.

import { existsSync } from "node:fs";
import * as vscode from "vscode";
import { candidates } from "./candidates.js";
import { run } from "./run.js";
import { settings } from "./settings.js";

/** A sidecar that can be started. */
export interface Located {
  /** Its command line, without arguments. */
  readonly command: readonly string[];
  readonly version: string;
}

/** There is no sidecar; the message is for the user, `tried` for the log. */
export class NotFound extends Error {
  override readonly name = "NotFound";

  constructor(readonly tried: readonly string[]) {
    super("No stream-sidecar was found: neither as a program nor in a Python 3.11 or newer.");
  }
}

const VERSION = /^stream-sidecar (\S+)\s*$/;

/** Rejects with NotFound. */
export async function locate(context: vscode.ExtensionContext): Promise<Located> {
  const { command, python } = settings();
  const bundled = context.asAbsolutePath("bundled");
  const choice = { command, python, bundled, chosenPython: await chosenPython() };
  const tried: string[] = [];
  for (const each of candidates(choice, { env: process.env, platform: process.platform, exists: existsSync })) {
    const said = await answer(each);
    const version = VERSION.exec(said)?.[1];
    if (version !== undefined) return { command: each, version };
    tried.push(`${each.join(" ")}: ${said.trim() || "said nothing"}`);
  }
  throw new NotFound(tried);
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

/** What is used of the Python extension's interface. */
interface PythonExtension {
  readonly environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(path: { readonly path: string }): Promise<Environment | undefined>;
  };
}

interface Environment {
  readonly executable: { readonly uri?: vscode.Uri };
}

/** The interpreter of the Python extension; undefined: there is none, or the folder is not trusted. */
async function chosenPython(): Promise<string | undefined> {
  if (!vscode.workspace.isTrusted) return undefined;
  const extension = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
  try {
    const { environments } = (await extension?.activate()) ?? {};
    const path = environments?.getActiveEnvironmentPath(vscode.workspace.workspaceFolders?.[0]?.uri);
    return path && (await environments?.resolveEnvironment(path))?.executable.uri?.fsPath;
  } catch {
    return undefined; // an extension of another is no reason to do nothing
  }
}
