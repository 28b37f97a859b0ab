// A quick fix on each finding that hides all findings of its kind: it changes the user's
// settings. The language client sends each change of the settings to the server.

import * as vscode from "vscode";
import { SELECTOR } from "./documents.js";
import { kinds, SECTION } from "./settings.js";

const COMMAND = "streamSidecar.neverShow";
const SOURCE = "stream-sidecar";

export function neverShow(): vscode.Disposable {
  const providedCodeActionKinds = [vscode.CodeActionKind.QuickFix];
  return vscode.Disposable.from(
    vscode.languages.registerCodeActionsProvider(SELECTOR, { provideCodeActions }, { providedCodeActionKinds }),
    vscode.commands.registerCommand(COMMAND, hide),
  );
}

function provideCodeActions(
  _document: vscode.TextDocument,
  _range: vscode.Range,
  { diagnostics }: vscode.CodeActionContext,
): vscode.CodeAction[] {
  const ours = diagnostics.filter(({ source, code }) => source === SOURCE && typeof code === "string");
  return [...new Set(ours.map(({ code }) => String(code)))].map((kind) => {
    const action = new vscode.CodeAction(`Never show "${kind}" (in your settings)`, vscode.CodeActionKind.QuickFix);
    action.command = { command: COMMAND, title: action.title, arguments: [kind] };
    return action;
  });
}

/** Removes the kind from `only` if other kinds remain there, or else adds it to `except`. */
async function hide(kind: string): Promise<void> {
  const given = vscode.workspace.getConfiguration(SECTION);
  const { only, except } = kinds();
  const left = only.filter((each) => each !== kind);
  const everywhere = vscode.ConfigurationTarget.Global;
  if (left.length > 0 && left.length < only.length) await given.update("only", left, everywhere);
  else await given.update("except", [...new Set([...except, kind])], everywhere);
}
