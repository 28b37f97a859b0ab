// The view of what leaked on this machine: agents, their sessions, and what was found in
// each. A session in which nothing was found is counted and not shown.

import { homedir } from "node:os";
import { basename, dirname } from "node:path";
import * as vscode from "vscode";
import {
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

export type Node = AgentNode | Session | FindingNode | MoreNode;

/** So many findings of a session are shown. */
const SHOWN = 500;

export class SessionTree implements vscode.TreeDataProvider<Node> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  #sessions = new Map<string, Session>();
  #agents: AgentNode[] = [];

  /** Shows these agents, of whose sessions nothing is known yet. */
  begin(agents: readonly Agent[]): void {
    this.#agents = agents.map((agent) => ({ type: "agent", agent }));
    this.#sessions = new Map();
    this.#changed.fire();
  }

  /** Takes over what was found in files of an agent. */
  add(agent: Agent, { files, findings }: Report): void {
    const byFile = grouped(findings, ({ file }) => file);
    for (const file of files) {
      const found = file.written ? [] : (byFile.get(file.path) ?? []);
      const session = { agent, path: file.path, findings: found, ...stateOf(file) };
      this.#sessions.set(file.path, { type: "session", ...session });
    }
    this.#changed.fire();
  }

  /** The session in that file, if it was looked at. */
  session(path: string): Session | undefined {
    return this.#sessions.get(path);
  }

  /** Sessions in which something leaked, of one agent or of all. */
  leaking(agent?: Agent): readonly Session[] {
    return [...this.#sessions.values()].filter(
      (session) => session.state === "leaks" && (agent === undefined || session.agent.name === agent.name),
    );
  }

  getChildren(node?: Node): Node[] {
    if (node === undefined) return this.#agents;
    if (node.type === "agent") return this.#of(node.agent).filter(({ state }) => state !== "clean");
    if (node.type !== "session") return [];
    const shown = node.findings.slice(0, SHOWN).map((finding): Node => ({ type: "finding", finding }));
    const count = node.findings.length - shown.length;
    return count === 0 ? shown : [...shown, { type: "more", count }];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if (node.type === "agent") return this.#agentItem(node.agent);
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

function sessionItem({ path, state, findings, problem }: Session): vscode.TreeItem {
  const { Collapsed, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(basename(path), findings.length > 0 ? Collapsed : None);
  const said = { leaks: counted(findings.length, "leak"), repaired: "repaired", clean: "", failed: problem };
  item.description = `${said[state] ?? ""} · ${atHome(dirname(path))}`;
  item.tooltip = problem === null ? path : `${path}\n${problem}`;
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
