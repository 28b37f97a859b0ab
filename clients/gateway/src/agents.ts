// Configures terminal agents to use the gateway, for one run: with environment variables,
// arguments, or a temporary configuration file. No file of the user is changed. The provider that
// the user has configured stays, and gets the gateway's address: an agent stores the provider's
// name in its sessions, so they resume behind the gateway and without it.

import { join } from "node:path";
import {
  codexProvider,
  continueConfig,
  merged,
  opencodeInline,
  opencodeProviders,
  optionsWithout,
  piProviders,
  qwenSettings,
  tableOf,
  textOf,
  type Provider,
  type Providers,
  type User,
} from "./settings.js";

/** The gateway's address, and what the configuration of an agent needs. */
export interface Place {
  readonly base: string;
  /** The address of the provider for each path of the gateway. */
  readonly upstreams: Readonly<Record<string, string>>;
  /** The model, for agents that have none in their configuration. */
  readonly model: string;
  /** The folder for a temporary configuration file. */
  readonly folder: string;
}

/** The variables, arguments and file that connect an agent to the gateway. */
export interface Wiring {
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments before those of the user. */
  readonly args?: readonly string[];
  /** The user's arguments, if not all of them stay. */
  readonly own?: readonly string[];
  /** A file in the folder. `note` is shown to people for its text, which may have keys. */
  readonly file?: { readonly name: string; readonly text: string; readonly note?: string };
}

interface Agent {
  readonly label: string;
  /** Variables for a key. The agent does not start without one of them, even if the provider needs no key. */
  readonly keys?: readonly string[];
  readonly wiring: (place: Place, user: User) => Wiring;
}

/** Agents by the name of their command, without its ending. */
export const AGENTS: Readonly<Record<string, Agent>> = {
  claude: {
    label: "Claude Code",
    keys: ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"],
    // An address in the user's settings would override the environment.
    wiring: ({ base }) => ({ args: ["--settings", JSON.stringify({ env: { ANTHROPIC_BASE_URL: base } })] }),
  },
  codex: { label: "Codex", wiring: codexWiring },
  gemini: { label: "Gemini CLI", wiring: ({ base }) => ({ env: { GOOGLE_GEMINI_BASE_URL: base } }) },
  qwen: { label: "qwen-code", wiring: qwenWiring },
  opencode: { label: "opencode", wiring: opencodeWiring },
  cn: { label: "Continue", wiring: continueWiring },
  copilot: {
    label: "Copilot CLI",
    wiring: (place, { env }) => ({
      env: {
        COPILOT_PROVIDER_BASE_URL: standIn(place, env["COPILOT_PROVIDER_BASE_URL"]),
        COPILOT_PROVIDER_TYPE: env["COPILOT_PROVIDER_TYPE"] ?? "openai",
        COPILOT_MODEL: env["COPILOT_MODEL"] ?? place.model,
      },
    }),
  },
  pi: { label: "pi", wiring: piWiring },
  goose: { label: "goose", wiring: ({ base }) => ({ env: { OPENAI_HOST: base, ANTHROPIC_HOST: base } }) },
  // The user's configuration would override OPENAI_API_BASE.
  aider: {
    label: "aider",
    keys: ["OPENAI_API_KEY", "AIDER_OPENAI_API_KEY"],
    wiring: (place, { env }) => ({
      env: { AIDER_OPENAI_API_BASE: standIn(place, env["AIDER_OPENAI_API_BASE"] ?? env["OPENAI_API_BASE"]) },
    }),
  },
};

/** A placeholder key (`none`) for an agent that needs a key, if the user has set none. */
export function emptyKey(name: string, environment: NodeJS.ProcessEnv): Record<string, string> {
  const { keys = [] } = AGENTS[name] ?? {};
  return keys.length > 0 && keys.every((key) => !environment[key]) ? { [keys[0]!]: "none" } : {};
}

/** The settings of all agents, for people who start an agent by hand. */
export function settingsOf(at: Omit<Place, "folder">, user: User): string {
  const place = { ...at, folder: "FOLDER" };
  const agents = Object.values(AGENTS).map(({ label, wiring }) => [label, commandLine(wiring(place, user))] as const);
  const editor = ["VS Code", `chatLanguageModels.json: ${JSON.stringify(customEndpoint(at))}`] as const;
  return [...agents, editor].map(([label, settings]) => label.padEnd(14) + settings).join("\n");
}

/** The settings as a shell reads them: `NAME=value --option value`. */
function commandLine({ env = {}, args = [], file }: Wiring): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)}`);
  const words = [...variables, ...args.map(quoted)].join(" ");
  return file ? `${words} with FOLDER/${file.name}: ${file.note ?? file.text}` : words;
}

function quoted(word: string): string {
  return /^[\w./:-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * The providers whose address is to be the gateway's: those at an upstream, and the one that the
 * agent uses. If the settings tell neither, all of them.
 */
function behind({ upstreams }: Place, { all, builtIn = [], used }: Providers): readonly Provider[] {
  const origins = Object.values(upstreams).map((each) => new URL(each).origin);
  // The first one with a name counts: the settings come before what is built in.
  const known = new Map([...all, ...builtIn].reverse().map((each) => [each.id, each]));
  if (used !== undefined && !known.has(used)) known.set(used, { id: used });
  const found = [...known.values()].filter(
    ({ id, address }) => id === used || origins.includes(originOf(address) ?? ""),
  );
  return found.length > 0 ? found.reverse() : all;
}

function originOf(address: string | undefined): string | undefined {
  return address !== undefined && URL.canParse(address) ? new URL(address).origin : undefined;
}

/**
 * The address at which the gateway stands for a provider. Its path is that of the provider's own
 * address if this is at an upstream (`/api/v1`), else the version at its end (`/v1`). `usual` is
 * the path of an address that is not known.
 */
export function standIn({ base, upstreams }: Place, address: string | undefined, usual = "/v1"): string {
  const entries = Object.entries(upstreams);
  const own = entries.find(([, each]) => new URL(each).origin === originOf(address));
  const [at, upstream] = own ?? entries.find(([path]) => path === "/") ?? entries[0]!;
  const path = originOf(address) === undefined ? usual : pathOf(address!);
  const before = pathOf(upstream);
  const isBelow = own !== undefined && (path === before || path.startsWith(`${before}/`));
  const end = isBelow || path === "" ? path : (/\/v\d[^/]*$/.exec(path)?.[0] ?? usual);
  return `${base}${at === "/" ? "" : at}${end}`;
}

function pathOf(address: string): string {
  return new URL(address).pathname.replace(/\/$/, "");
}

/** A name for a provider that the user has not configured: that of its host. */
function nameOf({ upstreams }: Place): string {
  return new URL(Object.values(upstreams)[0]!).hostname.replace(/[^\w-]+/g, "-");
}

/** Codex refuses a session of another provider, and looks for the last session among those of its own. */
function codexWiring(place: Place, user: User): Wiring {
  const { id, address, hasKey } = codexProvider(user);
  const key = user.env["OPENAI_API_KEY"];
  const url = standIn(place, address);
  if (CODEX_LOCAL.includes(id) && address === undefined) return { env: { CODEX_OSS_BASE_URL: url } };
  const own = withoutAddress(user.args, id);
  if (id !== "openai") return { args: codexOptions({ model_providers: { [id]: { base_url: url } } }), own };
  if (!hasKey && !key) return { args: codexOptions(codexConfig(place)), own };
  const args = codexOptions({ openai_base_url: url });
  return hasKey ? { args, own } : { args, own, env: { CODEX_API_KEY: key! } };
}

/** Codex's arguments without an address of the provider: it would override the gateway's. */
function withoutAddress(args: readonly string[], id: string): string[] {
  const isAddress = (word = "") => {
    const [path] = word.replace(/^--config=/, "").split("=");
    return path === "openai_base_url" || path === `model_providers.${id}.base_url`;
  };
  const isOption = (word: string) => word === "-c" || word === "--config";
  return args.filter((word, at) => !isAddress(word) && !(isOption(word) && isAddress(args[at + 1])));
}

/** A provider that needs no key: Codex's own one wants its user to sign in. */
function codexConfig(place: Place): object {
  const [id, base_url] = [nameOf(place), standIn(place, undefined)];
  return { model_provider: id, model_providers: { [id]: { name: id, base_url, wire_api: "responses" } } };
}

function codexOptions(config: object): string[] {
  return Object.entries(config).flatMap(([name, value]) => ["-c", `${name}=${toml(value)}`]);
}

/** A value of TOML on one line. */
function toml(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}=${toml(each)}`);
  return `{${members.join(",")}}`;
}

/** Providers that Codex has built in, with one variable for their address. */
const CODEX_LOCAL = ["ollama", "lmstudio"];

/** An address of a model in the settings counts more than the variable. The machine's settings count most. */
function qwenWiring(place: Place, user: User): Wiring {
  const env = { OPENAI_BASE_URL: standIn(place, user.env["OPENAI_BASE_URL"]) };
  const { models, used, machine } = qwenSettings(user);
  const all = Object.values(models).flat().map(qwenModel);
  const found = new Set(behind(place, { all, used }).map(({ id }) => id));
  const changed = Object.entries(models).map(([api, list]) => {
    const moved = list.map((each) => {
      const { id, address } = qwenModel(each);
      return found.has(id) ? { ...tableOf(each), baseUrl: standIn(place, address, QWEN_PATHS[api]) } : each;
    });
    return [api, moved] as const;
  });
  if (changed.length === 0) return { env };
  const text = JSON.stringify({ ...machine, modelProviders: Object.fromEntries(changed) });
  const note = `your modelProviders, with this baseUrl: ${env.OPENAI_BASE_URL}`;
  const path = join(place.folder, "settings.json");
  return { env: { ...env, QWEN_CODE_SYSTEM_SETTINGS_PATH: path }, file: { name: "settings.json", text, note } };
}

function qwenModel(model: unknown): Provider {
  const { id, baseUrl } = tableOf(model);
  return { id: String(id), address: textOf(baseUrl) };
}

/** The paths of the addresses of APIs that are not OpenAI's. */
const QWEN_PATHS: Readonly<Record<string, string>> = { anthropic: "", gemini: "" };

/** opencode stores a provider's name with each message. */
function opencodeWiring(place: Place, user: User): Wiring {
  const found = behind(place, opencodeProviders(user));
  const pairs = found.map(({ id, address }) => [id, { options: { baseURL: standIn(place, address) } }] as const);
  const config = pairs.length > 0 ? { provider: Object.fromEntries(pairs) } : opencodeConfig(place);
  return { env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(merged(opencodeInline(user), config)) } };
}

function opencodeConfig(place: Place): Readonly<Record<string, unknown>> {
  const [id, { model }] = [nameOf(place), place];
  const options = { baseURL: standIn(place, undefined), apiKey: "{env:OPENAI_API_KEY}" };
  const provider = { npm: "@ai-sdk/openai-compatible", name: id, options, models: { [model]: { name: model } } };
  return { model: `${id}/${model}`, provider: { [id]: provider } };
}

/** A copy of the user's configuration: Continue has no other way to change an address. */
function continueWiring(place: Place, user: User): Wiring {
  const config = continueConfig(user);
  const { models } = config;
  const isOwn = Array.isArray(models) && models.length > 0;
  const text = isOwn ? { ...config, models: continueModels(place, models as unknown[]) } : ownContinueConfig(place);
  return {
    args: ["--config", join(place.folder, "config.yaml")],
    own: optionsWithout(user.args, "--config"),
    file: { name: "config.yaml", text: JSON.stringify(text), ...(isOwn && { note: CONTINUE_NOTE(place) }) },
  };
}

const CONTINUE_NOTE = (place: Place) =>
  `your config.yaml, with this apiBase of the models: ${standIn(place, undefined)}`;

/** The paths of the addresses of Continue's providers, without which it uses those of their makers. */
const CONTINUE_PATHS: Readonly<Record<string, string>> = { ollama: "", gemini: "/v1beta" };

/** Models that chat get the gateway's address: those at an upstream, else all. */
function continueModels(place: Place, models: readonly unknown[]): readonly unknown[] {
  const chatting = models.flatMap((each, at): Provider[] => {
    const { roles, apiBase, override } = tableOf(each);
    const isChatting = !Array.isArray(roles) || roles.includes("chat");
    const address = textOf(tableOf(override)["apiBase"]) ?? textOf(apiBase);
    return isChatting ? [{ id: String(at), address }] : [];
  });
  const found = new Map(behind(place, { all: chatting }).map((each) => [each.id, each]));
  return models.map((each, at) => {
    const provider = found.get(String(at));
    if (!provider) return each;
    const table = tableOf(each);
    const apiBase = standIn(place, provider.address, CONTINUE_PATHS[String(table["provider"])]);
    return "uses" in table ? merged(table, { override: { apiBase } }) : { ...table, apiBase };
  });
}

function ownContinueConfig(place: Place): object {
  const entry = {
    name: place.model,
    provider: "openai",
    model: place.model,
    apiBase: standIn(place, undefined),
    apiKey: "${{ secrets.OPENAI_API_KEY }}",
    roles: ["chat"],
  };
  return { name: nameOf(place), version: "1.0.0", schema: "v1", models: [entry] };
}

/** An extension, because another folder of settings would hide the user's sessions and keys. */
function piWiring(place: Place, user: User): Wiring {
  const found = behind(place, piProviders(user));
  const changed = found.map(({ id, address }) => [id, { baseUrl: standIn(place, address) }] as const);
  const [id, { model, folder }] = [nameOf(place), place];
  const isOwn = changed.length > 0;
  const text = piExtension(isOwn ? changed : [[id, piProvider(place)]]);
  const chosen = isOwn ? [] : ["--provider", id, "--model", model];
  return { args: ["--extension", join(folder, "gateway.js"), ...chosen], file: { name: "gateway.js", text } };
}

function piExtension(providers: readonly (readonly [string, object])[]): string {
  const calls = providers.map((each) => `pi.registerProvider(${each.map((it) => JSON.stringify(it)).join(", ")});`);
  return `export default (pi) => { ${calls.join(" ")} };`;
}

function piProvider(place: Place): object {
  const limits = { contextWindow: 128_000, maxTokens: 16_384 };
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const { model } = place;
  const models = [{ id: model, name: model, reasoning: true, input: ["text", "image"], cost, ...limits }];
  return { baseUrl: standIn(place, undefined), api: "openai-completions", apiKey: "OPENAI_API_KEY", models };
}

function customEndpoint({ base, model }: Omit<Place, "folder">): object {
  const url = `${base}/v1/chat/completions`;
  const limits = { maxInputTokens: 111_616, maxOutputTokens: 16_384 };
  const models = [{ id: model, name: model, url, toolCalling: true, vision: true, ...limits }];
  const provider = { name: "gateway", vendor: "customendpoint", apiKey: "${input:gatewayKey}" };
  return { ...provider, apiType: "chat-completions", models };
}
