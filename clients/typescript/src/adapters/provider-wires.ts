// Which wire the raw chunks of a provider of the Vercel AI SDK have. The SDK names a
// provider and an endpoint of it: "openai.responses", "vertex.anthropic.messages".

import type { OpenParams } from "../protocol.js";

type Wire = NonNullable<OpenParams["wire"]>;

/** The first that matches counts. Providers that give no raw chunks have no row. */
const WIRES: readonly (readonly [RegExp, Wire])[] = [
  [/\.responses$/, "openai-responses"],
  [/anthropic/, "anthropic"],
  [/^google\.interactions$|\.(image|video|embedding|speech|transcription|completion)$/, "auto"],
  [/^google|vertex|generative-ai/, "gemini"],
  [/\.chat$|^mistral|^groq|^deepseek|^xai|^openrouter/, "openai-chat"],
];

/** undefined: how the provider's raw chunks look is not known. */
export function wireOf(provider: string): Wire | undefined {
  const wire = WIRES.find(([pattern]) => pattern.test(provider))?.[1];
  return wire === "auto" ? undefined : wire;
}

/** The name that our profiles know: "openai" of "openai.responses". */
export function providerName(provider: string): string {
  return provider.split(".")[0] ?? provider;
}
