// src/protocol.ts and the table of endpoints are what the schema says: `npm run generate` writes them.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
// @ts-expect-error -- a script, without types
import { endpointTable, ENDPOINT_TABLE, generate, OUTPUT } from "../scripts/generate-types.mjs";
import type { OpenParams } from "../src/index.js";

test.for([
  [OUTPUT, generate],
  [ENDPOINT_TABLE, endpointTable],
] as [URL, () => Promise<string>][])("what is generated is current: %s", async ([file, made]) => {
  expect(readFileSync(file, "utf8")).toBe(await made());
});

test("a tool is ours or a provider's", () => {
  const tools: OpenParams["tools"] = [{ name: "f" }, { type: "web_search" }, { name: "f", input_schema: {} }];
  // @ts-expect-error -- neither
  tools.push({ name: "f", executor: "me" });
});
