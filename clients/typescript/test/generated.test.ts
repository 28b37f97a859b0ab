// src/protocol.ts is what the schema says: `npm run generate` writes it.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
// @ts-expect-error -- a script, without types
import { generate, OUTPUT } from "../scripts/generate-types.mjs";
import type { OpenParams } from "../src/index.js";

test("the generated types are current", async () => {
  expect(readFileSync(OUTPUT as URL, "utf8")).toBe(await (generate as () => Promise<string>)());
});

test("a tool is ours or a provider's", () => {
  const tools: OpenParams["tools"] = [{ name: "f" }, { type: "web_search" }, { name: "f", input_schema: {} }];
  // @ts-expect-error -- neither
  tools.push({ name: "f", executor: "me" });
});
