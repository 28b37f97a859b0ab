// The tree of the view: agents, their sessions by project, and the findings of each session,
// most leaks first. Clean sessions are counted but not shown, except sessions whose repair
// can be undone.

import { homedir } from "node:os";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import * as vscode from "vscode";
import { firstWords } from "./first-words.js";
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

export class SessionTree implements vscode.TreeDataProvider<Node> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  #sessions = new Map<string, Session>();
  #agents: AgentNode[] = [];

  /** Shows these agents; their sessions are not known yet. */
  begin(agents: readonly Agent[]): void {
    this.#agents = agents.map((agent) => ({ type: "agent", agent }));
    this.#sessions = new Map();
    this.#changed.fire();
  }

  /** Shows the sessions that were repaired earlier, until they are checked again. */
  remember(repaired: readonly Repaired[]): void {
    for (const { path, agent } of repaired) {
      const known = this.#agents.find((each) => each.agent.name === agent.name)?.agent;
      const owner = known ?? { ...agent, files: [path] };
      if (known === undefined) this.#agents.push({ type: "agent", agent: owner });
      const about = { words: undefined, changed: undefined };
      const session = { agent: owner, path, state: "repaired", findings: [], problem: null, about } as const;
      if (!this.#sessions.has(path)) this.#sessions.set(path, { type: "session", ...session });
    }
    this.#changed.fire();
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
      const known = about.get(file.path) ?? { words: undefined, changed: undefined };
      const session = { agent, path: file.path, findings: found, problem, about: known };
      const shown = state === "clean" && wasRepaired(file.path) ? "repaired" : state;
      this.#sessions.set(file.path, { type: "session", ...session, state: shown });
    }
    this.#changed.fire();
  }

  /** The session in that file, if the file was checked. */
  session(path: string): Session | undefined {
    return this.#sessions.get(path);
  }

  /** The sessions with leaks, of one agent or of all agents. */
  leaking(agent?: Agent): readonly Session[] {
    return [...this.#sessions.values()].filter(
      (session) => session.state === "leaks" && (agent === undefined || session.agent.name === agent.name),
    );
  }

  getChildren(node?: Node): Node[] {
    if (node === undefined) return this.#agents;
    if (node.type === "agent") return byProject(this.#of(node.agent).filter(({ state }) => state !== "clean"));
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

  #of({ name }: Agent): Session[] {
    return [...this.#sessions.values()].filter(({ agent }) => agent.name === name);
  }

  #agentItem(agent: Agent): vscode.TreeItem {
    const sessions = this.#of(agent);
    const leaks = sessions.reduce((sum, { findings }) => sum + findings.length, 0);
    const isDone = sessions.length >= agent.files.length;
    const isEmpty = isDone && sessions.every(({ state }) => state === "clean");
    const { Expanded, None } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(agent.title, isEmpty ? None : Expanded);
    const files = counted(agent.files.length, "file");
    item.description = leaks > 0 ? `${counted(leaks, "leak")} in ${files}` : isDone ? `${files}, no leaks` : files;
    item.iconPath = new vscode.ThemeIcon(leaks > 0 ? "warning" : isDone ? "pass" : "sync");
    item.contextValue = leaks > 0 ? "agent.leaks" : "agent";
    item.tooltip = agent.files.slice(0, 10).join("\n");
    return item;
  }
}

/** The sessions by folder, most leaks first; without folders if there is only one. */
function byProject(sessions: readonly Session[]): Node[] {
  const groups = [...grouped(mostFirst(sessions, leaksOf), ({ path }) => dirname(path))];
  const nodes = groups.map(([folder, each]): ProjectNode => ({ type: "project", folder, sessions: each }));
  if (nodes.length <= 1) return [...(nodes[0]?.sessions ?? [])];
  return mostFirst(nodes, (node) => node.sessions.reduce((sum, each) => sum + leaksOf(each), 0));
}

const leaksOf = ({ findings }: Session) => findings.length;

function mostFirst<T>(items: readonly T[], count: (item: T) => number): T[] {
  return [...items].sort((one, other) => count(other) - count(one));
}

function projectItem({ folder, sessions }: ProjectNode): vscode.TreeItem {
  const item = new vscode.TreeItem(basename(folder), vscode.TreeItemCollapsibleState.Expanded);
  const leaks = sessions.reduce((sum, each) => sum + leaksOf(each), 0);
  item.description = leaks > 0 ? counted(leaks, "leak") : "";
  item.tooltip = atHome(folder);
  item.contextValue = leaks > 0 ? "project.leaks" : "project";
  item.iconPath = new vscode.ThemeIcon("folder");
  return item;
}

function sessionItem({ path, state, findings, problem, about }: Session): vscode.TreeItem {
  const { Collapsed, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(about.words ?? basename(path), findings.length > 0 ? Collapsed : None);
  const said = { leaks: counted(findings.length, "leak"), repaired: "repaired", clean: "", failed: problem };
  const age = about.changed === undefined ? [] : [ageOf(about.changed, Date.now())];
  const name = about.words === undefined ? [] : [basename(path)];
  item.description = [said[state] ?? "", ...age, ...name].join(" · ");
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
