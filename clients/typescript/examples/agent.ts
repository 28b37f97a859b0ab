// An agent of two turns with the Vercel AI SDK: the model asks for a tool, the tool runs,
// and the model answers. Whatever the model's server leaks, the loop sees it clean.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import type { Sidecar } from "stream-sidecar";
import { sidecarMiddleware } from "stream-sidecar/ai-sdk";

export interface Weather {
  city: string;
}

/** Asks, runs what is asked for, and gives the answer and the reasoning of all turns. */
export async function ask(sidecar: Sidecar, baseURL: string, prompt: string, look: (city: string) => string) {
  const provider = createOpenAICompatible({ name: "local", baseURL });
  const model = wrapLanguageModel({
    model: provider.chatModel("qwen3-32b"),
    middleware: sidecarMiddleware(sidecar, { claims: "promote" }),
  });
  const weather = tool({
    description: "The weather of a city",
    inputSchema: jsonSchema<Weather>({
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
    }),
    execute: async ({ city }) => look(city),
  });
  const result = streamText({ model, tools: { weather }, stopWhen: stepCountIs(4), prompt });
  const steps = await result.steps;
  return { answer: await result.text, reasoning: steps.map((step) => step.reasoningText ?? "") };
}
