// Texts that are shown and cannot be changed: how a session would be without what leaked
// into it, and what was found in a database.

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

  /** The address under which `text` can be opened; `path` is what its title and its language come from. */
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
