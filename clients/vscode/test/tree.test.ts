// The rows of the view of sessions: what the command line found, and what is open.

import { expect, test, vi } from "vitest";
import type { FileReport, Finding } from "../src/sessions/report.js";
import { nameOf, SessionTree, type Node } from "../src/sessions/tree.js";
import type { Kinds } from "../src/settings.js";

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
  expect(rows(tree)[0]).toBe("An agent: 2 leaks · 1 of 3 checked");
  expect(rows(checked())).toEqual(["An agent: 3 leaks in 2 of 3 files", "  1.jsonl: 2 leaks", "  3.jsonl: 1 leak"]);
  add(tree, ["/p/1.jsonl", 0], ["/p/2.jsonl", 0], ["/p/3.jsonl", 0]);
  expect(rows(tree)).toEqual(["An agent: no leaks in 3 files"]);
});

test("a leak that stays because it is bound says so", () => {
  const tree = new SessionTree();
  const bound = { ...finding("/p/1.jsonl"), bound: true, line: 3 };
  const kept = { "a later seal is bound to it": 1 };
  const file = { ...NOTHING, path: "/p/1.jsonl", changed: 2, written: true, kept };
  tree.begin([AGENT]);
  tree.add(AGENT, { files: [file], findings: [bound, finding("/p/1.jsonl")] }, new Map(), () => false);
  expect(rows(tree)).toEqual(["An agent: 1 leak · 1 of 3 checked", "  1.jsonl: 1 leak · repaired"]);
  const [row] = tree.getChildren(tree.session("/p/1.jsonl"));
  const { description, tooltip } = tree.getTreeItem(row as Node);
  expect(description).toBe("bound · </think>");
  expect(tooltip).toBe("Line 3: </think>\n\nIt stays: a later seal is bound to it.");
});

test("what stands in the way of a session is counted beside its leaks", () => {
  const tree = new SessionTree();
  const path = "/p/1.jsonl";
  const call: Finding = { file: path, kind: "refused", text: "The call has no result.", mend: "request", line: 3 };
  const line: Finding = { file: path, kind: "left-out", text: "Its parent is in no record.", mend: "file" };
  const file = { ...NOTHING, path, changed: 0, refused: 1, leftOut: 1, mendable: 1 };
  tree.begin([AGENT]);
  tree.add(AGENT, { files: [file], findings: [call, line] }, new Map(), () => false);
  expect(rows(tree)).toEqual(["An agent: 1 refused, 1 left out · 1 of 3 checked", "  1.jsonl: 1 refused, 1 left out"]);
  expect(tree.leaking().map((each) => each.path)).toEqual([path]);
  tree.add(AGENT, { files: [{ ...file, written: true }], findings: [call, line] }, new Map(), () => true);
  expect(rows(tree)[1]).toBe("  1.jsonl: 1 refused · repaired");
  tree.add(AGENT, { files: [{ ...file, leftOut: 0, mendable: 0 }], findings: [call] }, new Map(), () => false);
  expect(rows(tree)[1]).toBe("  1.jsonl: 1 refused · no change of the file mends it");
  expect(tree.leaking()).toEqual([]);
});

test("a document with changes that are not saved is shown as its editor shows it", () => {
  const tree = checked();
  tree.edit([
    { path: "/p/1.jsonl", isDirty: true, findings: [] },
    { path: "/p/2.jsonl", isDirty: true, findings: [finding("/p/2.jsonl")] },
    { path: "/p/3.jsonl", isDirty: false, findings: [] },
  ]);
  expect(rows(tree)).toEqual([
    "An agent: 2 leaks in 2 of 3 files",
    "  2.jsonl: 1 leak · unsaved",
    "  3.jsonl: 1 leak",
    "  1.jsonl: no leaks · unsaved",
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
  const shown = (count: number) => [open("/p/1.jsonl", count)];
  tree.edit(shown(2));
  const [written] = report(["/p/1.jsonl", 2]).files;
  tree.add(AGENT, { files: [{ ...(written as FileReport), written: true }], findings: [] }, new Map(), () => true);
  expect(rows(tree)).toContain("  1.jsonl: repaired");
  tree.edit(shown(0));
  expect(rows(tree)).toContain("  1.jsonl: repaired");
  tree.edit(shown(2));
  expect(rows(tree)).toContain("  1.jsonl: 2 leaks");
});

test("what is open and no agent's is below the agents, once they were asked for", () => {
  const open = [{ path: "/mine.jsonl", isDirty: false, findings: [finding("/mine.jsonl")] }];
  const tree = new SessionTree();
  tree.edit(open);
  expect(rows(tree)).toEqual([]);
  expect(tree.leaking()).toEqual([]);
  tree.begin([AGENT]);
  expect(rows(tree).slice(1)).toEqual(["Other open sessions: 1 leak", "  mine.jsonl: 1 leak"]);
  expect(tree.leaking()).toHaveLength(1);
});

test("a session that was repaired before is named as it was", () => {
  const tree = new SessionTree();
  const about = new Map([["/p/1.jsonl", { words: "Why?" }]]);
  tree.remember([{ path: "/p/1.jsonl", backup: "/p/1.jsonl.bak", agent: AGENT }], about);
  expect(rows(tree)).toEqual(["An agent: not checked yet", "  1.jsonl: repaired · Why?"]);
});

const open = (path: string, count: number, isDirty = false) => ({
  path,
  isDirty,
  findings: Array<Finding>(count).fill(finding(path)),
});

test("an open session has as many leaks as its editor underlines", () => {
  const tree = checked();
  tree.edit([open("/p/1.jsonl", 1)]);
  expect(rows(tree)).toContain("  1.jsonl: 1 leak");
  expect(tree.count()).toEqual({ leaks: 2, sessions: 2 });
  tree.edit([open("/p/1.jsonl", 0)]); // as before an editor has read the file
  expect(rows(tree)).toContain("  1.jsonl: 2 leaks");
});

test("an open session that was not checked yet is shown as its editor shows it", () => {
  const tree = new SessionTree();
  tree.edit([open("/p/1.jsonl", 2)]);
  tree.begin([AGENT]);
  expect(rows(tree)).toEqual(["An agent: 2 leaks", "  1.jsonl: 2 leaks"]);
  add(tree, ["/p/1.jsonl", 2]);
  expect(rows(tree)).toEqual(["An agent: 2 leaks · 1 of 3 checked", "  1.jsonl: 2 leaks"]);
});

test("a session that was edited keeps the leaks of its editor until a newer report", () => {
  const tree = checked();
  tree.edit([open("/p/1.jsonl", 0, true)]);
  tree.edit([open("/p/1.jsonl", 0)]); // saved
  expect(rows(tree)[0]).toBe("An agent: 1 leak in 1 of 3 files");
  add(tree, ["/p/1.jsonl", 2]);
  expect(rows(tree)[0]).toBe("An agent: 3 leaks in 2 of 3 files");
  tree.edit([open("/p/1.jsonl", 0, true)]);
  tree.edit([]); // closed, and not saved
  expect(rows(tree)[0]).toBe("An agent: 3 leaks in 2 of 3 files");
});

test("leaks that have to stay are counted in every number, and are not repaired", () => {
  const tree = new SessionTree();
  tree.begin([AGENT]);
  const files = [{ ...NOTHING, path: "/p/1.jsonl", changed: 1, kept: { "a hash": 1 } }];
  tree.add(AGENT, { files, findings: [finding("/p/1.jsonl")] }, new Map(), () => false);
  expect(rows(tree)).toEqual(["An agent: 1 leak · 1 of 3 checked", "  1.jsonl: 1 leak · a hash"]);
  expect(tree.count()).toEqual({ leaks: 1, sessions: 1 });
  expect(tree.leaking()).toEqual([]);
});

test.each<[Kinds, string | undefined]>([
  [{ only: [], except: [] }, undefined],
  [{ only: [], except: ["reasoning", "tool-call", "telepathy"] }, "Not shown: reasoning, tool call: Show all"],
  [{ only: ["marker", "reasoning"], except: ["reasoning"] }, "Shown: only marker: Show all"],
  [{ only: ["marker"], except: ["marker"] }, "Shown: no kind of leak: Show all"],
])("the first row says which kinds of leaks are not shown: %j", (kinds, row) => {
  const tree = new SessionTree(() => kinds);
  expect(rows(tree)).toEqual([]);
  tree.begin([AGENT]);
  const own = row === undefined ? [] : [row];
  expect(rows(tree)).toEqual([...own, "An agent: not checked yet"]);
});

test("a project has the name of the folder in which its agent worked", () => {
  const tree = new SessionTree();
  const paths = ["/s/-work-login/1.jsonl", "/s/-work-shop/2.jsonl"];
  tree.begin([{ ...AGENT, files: paths }]);
  const about = new Map([["/s/-work-login/1.jsonl", { folder: "/code/my-login/" }]]);
  const [first = "", second = ""] = paths;
  tree.add(AGENT, report([first, 2], [second, 1]), about, () => false);
  expect(rows(tree).filter((row) => row.startsWith("  ") && !row.startsWith("    "))).toEqual([
    "  my-login: 2 leaks",
    "  work-shop: 1 leak",
  ]);
});

test("a session has one name, with its beginning and its end", () => {
  expect(nameOf({ path: "/p/session.jsonl" })).toBe("session.jsonl");
  expect(nameOf({ path: "/p/5f0c2d1e-6b1f-4f0e-9d57-0d8a2f7c9b1a.jsonl" })).toBe("5f0c2d1e-6b1…2f7c9b1a.jsonl");
});
