// The tree of the view: agents, their sessions by project, and the leaks of each session, most
// leaks first. Clean sessions are counted but not shown, except sessions whose repair can be
// undone. Other open sessions that leak, which belong to no agent, are below the agents.
//
// A row counts the leaks below it, and the view all of them. An open session has the leaks that
// its editor underlines, so that its row and its tab have one number. What may be outdated is
// not counted: it is checked again.

import { homedir } from "node:os";
import { basename, dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import * as vscode from "vscode";
import { iconOf, isKind, nounOf, titleOf } from "../kinds.js";
import type { Kinds } from "../settings.js";
import type { About } from "./about.js";
import type { OpenDocument } from "./open-documents.js";
import type { Repaired } from "./remembered.js";
import {
  ageOf,
  BOUND,
  counted,
  foundIn,
  grouped,
  shortened,
  stateOf,
  type Agent,
  type Finding,
  type Report,
  type State,
} from "./report.js";

export interface Session {
  readonly type: "session";
  readonly agent: Agent;
  readonly path: string;
  readonly state: State;
  readonly findings: readonly Finding[];
  readonly problem: string | null;
  readonly about: About;
  /** Whether it is open with unsaved changes; `findings` are then those of the editor. */
  readonly isUnsaved: boolean;
}

/** The sessions of an agent in one folder. Most agents have a folder for each project. */
interface ProjectNode {
  readonly type: "project";
  readonly folder: string;
  readonly sessions: readonly Session[];
}

interface AgentNode {
  readonly type: "agent";
  readonly agent: Agent;
}

interface FindingNode {
  readonly type: "finding";
  readonly finding: Finding;
}

interface MoreNode {
  readonly type: "more";
  readonly count: number;
}

/** The row that says which kinds of leaks are not shown. */
interface KindsNode {
  readonly type: "kinds";
  readonly label: string;
}

export type Node = AgentNode | ProjectNode | Session | FindingNode | MoreNode | KindsNode;

/** How many leaks of a session are shown. */
const SHOWN = 500;

/** The owner of open sessions that belong to no agent. */
const EDITOR: Agent = { name: "", title: "Other open sessions", files: [] };

export class SessionTree implements vscode.TreeDataProvider<Node> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  #sessions = new Map<string, Session>();
  /** The files that were checked since `begin`. */
  #checked = new Set<string>();
  #agents: Agent[] = [];
  #open: readonly OpenDocument[] = [];
  /** The findings that editors showed when a newer report arrived, until the editors show others. */
  readonly #outdated = new Map<string, readonly Finding[]>();
  /** The open files whose text was changed in the editor after their last report. */
  readonly #edited = new Set<string>();
  readonly #kinds: () => Kinds;

  constructor(kinds: () => Kinds = () => ({ only: [], except: [] })) {
    this.#kinds = kinds;
  }

  /** The agents that are shown. */
  get agents(): readonly Agent[] {
    return this.#agents;
  }

  /** Shows these agents; their sessions are not known yet. */
  begin(agents: readonly Agent[]): void {
    this.#agents = [...agents];
    this.#sessions = new Map();
    this.#checked = new Set();
    this.#changed.fire();
  }

  /** Shows the sessions that were repaired earlier, until they are checked again. */
  remember(repaired: readonly Repaired[], about: ReadonlyMap<string, About>): void {
    for (const { path, agent } of repaired) {
      if (this.#sessions.has(path)) continue;
      const found = { state: "repaired", findings: [], problem: null, isUnsaved: false } as const;
      const owner = this.#owner(agent, path);
      this.#sessions.set(path, { type: "session", agent: owner, path, about: about.get(path) ?? {}, ...found });
    }
    this.#changed.fire();
  }

  /** The agent of that name; adds it if it is not known. */
  #owner({ name, title }: Repaired["agent"], path: string): Agent {
    const known = name === EDITOR.name ? EDITOR : this.#agents.find((each) => each.name === name);
    if (known !== undefined) return known;
    const added = { name, title, files: [path] };
    this.#agents.push(added);
    return added;
  }

  /** Shows the open documents as the editor shows them. */
  edit(open: readonly OpenDocument[]): void {
    const before = this.#all();
    this.#open = open;
    const shown = new Map(open.map(({ path, findings }) => [path, findings]));
    for (const [path, findings] of this.#outdated) {
      if (!isDeepStrictEqual(shown.get(path), findings)) this.#outdated.delete(path);
    }
    for (const path of this.#edited) if (!shown.has(path)) this.#edited.delete(path);
    for (const { path, isDirty } of open) if (isDirty) this.#edited.add(path);
    // A row that is drawn again under the mouse loses the click.
    if (!isDeepStrictEqual(before, this.#all())) this.#changed.fire();
  }

  /** Adds the report for files of an agent; `wasRepaired` says whether a file's repair can be undone. */
  add(
    agent: Agent,
    { files, findings }: Report,
    about: ReadonlyMap<string, About>,
    wasRepaired: (path: string) => boolean,
  ): void {
    const byFile = grouped(findings, ({ file }) => file);
    for (const file of files) {
      const all = byFile.get(file.path) ?? [];
      const stays = ({ bound, mend = "file" }: Finding) => bound || mend !== "file";
      const found = file.written ? all.filter(stays) : all;
      const { state, problem } = stateOf(file);
      const known = about.get(file.path) ?? {};
      const session = { agent, path: file.path, findings: found, problem, about: known, isUnsaved: false };
      this.#checked.add(file.path);
      this.#edited.delete(file.path);
      const open = this.#open.find(({ path }) => path === file.path);
      if (open !== undefined) this.#outdated.set(file.path, open.findings);
      const shown = state === "clean" && wasRepaired(file.path) ? "repaired" : state;
      this.#sessions.set(file.path, { type: "session", ...session, state: shown });
    }
    this.#changed.fire();
  }

  /** The session in that file, if the file was checked or repaired. */
  known(path: string): Session | undefined {
    return this.#sessions.get(path);
  }

  /** The session in that file, as the tree shows it. */
  session(path: string): Session | undefined {
    return this.#all().find((each) => each.path === path);
  }

  /** The number of all leaks, and of the sessions that have them. */
  count(): { readonly leaks: number; readonly sessions: number } {
    const all = this.#all();
    return { leaks: leaksIn(all), sessions: all.filter(hasLeaks).length };
  }

  /** The sessions with leaks that can be taken out, of one agent or of all agents. */
  leaking(agent?: Agent): readonly Session[] {
    return (agent === undefined ? this.#all() : this.#of(agent)).filter(({ state }) => state === "leaks");
  }

  getChildren(node?: Node): Node[] {
    if (node === undefined) return this.#roots();
    if (node.type === "agent") return byProject(this.#of(node.agent).filter(isShown));
    if (node.type === "project") return [...node.sessions];
    if (node.type !== "session") return [];
    const shown = node.findings.slice(0, SHOWN).map((finding): Node => ({ type: "finding", finding }));
    const count = node.findings.length - shown.length;
    return count === 0 ? shown : [...shown, { type: "more", count }];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if (node.type === "agent") return this.#agentItem(node.agent);
    if (node.type === "project") return projectItem(node);
    if (node.type === "session") return sessionItem(node);
    if (node.type === "finding") return findingItem(node.finding);
    if (node.type === "kinds") return kindsItem(node.label);
    return new vscode.TreeItem(`and ${node.count.toLocaleString("en")} more`);
  }

  /** The kinds that are not shown, the agents, and below them the editor. */
  #roots(): Node[] {
    const owners = this.#of(EDITOR).some(isShown) ? [...this.#agents, EDITOR] : this.#agents;
    const label = owners.length === 0 ? undefined : hiddenKinds(this.#kinds());
    const agents = owners.map((agent): Node => ({ type: "agent", agent }));
    return label === undefined ? agents : [{ type: "kinds", label }, ...agents];
  }

  /** The sessions as they are shown. After `begin`, they include open sessions that were not checked. */
  #all(): Session[] {
    const isCurrent = ({ path, isDirty }: OpenDocument) => isDirty || !this.#outdated.has(path);
    const open = new Map(this.#open.filter(isCurrent).map((each) => [each.path, each]));
    const isEdited = (path: string) => this.#edited.has(path);
    const known = [...this.#sessions.values()].map((each) => asEdited(each, open.get(each.path), isEdited(each.path)));
    if (this.#agents.every(({ files }) => files.length === 0)) return known;
    const others = this.#open.filter(({ path, findings }) => findings.length > 0 && !this.#sessions.has(path));
    const owner = (path: string) => this.#agents.find(({ files }) => files.includes(path)) ?? EDITOR;
    return [...known, ...others.map((each) => inEditor(each, owner(each.path)))];
  }

  #of({ name }: Agent): Session[] {
    return this.#all().filter(({ agent }) => agent.name === name);
  }

  #agentItem(agent: Agent): vscode.TreeItem {
    const sessions = this.#of(agent);
    const leaking = sessions.filter(hasLeaks).length;
    const leaks = leaksIn(sessions);
    const checked = agent.files.filter((file) => this.#checked.has(file)).length;
    const isDone = checked === agent.files.length;
    const { Expanded, None } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(agent.title, isDone && !sessions.some(isShown) ? None : Expanded);
    const found = foundIn(sessions.flatMap(({ findings }) => findings));
    item.description = summaryOf(found, leaking, checked, agent.files.length);
    item.iconPath = new vscode.ThemeIcon(leaks > 0 ? "warning" : isDone ? "pass" : "sync");
    item.contextValue = this.leaking(agent).length > 0 ? "agent.leaks" : "agent";
    item.tooltip = agent.files.slice(0, 10).join("\n");
    return item;
  }
}

/** `3 leaks in 2 of 9 files`; during a check `3 leaks · 4 of 9 checked`. */
function summaryOf(found: string, leaking: number, checked: number, files: number): string {
  const [part, whole] = [checked, files].map((count) => count.toLocaleString("en"));
  const first = found === "" ? [] : [found];
  if (checked > 0 && checked < files) return [...first, `${part} of ${whole} checked`].join(" · ");
  if (checked < files) return found || "not checked yet";
  if (found === "") return files === 0 ? "" : `no leaks in ${counted(files, "file")}`;
  const among = leaking === files ? counted(files, "file") : `${leaking.toLocaleString("en")} of ${whole} files`;
  return files === 0 ? found : `${found} in ${among}`;
}

/** The kinds that the settings do not show, for a row; undefined if all are shown. */
function hiddenKinds({ only, except }: Kinds): string | undefined {
  const words = (kinds: readonly string[]) => kinds.map(nounOf).join(", ");
  const hidden = except.filter(isKind);
  const shown = only.filter((kind) => isKind(kind) && !hidden.includes(kind));
  if (!only.some(isKind)) return hidden.length > 0 ? `Not shown: ${words(hidden)}` : undefined;
  return shown.length > 0 ? `Shown: only ${words(shown)}` : "Shown: no kind of leak";
}

const hasLeaks = ({ findings }: Session) => findings.length > 0;

const isShown = ({ state, isUnsaved }: Session) => state !== "clean" || isUnsaved;

/**
 * The session as its editor shows it, if the editor may know more than the last report: if it was
 * edited, or if the editor underlines another number of leaks. No leaks may mean that the editor
 * has not read the file yet.
 */
function asEdited(session: Session, open: OpenDocument | undefined, isEdited: boolean): Session {
  if (open === undefined) return session;
  const { findings, isDirty } = open;
  const hasOthers = findings.length > 0 && findings.length !== session.findings.length;
  if (!isEdited && !hasOthers) return session;
  const state = session.state === "failed" && !isEdited ? "failed" : findings.length > 0 ? "leaks" : "clean";
  return { ...session, findings, state, isUnsaved: isDirty };
}

function inEditor({ path, findings, isDirty }: OpenDocument, agent: Agent): Session {
  const found = { state: "leaks", findings, problem: null, isUnsaved: isDirty } as const;
  return { type: "session", agent, path, about: {}, ...found };
}

/** The sessions by folder, most leaks first; without folders if there is only one. */
function byProject(sessions: readonly Session[]): Node[] {
  const groups = [...grouped(mostFirst(sessions, leaksOf), ({ path }) => dirname(path))];
  const nodes = groups.map(([folder, each]): ProjectNode => ({ type: "project", folder, sessions: each }));
  if (nodes.length <= 1) return [...(nodes[0]?.sessions ?? [])];
  return mostFirst(nodes, (node) => leaksIn(node.sessions));
}

const leaksOf = ({ findings }: Session) => findings.length;

/** The number of leaks in all the sessions. */
export function leaksIn(sessions: readonly Session[]): number {
  return sessions.reduce((sum, each) => sum + leaksOf(each), 0);
}

/** How many characters of a long name are shown at its beginning, and at its end. */
const [FIRST, LAST] = [12, 14];

/** The name of a session wherever it is named: that of its file. The middle of a long one is left out. */
export function nameOf({ path }: Pick<Session, "path">): string {
  const name = basename(path);
  return name.length <= FIRST + LAST + 4 ? name : `${name.slice(0, FIRST)}…${name.slice(-LAST)}`;
}

function mostFirst<T>(items: readonly T[], count: (item: T) => number): T[] {
  return [...items].sort((one, other) => count(other) - count(one));
}

function projectItem({ folder, sessions }: ProjectNode): vscode.TreeItem {
  const worked = sessions.map(({ about }) => about.folder).find((each) => each !== undefined);
  // Claude Code writes the path of a project as one name: `-home-me-project`.
  const name = worked?.split(/[\\/]/).findLast((each) => each !== "") ?? basename(folder).replace(/^-+/, "");
  const item = new vscode.TreeItem(name, vscode.TreeItemCollapsibleState.Expanded);
  item.description = foundIn(sessions.flatMap(({ findings }) => findings));
  item.tooltip = atHome(worked ?? folder);
  item.contextValue = sessions.some(({ state }) => state === "leaks") ? "project.leaks" : "project";
  item.iconPath = new vscode.ThemeIcon("folder");
  return item;
}

function sessionItem(session: Session): vscode.TreeItem {
  const { path, state, findings, problem, about, isUnsaved } = session;
  const { Collapsed, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(nameOf(session), hasLeaks(session) ? Collapsed : None);
  const leaks = hasLeaks(session) ? [foundIn(findings)] : [];
  const said = { leaks: [], repaired: ["repaired"], clean: ["no leaks"], failed: [problem ?? ""] }[state];
  const unsaved = isUnsaved ? ["unsaved"] : [];
  const age = about.changed === undefined ? [] : [ageOf(about.changed, Date.now())];
  item.description = [...leaks, ...said, ...unsaved, ...age, ...(about.words === undefined ? [] : [about.words])].join(
    " · ",
  );
  item.tooltip = [atHome(path), about.words, problem].filter((each) => each != null).join("\n");
  item.contextValue = `session.${state}`;
  item.iconPath = new vscode.ThemeIcon({ leaks: "file-code", repaired: "pass", clean: "pass", failed: "error" }[state]);
  return item;
}

/** A click on the row shows all kinds again. */
function kindsItem(label: string): vscode.TreeItem {
  const item = new vscode.TreeItem(label);
  item.description = "Show all";
  item.iconPath = new vscode.ThemeIcon("eye-closed");
  item.tooltip = "Your settings choose kinds of leaks. A click on this row shows and takes out all kinds again.";
  item.command = { command: "streamSidecar.showAllKinds", title: "Show All Kinds of Leaks" };
  return item;
}

function findingItem(finding: Finding): vscode.TreeItem {
  const item = new vscode.TreeItem(titleOf(finding.kind));
  item.description = [...(finding.bound ? ["bound"] : []), shortened(finding.text)].join(" · ");
  item.iconPath = new vscode.ThemeIcon(iconOf(finding.kind));
  const said = finding.line === undefined ? finding.text : `Line ${finding.line}: ${finding.text}`;
  item.tooltip = finding.bound ? `${said}\n\nIt stays: ${BOUND}.` : said;
  item.command = { command: "streamSidecar.openFinding", title: "Open", arguments: [finding] };
  return item;
}

/** A folder with `~` for the home folder. */
function atHome(folder: string): string {
  const home = homedir();
  return folder.startsWith(home) ? `~${folder.slice(home.length)}` : folder;
}
