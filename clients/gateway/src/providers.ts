// Where the provider of an agent is, if `--upstream` does not say: the address in the agent's
// environment or in its user's settings, else the public address of the provider. Files of a
// project are not read, because whoever wrote them would get the user's key.

import { readFileSync } from "node:fs";
import { join } from "node:path";

interface Provider {
  /** Where an address may stand, the place that the agent prefers first: a variable, or a file of the user and a name in it. */
  readonly places: readonly Place[];
  /** The address that the agent uses without any of them; absent: the agent has none that can be changed. */
  readonly otherwise?: string;
}

type Place = { readonly variable: string } | { readonly file: string; readonly name: string };

const variable = (name: string): Place => ({ variable: name });
const file = (path: string, name: string): Place => ({ file: path, name });

const OPENAI = "https://api.openai.com/v1";

/** Agents by the name of their command. */
const PROVIDERS: Readonly<Record<string, Provider>> = {
  claude: {
    places: [file(".claude/settings.json", "ANTHROPIC_BASE_URL"), variable("ANTHROPIC_BASE_URL")],
    otherwise: "https://api.anthropic.com",
  },
  codex: { places: [file(".codex/config.toml", "openai_base_url"), variable("OPENAI_BASE_URL")], otherwise: OPENAI },
  gemini: {
    places: [variable("GOOGLE_GEMINI_BASE_URL"), file(".gemini/.env", "GOOGLE_GEMINI_BASE_URL")],
    otherwise: "https://generativelanguage.googleapis.com",
  },
  qwen: { places: [variable("OPENAI_BASE_URL"), file(".qwen/.env", "OPENAI_BASE_URL")], otherwise: OPENAI },
  copilot: { places: [variable("COPILOT_PROVIDER_BASE_URL")] },
  aider: {
    places: [
      ...[variable("AIDER_OPENAI_API_BASE"), variable("OPENAI_API_BASE")],
      file(".aider.conf.yml", "openai-api-base"),
    ],
    otherwise: OPENAI,
  },
};

/** The address of an agent's provider; undefined if only its user can say it. `home`: the user's home folder. */
export function providerOf(agent: string, environment: NodeJS.ProcessEnv, home: string): string | undefined {
  const { places = [], otherwise } = PROVIDERS[agent] ?? {};
  const found = places.map((place) =>
    "variable" in place ? environment[place.variable] : namedIn(join(home, place.file), place.name),
  );
  return found.find(Boolean) ?? otherwise;
}

/**
 * The value of a name in a file of JSON, YAML, TOML or variables; undefined if it is not there, or
 * in a comment only. A name of an address stands once in these files, whatever is around it.
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
