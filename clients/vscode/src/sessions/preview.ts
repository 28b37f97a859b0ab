// The preview of a repair: the language server's fix for the whole document, applied to a
// copy of its text.

import * as vscode from "vscode";

const FIX_ALL = "source.fixAll.streamSidecar";

/** The repaired text; undefined if an editor cannot open the file, or if nothing would change. */
export async function repaired(uri: vscode.Uri): Promise<string | undefined> {
  const document = await opened(uri);
  if (document === undefined) return undefined;
  const everything = new vscode.Range(0, 0, document.lineCount, 0);
  const provider = "vscode.executeCodeActionProvider";
  const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(provider, uri, everything, FIX_ALL);
  const edits = actions.filter(({ kind }) => kind?.value === FIX_ALL).flatMap(({ edit }) => edit?.get(uri) ?? []);
  return edits.length === 0 ? undefined : applied(document, edits);
}

/** The document; undefined if it is not text (a database), or too large for extensions. */
export async function opened(uri: vscode.Uri): Promise<vscode.TextDocument | undefined> {
  try {
    return await vscode.workspace.openTextDocument(uri);
  } catch {
    return undefined;
  }
}

function applied(document: vscode.TextDocument, edits: readonly vscode.TextEdit[]): string {
  const text = document.getText();
  const cuts = edits
    .map(({ range, newText }) => ({
      start: document.offsetAt(range.start),
      end: document.offsetAt(range.end),
      newText,
    }))
    .sort((one, other) => one.start - other.start);
  let [result, at] = ["", 0];
  for (const { start, end, newText } of cuts) {
    result += text.slice(at, start) + newText;
    at = end;
  }
  return result + text.slice(at);
}
