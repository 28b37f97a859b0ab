// Reads which providers a user has configured for an agent: their names, which the agent stores
// in its sessions, and their addresses. No file is changed. A file that is missing or cannot be
// read counts as empty: the agent itself reports it.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse as parseJsonc } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { parse as parseYaml } from "yaml";

/** Who starts an agent, and how. */
export interface User {
  readonly home: string;
  /** The folder in which the agent is started. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** The agent's arguments. */
  readonly args: readonly string[];
}

/** A provider as an agent knows it. */
export interface Provider {
  /** Its name in the agent's settings and sessions. */
  readonly id: string;
  /** Its address in the settings; undefined if the agent has it built in. */
  readonly address?: string | undefined;
}

/** The providers of a user. */
export interface Providers {
  /** Those in the settings. */
  readonly all: readonly Provider[];
  /** Those that the agent knows without settings. */
  readonly builtIn?: readonly Provider[];
  /** The name of the one that the agent uses, if that is known. */
  readonly used?: string | undefined;
}

type Table = Readonly<Record<string, unknown>>;

/** The value of an option (`--model m`, `--model=m`); undefined if it is not given. */
export function optionOf(args: readonly string[], ...names: readonly string[]): string | undefined {
  return valuesOf(args, ...names).at(-1);
}

function valuesOf(args: readonly string[], ...names: readonly string[]): string[] {
  return args.flatMap((word, at) => {
    const name = names.find((each) => word === each || word.startsWith(`${each}=`));
    if (name === undefined) return [];
    return word === name ? (args[at + 1] ?? []) : word.slice(name.length + 1);
  });
}

/** The arguments without an option and its value. */
export function optionsWithout(args: readonly string[], name: string): string[] {
  return args.filter((word, at) => word !== name && args[at - 1] !== name && !word.startsWith(`${name}=`));
}

/** The settings in a file. */
function read(parse: (text: string) => unknown, ...path: readonly string[]): Table {
  try {
    return tableOf(parse(readFileSync(join(...path), "utf8")));
  } catch {
    return {};
  }
}

/** A value as a table; empty if it is none. */
export function tableOf(value: unknown): Table {
  return typeof value === "object" && value !== null ? (value as Table) : {};
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Both tables as one: the second one counts where both have a value. */
export function merged(one: Table, other: Table): Table {
  const pairs = Object.entries(other).map(([name, value]) => {
    const isDeep = isTable(value) && isTable(one[name]);
    return [name, isDeep ? merged(one[name] as Table, value as Table) : value] as const;
  });
  return { ...one, ...Object.fromEntries(pairs) };
}

function isTable(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The provider that Codex uses, and whether it has a key or a sign-in for its own one. */
export interface CodexProvider extends Provider {
  readonly hasKey: boolean;
}

/** Codex: `config.toml`, a profile in it or beside it, and the options of this run. */
export function codexProvider({ home, env, args }: User): CodexProvider {
  const folder = env["CODEX_HOME"] ?? join(home, ".codex");
  const file = read(parseToml, folder, "config.toml");
  const name = optionOf(args, "-p", "--profile") ?? textOf(file["profile"]);
  const old = name === undefined ? {} : tableOf(tableOf(file["profiles"])[name]);
  const profile = name === undefined ? {} : merged(old, read(parseToml, folder, `${name}.config.toml`));
  const given = valuesOf(args, "-c", "--config").map(codexOverride);
  const config = [profile, ...given].reduce(merged, file);
  const local = optionOf(args, "--local-provider") ?? textOf(config["oss_provider"]) ?? "ollama";
  const id = args.includes("--oss") ? local : (textOf(config["model_provider"]) ?? "openai");
  const own = textOf(tableOf(tableOf(config["model_providers"])[id])["base_url"]);
  // A keyring, if that is where the user wants the sign-in, is not read.
  const store = textOf(config["cli_auth_credentials_store"]) ?? "file";
  const auth = read(JSON.parse, folder, "auth.json");
  const hasKey = store !== "file" || Object.keys(auth).length > 0 || Boolean(env["CODEX_API_KEY"]);
  return { id, address: own ?? (id === "openai" ? openaiOfCodex(config, auth) : undefined), hasKey };
}

/** The address of Codex's own provider depends on whether the user has signed in with ChatGPT. */
function openaiOfCodex(config: Table, { tokens, OPENAI_API_KEY: key }: Table): string {
  const isChatGpt = tableOf(tokens)["access_token"] !== undefined && !key;
  return (
    textOf(config["openai_base_url"]) ??
    (isChatGpt ? "https://chatgpt.com/backend-api/codex" : "https://api.openai.com/v1")
  );
}

/** `a.b=value`, as Codex reads it: a value that is no TOML is a text. */
function codexOverride(word: string): Table {
  const [, path = "", text = ""] = /^([^=]*)=(.*)$/s.exec(word) ?? [];
  let value: unknown = text;
  try {
    value = parseToml(`value = ${text}`)["value"];
  } catch {
    // a text
  }
  return path.split(".").reduceRight<Table>((inner, name) => ({ [name.trim()]: inner }), value as Table);
}

/** opencode: its files in the order in which it merges them, and the option `--model`. */
export function opencodeProviders(user: User): Providers {
  const { home, env, args } = user;
  const config = opencodeFiles(user).map((path) => read(parseJsonc, path));
  const { provider, model } = [...config, opencodeInline(user)].reduce(merged, {});
  const all = Object.entries(tableOf(provider)).map(([id, each]) => {
    const { options, api } = tableOf(each);
    return { id, address: textOf(tableOf(options)["baseURL"]) ?? textOf(api) };
  });
  const used = (optionOf(args, "-m", "--model") ?? textOf(model))?.split("/")[0];
  const known = read(JSON.parse, env["XDG_CACHE_HOME"] ?? join(home, ".cache"), "opencode", "models.json");
  const others = Object.entries(known).map(([id, each]) => ({ id, address: textOf(tableOf(each)["api"]) }));
  return { all, builtIn: [...BUILT_IN, ...others], used };
}

/** Settings of opencode in the environment, which count most. */
export function opencodeInline({ env }: User): Table {
  return tableOf(parseJsonc(env["OPENCODE_CONFIG_CONTENT"] ?? ""));
}

/** Providers that agents know without settings. */
const BUILT_IN: readonly Provider[] = [
  { id: "openai", address: "https://api.openai.com/v1" },
  { id: "anthropic", address: "https://api.anthropic.com/v1" },
  { id: "google", address: "https://generativelanguage.googleapis.com/v1beta" },
  { id: "openrouter", address: "https://openrouter.ai/api/v1" },
];

function opencodeFiles({ home, folder, env }: User): string[] {
  const global = join(env["XDG_CONFIG_HOME"] ?? join(home, ".config"), "opencode");
  const above = parentsOf(folder).reverse();
  const named = (at: string, ...names: readonly string[]) => names.map((name) => join(at, name));
  const both = (at: string) => named(at, "opencode.jsonc", "opencode.json");
  return [
    ...named(global, "config.json", "opencode.json", "opencode.jsonc"),
    ...(env["OPENCODE_CONFIG"] ? [env["OPENCODE_CONFIG"]] : []),
    ...above.flatMap(both),
    ...[...above, home].flatMap((at) => both(join(at, ".opencode"))),
    ...(env["OPENCODE_CONFIG_DIR"] ? both(env["OPENCODE_CONFIG_DIR"]) : []),
  ];
}

/** A folder and those above it, up to the root of the repository; the folder alone outside of one. */
function parentsOf(folder: string): string[] {
  const all = [folder];
  while (dirname(all.at(-1)!) !== all.at(-1)) all.push(dirname(all.at(-1)!));
  return all.slice(0, all.findIndex((each) => existsSync(join(each, ".git"))) + 1 || 1);
}

/** The models of qwen-code by API, the one in use, and the settings of the machine, which count most. */
export interface QwenSettings {
  readonly models: Readonly<Record<string, readonly unknown[]>>;
  readonly used?: string | undefined;
  readonly machine: Table;
}

/** qwen-code: `settings.json` of the user and of the folder, and the option `--model`. */
export function qwenSettings({ home, folder, env, args }: User): QwenSettings {
  const files = [env["QWEN_HOME"] ?? join(home, ".qwen"), join(folder, ".qwen")];
  const machine = read(parseJsonc, env["QWEN_CODE_SYSTEM_SETTINGS_PATH"] ?? qwenMachine());
  const settings = [...files.map((path) => read(parseJsonc, path, "settings.json")), machine].reduce(merged, {});
  const lists = Object.entries(tableOf(settings["modelProviders"])).filter(([, list]) => Array.isArray(list));
  const used = optionOf(args, "-m", "--model") ?? textOf(tableOf(settings["model"])["name"]);
  return { models: Object.fromEntries(lists) as QwenSettings["models"], used, machine };
}

function qwenMachine(): string {
  if (process.platform === "darwin") return "/Library/Application Support/QwenCode/settings.json";
  return process.platform === "win32" ? "C:\\ProgramData\\qwen-code\\settings.json" : "/etc/qwen-code/settings.json";
}

/** pi: `models.json`, the default in `settings.json`, and the options of this run. */
export function piProviders({ home, folder, env, args }: User): Providers {
  const own = env["PI_CODING_AGENT_DIR"] ?? join(home, ".pi", "agent");
  const { providers } = read(parseJsonc, own, "models.json");
  const settings = merged(read(JSON.parse, own, "settings.json"), read(JSON.parse, folder, ".pi", "settings.json"));
  const all = Object.entries(tableOf(providers)).map(([id, each]) => ({
    id,
    address: textOf(tableOf(each)["baseUrl"]),
  }));
  const [named, model] = (optionOf(args, "--model") ?? "").split("/");
  const used = optionOf(args, "--provider") ?? (model ? named : undefined) ?? textOf(settings["defaultProvider"]);
  return { all, builtIn: BUILT_IN.map(withoutVersion), used };
}

/** pi adds the version of Anthropic's API itself. */
function withoutVersion({ id, address }: Provider): Provider {
  return { id, address: id === "anthropic" ? "https://api.anthropic.com" : address };
}

/** Continue: a `config.yaml`, given with `--config` or in its folder. */
export function continueConfig({ home, env, args }: User): Table {
  const own = join(env["CONTINUE_GLOBAL_DIR"] ?? join(home, ".continue"), "config.yaml");
  return read(parseYaml, optionOf(args, "--config") ?? own);
}
