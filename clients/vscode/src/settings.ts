// The settings of the user, as package.json declares them.

import * as vscode from "vscode";

export const SECTION = "streamSidecar";

export interface Settings {
  readonly command: readonly string[];
  readonly python: string;
  readonly policy: Readonly<Record<string, unknown>>;
  readonly logLevel: string;
}

/** Settings that a running sidecar takes no notice of: it is started anew when one changes. */
const AT_START: readonly (keyof Settings)[] = ["command", "python", "policy", "logLevel"];

export function settings(): Settings {
  const given = vscode.workspace.getConfiguration(SECTION);
  return {
    command: given.get<string[]>("command", []),
    python: given.get<string>("python", ""),
    policy: plain(given.get<Record<string, unknown>>("policy", {})),
    logLevel: given.get<string>("logLevel", "warning"),
  };
}

/** An object of the settings is a proxy, which no worker takes. */
function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

export function needsRestart(change: vscode.ConfigurationChangeEvent): boolean {
  return AT_START.some((name) => change.affectsConfiguration(`${SECTION}.${name}`));
}

/** Whether the user has said that a document is no session. */
export function isExcluded(document: vscode.TextDocument): boolean {
  const patterns = vscode.workspace.getConfiguration(SECTION, document).get<string[]>("exclude", []);
  return patterns.some((pattern) => vscode.languages.match({ pattern }, document) > 0);
}
