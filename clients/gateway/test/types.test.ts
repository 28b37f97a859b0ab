// The package is compiled against the built client, and needs no types of the AI SDK.

import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const CONFIG = fileURLToPath(new URL("../tsconfig.build.json", import.meta.url));

test("the types compile without those of the AI SDK", { timeout: 300_000 }, () => {
  const config = ts.readConfigFile(CONFIG, (file) => readFileSync(file, "utf8")).config as object;
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, dirname(CONFIG));
  const program = ts.createProgram(fileNames, { ...options, skipLibCheck: false, noEmit: true });
  const ours = ts.getPreEmitDiagnostics(program).filter(({ file }) => !file?.fileName.includes("node_modules"));
  expect(ours.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "))).toEqual([]);
  const read = program.getSourceFiles().map(({ fileName }) => fileName);
  expect(read.filter((file) => file.includes("/typescript/dist/"))).not.toEqual([]);
  expect(read.filter((file) => /node_modules\/(ai|@ai-sdk)\//.test(file))).toEqual([]);
});
