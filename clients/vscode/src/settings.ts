// The user's settings, as package.json declares them.

import * as vscode from "vscode";

export const SECTION = "streamSidecar";

/** The kinds of findings that are shown: those of `only` (all if it is empty), without those of `except`. */
export interface Kinds {
  readonly only: readonly string[];
  readonly except: readonly string[];
}

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

export function kinds(): Kinds {
  const given = vscode.workspace.getConfiguration(SECTION);
  return { only: given.get<string[]>("only", []), except: given.get<string[]>("except", []) };
}

export function changesKinds(change: vscode.ConfigurationChangeEvent): boolean {
  return ["only", "except"].some((name) => change.affectsConfiguration(`${SECTION}.${name}`));
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
