// How terminal agents are told where their provider is: by variables, arguments, or a
// configuration of their own for this run. Nothing of a user's files is changed.

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What an agent is started with, beside its own arguments. */
export interface Wiring {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

/** `base` is the gateway's address, `model` the one to ask where the agent has to be told. */
type Wire = (base: string, model: string) => Wiring;

/** Agents by the name of their command, without its ending. */
export const AGENTS: Readonly<Record<string, Wire>> = {
  claude: (base) => ({ env: { ANTHROPIC_BASE_URL: base } }),
  codex: (base) => ({
    args: ["-c", 'model_provider="gateway"', "-c", `model_providers.gateway=${codexProvider(base)}`],
  }),
  gemini: (base) => ({ env: { GOOGLE_GEMINI_BASE_URL: base } }),
  qwen: (base) => ({ env: { OPENAI_BASE_URL: `${base}/v1` } }),
  opencode: (base, model) => ({ env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig(base, model)) } }),
  cn: (base, model) => ({ args: ["--config", written("config.yaml", continueConfig(base, model))] }),
  copilot: (base) => ({
    env: { COPILOT_PROVIDER_BASE_URL: `${base}/v1`, COPILOT_PROVIDER_TYPE: "openai" },
  }),
  pi: (base, model) => ({
    args: ["--provider", "gateway", "--model", model],
    env: { PI_CODING_AGENT_DIR: folderWith("models.json", JSON.stringify(piModels(base, model))) },
  }),
  aider: (base) => ({ env: { OPENAI_API_BASE: `${base}/v1` } }),
};

/** The settings of all agents, for people who start one by hand. */
export function settingsOf(base: string, model: string): string {
  const lines = [
    `Claude Code   ANTHROPIC_BASE_URL=${base}`,
    `Codex         -c model_provider="gateway" -c 'model_providers.gateway=${codexProvider(base)}'`,
    `Gemini CLI    GOOGLE_GEMINI_BASE_URL=${base}`,
    `qwen-code     OPENAI_BASE_URL=${base}/v1`,
    `Copilot CLI   COPILOT_PROVIDER_BASE_URL=${base}/v1 COPILOT_PROVIDER_TYPE=openai`,
    `aider         OPENAI_API_BASE=${base}/v1`,
    `opencode      OPENCODE_CONFIG_CONTENT='${JSON.stringify(opencodeConfig(base, model))}'`,
    `Continue      a model with provider: openai, apiBase: ${base}/v1`,
    `pi            a provider with baseUrl: ${base}/v1, api: openai-completions`,
    `VS Code       chatLanguageModels.json: ${JSON.stringify(customEndpoint(base, model))}`,
  ];
  return lines.join("\n");
}

function codexProvider(base: string): string {
  const told = { name: "gateway", base_url: `${base}/v1`, wire_api: "responses", env_key: "OPENAI_API_KEY" };
  const members = Object.entries(told).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `{${members.join(",")}}`;
}

function opencodeConfig(base: string, model: string): object {
  const options = { baseURL: `${base}/v1`, apiKey: "{env:OPENAI_API_KEY}" };
  const provider = { npm: "@ai-sdk/openai-compatible", name: "gateway", options, models: { [model]: { name: model } } };
  return { model: `gateway/${model}`, provider: { gateway: provider } };
}

function continueConfig(base: string, model: string): string {
  const told = { name: model, provider: "openai", model, apiBase: `${base}/v1`, roles: ["chat"] };
  return JSON.stringify({ name: "gateway", version: "1.0.0", schema: "v1", models: [told] });
}

function piModels(base: string, model: string): object {
  const models = [{ id: model, name: model }];
  const gateway = { baseUrl: `${base}/v1`, api: "openai-completions", apiKey: "OPENAI_API_KEY", models };
  return { providers: { gateway } };
}

function customEndpoint(base: string, model: string): object {
  const url = `${base}/v1/chat/completions`;
  return { name: "gateway", vendor: "customendpoint", models: [{ id: model, name: model, url, toolCalling: true }] };
}

/** A folder of this run with one file. */
function folderWith(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "stream-sidecar-"));
  writeFileSync(join(folder, name), text, { mode: 0o600 });
  return folder;
}

function written(name: string, text: string): string {
  return join(folderWith(name, text), name);
}
