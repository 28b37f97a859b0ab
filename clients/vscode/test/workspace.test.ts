// A window with an untrusted folder: the processes that the extension starts run nothing in
// that folder, whatever the user's PYTHONPATH says.

import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { hostileWorkspace, PYTHON, ROOT } from "../../typescript/test/hostile-workspace.js";
import { candidates } from "../src/candidates.js";
import { run } from "../src/run.js";
import { Repair } from "../src/sessions/repair.js";

const ASKED = "import sys, sysconfig; print(sys._base_executable); print(sysconfig.get_path('purelib'))";
const [bare = "", packages = ""] = execFileSync(PYTHON, ["-I", "-c", ASKED], { encoding: "utf8" }).split(/\r?\n/);

const before = process.cwd();
let folder: string;
let mark: string;

beforeEach(() => {
  ({ folder, mark } = hostileWorkspace());
  process.chdir(folder);
  vi.stubEnv("PYTHONPATH", ["", join(ROOT, "sidecar"), packages, ".", ""].join(delimiter));
  vi.stubEnv("PYTHONHOME", folder);
});

afterEach(() => {
  process.chdir(before);
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/** The command lines with this Python that print their version. */
async function working(python: string): Promise<string[]> {
  const choice = { command: [], python, chosenPython: undefined, bundled: join(folder, "bundled") };
  const found = candidates(choice, { env: process.env, platform: process.platform, exists: existsSync });
  const endings = await Promise.all(found.map((command) => run([...command, "--version"])));
  return found.filter((_, at) => endings[at]?.stdout.startsWith("stream-sidecar ")).map((command) => command[1] ?? "");
}

test("the sidecar is found, alone or by PYTHONPATH", async () => {
  expect(await working(PYTHON)).toEqual(["-I", "-P"]);
  expect(await working(bare)).toEqual(["-P"]);
  expect(existsSync(mark)).toBe(false);
});

test("sessions in the folder are found, and nothing in it is run", async () => {
  const repair = new Repair(async () => [bare, "-m", "stream_sidecar"]); // as a user may set it
  expect(await repair.agents([folder])).toBeInstanceOf(Array);
  expect(existsSync(mark)).toBe(false);
});
