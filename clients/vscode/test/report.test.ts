// How the report of a repair is read.

import { expect, test } from "vitest";
import { RunError } from "../src/run.js";
import {
  agentsOf,
  batches,
  columnAt,
  counted,
  reportOf,
  shortened,
  stateOf,
  unitsBefore,
} from "../src/sessions/report.js";

const ended = (stdout: string, stderr = "") => ({ code: 2, stdout, stderr });

test("a report is read, whatever the exit code", () => {
  expect(reportOf(ended('{"version": 1, "findings": [], "files": []}'))).toMatchObject({ findings: [], files: [] });
  expect(agentsOf(ended('{"agents": [{"name": "codex"}]}'))).toEqual([{ name: "codex" }]);
});

test("an output that is not a report is an error with its last line", () => {
  expect(() => reportOf(ended("", "Usage: ...\nError: no such option\n"))).toThrow(RunError);
  expect(() => reportOf(ended("", "Usage: ...\nError: no such option\n"))).toThrow("Error: no such option");
  expect(() => reportOf(ended(""))).toThrow("it exited with code 2");
});

test("a session is clean if all of it was read, and leaks if something can be removed", () => {
  const file = { path: "a", changed: 0, blocked: 0, written: false, backup: null, error: null, recognised: true };
  expect(stateOf(file)).toEqual({ state: "clean", problem: null });
  expect(stateOf({ ...file, changed: 2, kept: {} })).toEqual({ state: "leaks", problem: null });
  expect(stateOf({ ...file, blocked: 1 }).state).toBe("leaks");
  expect(stateOf({ ...file, changed: 2, written: true }).state).toBe("repaired");
  expect(stateOf({ ...file, changed: 2, error: "why" })).toEqual({ state: "failed", problem: "why" });
  expect(stateOf({ ...file, changed: 2, kept: { why: 2 } })).toEqual({ state: "failed", problem: "why" });
  expect(stateOf({ ...file, changed: 2, kept: { why: 1 } })).toEqual({ state: "leaks", problem: "why" });
  expect(stateOf({ ...file, notRead: { why: 1 } })).toEqual({ state: "failed", problem: "why" });
});

test("each group of files fits into a command line", () => {
  expect(batches([])).toEqual([]);
  expect(batches(["a", "b", "c"], { files: 2, characters: 100 })).toEqual([["a", "b"], ["c"]]);
  expect(batches(["aaaa", "bbbb", "cccc"], { files: 9, characters: 14 })).toEqual([["aaaa", "bbbb"], ["cccc"]]);
  expect(batches(["a".repeat(50), "b"], { files: 9, characters: 10 })).toEqual([["a".repeat(50)], ["b"]]);
});

test("columns count code points, editors UTF-16 units", () => {
  expect(unitsBefore("abc", 1)).toBe(0);
  expect(unitsBefore("🌿🌿c", 3)).toBe(4);
  expect(unitsBefore("a", 99)).toBe(1);
  expect([columnAt("abc", 0), columnAt("🌿🌿c", 4)]).toEqual([1, 3]);
});

test("texts are shown in one short line", () => {
  expect(shortened(" a\n  b\t")).toBe("a b");
  expect(shortened("🌿".repeat(100))).toBe("🌿".repeat(100));
  expect(shortened("🌿".repeat(101))).toBe(`${"🌿".repeat(100)}…`);
  expect(shortened("abcde", 4)).toBe("abcd…");
  expect(shortened("x".repeat(10_000))).toBe(`${"x".repeat(100)}…`);
});

test("counts have their nouns", () => {
  expect([counted(0, "leak"), counted(1, "leak"), counted(1200, "leak")]).toEqual(["0 leaks", "1 leak", "1,200 leaks"]);
});
