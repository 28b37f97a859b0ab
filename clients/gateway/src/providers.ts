// Where the provider of an agent is, if `--upstream` does not say: the address in the agent's
// environment or in its user's settings, else the public address. Agents that ask before they
// trust a project get no address from its files, because whoever wrote these would get the
// user's key.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  codexProvider,
  continueConfig,
  opencodeProviders,
  piProviders,
  qwenSettings,
  tableOf,
  textOf,
  type Providers,
  type User,
} from "./settings.js";

/** Finds an address; undefined if it is not there. */
type Find = (user: User) => string | undefined;

/** Public addresses, and those of servers on this machine, by the names that agents use. */
const PUBLIC: Readonly<Record<string, string>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com",
  gemini: "https://generativelanguage.googleapis.com",
  openrouter: "https://openrouter.ai/api/v1",
  ollama: "http://localhost:11434",
  lmstudio: "http://localhost:1234",
};

const publicOf =
  (name: string): Find =>
  (): string | undefined =>
    PUBLIC[name];
const variable =
  (name: string): Find =>
  ({ env }) =>
    textOf(env[name]);
const file =
  (path: string, name: string): Find =>
  ({ home }) =>
    namedIn(join(home, path), name);

/** Agent, by the name of its command -> where its address may be, the place that counts first. */
const PLACES: Readonly<Record<string, readonly Find[]>> = {
  claude: [file(".claude/settings.json", "ANTHROPIC_BASE_URL"), variable("ANTHROPIC_BASE_URL"), publicOf("anthropic")],
  codex: [ofCodex],
  gemini: [variable("GOOGLE_GEMINI_BASE_URL"), file(".gemini/.env", "GOOGLE_GEMINI_BASE_URL"), publicOf("gemini")],
  qwen: [ofQwen, variable("OPENAI_BASE_URL"), file(".qwen/.env", "OPENAI_BASE_URL"), publicOf("openai")],
  opencode: [(user) => usedOf(opencodeProviders(user))],
  cn: [ofContinue],
  copilot: [variable("COPILOT_PROVIDER_BASE_URL")],
  pi: [(user) => usedOf(piProviders(user))],
  goose: [ofGoose],
  aider: [
    variable("AIDER_OPENAI_API_BASE"),
    variable("OPENAI_API_BASE"),
    file(".aider.conf.yml", "openai-api-base"),
    publicOf("openai"),
  ],
};

/** The address of an agent's provider; undefined if only its user can say it. */
export function providerOf(agent: string, user: User): string | undefined {
  for (const find of PLACES[agent] ?? []) {
    const found = find(user);
    if (found !== undefined) return found;
  }
  return undefined;
}

function ofCodex(user: User): string | undefined {
  const { id, address } = codexProvider(user);
  return address ?? textOf(user.env["CODEX_OSS_BASE_URL"]) ?? PUBLIC[id];
}

/** The address of the provider that is used. Without a choice it is certain only if there is one provider. */
function usedOf({ all, builtIn = [], used }: Providers): string | undefined {
  if (used === undefined) return all.length === 1 ? all[0]?.address : undefined;
  return [...all, ...builtIn].find(({ id, address }) => id === used && address !== undefined)?.address;
}

/** The address of the model in use, if the user's own settings have one for it. It counts more than the variable. */
function ofQwen(user: User): string | undefined {
  const { models, used } = qwenSettings({ ...user, folder: user.home });
  const all = Object.values(models).flat().map(tableOf);
  return usedOf({ all: all.map(({ id, baseUrl }) => ({ id: String(id), address: textOf(baseUrl) })), used });
}

/** goose has a variable for the address of each provider, also in its settings. */
function ofGoose({ home, env }: User): string | undefined {
  const config = join(env["XDG_CONFIG_HOME"] ?? join(home, ".config"), "goose", "config.yaml");
  const named = (name: string) => textOf(env[name]) ?? namedIn(config, name);
  const provider = named("GOOSE_PROVIDER") ?? "";
  const address = GOOSE[provider];
  return address && (named(`${provider.toUpperCase()}_HOST`) ?? address);
}

/** Providers of goose, with the addresses that it has built in. */
const GOOSE: Readonly<Record<string, string>> = {
  openai: "https://api.openai.com",
  anthropic: "https://api.anthropic.com",
};

/** The address of the first model that chats. */
function ofContinue(user: User): string | undefined {
  const { models } = continueConfig(user);
  const tables = (Array.isArray(models) ? (models as unknown[]) : []).map(tableOf);
  const first = tables.find(({ roles }) => !Array.isArray(roles) || roles.includes("chat")) ?? {};
  const own = textOf(tableOf(first["override"])["apiBase"]) ?? textOf(first["apiBase"]);
  return own ?? PUBLIC[String(first["provider"])];
}

/**
 * The value of a name in a file of JSON, YAML or variables; undefined if it is not there, or in a
 * comment only. The name of an address stands once in these files, whatever is around it.
 */
function namedIn(path: string, name: string): string | undefined {
  let text;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return undefined; // most users have no such file
  }
  const value = new RegExp(`^(?!\\s*(?:#|//)).*?(?<![\\w-])${name}["']?\\s*[:=]\\s*["']?([^"'\\s,}]+)`, "m");
  return value.exec(text)?.[1];
}
