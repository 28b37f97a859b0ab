// The command that explains a recorded stream: the page that `stream-sidecar explain`
// writes, in an editor beside the stream. The page brings its own content security
// policy, under which nothing of the stream can run; it is shown as it is.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import * as vscode from "vscode";
import { run, RunError } from "./run.js";

export class Explainer implements vscode.Disposable {
  /** The command line of the sidecar; rejects where there is none. */
  readonly #command: () => Promise<readonly string[]>;
  readonly #panels = new Map<string, vscode.WebviewPanel>();
  readonly #subscriptions: vscode.Disposable;

  constructor(command: () => Promise<readonly string[]>) {
    this.#command = command;
    const explain = (uri?: vscode.Uri) => this.#explain(uri).catch(tell);
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

  /** Explains a file, else what is in the editor, else what the user chooses. */
  async #explain(given?: vscode.Uri): Promise<void> {
    const uri = given ?? vscode.window.activeTextEditor?.document.uri ?? (await chosen());
    if (uri === undefined) return;
    const name = basename(uri.path);
    const options = { location: vscode.ProgressLocation.Window, title: `Explaining ${name}` };
    const page = await vscode.window.withProgress(options, () => this.#page(uri, name));
    const panel = this.#panel(uri, name);
    panel.webview.html = page;
  }

  async #page(uri: vscode.Uri, name: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "stream-sidecar-"));
    try {
      const output = join(folder, "page.html");
      const input = await fileOf(uri, join(folder, name));
      const { stderr } = await run([...(await this.#command()), "explain", input, "--html", output]);
      return await readFile(output, "utf8").catch((cause: unknown) => {
        throw new RunError(`${name}: ${stderr.trim().split("\n").at(-1)}`, { cause });
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  #panel(uri: vscode.Uri, name: string): vscode.WebviewPanel {
    const key = uri.toString();
    const open = this.#panels.get(key);
    if (open !== undefined) return open;
    const options = { enableScripts: true, localResourceRoots: [], retainContextWhenHidden: true };
    const where = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    const panel = vscode.window.createWebviewPanel("streamSidecar.explain", `Explained: ${name}`, where, options);
    panel.onDidDispose(() => this.#panels.delete(key));
    this.#panels.set(key, panel);
    return panel;
  }
}

/** The file itself, or one at `place` with what the editor holds. */
async function fileOf(uri: vscode.Uri, place: string): Promise<string> {
  const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
  if (uri.scheme === "file" && !document?.isDirty) return uri.fsPath;
  const text = document?.getText() ?? (await vscode.workspace.fs.readFile(uri));
  await writeFile(place, text);
  return place;
}

async function chosen(): Promise<vscode.Uri | undefined> {
  const title = "A recorded stream or body, or what --record wrote";
  return (await vscode.window.showOpenDialog({ title, openLabel: "Explain" }))?.[0];
}

function tell(error: unknown): void {
  void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
}
