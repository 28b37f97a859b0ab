// The user's settings, as package.json declares them.

import * as vscode from "vscode";

export const SECTION = "streamSidecar";

/** What the settings editor has to look for to show `only` and `except`. */
export const SETTINGS_OF_KINDS = "@ext:stream-sidecar.stream-sidecar kinds of leaks";

/** The kinds of leaks that are shown: those of `only` (all if it is empty), without those of `except`. */
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

/** Stores the kinds: in the settings of the folder if it has its own, or else in the user's. */
export async function setKinds(wanted: Kinds): Promise<void> {
  const given = vscode.workspace.getConfiguration(SECTION);
  for (const [name, value] of Object.entries(wanted)) {
    if (String(value) === String(given.get(name))) continue;
    const isInFolder = given.inspect(name)?.workspaceValue !== undefined;
    const { Global, Workspace } = vscode.ConfigurationTarget;
    await given.update(name, value, isInFolder ? Workspace : Global);
  }
}

/** Whether a change of the settings may change what counts as a leak. */
export function changesLeaks(change: vscode.ConfigurationChangeEvent): boolean {
  return ["only", "except", "policy"].some((name) => change.affectsConfiguration(`${SECTION}.${name}`));
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
