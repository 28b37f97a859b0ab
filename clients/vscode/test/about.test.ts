// What a session's row shows: the first words of its user, the folder of its agent, and its age.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aboutIn, aboutOf } from "../src/sessions/about.js";
import { Remembered } from "../src/sessions/remembered.js";
import { ageOf } from "../src/sessions/report.js";

const lines = (...records: unknown[]) => records.map((record) => JSON.stringify(record)).join("\n");

test.each([
  ["a chat", lines({ role: "assistant", content: "Hi" }, { role: "user", content: " Why\ndoes it fail? " })],
  [
    "Claude Code",
    lines({ type: "user", message: { role: "user", content: [{ type: "text", text: "Why does it fail?" }] } }),
  ],
  ["Codex", lines({ payload: { role: "user", content: [{ type: "input_text", text: "Why does it fail?" }] } })],
  ["Gemini", JSON.stringify({ history: [{ role: "user", parts: [{ text: "Why does it fail?" }] }] }, undefined, 1)],
  ["aider", "# aider chat\n\n#### Why does it fail?\n\nLet me look.\n"],
  [
    "what an agent puts in front",
    lines({ role: "user", content: "<environment>x</environment>" }, { role: "user", content: "Why does it fail?" }),
  ],
])("the first words of the user: %s", (_, text) => {
  expect(aboutIn(text).words).toBe("Why does it fail?");
});

test.each([
  ["Claude Code", lines({ type: "summary" }, { type: "user", cwd: "/code/login", message: { content: "Hi" } })],
  ["Codex", lines({ type: "session_meta", payload: { cwd: "/code/login" } }, { payload: { role: "user" } })],
])("the folder of the agent: %s", (_, text) => {
  expect(aboutIn(text).folder).toBe("/code/login");
});

test("no words of a user, or no file: nothing is known", async () => {
  expect(aboutIn(lines({ role: "assistant", content: "Hi" }, [], null, 1))).toEqual({});
  expect(aboutIn("\u0000SQLite format 3")).toEqual({});
  expect(await aboutOf(tmpdir())).toEqual({});
  expect(await aboutOf(join(tmpdir(), "none"))).toEqual({});
});

test("only the beginning of a file is read, wherever it ends", async () => {
  const folder = mkdtempSync(join(tmpdir(), "words-"));
  const file = join(folder, "a.jsonl");
  writeFileSync(file, `${lines({ role: "user", content: "Hi" })}\n${"🌿".repeat(200_000)}`);
  expect(await aboutOf(file)).toEqual({ words: "Hi", changed: expect.any(Number) });
  rmSync(folder, { recursive: true });
});

test("an age has one unit", () => {
  const ages = [0, 59_000, 60_000, 7_200_000, 3 * 86_400_000, 70 * 86_400_000, 800 * 86_400_000];
  expect(ages.map((age) => ageOf(0, age))).toEqual(["now", "now", "1 min", "2 h", "3 d", "2 mo", "2 y"]);
});

test("a repair is remembered as long as its backup is there", async () => {
  const folder = mkdtempSync(join(tmpdir(), "remembered-"));
  const kept = new Map<string, unknown>();
  const state = {
    get: (key: string, other: unknown) => kept.get(key) ?? other,
    update: async (key: string, value: unknown) => void kept.set(key, value),
  };
  const backup = join(folder, "a.bak");
  writeFileSync(backup, "");
  await new Remembered(state as never).add({ path: "a", backup, agent: { name: "codex", title: "Codex CLI" } });
  await new Remembered(state as never).add({
    path: "b",
    backup: join(folder, "b.bak"),
    agent: { name: "x", title: "X" },
  });
  const remembered = new Remembered(state as never);
  expect([remembered.has("a"), remembered.has("b")]).toEqual([true, false]);
  await remembered.forget("a");
  expect(remembered.all()).toEqual([]);
  rmSync(folder, { recursive: true });
});
