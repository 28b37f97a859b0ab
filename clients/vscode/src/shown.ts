// Read-only texts: the preview of a repaired session, and the findings of a database.

import * as vscode from "vscode";

export const SCHEME = "stream-sidecar";

export class ShownTexts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #texts = new Map<string, string>();
  readonly #registrations: vscode.Disposable;

  constructor() {
    this.#registrations = vscode.Disposable.from(
      this.#changed,
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#texts.delete(uri.toString())),
    );
  }

  /** Stores `text` and returns its URI; its title and its language come from `path`. */
  put(path: string, text: string): vscode.Uri {
    const uri = vscode.Uri.file(path).with({ scheme: SCHEME });
    this.#texts.set(uri.toString(), text);
    this.#changed.fire(uri);
    return uri;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? "";
  }

  dispose(): void {
    this.#registrations.dispose();
  }
}
