// The user's provider stays, and gets the gateway's address: what `run` gives each agent for
// the settings that it finds.

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { AGENTS, settingsOf, standIn, type Place } from "../src/agents.js";
import type { User } from "../src/settings.js";

const BASE = "http://127.0.0.1:4141";

function placeOf(upstreams: string | Record<string, string>): Place {
  return { base: BASE, upstreams: typeof upstreams === "string" ? { "/": upstreams } : upstreams, ...OTHER };
}

const OTHER = { model: "m1", folder: "/folder" };

interface Given {
  readonly files?: Readonly<Record<string, string | object>>;
  readonly env?: NodeJS.ProcessEnv;
  readonly args?: readonly string[];
}

/** A user whose home folder has these files; it is the agent's folder, too. */
function userOf({ files = {}, env = {}, args = [] }: Given): User {
  const home = mkdtempSync(join(tmpdir(), "home-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), typeof text === "string" ? text : JSON.stringify(text));
  }
  return { home, folder: home, env, args };
}

function wired(agent: string, upstreams: string | Record<string, string>, given: Given) {
  return AGENTS[agent]!.wiring(placeOf(upstreams), userOf(given));
}

const LOCAL = "http://localhost:8000/v1";

test.each([
  ["the provider's path, at its upstream", "https://openrouter.ai", "https://openrouter.ai/api/v1", "/api/v1"],
  ["that of an upstream with a path", "https://a.example/openai", "https://a.example/openai", "/openai"],
  ["a path without a version", "https://a.example/", "https://a.example/", ""],
  ["the version only, elsewhere", LOCAL, "https://openrouter.ai/api/v1/", "/v1"],
  ["the version only, below another path", "http://a/tag/v1", "http://a/other/v1beta", "/v1beta"],
  ["the usual path, elsewhere", LOCAL, "https://chatgpt.com/backend-api/codex", "/v1"],
  ["the usual path of an address that is not known", LOCAL, undefined, "/v1"],
])("an agent calls %s", (_what, upstream, address, path) => {
  expect(standIn(placeOf(upstream), address)).toBe(BASE + path);
});

test("of several upstreams, a provider gets its own", () => {
  const place = placeOf({ "/local": LOCAL, "/": "https://b.example/v1" });
  const addresses = [LOCAL, "https://b.example/v1", "https://c.example/v1"];
  expect(addresses.map((each) => standIn(place, each))).toEqual([`${BASE}/local/v1`, `${BASE}/v1`, `${BASE}/v1`]);
  expect(standIn(placeOf({ "/local": LOCAL }), undefined)).toBe(`${BASE}/local/v1`);
});

const X = 'model_provider = "x"\n[model_providers.x]\nbase_url = "http://x/v1"\n';
const PROFILED = `${X}[profiles.work]\nmodel_provider = "work.ai"\n[model_providers."work.ai"]\nbase_url = "http://w/v1"\n`;
const OPENAI = ["-c", `openai_base_url="${BASE}/v1"`];
const X_MOVED = ["-c", `model_providers={"x"={"base_url"="${BASE}/v1"}}`];
const SIGNED_IN = { ".codex/auth.json": { OPENAI_API_KEY: "k" } };

test.each<[string, Given, readonly string[]]>([
  ["a sign-in", { files: SIGNED_IN }, OPENAI],
  ["a key for this run", { env: { CODEX_API_KEY: "k" } }, OPENAI],
  ["a keyring", { files: { ".codex/config.toml": 'cli_auth_credentials_store = "keyring"' } }, OPENAI],
  ["settings that cannot be read", { files: { ...SIGNED_IN, ".codex/config.toml": "= 1" } }, OPENAI],
  ["a provider of the user", { files: { ".codex/config.toml": X } }, X_MOVED],
  ["another folder", { files: { "c/config.toml": X }, env: { CODEX_HOME: "HOME/c" } }, X_MOVED],
  [
    "a provider of this run",
    { files: { ...SIGNED_IN, ".codex/config.toml": X }, args: ["-c", 'model_provider="openai"'] },
    OPENAI,
  ],
  [
    "one without quotes",
    { files: { ...SIGNED_IN, ".codex/config.toml": X }, args: ["--config=model_provider=openai"] },
    OPENAI,
  ],
  [
    "a profile",
    { files: { ".codex/config.toml": PROFILED }, args: ["exec", "-p", "work"] },
    ["-c", `model_providers={"work.ai"={"base_url"="${BASE}/v1"}}`],
  ],
  [
    "a profile in a file of its own",
    { files: { ".codex/config.toml": "", ".codex/work.config.toml": X }, args: ["--profile", "work"] },
    X_MOVED,
  ],
])("Codex with %s keeps its provider", (_what, given, args) => {
  const user = userOf(given);
  const env = { ...user.env, ...(user.env["CODEX_HOME"] && { CODEX_HOME: join(user.home, "c") }) };
  expect(AGENTS["codex"]!.wiring(placeOf(LOCAL), { ...user, env })).toEqual({ args, own: user.args });
});

test("Codex without a sign-in gets a key that it reads, or a provider that needs none", () => {
  const env = { CODEX_API_KEY: "k" };
  expect(wired("codex", LOCAL, { env: { OPENAI_API_KEY: "k" } })).toEqual({ args: OPENAI, own: [], env });
  const provider = `{"localhost"={"name"="localhost","base_url"="${BASE}/v1","wire_api"="responses"}}`;
  const args = ["-c", 'model_provider="localhost"', "-c", `model_providers=${provider}`];
  expect(wired("codex", LOCAL, {})).toEqual({ args, own: [] });
});

test("an address among Codex's arguments does not lead past the gateway", () => {
  const address = 'model_providers.x.base_url="http://other/v1"';
  const args = ["-c", address, "exec", "-c", 'model="m"', `--config=${address}`, "hi"];
  const given = wired("codex", LOCAL, { files: { ".codex/config.toml": X }, args });
  expect(given).toEqual({ args: X_MOVED, own: ["exec", "-c", 'model="m"', "hi"] });
});

test("Codex finds its own providers at the paths that they have", () => {
  const chatgpt = { files: { ".codex/auth.json": { tokens: { access_token: "t" }, OPENAI_API_KEY: null } } };
  const url = "https://chatgpt.com/backend-api/codex";
  expect(wired("codex", url, chatgpt)).toMatchObject({ args: ["-c", `openai_base_url="${BASE}/backend-api/codex"`] });
  expect(wired("codex", LOCAL, { args: ["--oss"] })).toEqual({ env: { CODEX_OSS_BASE_URL: `${BASE}/v1` } });
});

function opencode(upstream: string, given: Given): unknown {
  return JSON.parse(wired("opencode", upstream, given).env!["OPENCODE_CONFIG_CONTENT"]!);
}

const moved = (...ids: readonly string[]) => ({
  provider: Object.fromEntries(ids.map((id) => [id, { options: { baseURL: `${BASE}/v1` } }])),
});

const BOTH = {
  model: "x/m",
  provider: { x: { options: { baseURL: "http://x/v1" } }, y: { options: { baseURL: "http://y/v1" } } },
};

test.each<[string, string, Given, unknown]>([
  ["the one in use", LOCAL, { files: { ".config/opencode/opencode.json": BOTH } }, moved("x")],
  [
    "the one of this run",
    LOCAL,
    { files: { ".config/opencode/opencode.json": BOTH }, args: ["-m", "y/m"] },
    moved("y"),
  ],
  ["the one at the upstream, too", "http://y", { files: { ".config/opencode/opencode.json": BOTH } }, moved("x", "y")],
  ["all, if it tells none", LOCAL, { files: { "opencode.json": { provider: BOTH.provider } } }, moved("x", "y")],
  ["one with comments", LOCAL, { files: { "opencode.jsonc": `{ // mine\n "provider": {"x": {}, }, }` } }, moved("x")],
  ["a built-in one", LOCAL, { files: { ".opencode/opencode.json": { model: "anthropic/m" } } }, moved("anthropic")],
  ["a built-in one at the upstream", "https://api.openai.com/v1", {}, moved("openai")],
  [
    "one of the environment",
    LOCAL,
    { env: { OPENCODE_CONFIG_CONTENT: '{"permission":"allow","provider":{"x":{"name":"X"}}}' } },
    { permission: "allow", provider: { x: { name: "X", options: { baseURL: `${BASE}/v1` } } } },
  ],
])("opencode keeps its provider: %s", (_what, upstream, given, config) => {
  expect(opencode(upstream, given)).toEqual(config);
});

test("opencode without a provider gets one that is named after its host", () => {
  const { model, provider } = opencode(LOCAL, {}) as { model: string; provider: Record<string, object> };
  expect([model, Object.keys(provider)]).toEqual(["localhost/m1", ["localhost"]]);
});

/** What an extension of pi registers. */
async function registered(text: string): Promise<unknown[]> {
  const module = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as {
    default: (pi: object) => void;
  };
  const calls: unknown[] = [];
  module.default({ registerProvider: (...call: unknown[]) => calls.push(call) });
  return calls;
}

test.each<[string, string, Given, unknown[], readonly string[]]>([
  [
    "the default one",
    LOCAL,
    {
      files: {
        ".pi/agent/models.json": { providers: { x: { baseUrl: "http://x/v1" }, y: { baseUrl: "http://y" } } },
        ".pi/agent/settings.json": { defaultProvider: "y" },
      },
    },
    [["y", { baseUrl: BASE }]],
    [],
  ],
  ["the one of this run", LOCAL, { args: ["--provider", "x"] }, [["x", { baseUrl: `${BASE}/v1` }]], []],
  [
    "a built-in one",
    "https://api.anthropic.com",
    { args: ["--model", "anthropic/m"] },
    [["anthropic", { baseUrl: BASE }]],
    [],
  ],
  [
    "none",
    LOCAL,
    {},
    [["localhost", expect.objectContaining({ baseUrl: `${BASE}/v1` })]],
    ["--provider", "localhost", "--model", "m1"],
  ],
])("pi keeps its provider: %s", async (_what, upstream, given, calls, chosen) => {
  const { args, file } = wired("pi", upstream, given);
  expect([await registered(file!.text), args]).toEqual([calls, ["--extension", "/folder/gateway.js", ...chosen]]);
});

test.each([
  ["qwen", "OPENAI_BASE_URL", "OPENAI_BASE_URL"],
  ["aider", "OPENAI_API_BASE", "AIDER_OPENAI_API_BASE"],
  ["copilot", "COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_BASE_URL"],
])("%s keeps the path of its provider", (agent, given, name) => {
  const url = "https://a.example/openai";
  expect(wired(agent, url, { env: { [given]: url } }).env![name]).toBe(`${BASE}/openai`);
  expect(wired(agent, url, {}).env![name]).toBe(`${BASE}/v1`);
});

test("Copilot CLI keeps the kind of its provider", () => {
  const env = { COPILOT_PROVIDER_BASE_URL: "https://a.example", COPILOT_PROVIDER_TYPE: "anthropic" };
  const model = { COPILOT_MODEL: "m1" };
  expect(wired("copilot", LOCAL, { env }).env).toEqual({ ...env, ...model, COPILOT_PROVIDER_BASE_URL: BASE });
});

test("qwen-code keeps its models, and the one in use gets the gateway's address", () => {
  const model = { id: "m", envKey: "KEY", baseUrl: "http://x/v1" };
  const other = { id: "other", baseUrl: "http://y/v1" };
  const claude = { id: "m", baseUrl: "http://x" };
  const settings = { model: { name: "m" }, modelProviders: { openai: [model, other], anthropic: [claude] } };
  const { env, file } = wired("qwen", LOCAL, { files: { ".qwen/settings.json": settings } });
  expect(env).toEqual({ OPENAI_BASE_URL: `${BASE}/v1`, QWEN_CODE_SYSTEM_SETTINGS_PATH: "/folder/settings.json" });
  const openai = [{ ...model, baseUrl: `${BASE}/v1` }, other];
  expect(JSON.parse(file!.text)).toEqual({ modelProviders: { openai, anthropic: [{ ...claude, baseUrl: BASE }] } });
  expect(wired("qwen", LOCAL, {})).toEqual({ env: { OPENAI_BASE_URL: `${BASE}/v1` } });
});

test("the machine's settings of qwen-code stay", () => {
  const user = userOf({ files: { "machine.json": { ui: {}, modelProviders: { openai: [{ id: "m" }] } } } });
  const env = { QWEN_CODE_SYSTEM_SETTINGS_PATH: join(user.home, "machine.json") };
  const { file } = AGENTS["qwen"]!.wiring(placeOf(LOCAL), { ...user, env });
  const openai = [{ id: "m", baseUrl: `${BASE}/v1` }];
  expect(JSON.parse(file!.text)).toEqual({ ui: {}, modelProviders: { openai } });
});

const CONTINUE = `
name: mine
rules: [be kind]
models:
  - name: x
    provider: openai
    apiBase: http://x/v1
    apiKey: \${{ secrets.KEY }}
  - name: vectors
    provider: ollama
    roles: [embed]
  - uses: some/block
`;

test("Continue keeps its models, and those that chat get the gateway's address", () => {
  const { args, own, file } = wired("cn", LOCAL, { files: { ".continue/config.yaml": CONTINUE }, args: ["-p", "hi"] });
  expect([args, own]).toEqual([
    ["--config", "/folder/config.yaml"],
    ["-p", "hi"],
  ]);
  expect(JSON.parse(file!.text)).toEqual({
    name: "mine",
    rules: ["be kind"],
    models: [
      { name: "x", provider: "openai", apiBase: `${BASE}/v1`, apiKey: "${{ secrets.KEY }}" },
      { name: "vectors", provider: "ollama", roles: ["embed"] },
      { uses: "some/block", override: { apiBase: `${BASE}/v1` } },
    ],
  });
});

test("a configuration that the user names for Continue is the one that is changed", () => {
  const user = userOf({ files: { "other.yaml": CONTINUE } });
  const args = ["--config", join(user.home, "other.yaml"), "-p", "hi"];
  const { own, file } = AGENTS["cn"]!.wiring(placeOf(LOCAL), { ...user, args });
  expect([own, (JSON.parse(file!.text) as { name: string }).name]).toEqual([["-p", "hi"], "mine"]);
});

test("no key of the user is printed", () => {
  const user = userOf({ files: { ".continue/config.yaml": CONTINUE.replace("${{ secrets.KEY }}", "sk-secret") } });
  expect(settingsOf(placeOf(LOCAL), user)).not.toContain("sk-secret");
});
