// The previews of repairs. A preview is a copy of the session's text in which everything that the
// repair takes out is crossed out, and nothing else is marked. The language server's fix for the
// whole document says what that is. A lens above the first mark repairs the session.

import * as vscode from "vscode";

const SCHEME = "stream-sidecar";
const FIX_ALL = "source.fixAll.streamSidecar";

/** A text, and the ranges that are crossed out in it. */
interface Preview {
  readonly text: string;
  readonly removed: readonly vscode.Range[];
}

/** Undefined if an editor cannot open the file, or if nothing would change. */
export async function previewOf(uri: vscode.Uri): Promise<Preview | undefined> {
  const document = await opened(uri);
  if (document === undefined) return undefined;
  const everything = new vscode.Range(0, 0, document.lineCount, 0);
  const provider = "vscode.executeCodeActionProvider";
  const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(provider, uri, everything, FIX_ALL);
  const edits = actions.filter(({ kind }) => kind?.value === FIX_ALL).flatMap(({ edit }) => edit?.get(uri) ?? []);
  const removed = edits.map(({ range }) => range).filter(({ isEmpty }) => !isEmpty);
  return removed.length === 0 ? undefined : { text: document.getText(), removed };
}

/** The document; undefined if it is not text (a database), or too large for extensions. */
export async function opened(uri: vscode.Uri): Promise<vscode.TextDocument | undefined> {
  try {
    return await vscode.workspace.openTextDocument(uri);
  } catch {
    return undefined;
  }
}

export class Previews implements vscode.TextDocumentContentProvider, vscode.CodeLensProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #shown = new Map<string, Preview>();
  readonly #crossedOut = vscode.window.createTextEditorDecorationType({
    textDecoration: "line-through",
    backgroundColor: new vscode.ThemeColor("diffEditor.removedTextBackground"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.deletedForeground"),
  });
  readonly #registrations: vscode.Disposable;

  constructor() {
    this.#registrations = vscode.Disposable.from(
      this.#changed,
      this.#crossedOut,
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.languages.registerCodeLensProvider({ scheme: SCHEME }, this),
      vscode.window.onDidChangeVisibleTextEditors(() => this.#mark()),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#shown.delete(uri.toString())),
    );
  }

  dispose(): void {
    this.#registrations.dispose();
  }

  /** Shows a preview of the session in the file `path`; `name` has its ending, which says its language. */
  async show(path: string, name: string, title: string, preview: Preview): Promise<void> {
    const uri = vscode.Uri.file(name).with({ scheme: SCHEME, query: path });
    this.#shown.set(uri.toString(), preview);
    this.#changed.fire(uri);
    const [selection] = preview.removed.map(({ start }) => new vscode.Range(start, start));
    await vscode.commands.executeCommand("vscode.open", uri, { preview: true, selection }, title);
    this.#mark();
  }

  /** Closes the previews of the sessions in these files. */
  async close(paths: ReadonlySet<string>): Promise<void> {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const isOurs = ({ scheme, query }: vscode.Uri) => scheme === SCHEME && paths.has(query);
    const ours = tabs.filter(({ input }) => input instanceof vscode.TabInputText && isOurs(input.uri));
    await vscode.window.tabGroups.close(ours);
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#of(uri).text;
  }

  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    const [first = new vscode.Range(0, 0, 0, 0)] = this.#of(uri).removed;
    const command = { command: "streamSidecar.repairPreviewed", title: "$(wand) Repair: take out what is marked" };
    return [new vscode.CodeLens(first, { ...command, arguments: [uri] })];
  }

  #of(uri: vscode.Uri): Preview {
    return this.#shown.get(uri.toString()) ?? { text: "", removed: [] };
  }

  #mark(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const { uri } = editor.document;
      if (uri.scheme === SCHEME) editor.setDecorations(this.#crossedOut, this.#of(uri).removed);
    }
  }
}
