// The wires of the raw chunks of the Vercel AI SDK's providers. The SDK names a provider and its
// endpoint: "openai.responses", "vertex.anthropic.messages".

import type { OpenParams } from "../protocol.js";

type Wire = NonNullable<OpenParams["wire"]>;

/** The first match counts. Providers without raw chunks have no row. */
const WIRES: readonly (readonly [RegExp, Wire])[] = [
  [/\.responses$/, "openai-responses"],
  [/anthropic/, "anthropic"],
  [/^google\.interactions$|\.(image|video|embedding|speech|transcription|completion)$/, "auto"],
  [/^google|vertex|generative-ai/, "gemini"],
  [/\.chat$|^mistral|^groq|^deepseek|^xai|^openrouter/, "openai-chat"],
];

/** The wire of a provider's raw chunks; undefined if it is not known. */
export function wireOf(provider: string): Wire | undefined {
  const wire = WIRES.find(([pattern]) => pattern.test(provider))?.[1];
  return wire === "auto" ? undefined : wire;
}

/** The provider's name in our profiles: "openai" for "openai.responses". */
export function providerName(provider: string): string {
  return provider.split(".")[0] ?? provider;
}
