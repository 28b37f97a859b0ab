// What is made of the report of a repair.

import { expect, test } from "vitest";
import { RunError } from "../src/run.js";
import { agentsOf, batches, counted, reportOf, shortened, unitsBefore } from "../src/sessions/report.js";

const ended = (stdout: string, stderr = "") => ({ code: 2, stdout, stderr });

test("a report is read whatever the exit code says", () => {
  expect(reportOf(ended('{"version": 1, "findings": [], "files": []}'))).toMatchObject({ findings: [], files: [] });
  expect(agentsOf(ended('{"agents": [{"name": "codex"}]}'))).toEqual([{ name: "codex" }]);
});

test("what is no report is an error with the last line", () => {
  expect(() => reportOf(ended("", "Usage: ...\nError: no such option\n"))).toThrow(RunError);
  expect(() => reportOf(ended("", "Usage: ...\nError: no such option\n"))).toThrow("Error: no such option");
  expect(() => reportOf(ended(""))).toThrow("it ended with code 2");
});

test("files go in groups that a command line has room for", () => {
  expect(batches([])).toEqual([]);
  expect(batches(["a", "b", "c"], { files: 2, characters: 100 })).toEqual([["a", "b"], ["c"]]);
  expect(batches(["aaaa", "bbbb", "cccc"], { files: 9, characters: 14 })).toEqual([["aaaa", "bbbb"], ["cccc"]]);
  expect(batches(["a".repeat(50), "b"], { files: 9, characters: 10 })).toEqual([["a".repeat(50)], ["b"]]);
});

test("columns count code points, editors UTF-16 units", () => {
  expect(unitsBefore("abc", 1)).toBe(0);
  expect(unitsBefore("🌿🌿c", 3)).toBe(4);
  expect(unitsBefore("a", 99)).toBe(1);
});

test("texts are shown in one short line", () => {
  expect(shortened(" a\n  b\t")).toBe("a b");
  expect(shortened("🌿".repeat(100))).toBe("🌿".repeat(100));
  expect(shortened("🌿".repeat(101))).toBe(`${"🌿".repeat(100)}…`);
  expect(shortened("x".repeat(10_000))).toBe(`${"x".repeat(100)}…`);
});

test("counts have their nouns", () => {
  expect([counted(0, "leak"), counted(1, "leak"), counted(1200, "leak")]).toEqual(["0 leaks", "1 leak", "1,200 leaks"]);
});
