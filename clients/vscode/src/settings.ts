// The user's settings, as package.json declares them.

import * as vscode from "vscode";

export const SECTION = "streamSidecar";

export interface Settings {
  readonly command: readonly string[];
  readonly python: string;
  readonly policy: Readonly<Record<string, unknown>>;
  readonly logLevel: string;
}

/** Settings that are read only at the start: the sidecar is restarted when one of them changes. */
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

/** A copy: objects of the settings are proxies, which cannot be sent to a worker. */
function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

export function needsRestart(change: vscode.ConfigurationChangeEvent): boolean {
  return AT_START.some((name) => change.affectsConfiguration(`${SECTION}.${name}`));
}

/** Whether the setting `exclude` says that a document is not a session. */
export function isExcluded(document: vscode.TextDocument): boolean {
  const patterns = vscode.workspace.getConfiguration(SECTION, document).get<string[]>("exclude", []);
  return patterns.some((pattern) => vscode.languages.match({ pattern }, document) > 0);
}
