// Where the provider of an agent is found, if the command line does not say it.

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { providerOf } from "../src/providers.js";

/** A home folder with a file. */
function homeWith(path = "empty", text = ""): string {
  const home = mkdtempSync(join(tmpdir(), "home-"));
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
  return home;
}

test.each([
  ["claude", "https://api.anthropic.com"],
  ["codex", "https://api.openai.com/v1"],
  ["gemini", "https://generativelanguage.googleapis.com"],
  ["qwen", "https://api.openai.com/v1"],
  ["aider", "https://api.openai.com/v1"],
  ["copilot", undefined],
  ["another", undefined],
])("%s without any setting has the public address %s", (agent, address) => {
  expect(providerOf(agent, {}, homeWith())).toBe(address);
});

test.each([
  ["claude", "ANTHROPIC_BASE_URL"],
  ["gemini", "GOOGLE_GEMINI_BASE_URL"],
  ["qwen", "OPENAI_BASE_URL"],
  ["aider", "OPENAI_API_BASE"],
  ["copilot", "COPILOT_PROVIDER_BASE_URL"],
])("%s has the address of %s", (agent, name) => {
  expect(providerOf(agent, { [name]: "http://here" }, homeWith())).toBe("http://here");
});

test.each([
  ["claude", ".claude/settings.json", '{ "env": {"ANTHROPIC_BASE_URL": "http://mine:1/v1"}, "x": 1 }'],
  ["gemini", ".gemini/.env", "export GOOGLE_GEMINI_BASE_URL=http://mine:1/v1\n"],
  ["qwen", ".qwen/.env", "OPENAI_API_KEY=k\nOPENAI_BASE_URL='http://mine:1/v1'\n"],
  ["aider", ".aider.conf.yml", "# openai-api-base: http://sample\nopenai-api-base: http://mine:1/v1\n"],
])("%s has the address in %s", (agent, path, text) => {
  expect(providerOf(agent, {}, homeWith(path, text))).toBe("http://mine:1/v1");
});

test("an address in a comment, or of another name, is none", () => {
  const text = '# openai-api-base: http://sample\nmy-openai-api-base: http://other\nmodel: "openai-api-base"\n';
  expect(providerOf("aider", {}, homeWith(".aider.conf.yml", text))).toBe("https://api.openai.com/v1");
});

test("Claude Code prefers its settings to the environment, the others their environment", () => {
  const claude = homeWith(".claude/settings.json", '{"env": {"ANTHROPIC_BASE_URL": "http://settings"}}');
  expect(providerOf("claude", { ANTHROPIC_BASE_URL: "http://variable" }, claude)).toBe("http://settings");
  const qwen = homeWith(".qwen/.env", "OPENAI_BASE_URL=http://settings");
  expect(providerOf("qwen", { OPENAI_BASE_URL: "http://variable" }, qwen)).toBe("http://variable");
});
