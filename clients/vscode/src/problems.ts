// What went wrong, told to the user: that there is no sidecar once, with a way out,
// however many commands fail because of it.

import * as vscode from "vscode";

/** What the user may do about it: a command and what it is given. */
const WAYS_OUT: Readonly<Record<string, readonly [string, ...unknown[]]>> = {
  "How to Install": ["vscode.open", vscode.Uri.parse("https://github.com/stream-sidecar/stream-sidecar#install")],
  Settings: ["workbench.action.openSettings", "@ext:stream-sidecar.stream-sidecar"],
  "Show Log": ["streamSidecar.showLog"],
};

/** Messages that the user sees now. */
const shown = new Set<string>();

/** Says why something failed; one message for one cause, as long as it is there. */
export async function tell(error: unknown): Promise<void> {
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

/** That the sidecar is not there, or did not start. */
export class Unavailable extends Error {}

function isAboutSidecar(error: unknown): boolean {
  return error instanceof Unavailable || (error instanceof Error && error.name === "NotFound");
}
