// Commands that the window adds to the server's answers: the lens that counts leaks opens the
// menu of fixes (it changes nothing), and a hover links to the explanation of the session.

import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient";

const SHOW = "streamSidecar.showFixes";
const SOURCE = "stream-sidecar";

export const shownMiddleware: Middleware = {
  async provideCodeLenses(document, token, next) {
    const lenses = await next(document, token);
    for (const lens of lenses ?? []) {
      if (lens.command?.command !== "") continue;
      lens.command = { ...lens.command, command: SHOW, arguments: [document.uri, lens.range.start] };
    }
    return lenses;
  },
  async provideHover(document, position, token, next) {
    const hover = await next(document, position, token);
    if (!hover) return hover;
    const given = encodeURIComponent(JSON.stringify([document.uri]));
    const link = new vscode.MarkdownString(`[Explain](command:streamSidecar.explain?${given})`);
    link.isTrusted = { enabledCommands: ["streamSidecar.explain"] };
    hover.contents.push(link);
    return hover;
  },
};

export function fixesCommand(): vscode.Disposable {
  return vscode.commands.registerCommand(SHOW, showFixes);
}

/** Opens the menu of fixes for the first leak after the lens. */
async function showFixes(uri: vscode.Uri, from: vscode.Position): Promise<void> {
  const ours = vscode.languages.getDiagnostics(uri).filter(({ source }) => source === SOURCE);
  const following = ours.map(({ range }) => range.start).filter((start) => !start.isBefore(from));
  const [first] = following.sort((one, other) => one.compareTo(other));
  if (first === undefined) return;
  await vscode.window.showTextDocument(uri, { selection: new vscode.Range(first, first) });
  await vscode.commands.executeCommand("editor.action.quickFix");
}
