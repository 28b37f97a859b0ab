// The types of the package compile in the program of a host that knows ES2022 and the DOM, and
// nothing of Node.js: a web page, an extension for VS Code Web. So does the README's first example.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const HOME = fileURLToPath(new URL("..", import.meta.url));
const TYPES = join(HOME, "types-of-the-package");

/** The declarations of the package, as its build writes them. */
function declarations(): Map<string, string> {
  const path = join(HOME, "tsconfig.build.json");
  const config = ts.readConfigFile(path, (file) => readFileSync(file, "utf8")).config as object;
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, dirname(path));
  const made = new Map<string, string>();
  const asked = { ...options, outDir: TYPES, emitDeclarationOnly: true };
  ts.createProgram(fileNames, asked).emit(undefined, (file, text) => void made.set(file, text));
  return made;
}

/** What the compiler says about a host's file. */
function complaints(made: ReadonlyMap<string, string>, host: string, types: readonly string[]): string[] {
  const file = join(HOME, "host.ts");
  const files = new Map([...made, [file, host]]);
  const { options } = ts.convertCompilerOptionsFromJson(
    {
      ...{ target: "es2022", lib: ["ES2022", "DOM"], types, strict: true, noEmit: true, skipLibCheck: false },
      ...{ module: "nodenext", exactOptionalPropertyTypes: true },
      paths: {
        "stream-sidecar": [`${TYPES}/index.d.ts`],
        "stream-sidecar/*": [`${TYPES}/adapters/*.d.ts`],
      },
    },
    HOME,
  );
  const compiler = ts.createCompilerHost(options);
  const { readFile, fileExists, directoryExists } = compiler;
  compiler.fileExists = (path) => files.has(path) || fileExists(path);
  compiler.readFile = (path) => files.get(path) ?? readFile(path);
  compiler.directoryExists = (path) => path.startsWith(TYPES) || (directoryExists?.(path) ?? true);
  const program = ts.createProgram([file], options, compiler);
  const ours = ts.getPreEmitDiagnostics(program).filter((each) => !each.file?.fileName.includes("node_modules"));
  return ours.map(
    ({ file: at, messageText }) => `${at?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`,
  );
}

const HOST = `
import { Sidecar, type StreamEvent } from "stream-sidecar";
import { sidecarMiddleware, uiMessageStreamOf } from "stream-sidecar/ai-sdk";
import { sessionUpdates } from "stream-sidecar/acp";
import { sidecarFetch } from "stream-sidecar/fetch";
import { outputMessages } from "stream-sidecar/telemetry";

export async function host(response: Response): Promise<object[]> {
  await using sidecar = Sidecar.create({ policy: { trace: true } });
  using states = sidecar.onState(() => {});
  const stream = await sidecar.openStream({ wire: "openai-chat" });
  for await (const event of stream.pipe(response.body ?? [])) {
    const each: StreamEvent = event;
    if (each.type === "text-delta") each.text.toUpperCase();
  }
  void states;
  void [sidecarFetch(sidecar), sidecarMiddleware(sidecar), uiMessageStreamOf(stream.pipe([]))];
  void sessionUpdates(stream.pipe([]), { prefix: stream.id });
  return outputMessages((await stream.close()).message);
}
`;

const WRONG = `
import { Sidecar } from "stream-sidecar";
import { sidecarFetch } from "stream-sidecar/fetch";
declare const sidecar: Sidecar;
// @ts-expect-error no such wire
void sidecar.openStream({ wire: "openai" });
// @ts-expect-error no such member
void sidecar.openStream({ modle: "m" });
// @ts-expect-error no such policy
void sidecar.openStream({ policy: { toolResult: { mode: "keep" } } });
// @ts-expect-error claims of the middleware
sidecarFetch(sidecar, { claims: "data" });
// @ts-expect-error no such choice
sidecarFetch(sidecar, { unavailable: "fail" });
// @ts-expect-error no such option
void Sidecar.spawn({ policcy: {} });
export {};
`;

test("the types compile without those of Node.js, and refuse what is wrong", { timeout: 300_000 }, () => {
  const made = declarations();
  expect(made.size).toBeGreaterThan(50);
  expect(complaints(made, HOST, [])).toEqual([]);
  expect(complaints(made, WRONG, [])).toEqual([]);
  const [, first = ""] = /^```ts\n(.*?)^```$/ms.exec(readFileSync(join(HOME, "README.md"), "utf8")) ?? [];
  expect(complaints(made, first, [])).toEqual([]);
});
