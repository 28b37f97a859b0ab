// src/protocol.ts is what the schema says: `npm run generate` writes it.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
// @ts-expect-error -- a script, without types
import { generate, OUTPUT } from "../scripts/generate-types.mjs";

test("the generated types are current", async () => {
  expect(readFileSync(OUTPUT as URL, "utf8")).toBe(await (generate as () => Promise<string>)());
});
