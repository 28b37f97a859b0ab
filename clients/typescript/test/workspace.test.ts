// A host that works in an untrusted folder: nothing in that folder is run, however the sidecar is
// found, and whatever the user's PYTHONPATH says.

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Sidecar, type SidecarOptions } from "../src/index.js";
import { pythonProblem } from "../src/process/python.js";
import { hostileWorkspace, PYTHON, ROOT } from "./hostile-workspace.js";

/** An interpreter without our package, and the folder that has everything our package needs. */
const ASKED = "import sys, sysconfig; print(sys._base_executable); print(sysconfig.get_path('purelib'))";
const [bare = "", packages = ""] = execFileSync(PYTHON, ["-I", "-c", ASKED], { encoding: "utf8" }).split(/\r?\n/);
const added = [join(ROOT, "sidecar"), packages];
/** A PYTHONPATH with every entry that means the working directory. */
const searched = ["", ...added, ".", "sub", ""].join(delimiter);

const before = process.cwd();
let folder: string;
let mark: string;
let home: string;

beforeEach(() => {
  ({ folder, mark } = hostileWorkspace());
  home = join(folder, "home");
  mkdirSync(home);
  process.chdir(folder);
  vi.stubEnv("PYTHONPATH", searched);
});

afterEach(() => {
  process.chdir(before);
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/** A Python on PATH that logs how it is started. */
function written(python: string): { readonly program: string; starts(): string[] } {
  const [program, log] = [join(home, "python3"), join(home, "log")];
  writeFileSync(program, `#!/bin/sh\necho "$1" >> '${log}'\nexec '${python}' "$@"\n`);
  chmodSync(program, 0o755);
  return { program, starts: () => readFileSync(log, "utf8").trimEnd().split("\n") };
}

async function answerOf(options: SidecarOptions): Promise<string> {
  await using sidecar = await Sidecar.spawn(options);
  return (await sidecar.normalize({ wire: "text", body: "<think>why</think>Because." })).message.text ?? "";
}

test("the mark is made where a Python looks into the folder", () => {
  execFileSync(bare, ["-P", "-c", "import types"], { cwd: folder });
  expect(readFileSync(mark, "utf8")).toContain("sitecustomize");
});

test.runIf(process.platform !== "win32").for([
  ["option", ["-I"]],
  ["path", ["-I"]],
] as const)("a Python that has the package, by %s", async ([way, expected]) => {
  const { program, starts } = written(PYTHON);
  vi.stubEnv("PATH", ["", ".", home].join(delimiter));
  expect(await answerOf(way === "option" ? { python: program } : {})).toBe("Because.");
  expect(starts()).toEqual(expected);
  expect(existsSync(mark)).toBe(false);
});

test.runIf(process.platform !== "win32")(
  "a Python that finds the package by PYTHONPATH, the next time at once",
  async () => {
    const { program, starts } = written(bare);
    vi.stubEnv("PYTHONHOME", folder);
    const sidecar = await Sidecar.spawn({ python: program });
    await sidecar.restart();
    expect(sidecar.state).toBe("running");
    await sidecar.shutdown();
    expect(starts()).toEqual(["-I", "-P", "-P"]);
    expect(existsSync(mark)).toBe(false);
  },
);

test("a command line of the user's that would look where it works", async () => {
  const options = { command: [bare, "-m", "stream_sidecar", "--stdio"] };
  expect(await answerOf(options)).toBe("Because.");
  expect(existsSync(mark)).toBe(false);
});

test("a Python that is asked why it has no sidecar", async () => {
  const command = [bare, "-I", "-m", "stream_sidecar"];
  expect(await pythonProblem([{ command, error: new Error() }])).toMatchObject({ kind: "package-missing" });
  expect(existsSync(mark)).toBe(false);
});
