// The rows of the view of sessions: what the command line found, and what is open.

import { expect, test, vi } from "vitest";
import type { FileReport, Finding } from "../src/sessions/report.js";
import { SessionTree, type Node } from "../src/sessions/tree.js";

const fired = vi.hoisted(() => vi.fn());

vi.mock("vscode", () => ({
  EventEmitter: class {
    event = () => undefined;
    fire = fired;
  },
  ThemeIcon: class {},
  TreeItem: class {
    constructor(readonly label: string) {}
  },
  TreeItemCollapsibleState: {},
}));

const NOTHING = { blocked: 0, written: false, backup: null, error: null, recognised: true };
const AGENT = { name: "a", title: "An agent", files: ["/p/1.jsonl", "/p/2.jsonl", "/p/3.jsonl"] };

const finding = (file: string): Finding => ({ file, kind: "delimiter", text: "</think>" });

function report(...leaks: readonly (readonly [string, number])[]) {
  const files: FileReport[] = leaks.map(([path, changed]) => ({ ...NOTHING, path, changed }));
  return { files, findings: leaks.flatMap(([path, count]) => Array<Finding>(count).fill(finding(path))) };
}

function add(tree: SessionTree, ...leaks: readonly (readonly [string, number])[]): void {
  tree.add(AGENT, report(...leaks), new Map(), () => false);
}

/** All rows, those below another indented. */
function rows(tree: SessionTree, node?: Node, indent = ""): string[] {
  return tree.getChildren(node).flatMap((child) => {
    const { label, description } = tree.getTreeItem(child);
    const own = `${indent}${String(label)}: ${String(description)}`;
    return child.type === "finding" ? [] : [own, ...rows(tree, child, `${indent}  `)];
  });
}

function checked(): SessionTree {
  const tree = new SessionTree();
  tree.begin([AGENT]);
  add(tree, ["/p/1.jsonl", 2], ["/p/2.jsonl", 0], ["/p/3.jsonl", 1]);
  return tree;
}

test("an agent's row says how many files leak, and how many were looked at", () => {
  const tree = new SessionTree();
  tree.begin([AGENT]);
  expect(rows(tree)).toEqual(["An agent: not checked yet"]);
  add(tree, ["/p/1.jsonl", 2]);
  expect(rows(tree)[0]).toBe("An agent: 2 leaks in 1 file · 1 of 3 checked");
  expect(rows(checked())).toEqual([
    "An agent: 3 leaks in 2 files · 3 checked",
    "  1.jsonl: 2 leaks",
    "  3.jsonl: 1 leak",
  ]);
  add(tree, ["/p/1.jsonl", 0], ["/p/2.jsonl", 0], ["/p/3.jsonl", 0]);
  expect(rows(tree)).toEqual(["An agent: no leaks · 3 checked"]);
});

test("a document with changes that are not saved is shown as its editor shows it", () => {
  const tree = checked();
  tree.edit([
    { path: "/p/1.jsonl", isDirty: true, findings: [] },
    { path: "/p/2.jsonl", isDirty: true, findings: [finding("/p/2.jsonl")] },
    { path: "/p/3.jsonl", isDirty: false, findings: [] },
  ]);
  expect(rows(tree)).toEqual([
    "An agent: 2 leaks in 2 files · 3 checked",
    "  2.jsonl: 1 leak · open, not saved",
    "  3.jsonl: 1 leak",
    "  1.jsonl: no leaks · open, not saved",
  ]);
  expect(tree.leaking().map(({ path }) => path)).toEqual(["/p/2.jsonl", "/p/3.jsonl"]);
  tree.edit([]);
  expect(rows(tree)).toEqual(rows(checked()));
  tree.edit([{ path: "/p/2.jsonl", isDirty: false, findings: [finding("/p/2.jsonl")] }]);
  expect(rows(tree)).toContain("  2.jsonl: 1 leak"); // the file has changed since
});

test("rows are drawn again only if one changes", () => {
  const tree = checked();
  fired.mockClear();
  tree.edit([{ path: "/p/2.jsonl", isDirty: false, findings: [] }]);
  expect(fired).not.toHaveBeenCalled();
  tree.edit([{ path: "/p/2.jsonl", isDirty: true, findings: [] }]);
  expect(fired).toHaveBeenCalledOnce();
});

test("a file that was just repaired is shown as repaired before its editor has read it again", () => {
  const tree = checked();
  const open = (count: number) => [
    { path: "/p/1.jsonl", isDirty: false, findings: Array<Finding>(count).fill(finding("/p/1.jsonl")) },
  ];
  tree.edit(open(2));
  const [written] = report(["/p/1.jsonl", 2]).files;
  tree.add(AGENT, { files: [{ ...(written as FileReport), written: true }], findings: [] }, new Map(), () => true);
  expect(rows(tree)).toContain("  1.jsonl: repaired");
  tree.edit(open(0));
  expect(rows(tree)).toContain("  1.jsonl: repaired");
  tree.edit(open(2));
  expect(rows(tree)).toContain("  1.jsonl: 2 leaks");
});

test("what is open and no agent's is below the agents, once they were asked for", () => {
  const open = [{ path: "/mine.jsonl", isDirty: false, findings: [finding("/mine.jsonl")] }];
  const tree = new SessionTree();
  tree.edit(open);
  expect(rows(tree)).toEqual([]);
  expect(tree.leaking()).toEqual([]);
  tree.begin([AGENT]);
  expect(rows(tree).slice(1)).toEqual(["Open in the editor: 1 leak in 1 file", "  mine.jsonl: 1 leak"]);
  expect(tree.leaking()).toHaveLength(1);
});

test("a session that was repaired before is named as it was", () => {
  const tree = new SessionTree();
  const about = new Map([["/p/1.jsonl", { words: "Why?", changed: undefined }]]);
  tree.remember([{ path: "/p/1.jsonl", backup: "/p/1.jsonl.bak", agent: AGENT }], about);
  expect(rows(tree)).toEqual(["An agent: not checked yet", "  Why?: repaired · 1.jsonl"]);
});
