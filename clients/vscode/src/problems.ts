// Shows errors to the user. If there is no sidecar, one message with a way out is shown,
// however many commands fail because of it.

import * as vscode from "vscode";

/** What the user may do about an error: a button, its command and the command's arguments. */
const WAYS_OUT: Readonly<Record<string, readonly [string, ...unknown[]]>> = {
  "How to Install": ["vscode.open", vscode.Uri.parse("https://github.com/stream-sidecar/stream-sidecar#install")],
  Settings: ["workbench.action.openSettings", "@ext:stream-sidecar.stream-sidecar"],
  "Show Log": ["streamSidecar.showLog"],
};

/** The messages on the screen now. */
const shown = new Set<string>();

/** Shows an error, unless the same message is still on the screen. */
export async function showError(error: unknown): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  if (shown.has(message)) return;
  shown.add(message);
  const ways = isAboutSidecar(error) ? Object.keys(WAYS_OUT) : [];
  try {
    const chosen = await vscode.window.showErrorMessage(message, ...ways);
    const [command, ...given] = WAYS_OUT[chosen ?? ""] ?? [];
    if (command !== undefined) await vscode.commands.executeCommand(command, ...given);
  } finally {
    shown.delete(message);
  }
}

/** The sidecar did not start. */
export class Unavailable extends Error {}

function isAboutSidecar(error: unknown): boolean {
  return error instanceof Unavailable || (error instanceof Error && error.name === "NotFound");
}
