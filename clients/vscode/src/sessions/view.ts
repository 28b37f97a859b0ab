// The commands of the view of sessions: check, open, preview, repair, restore.

import { basename } from "node:path";
import * as vscode from "vscode";
import { showError } from "../problems.js";
import { changesKinds } from "../settings.js";
import { SCHEME, type ShownTexts } from "../shown.js";
import { onOpenDocuments, openDocuments } from "./open-documents.js";
import { opened, repaired } from "./preview.js";
import type { Remembered } from "./remembered.js";
import type { Repair } from "./repair.js";
import { counted, grouped, shortened, unitsBefore, type Agent, type Finding, type Report } from "./report.js";
import { aboutOf, leaksIn, nameOf, SessionTree, type About, type Node, type Session } from "./tree.js";

/** The context key for menus: whether there is anything to repair. */
const LEAKS = "streamSidecar.leaks";

const LONGEST_TITLE = 40;

export class SessionsView implements vscode.Disposable {
  readonly #repair: Repair;
  readonly #texts: ShownTexts;
  readonly #remembered: Remembered;
  readonly #tree = new SessionTree();
  readonly #view: vscode.TreeView<Node>;
  readonly #subscriptions: vscode.Disposable;
  #isChecking = false;
  /** Whether the kinds of findings have changed since the last check began. */
  #isOutdated = false;
  /** Repairs, and checks after a save, run one after another: the last check sees the final file. */
  #turn: Promise<void> = Promise.resolve();

  constructor(repair: Repair, texts: ShownTexts, remembered: Remembered) {
    this.#repair = repair;
    this.#texts = texts;
    this.#remembered = remembered;
    void this.#remember();
    this.#view = vscode.window.createTreeView("streamSidecar.sessions", { treeDataProvider: this.#tree });
    const commands: Record<string, (given: never) => Promise<void>> = {
      "streamSidecar.checkSessions": () => this.#check(),
      "streamSidecar.openFinding": (finding: Finding) => this.#open(finding),
      "streamSidecar.preview": (session: Session) => this.#preview(session),
      "streamSidecar.repair": (node: Node) => this.#inTurn(() => this.#repairThese(this.#sessionsOf(node))),
      // Without an icon, the editor shows the title of the command.
      "streamSidecar.repairPreviewed": (uri: vscode.Uri) => this.#inTurn(() => this.#repairThese(this.#sessionAt(uri))),
      "streamSidecar.repairAll": () => this.#inTurn(() => this.#repairThese(this.#tree.leaking())),
      "streamSidecar.restore": (session: Session) => this.#inTurn(() => this.#restore([session])),
    };
    this.#subscriptions = vscode.Disposable.from(
      this.#view,
      onOpenDocuments(() => this.#edit()),
      vscode.workspace.onDidChangeConfiguration((change) => void this.#lookIfOutdated(change).catch(showError)),
      vscode.workspace.onDidSaveTextDocument(
        ({ uri }) => void this.#inTurn(() => this.#lookAgain(uri)).catch(showError),
      ),
      ...Object.entries(commands).map(([name, act]) =>
        vscode.commands.registerCommand(name, (given: never) => act(given).catch(showError)),
      ),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  #inTurn(act: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(act);
    this.#turn = done.catch(() => undefined); // the caller reports the error
    return done;
  }

  #edit(): void {
    this.#tree.edit(openDocuments());
    this.#count();
  }

  async #remember(): Promise<void> {
    const repaired = this.#remembered.all();
    this.#tree.remember(repaired, await aboutAll(repaired));
    this.#edit();
  }

  /** Checks the sessions of all agents, and shows each report as it arrives. */
  async #check(): Promise<void> {
    await vscode.commands.executeCommand("streamSidecar.sessions.focus");
    await this.#look();
  }

  /** Checks the sessions; once more if the kinds of findings have changed meanwhile. */
  async #look(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      do {
        this.#isOutdated = false;
        await this.#lookOnce();
      } while (this.#isOutdated);
    } finally {
      this.#isChecking = false;
    }
  }

  #lookOnce(): Promise<void> {
    return cancellable("Checking the sessions of this machine", async (signal, reportProgress) => {
      const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
      const agents = await this.#repair.agents(folders, signal);
      this.#begin(agents);
      await this.#remember();
      for (const agent of agents) {
        reportProgress(`${agent.title}, ${counted(agent.files.length, "file")}`);
        for await (const report of this.#repair.check(agent.files, signal)) await this.#add(agent, report);
      }
    });
  }

  /** Checks again if the view shows findings of other kinds than the user chose. */
  async #lookIfOutdated(change: vscode.ConfigurationChangeEvent): Promise<void> {
    if (!changesKinds(change)) return;
    this.#isOutdated = true;
    if (this.#tree.hasChecked()) await this.#look();
  }

  #begin(agents: readonly Agent[]): void {
    this.#tree.begin(agents);
    this.#view.message = agents.length === 0 ? "No sessions of a known agent were found on this machine." : "";
    this.#count();
  }

  async #add(agent: Agent, report: Report): Promise<void> {
    for (const { path, written, backup } of report.files) {
      const { name, title } = agent;
      if (written && backup !== null) await this.#remembered.add({ path, backup, agent: { name, title } });
    }
    this.#tree.add(agent, report, await aboutAll(report.files), (path) => this.#remembered.has(path));
    this.#edit();
  }

  #count(): void {
    const leaking = this.#tree.leaking();
    const value = leaksIn(leaking);
    const tooltip = `${counted(value, "leak")} in ${counted(leaking.length, "session")}`;
    this.#view.badge = value === 0 ? undefined : { value, tooltip };
    void vscode.commands.executeCommand("setContext", LEAKS, value > 0);
  }

  /** Opens the file at the finding. If the file is not text (a database, a compressed session), shows all removals. */
  async #open(finding: Finding): Promise<void> {
    const { file, line, column, endLine, endColumn } = finding;
    if (line === undefined || column === undefined) return this.#showRemovals(file);
    const document = await opened(vscode.Uri.file(file));
    if (document === undefined) return this.#showRemovals(file);
    const position = (atLine: number, atColumn: number) =>
      new vscode.Position(atLine - 1, unitsBefore(document.lineAt(atLine - 1).text, atColumn));
    const selection = new vscode.Range(position(line, column), position(endLine ?? line, endColumn ?? column));
    await vscode.window.showTextDocument(document, { selection, preview: true });
  }

  /** Shows a diff between the session and its repaired version. */
  async #preview(session: Session): Promise<void> {
    const { path } = session;
    const uri = vscode.Uri.file(path);
    const text = await repaired(uri);
    if (text === undefined) return this.#showRemovals(path);
    const title = `${titled(session)}: what a repair removes`;
    await vscode.commands.executeCommand("vscode.diff", uri, this.#texts.put(path, text), title);
  }

  async #showRemovals(path: string): Promise<void> {
    const document = await vscode.workspace.openTextDocument(
      this.#texts.put(`${path}.diff`, await this.#repair.shown(path)),
    );
    await vscode.window.showTextDocument(document, { preview: true });
  }

  /** The session of an editor with a preview. */
  #sessionAt(uri: vscode.Uri): readonly Session[] {
    const session = this.#tree.session(uri.with({ scheme: "file" }).fsPath);
    return session === undefined ? [] : [session];
  }

  /** The sessions of a node of the tree. */
  #sessionsOf(node: Node): readonly Session[] {
    if (node.type === "agent") return this.#tree.leaking(node.agent);
    if (node.type === "project") return node.sessions.filter(({ state }) => state === "leaks");
    return node.type === "session" ? [node] : [];
  }

  async #repairThese(sessions: readonly Session[]): Promise<void> {
    if (sessions.length === 0 || !(await mayRepair(sessions))) return;
    await cancellable("Repairing", async (signal) => {
      const byAgent = grouped(sessions, ({ agent }) => agent);
      for (const [agent, each] of byAgent) {
        const paths = each.map(({ path }) => path);
        for await (const report of this.#repair.write(paths, signal)) await this.#add(agent, report);
      }
    });
    await closePreviews(sessions);
    void this.#offerUndo(sessions.map(({ path }) => this.#tree.known(path)).filter((each) => each !== undefined));
  }

  async #offerUndo(sessions: readonly Session[]): Promise<void> {
    const done = sessions.filter(({ state }) => state === "repaired");
    const failed = sessions.length - done.length;
    if (failed > 0)
      void showError(new Error(`${counted(failed, "session")} could not be repaired; the view says why.`));
    const [first, ...others] = done;
    if (first === undefined) return;
    const what = others.length === 0 ? titled(first) : counted(done.length, "session");
    const said = `${what}: the leaked text is removed, and a backup is kept beside each file.`;
    if ((await vscode.window.showInformationMessage(said, "Undo")) !== "Undo") return;
    await this.#inTurn(() => this.#restore(done)).catch(showError);
  }

  async #restore(sessions: readonly Session[]): Promise<void> {
    for (const { path, agent } of sessions) {
      await this.#repair.restore(path);
      await this.#remembered.forget(path);
      for await (const report of this.#repair.check([path])) await this.#add(agent, report);
    }
  }

  /** Checks a session again after it was saved in an editor. */
  async #lookAgain(uri: vscode.Uri): Promise<void> {
    const session = uri.scheme === "file" ? this.#tree.known(uri.fsPath) : undefined;
    if (session === undefined) return;
    for await (const report of this.#repair.check([session.path])) await this.#add(session.agent, report);
  }
}

/** Whether the sessions may be repaired. Asks if there are several, or if unsaved changes have to be saved first. */
async function mayRepair(sessions: readonly Session[]): Promise<boolean> {
  const paths = new Set(sessions.map(({ path }) => path));
  const dirty = vscode.workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && paths.has(uri.fsPath));
  if (sessions.length === 1 && dirty.length === 0) return true;
  const way = dirty.length === 0 ? "Repair" : "Save and Repair";
  const detail = [...unsavedAmong(dirty), "A backup is kept beside each file, and “Undo” restores it."].join(" ");
  const question = `Remove ${counted(leaksIn(sessions), "leak")} from ${counted(sessions.length, "session")}?`;
  if ((await vscode.window.showWarningMessage(question, { modal: true, detail }, way)) !== way) return false;
  return (await Promise.all(dirty.map((document) => document.save()))).every(Boolean);
}

function unsavedAmong([first, ...others]: readonly vscode.TextDocument[]): readonly string[] {
  if (first === undefined) return [];
  if (others.length > 0) return [`${others.length + 1} sessions have unsaved changes.`];
  return [`${basename(first.fileName)} has unsaved changes.`];
}

async function aboutAll(files: readonly { readonly path: string }[]): Promise<ReadonlyMap<string, About>> {
  return new Map(await Promise.all(files.map(async ({ path }) => [path, await aboutOf(path)] as const)));
}

/** The name of a session as its row in the tree has it, short enough for a tab. */
function titled(session: Session): string {
  return shortened(nameOf(session), LONGEST_TITLE);
}

async function closePreviews(sessions: readonly Session[]): Promise<void> {
  const paths = new Set(sessions.map(({ path }) => path));
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const ours = tabs.filter(
    ({ input }) =>
      input instanceof vscode.TabInputTextDiff && input.modified.scheme === SCHEME && paths.has(input.original.fsPath),
  );
  await vscode.window.tabGroups.close(ours);
}

type Work = (signal: AbortSignal, reportProgress: (message: string) => void) => Promise<void>;

/** Runs `work` with a progress notification. If the user cancels, the finished part stays. */
async function cancellable(title: string, work: Work): Promise<void> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  await vscode.window.withProgress(options, async (progress, token) => {
    const controller = new AbortController();
    const listening = token.onCancellationRequested(() => controller.abort());
    try {
      await work(controller.signal, (message) => progress.report({ message }));
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    } finally {
      listening.dispose();
    }
  });
}
