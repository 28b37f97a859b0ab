// The command that explains a recorded stream: it shows the sidecar's page in an editor
// beside the stream, unchanged. The page has its own content security policy, so nothing
// in the stream can run.

import * as vscode from "vscode";
import { showError } from "./problems.js";

/** Makes the page for a stream; `name` is the stream's title. */
export type MakePage = (uri: vscode.Uri, name: string) => Promise<string>;

export class Explainer implements vscode.Disposable {
  readonly #makePage: MakePage;
  readonly #panels = new Map<string, vscode.WebviewPanel>();
  readonly #subscriptions: vscode.Disposable;

  constructor(makePage: MakePage) {
    this.#makePage = makePage;
    const explain = (uri?: vscode.Uri) => this.#explain(uri).catch(showError);
    this.#subscriptions = vscode.Disposable.from(
      vscode.commands.registerCommand("streamSidecar.explain", explain),
      vscode.workspace.onDidSaveTextDocument(({ uri }) =>
        this.#panels.has(uri.toString()) ? explain(uri) : undefined,
      ),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
    for (const panel of this.#panels.values()) panel.dispose();
  }

  /** Explains the named file, else the document in the editor, else a file that the user chooses. */
  async #explain(named?: vscode.Uri): Promise<void> {
    const given = named === undefined ? undefined : vscode.Uri.from(named); // a link gives it as JSON
    const uri = given ?? vscode.window.activeTextEditor?.document.uri ?? (await chosen());
    if (uri === undefined) return;
    const name = uri.path.slice(uri.path.lastIndexOf("/") + 1);
    const options = { location: vscode.ProgressLocation.Window, title: `Explaining ${name}` };
    const page = await vscode.window.withProgress(options, () => this.#makePage(uri, name));
    const panel = this.#panel(uri, name);
    panel.webview.html = page;
    panel.reveal(undefined, true);
  }

  #panel(uri: vscode.Uri, name: string): vscode.WebviewPanel {
    const key = uri.toString();
    const open = this.#panels.get(key);
    if (open !== undefined) return open;
    const options = { enableScripts: true, localResourceRoots: [], retainContextWhenHidden: true };
    // A further panel is a tab in the group of the others.
    const other = [...this.#panels.values()].find(({ viewColumn }) => viewColumn !== undefined);
    const where = { viewColumn: other?.viewColumn ?? vscode.ViewColumn.Beside, preserveFocus: true };
    const panel = vscode.window.createWebviewPanel("streamSidecar.explain", `Explained: ${name}`, where, options);
    panel.onDidDispose(() => this.#panels.delete(key));
    this.#panels.set(key, panel);
    return panel;
  }
}

async function chosen(): Promise<vscode.Uri | undefined> {
  const title = "A recorded stream or response body, or a file written by --record";
  return (await vscode.window.showOpenDialog({ title, openLabel: "Explain" }))?.[0];
}
