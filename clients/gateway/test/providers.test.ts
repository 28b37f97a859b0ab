// Where the provider of an agent is found, if the command line does not say it.

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { providerOf } from "../src/providers.js";
import type { User } from "../src/settings.js";

/** A home folder with a file. */
function homeWith(path = "empty", text = ""): string {
  const home = mkdtempSync(join(tmpdir(), "home-"));
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
  return home;
}

/** A user with this home folder. */
function userOf(home: string, env: NodeJS.ProcessEnv = {}, ...args: readonly string[]): User {
  return { home, folder: home, env, args };
}

test.each([
  ["claude", "https://api.anthropic.com"],
  ["codex", "https://api.openai.com/v1"],
  ["gemini", "https://generativelanguage.googleapis.com"],
  ["qwen", "https://api.openai.com/v1"],
  ["aider", "https://api.openai.com/v1"],
  ["copilot", undefined],
  ["opencode", undefined],
  ["pi", undefined],
  ["goose", undefined],
  ["cn", undefined],
  ["another", undefined],
])("%s without any setting has the public address %s", (agent, address) => {
  expect(providerOf(agent, userOf(homeWith()))).toBe(address);
});

test.each([
  ["claude", "ANTHROPIC_BASE_URL"],
  ["gemini", "GOOGLE_GEMINI_BASE_URL"],
  ["qwen", "OPENAI_BASE_URL"],
  ["aider", "OPENAI_API_BASE"],
  ["copilot", "COPILOT_PROVIDER_BASE_URL"],
])("%s has the address of %s", (agent, name) => {
  expect(providerOf(agent, userOf(homeWith(), { [name]: "http://here" }))).toBe("http://here");
});

test.each([
  ["claude", ".claude/settings.json", '{ "env": {"ANTHROPIC_BASE_URL": "http://mine:1/v1"}, "x": 1 }'],
  ["gemini", ".gemini/.env", "export GOOGLE_GEMINI_BASE_URL=http://mine:1/v1\n"],
  ["qwen", ".qwen/.env", "OPENAI_API_KEY=k\nOPENAI_BASE_URL='http://mine:1/v1'\n"],
  [
    "qwen",
    ".qwen/settings.json",
    '{"model": {"name": "m"}, "modelProviders": {"openai": [{"id": "m", "baseUrl": "http://mine:1/v1"}]}}',
  ],
  ["codex", ".codex/config.toml", 'model_provider = "a"\n[model_providers.a]\nbase_url = "http://mine:1/v1"\n'],
  ["codex", ".codex/config.toml", 'openai_base_url = "http://mine:1/v1"\n'],
  ["opencode", ".config/opencode/opencode.json", '{"provider": {"a": {"options": {"baseURL": "http://mine:1/v1"}}}}'],
  ["pi", ".pi/agent/models.json", '{"providers": {"a": {"baseUrl": "http://mine:1/v1"}}}'],
  [
    "cn",
    ".continue/config.yaml",
    "models:\n  - {model: e, roles: [embed]}\n  - {model: m, apiBase: 'http://mine:1/v1'}\n",
  ],
  ["qwen", ".qwen/settings.json", '{"modelProviders": {"openai": [{"id": "m", "baseUrl": "http://mine:1/v1"}]}}'],
  ["goose", ".config/goose/config.yaml", "GOOSE_PROVIDER: openai\nOPENAI_HOST: http://mine:1/v1\n"],
  ["aider", ".aider.conf.yml", "# openai-api-base: http://sample\nopenai-api-base: http://mine:1/v1\n"],
])("%s has the address in %s", (agent, path, text) => {
  expect(providerOf(agent, userOf(homeWith(path, text)))).toBe("http://mine:1/v1");
});

test("an address in a comment, or of another name, is none", () => {
  const text = '# openai-api-base: http://sample\nmy-openai-api-base: http://other\nmodel: "openai-api-base"\n';
  expect(providerOf("aider", userOf(homeWith(".aider.conf.yml", text)))).toBe("https://api.openai.com/v1");
});

test("Claude Code prefers its settings to the environment, the others their environment", () => {
  const claude = homeWith(".claude/settings.json", '{"env": {"ANTHROPIC_BASE_URL": "http://settings"}}');
  expect(providerOf("claude", userOf(claude, { ANTHROPIC_BASE_URL: "http://variable" }))).toBe("http://settings");
  const qwen = homeWith(".qwen/.env", "OPENAI_BASE_URL=http://settings");
  expect(providerOf("qwen", userOf(qwen, { OPENAI_BASE_URL: "http://variable" }))).toBe("http://variable");
});

test("the provider that the command line names counts, also one that is built in", () => {
  const both = '{"provider": {"a": {"options": {"baseURL": "http://a"}}, "b": {"options": {"baseURL": "http://b"}}}}';
  const home = homeWith(".config/opencode/opencode.json", both);
  expect(providerOf("opencode", userOf(home))).toBeUndefined();
  expect(providerOf("opencode", userOf(home, {}, "--model", "b/m"))).toBe("http://b");
  expect(providerOf("opencode", userOf(home, {}, "--model=openai/m"))).toBe("https://api.openai.com/v1");
  const goose = { GOOSE_PROVIDER: "anthropic" };
  expect(providerOf("goose", userOf(homeWith(), goose))).toBe("https://api.anthropic.com");
  expect(providerOf("goose", userOf(homeWith(), { ...goose, ANTHROPIC_HOST: "http://a" }))).toBe("http://a");
  expect(providerOf("codex", userOf(homeWith(), {}, "--oss"))).toBe("http://localhost:11434");
  const signedIn = homeWith(".codex/auth.json", '{"tokens": {"access_token": "t"}}');
  expect(providerOf("codex", userOf(signedIn))).toBe("https://chatgpt.com/backend-api/codex");
});
