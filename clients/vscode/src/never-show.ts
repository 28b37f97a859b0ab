// A quick fix on each leak that switches its kind off: such leaks are neither shown nor taken
// out. It changes the settings, says so, and offers the way back. The language client sends
// each change of the settings to the server.

import * as vscode from "vscode";
import { SELECTOR } from "./documents.js";
import { isKind, nounOf } from "./kinds.js";
import { kinds, setKinds, SETTINGS_OF_KINDS } from "./settings.js";

const COMMAND = "streamSidecar.neverShow";
const SOURCE = "stream-sidecar";

export function neverShow(): vscode.Disposable {
  const providedCodeActionKinds = [vscode.CodeActionKind.QuickFix];
  return vscode.Disposable.from(
    vscode.languages.registerCodeActionsProvider(SELECTOR, { provideCodeActions }, { providedCodeActionKinds }),
    vscode.commands.registerCommand(COMMAND, hide),
    vscode.commands.registerCommand("streamSidecar.showAllKinds", () => setKinds({ only: [], except: [] })),
  );
}

function provideCodeActions(
  _document: vscode.TextDocument,
  _range: vscode.Range,
  { diagnostics }: vscode.CodeActionContext,
): vscode.CodeAction[] {
  const ours = diagnostics.filter(({ source, code }) => source === SOURCE && typeof code === "string");
  return [...new Set(ours.map(({ code }) => String(code)))].filter(isKind).map((kind) => {
    const title = `Never show “${nounOf(kind)}”: ignore this kind of leak in all sessions`;
    const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
    action.command = { command: COMMAND, title, arguments: [kind] };
    return action;
  });
}

/** Removes the kind from `only` if other kinds remain there, or else adds it to `except`. */
async function hide(kind: string): Promise<void> {
  const before = kinds();
  const left = before.only.filter((each) => each !== kind);
  const isInOnly = left.length > 0 && left.length < before.only.length;
  await setKinds(isInOnly ? { ...before, only: left } : { ...before, except: [...new Set([...before.except, kind])] });
  const said = `Leaks of the kind “${nounOf(kind)}” are ignored in all sessions: neither shown nor taken out.`;
  const chosen = await vscode.window.showInformationMessage(said, "Undo", "Open Settings");
  if (chosen === "Undo") await setKinds(before);
  if (chosen === "Open Settings")
    await vscode.commands.executeCommand("workbench.action.openSettings", SETTINGS_OF_KINDS);
}
