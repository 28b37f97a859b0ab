// The real command line of the sidecar: agents, findings, repair and restore.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Repair } from "../src/sessions/repair.js";
import type { Report } from "../src/sessions/report.js";

const ROOT = resolve(import.meta.dirname, "..", "..", "..");
const PYTHON = process.env["SIDECAR_TEST_PYTHON"] ?? join(ROOT, ".venv", "bin", "python");
const repair = new Repair(async () => [PYTHON, "-P", "-m", "stream_sidecar"]);
const SESSION = '{"role":"assistant","content":"<think>Hm.</think>Größe 🌿<|im_end|>"}\n';

let home: string;
let file: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "Größe "));
  file = join(home, ".codex", "sessions", "a.jsonl");
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, SESSION);
  vi.stubEnv("PYTHONPATH", join(ROOT, "sidecar"));
  vi.stubEnv("CODEX_HOME", join(home, ".codex"));
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true });
});

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function only(reports: AsyncIterable<Report>): Promise<Report> {
  const [report, ...others] = await collected(reports);
  expect(others).toEqual([]);
  return report as Report;
}

test("each agent with its files, once", async () => {
  const aider = join(home, ".aider.chat.history.md");
  writeFileSync(aider, "");
  const agents = await repair.agents([home, join(home, ".codex")]);
  expect(agents.find(({ name }) => name === "codex")).toMatchObject({ title: "Codex CLI", files: [file] });
  expect(agents.find(({ name }) => name === "aider")).toMatchObject({ files: [aider] });
  expect(agents.filter(({ files }) => files.length === 0)).toEqual([]);
});

test("the findings, with their places", async () => {
  const { findings, files } = await only(repair.check([file]));
  expect(findings.map(({ kind, line, column, endColumn }) => [kind, line, column, endColumn])).toEqual([
    ["reasoning", 1, 32, 50],
    ["delimiter", 1, 57, 67],
  ]);
  expect(files).toMatchObject([{ path: file, written: false, error: null }]);
  expect(readFileSync(file, "utf8")).toBe(SESSION);
});

test("only the kinds that the user wants to see are found, shown and taken out", async () => {
  const given = { only: ["reasoning", "delimiter", "telepathy"], except: ["reasoning"], policy: {} };
  const some = new Repair(
    async () => [PYTHON, "-P", "-m", "stream_sidecar"],
    () => given,
  );
  const { findings } = await only(some.check([file]));
  expect(findings.map(({ kind }) => kind)).toEqual(["delimiter"]);
  expect(await some.shown(file)).not.toContain("[-<think>");
  await only(some.write([file]));
  expect(readFileSync(file, "utf8")).toBe(SESSION.replace("<|im_end|>", ""));
});

test("the policy of the settings says what a leak is", async () => {
  const some = new Repair(
    async () => [PYTHON, "-P", "-m", "stream_sidecar"],
    () => ({ only: [], except: [], policy: { reasoning: { tags: ["plan"] } } }),
  );
  writeFileSync(file, SESSION.replaceAll("think", "plan"));
  expect((await only(some.check([file]))).findings.map(({ text }) => text)).toContain("<plan>Hm.</plan>");
  expect(await some.shown(file)).toContain("[-<plan>");
  await only(some.write([file]));
  expect(readFileSync(file, "utf8")).toBe('{"role":"assistant","content":"Größe 🌿"}\n');
});

test("a repair, and its restore", async () => {
  const { files } = await only(repair.write([file]));
  expect(files).toMatchObject([{ written: true, backup: `${file}.bak` }]);
  expect(readFileSync(file, "utf8")).toBe('{"role":"assistant","content":"Größe 🌿"}\n');
  await repair.restore(file);
  expect(readFileSync(file, "utf8")).toBe(SESSION);
});

test("a file that changed after its repair is not restored", async () => {
  await only(repair.write([file]));
  writeFileSync(file, "{}\n");
  await expect(repair.restore(file)).rejects.toThrow("left alone");
  expect(readFileSync(file, "utf8")).toBe("{}\n");
});

test("every removal as text", async () => {
  expect(await repair.shown(file)).toContain("<think>Hm.</think>");
});

test("a missing file is reported, not thrown", async () => {
  const { files } = await only(repair.check([join(home, "none.jsonl")]));
  expect(files[0]?.error).toBeTruthy();
});
