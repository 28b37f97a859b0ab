// The tree of the view: agents, their sessions by project, and the findings of each session,
// most leaks first. Clean sessions are counted but not shown, except sessions whose repair
// can be undone. A document with unsaved changes is shown as its editor shows it. Open
// sessions that leak and belong to no agent are shown below the agents.

import { homedir } from "node:os";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import * as vscode from "vscode";
import { firstWords } from "./first-words.js";
import type { OpenDocument } from "./open-documents.js";
import type { Repaired } from "./remembered.js";
import {
  ageOf,
  counted,
  grouped,
  iconOf,
  shortened,
  stateOf,
  titleOf,
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

/** What a row says about a session: the first words of its user, and when the file last changed. */
export interface About {
  readonly words: string | undefined;
  readonly changed: number | undefined;
}

export async function aboutOf(path: string): Promise<About> {
  const [words, changed] = await Promise.all([
    firstWords(path),
    stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    ),
  ]);
  return { words, changed };
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

export type Node = AgentNode | ProjectNode | Session | FindingNode | MoreNode;

/** How many findings of a session are shown. */
const SHOWN = 500;

const UNKNOWN: About = { words: undefined, changed: undefined };

/** The owner of open sessions that belong to no agent. */
const EDITOR: Agent = { name: "", title: "Open in the editor", files: [] };

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
      this.#sessions.set(path, { type: "session", agent: owner, path, about: about.get(path) ?? UNKNOWN, ...found });
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
      const found = file.written ? [] : (byFile.get(file.path) ?? []);
      const { state, problem } = stateOf(file);
      const known = about.get(file.path) ?? UNKNOWN;
      const session = { agent, path: file.path, findings: found, problem, about: known, isUnsaved: false };
      this.#checked.add(file.path);
      const open = this.#open.find(({ path }) => path === file.path);
      if (open !== undefined) this.#outdated.set(file.path, open.findings);
      const shown = state === "clean" && wasRepaired(file.path) ? "repaired" : state;
      this.#sessions.set(file.path, { type: "session", ...session, state: shown });
    }
    this.#changed.fire();
  }

  /** Whether sessions were checked. */
  hasChecked(): boolean {
    return this.#checked.size > 0;
  }

  /** The session in that file, if the file was checked or repaired. */
  known(path: string): Session | undefined {
    return this.#sessions.get(path);
  }

  /** The session in that file, as the tree shows it. */
  session(path: string): Session | undefined {
    return this.#all().find((each) => each.path === path);
  }

  /** The sessions with leaks, of one agent or of all agents. */
  leaking(agent?: Agent): readonly Session[] {
    return (agent === undefined ? this.#all() : this.#of(agent)).filter(({ state }) => state === "leaks");
  }

  getChildren(node?: Node): Node[] {
    if (node === undefined) return this.#owners().map((agent) => ({ type: "agent", agent }));
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
    return new vscode.TreeItem(`and ${node.count.toLocaleString("en")} more`);
  }

  /** The agents, and below them the editor. */
  #owners(): Agent[] {
    return this.#of(EDITOR).some(isShown) ? [...this.#agents, EDITOR] : this.#agents;
  }

  /** The sessions as they are shown. After `begin`, they include open sessions that belong to no agent. */
  #all(): Session[] {
    const isCurrent = ({ path, isDirty }: OpenDocument) => isDirty || !this.#outdated.has(path);
    const open = new Map(this.#open.filter(isCurrent).map((each) => [each.path, each]));
    const files = new Set(this.#agents.flatMap((agent) => agent.files));
    const known = [...this.#sessions.values()].map((each) => asEdited(each, open.get(each.path)));
    const isOther = ({ path, findings }: OpenDocument) =>
      findings.length > 0 && !files.has(path) && !this.#sessions.has(path);
    return [...known, ...(files.size > 0 ? this.#open.filter(isOther).map(inEditor) : [])];
  }

  #of({ name }: Agent): Session[] {
    return this.#all().filter(({ agent }) => agent.name === name);
  }

  #agentItem(agent: Agent): vscode.TreeItem {
    const sessions = this.#of(agent);
    const leaking = sessions.filter(({ findings }) => findings.length > 0);
    const leaks = leaksIn(leaking);
    const checked = agent.files.filter((file) => this.#checked.has(file)).length;
    const isDone = checked === agent.files.length;
    const { Expanded, None } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(agent.title, isDone && !sessions.some(isShown) ? None : Expanded);
    const found = leaks > 0 ? [`${counted(leaks, "leak")} in ${counted(leaking.length, "file")}`] : [];
    const isClean = isDone && checked > 0 && leaks === 0;
    item.description = [...found, ...(isClean ? ["no leaks"] : []), ...checkedOf(checked, agent)].join(" · ");
    item.iconPath = new vscode.ThemeIcon(leaks > 0 ? "warning" : isDone ? "pass" : "sync");
    item.contextValue = leaks > 0 ? "agent.leaks" : "agent";
    item.tooltip = agent.files.slice(0, 10).join("\n");
    return item;
  }
}

/** How many files of an agent were checked: `3 checked`, `1 of 3 checked`. */
function checkedOf(checked: number, { files }: Agent): readonly string[] {
  if (files.length === 0) return [];
  if (checked === 0) return ["not checked yet"];
  const part = checked < files.length ? `${checked.toLocaleString("en")} of ` : "";
  return [`${part}${files.length.toLocaleString("en")} checked`];
}

const isShown = ({ state, isUnsaved }: Session) => state !== "clean" || isUnsaved;

/** The session as its editor shows it, if it is open with unsaved changes or if its file has changed since. */
function asEdited(session: Session, open: OpenDocument | undefined): Session {
  if (open === undefined) return session;
  const { findings, isDirty } = open;
  const hasChanged = findings.length > 0 && ["clean", "repaired"].includes(session.state);
  if (!isDirty && !hasChanged) return session;
  return { ...session, findings, state: findings.length > 0 ? "leaks" : "clean", isUnsaved: isDirty };
}

function inEditor({ path, findings, isDirty }: OpenDocument): Session {
  const found = { state: "leaks", findings, problem: null, isUnsaved: isDirty } as const;
  return { type: "session", agent: EDITOR, path, about: UNKNOWN, ...found };
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

/** The name of a session: the first words of its user, or the name of its file. */
export function nameOf({ path, about }: Session): string {
  return about.words ?? basename(path);
}

function mostFirst<T>(items: readonly T[], count: (item: T) => number): T[] {
  return [...items].sort((one, other) => count(other) - count(one));
}

function projectItem({ folder, sessions }: ProjectNode): vscode.TreeItem {
  const item = new vscode.TreeItem(basename(folder), vscode.TreeItemCollapsibleState.Expanded);
  const leaks = leaksIn(sessions);
  item.description = leaks > 0 ? counted(leaks, "leak") : "";
  item.tooltip = atHome(folder);
  item.contextValue = leaks > 0 ? "project.leaks" : "project";
  item.iconPath = new vscode.ThemeIcon("folder");
  return item;
}

function sessionItem(session: Session): vscode.TreeItem {
  const { path, state, findings, problem, about, isUnsaved } = session;
  const { Collapsed, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(nameOf(session), findings.length > 0 ? Collapsed : None);
  const said = { leaks: counted(findings.length, "leak"), repaired: "repaired", clean: "no leaks", failed: problem };
  const unsaved = isUnsaved ? ["open, not saved"] : [];
  const age = about.changed === undefined ? [] : [ageOf(about.changed, Date.now())];
  const name = about.words === undefined ? [] : [basename(path)];
  item.description = [said[state] ?? "", ...unsaved, ...age, ...name].join(" · ");
  item.tooltip = [atHome(path), ...(problem === null ? [] : [problem])].join("\n");
  item.contextValue = `session.${state}`;
  item.iconPath = new vscode.ThemeIcon({ leaks: "file-code", repaired: "pass", clean: "pass", failed: "error" }[state]);
  return item;
}

function findingItem(finding: Finding): vscode.TreeItem {
  const item = new vscode.TreeItem(titleOf(finding));
  item.description = shortened(finding.text);
  item.iconPath = new vscode.ThemeIcon(iconOf(finding));
  item.tooltip = finding.line === undefined ? finding.text : `Line ${finding.line}: ${finding.text}`;
  item.command = { command: "streamSidecar.openFinding", title: "Open", arguments: [finding] };
  return item;
}

/** A folder with `~` for the home folder. */
function atHome(folder: string): string {
  const home = homedir();
  return folder.startsWith(home) ? `~${folder.slice(home.length)}` : folder;
}
