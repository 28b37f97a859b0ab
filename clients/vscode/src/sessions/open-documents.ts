// The open session documents, with the findings that the editor underlines. A document with
// unsaved changes differs from its file, and the command line reads only files.

import * as vscode from "vscode";
import { isServed, SELECTOR } from "../documents.js";
import { isInTheWay, isKind } from "../kinds.js";
import { BOUND, columnAt, type Finding } from "./report.js";

export interface OpenDocument {
  readonly path: string;
  /** Whether it has unsaved changes. */
  readonly isDirty: boolean;
  readonly findings: readonly Finding[];
}

const SOURCE = "stream-sidecar";

export function openDocuments(): readonly OpenDocument[] {
  return vscode.workspace.textDocuments
    .filter(isSession)
    .map((each) => ({ path: each.uri.fsPath, isDirty: each.isDirty, findings: findingsIn(each) }));
}

/** Calls `act` when the findings of an open session or its unsaved state may have changed. */
export function onOpenDocuments(act: () => void): vscode.Disposable {
  const { onDidChangeTextDocument, onDidSaveTextDocument, onDidCloseTextDocument } = vscode.workspace;
  return vscode.Disposable.from(
    vscode.languages.onDidChangeDiagnostics(({ uris }) => {
      const changed = new Set(uris.map(String));
      if (vscode.workspace.textDocuments.some((each) => changed.has(String(each.uri)) && isSession(each))) act();
    }),
    // VS Code reports a change of the unsaved state as an event without changes of the text.
    onDidChangeTextDocument(({ contentChanges }) => (contentChanges.length === 0 ? act() : undefined)),
    onDidSaveTextDocument(act),
    onDidCloseTextDocument(act),
  );
}

function isSession(document: vscode.TextDocument): boolean {
  return document.uri.scheme === "file" && vscode.languages.match(SELECTOR, document) > 0 && isServed(document);
}

/** The kind of a diagnostic: its code, or that of the findings whose code is the rule that they break. */
function kindOf(code: vscode.Diagnostic["code"]): string {
  return isKind(String(code)) ? String(code) : "refused";
}

function findingsIn(document: vscode.TextDocument): readonly Finding[] {
  const ours = vscode.languages.getDiagnostics(document.uri).filter(({ source }) => source === SOURCE);
  return ours.map(({ range, code, message }) => ({
    file: document.uri.fsPath,
    kind: kindOf(code),
    text: isInTheWay(kindOf(code)) ? message : document.getText(range),
    ...(message.includes(BOUND) ? { bound: true } : {}),
    line: range.start.line + 1,
    column: columnAt(document.lineAt(range.start.line).text, range.start.character),
    endLine: range.end.line + 1,
    endColumn: columnAt(document.lineAt(range.end.line).text, range.end.character),
  }));
}
