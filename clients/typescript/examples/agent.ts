// An agent of two turns with the Vercel AI SDK: the model asks for a tool, the tool runs,
// and the model answers. The loop sees clean responses, whatever the model's server leaks.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import type { Sidecar } from "stream-sidecar";
import { sidecarMiddleware } from "stream-sidecar/ai-sdk";

export interface Asked {
  command: string;
}

/** Sends the question, runs the requested tools, and returns the answer and the reasoning of all turns. */
export async function ask(sidecar: Sidecar, baseURL: string, prompt: string, run: (command: string) => string) {
  const provider = createOpenAICompatible({ name: "local", baseURL });
  const model = wrapLanguageModel({
    model: provider.chatModel("qwen3-32b"),
    middleware: sidecarMiddleware(sidecar, { claims: "promote" }),
  });
  const runCommand = tool({
    description: "Runs a command of the shell",
    inputSchema: jsonSchema<Asked>({
      type: "object",
      properties: { command: { type: "string" } },
      required: ["command"],
    }),
    execute: async ({ command }) => run(command),
  });
  const tools = { run_command: runCommand };
  const result = streamText({ model, tools, stopWhen: stepCountIs(4), prompt });
  const steps = await result.steps;
  return { answer: await result.text, reasoning: steps.map((step) => step.reasoningText ?? "") };
}
