// Configures terminal agents to use the gateway, for one run: with environment variables,
// arguments, or a temporary configuration file. No file of the user is changed.

import { join } from "node:path";

/** The gateway's address, and what the configuration of an agent needs. */
export interface Place {
  readonly base: string;
  /** The model, for agents that use only models in their configuration. */
  readonly model: string;
  /** The folder for a temporary configuration file. */
  readonly folder: string;
}

/** The variables, arguments and file that connect an agent to the gateway. */
export interface Wiring {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly file?: { readonly name: string; readonly text: string };
}

interface Agent {
  readonly label: string;
  /** Variables for a key. The agent does not start without one of them, even if the provider needs no key. */
  readonly keys?: readonly string[];
  readonly wiring: (place: Place) => Wiring;
}

/** Agents by the name of their command, without its ending. */
export const AGENTS: Readonly<Record<string, Agent>> = {
  claude: {
    label: "Claude Code",
    keys: ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"],
    // An address in the user's settings would override the environment.
    wiring: ({ base }) => ({ args: ["--settings", JSON.stringify({ env: { ANTHROPIC_BASE_URL: base } })] }),
  },
  codex: {
    label: "Codex",
    keys: ["OPENAI_API_KEY"],
    wiring: ({ base }) => ({
      args: ["-c", 'model_provider="gateway"', "-c", `model_providers.gateway=${codexProvider(base)}`],
    }),
  },
  gemini: { label: "Gemini CLI", wiring: ({ base }) => ({ env: { GOOGLE_GEMINI_BASE_URL: base } }) },
  qwen: { label: "qwen-code", wiring: ({ base }) => ({ env: { OPENAI_BASE_URL: `${base}/v1` } }) },
  opencode: {
    label: "opencode",
    wiring: ({ base, model }) => ({ env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig(base, model)) } }),
  },
  cn: {
    label: "Continue",
    wiring: ({ base, model, folder }) => ({
      args: ["--config", join(folder, "config.yaml")],
      file: { name: "config.yaml", text: JSON.stringify(continueConfig(base, model)) },
    }),
  },
  copilot: {
    label: "Copilot CLI",
    wiring: ({ base, model }) => ({
      env: {
        ...{ COPILOT_PROVIDER_BASE_URL: `${base}/v1`, COPILOT_PROVIDER_TYPE: "openai" },
        COPILOT_MODEL: process.env["COPILOT_MODEL"] ?? model,
      },
    }),
  },
  pi: {
    label: "pi",
    wiring: ({ base, model, folder }) => ({
      args: ["--extension", join(folder, "gateway.js"), "--provider", "gateway", "--model", model],
      file: { name: "gateway.js", text: piExtension(base, model) },
    }),
  },
  // The user's configuration would override OPENAI_API_BASE.
  aider: {
    label: "aider",
    keys: ["OPENAI_API_KEY", "AIDER_OPENAI_API_KEY"],
    wiring: ({ base }) => ({ env: { AIDER_OPENAI_API_BASE: `${base}/v1` } }),
  },
};

/** A placeholder key (`none`) for an agent that needs a key, if the user has set none. */
export function emptyKey(name: string, environment: NodeJS.ProcessEnv): Record<string, string> {
  const { keys = [] } = AGENTS[name] ?? {};
  return keys.length > 0 && keys.every((key) => !environment[key]) ? { [keys[0]!]: "none" } : {};
}

/** The settings of all agents, for people who start an agent by hand. */
export function settingsOf(base: string, model: string): string {
  const place = { base, model, folder: "FOLDER" };
  const agents = Object.values(AGENTS).map(({ label, wiring }) => [label, commandLine(wiring(place))] as const);
  const editor = ["VS Code", `chatLanguageModels.json: ${JSON.stringify(customEndpoint(base, model))}`] as const;
  return [...agents, editor].map(([label, settings]) => label.padEnd(14) + settings).join("\n");
}

/** The settings as a shell reads them: `NAME=value --option value`. */
function commandLine({ env = {}, args = [], file }: Wiring): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)}`);
  const words = [...variables, ...args.map(quoted)].join(" ");
  return file ? `${words} with FOLDER/${file.name}: ${file.text}` : words;
}

function quoted(word: string): string {
  return /^[\w./:-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function codexProvider(base: string): string {
  const provider = { name: "gateway", base_url: `${base}/v1`, wire_api: "responses", env_key: "OPENAI_API_KEY" };
  const members = Object.entries(provider).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `{${members.join(",")}}`;
}

function opencodeConfig(base: string, model: string): object {
  const options = { baseURL: `${base}/v1`, apiKey: "{env:OPENAI_API_KEY}" };
  const provider = { npm: "@ai-sdk/openai-compatible", name: "gateway", options, models: { [model]: { name: model } } };
  return { model: `gateway/${model}`, provider: { gateway: provider } };
}

function continueConfig(base: string, model: string): object {
  const entry = {
    name: model,
    provider: "openai",
    model,
    apiBase: `${base}/v1`,
    apiKey: "${{ secrets.OPENAI_API_KEY }}",
    roles: ["chat"],
  };
  return { name: "gateway", version: "1.0.0", schema: "v1", models: [entry] };
}

/** An extension, because another folder of settings would hide the user's sessions and keys. */
function piExtension(base: string, model: string): string {
  const limits = { contextWindow: 128_000, maxTokens: 16_384 };
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const models = [{ id: model, name: model, reasoning: true, input: ["text", "image"], cost, ...limits }];
  const gateway = { baseUrl: `${base}/v1`, api: "openai-completions", apiKey: "OPENAI_API_KEY", models };
  return `export default (pi) => pi.registerProvider("gateway", ${JSON.stringify(gateway)});`;
}

function customEndpoint(base: string, model: string): object {
  const url = `${base}/v1/chat/completions`;
  const limits = { maxInputTokens: 111_616, maxOutputTokens: 16_384 };
  const models = [{ id: model, name: model, url, toolCalling: true, vision: true, ...limits }];
  const provider = { name: "gateway", vendor: "customendpoint", apiKey: "${input:gatewayKey}" };
  return { ...provider, apiType: "chat-completions", models };
}
