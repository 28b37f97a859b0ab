// Every example of the README compiles as TypeScript, with declarations for everything that it
// does not define. tests/house/test_client_typescript.py runs the first example.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const HOME = fileURLToPath(new URL("..", import.meta.url));

/** Declarations of names that examples use and do not define. */
const GIVEN: Readonly<Record<string, string>> = {
  sidecar: 'import("stream-sidecar").Sidecar',
  stream: 'import("stream-sidecar").SidecarStream',
  response: "Response",
  signal: "AbortSignal",
  openai: 'import("@ai-sdk/openai").OpenAIProvider',
  tools: 'import("ai").ToolSet',
  messages: 'import("ai").ModelMessage[]',
  client: "{ notify(method: string, params: object): Promise<void> }",
  sessionId: "string",
  onOther: '(event: import("stream-sidecar").StreamEvent) => void',
};

const PATHS = {
  "stream-sidecar": ["./src/index.ts"],
  "stream-sidecar/*": ["./src/adapters/*.ts", "./src/*.ts"],
};

const examples = [...readFileSync(join(HOME, "README.md"), "utf8").matchAll(/^```ts\n(.*?)^```$/gms)].map(
  ([, code = ""]) => code,
);

/** The example in a function, after its imports and the declarations. */
function whole(code: string): string {
  const lines = code.split("\n");
  const isImport = (line: string) => line.startsWith("import ");
  const made = new Set([...code.matchAll(/\b(?:const|let) (?:\{ )?(\w+)/g)].map(([, name]) => name));
  const given = Object.entries(GIVEN).filter(([name]) => !made.has(name));
  return [
    ...lines.filter(isImport),
    ...given.map(([name, type]) => `declare const ${name}: ${type};`),
    "export async function example() {",
    ...lines.filter((line) => !isImport(line)),
    "}",
  ].join("\n");
}

test("every example compiles", { timeout: 300_000 }, () => {
  expect(examples.length).toBeGreaterThan(5);
  const files = new Map(examples.map((code, index) => [join(HOME, `example-${index}.ts`), whole(code)]));
  const { config } = ts.readConfigFile(join(HOME, "tsconfig.json"), (path) => readFileSync(path, "utf8")) as {
    config: { compilerOptions: object };
  };
  const asked = { ...config.compilerOptions, noUnusedLocals: false, paths: PATHS };
  const { options, errors } = ts.convertCompilerOptionsFromJson(asked, HOME);
  expect(errors).toEqual([]);
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.readFile = (path) => files.get(path) ?? readFile(path);
  const program = ts.createProgram([...files.keys()], options, host);
  const told = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    const example = file && files.get(file.fileName);
    return `${ts.flattenDiagnosticMessageText(messageText, "\n")}\n${example ?? file?.fileName}`;
  });
  expect(told).toEqual([]);
});
