// The commands of the view of sessions: check, open, preview, repair, restore.

import { basename } from "node:path";
import * as vscode from "vscode";
import { showError } from "../problems.js";
import { changesLeaks, kinds } from "../settings.js";
import { aboutOf, type About } from "./about.js";
import { onOpenDocuments, openDocuments } from "./open-documents.js";
import { opened, previewOf, type Previews } from "./preview.js";
import type { Remembered } from "./remembered.js";
import type { Repair } from "./repair.js";
import { counted, grouped, unitsBefore, type Agent, type Finding, type Report } from "./report.js";
import { leaksIn, nameOf, SessionTree, type Node, type Session } from "./tree.js";

/** The context key for menus: whether there is anything to repair. */
const LEAKS = "streamSidecar.leaks";

export class SessionsView implements vscode.Disposable {
  readonly #repair: Repair;
  readonly #previews: Previews;
  readonly #remembered: Remembered;
  readonly #tree = new SessionTree(kinds);
  readonly #view: vscode.TreeView<Node>;
  readonly #subscriptions: vscode.Disposable;
  /** Stops the last check. */
  #checking: AbortController | undefined;
  /** Repairs, and checks after a save, run one after another: the last check sees the final file. */
  #turn: Promise<void> = Promise.resolve();

  constructor(repair: Repair, previews: Previews, remembered: Remembered) {
    this.#repair = repair;
    this.#previews = previews;
    this.#remembered = remembered;
    void this.#remember();
    this.#view = vscode.window.createTreeView("streamSidecar.sessions", { treeDataProvider: this.#tree });
    const commands: Record<string, (given: never) => Promise<void>> = {
      "streamSidecar.checkSessions": () => this.#check(),
      "streamSidecar.openFinding": (finding: Finding) => this.#open(finding),
      "streamSidecar.preview": ({ path }: Session) => this.#preview(path),
      "streamSidecar.repair": (node: Node) => this.#inTurn(() => this.#repairThese(this.#sessionsOf(node))),
      // Without an icon, the editor shows the title of the command.
      "streamSidecar.repairPreviewed": ({ query }: vscode.Uri) =>
        this.#inTurn(() => this.#repairThese([this.#tree.session(query)].filter((each) => each !== undefined))),
      "streamSidecar.repairAll": () => this.#inTurn(() => this.#repairThese(this.#tree.leaking())),
      "streamSidecar.restore": (session: Session) => this.#inTurn(() => this.#restore([session])),
    };
    this.#subscriptions = vscode.Disposable.from(
      this.#view,
      onOpenDocuments(() => this.#edit()),
      vscode.workspace.onDidChangeConfiguration((change) => void this.#lookIfChanged(change).catch(showError)),
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

  /** Checks the sessions. A check that still runs is stopped. */
  async #look(): Promise<void> {
    const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
    this.#checking?.abort();
    const controller = (this.#checking = new AbortController());
    const work: Work = async (signal, reportProgress) => {
      const agents = await this.#repair.agents(folders, signal);
      signal.throwIfAborted();
      this.#begin(agents);
      await this.#remember();
      for (const agent of agents) {
        reportProgress(`${agent.title}, ${counted(agent.files.length, "file")}`);
        for await (const report of this.#repair.check(agent.files, signal)) await this.#add(agent, report, signal);
      }
    };
    await this.#repair.isThere();
    await cancellable("Checking the sessions of this machine", work, controller);
  }

  /** If the settings change what counts as a leak, what was found before is forgotten, and checked again. */
  async #lookIfChanged(change: vscode.ConfigurationChangeEvent): Promise<void> {
    if (!changesLeaks(change) || this.#checking === undefined) return;
    this.#tree.begin(this.#tree.agents);
    this.#edit();
    await this.#look();
  }

  #begin(agents: readonly Agent[]): void {
    this.#tree.begin(agents);
    this.#view.message = agents.length === 0 ? "No sessions of a known agent were found on this machine." : "";
    this.#count();
  }

  /** Shows a report, unless its check was stopped. */
  async #add(agent: Agent, report: Report, signal?: AbortSignal): Promise<void> {
    for (const { path, written, backup } of report.files) {
      const { name, title } = agent;
      if (written && backup !== null) await this.#remembered.add({ path, backup, agent: { name, title } });
    }
    const about = await aboutAll(report.files);
    signal?.throwIfAborted();
    this.#tree.add(agent, report, about, (path) => this.#remembered.has(path));
    this.#edit();
  }

  #count(): void {
    const { leaks, sessions } = this.#tree.count();
    const tooltip = `${counted(leaks, "leak")} in ${counted(sessions, "session")}`;
    this.#view.badge = leaks === 0 ? undefined : { value: leaks, tooltip };
    void vscode.commands.executeCommand("setContext", LEAKS, this.#tree.leaking().length > 0);
  }

  /** Opens the file at the leak. If the file is not text (a database, a compressed session), shows the preview. */
  async #open(finding: Finding): Promise<void> {
    const { file, line, column, endLine, endColumn } = finding;
    if (line === undefined || column === undefined) return this.#preview(file);
    const document = await opened(vscode.Uri.file(file));
    if (document === undefined) return this.#preview(file);
    const position = (atLine: number, atColumn: number) =>
      new vscode.Position(atLine - 1, unitsBefore(document.lineAt(atLine - 1).text, atColumn));
    const selection = new vscode.Range(position(line, column), position(endLine ?? line, endColumn ?? column));
    await vscode.window.showTextDocument(document, { selection, preview: true });
  }

  /** Shows what a repair takes out: in the text of the session, or else in the words of the command line. */
  async #preview(path: string): Promise<void> {
    const title = `Repair of ${nameOf({ path })}: what is taken out`;
    const preview = await previewOf(vscode.Uri.file(path));
    if (preview !== undefined) return this.#previews.show(path, path, title, preview);
    const text = await this.#repair.shown(path);
    await this.#previews.show(path, `${path}.diff`, title, { text, removed: [] });
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
    void this.#previews.close(new Set(sessions.map(({ path }) => path))).catch(showError);
    void this.#offerUndo(sessions.map(({ path }) => this.#tree.known(path)).filter((each) => each !== undefined));
  }

  async #offerUndo(sessions: readonly Session[]): Promise<void> {
    const done = sessions.filter(({ state }) => state === "repaired");
    const failed = sessions.length - done.length;
    if (failed > 0)
      void showError(new Error(`${counted(failed, "session")} could not be repaired; the view says why.`));
    const [first, ...others] = done;
    if (first === undefined) return;
    const said =
      others.length === 0
        ? `${nameOf(first)} is repaired. A backup is kept beside the file.`
        : `${counted(done.length, "session")} are repaired. A backup is kept beside each file.`;
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
  const [first] = sessions;
  const isOne = sessions.length === 1 && first !== undefined;
  const question = `Repair ${isOne ? nameOf(first) : counted(sessions.length, "session")}?`;
  const leaks = leaksIn(sessions);
  const backup = `A backup is kept beside ${isOne ? "the" : "each"} file, and “Undo” restores it.`;
  const taken = `${counted(leaks, "leak")} ${leaks === 1 ? "is" : "are"} taken out.`;
  const detail = [...unsavedAmong(dirty), taken, backup].join(" ");
  if ((await vscode.window.showWarningMessage(question, { modal: true, detail }, way)) !== way) return false;
  return (await Promise.all(dirty.map((document) => document.save()))).every(Boolean);
}

function unsavedAmong([first, ...others]: readonly vscode.TextDocument[]): readonly string[] {
  if (first === undefined) return [];
  if (others.length > 0) return [`${others.length + 1} sessions have unsaved changes, which are saved first.`];
  return [`${basename(first.fileName)} has unsaved changes, which are saved first.`];
}

async function aboutAll(files: readonly { readonly path: string }[]): Promise<ReadonlyMap<string, About>> {
  return new Map(await Promise.all(files.map(async ({ path }) => [path, await aboutOf(path)] as const)));
}

type Work = (signal: AbortSignal, reportProgress: (message: string) => void) => Promise<void>;

/** Runs `work` with a progress notification. If `controller` or the user stops it, the finished part stays. */
async function cancellable(title: string, work: Work, controller = new AbortController()): Promise<void> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  await vscode.window.withProgress(options, async (progress, token) => {
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
