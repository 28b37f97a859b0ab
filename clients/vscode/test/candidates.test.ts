// Where the extension looks for the sidecar, and in which order.

import { expect, test } from "vitest";
import { candidates, type Choice, type Surroundings } from "../src/candidates.js";

const NOTHING: Choice = { command: [], python: "", chosenPython: undefined, bundled: "/x/bundled" };
const BINARY = "/x/bundled/stream-sidecar/stream-sidecar";
const ARCHIVE = "/x/bundled/stream-sidecar.pyz";

const served = (python: string) => ["-I", "-P"].map((alone) => `${python} ${alone} -m stream_sidecar`);

function found(choice: Partial<Choice>, files: string[], more: Partial<Surroundings> = {}): string[] {
  const surroundings = {
    env: { PATH: "/a::.:bin:/b" },
    platform: "linux",
    exists: (file: string) => files.includes(file),
  };
  return candidates({ ...NOTHING, ...choice }, { ...surroundings, ...more }).map((words) => words.join(" "));
}

test("a command that the user set is the only candidate", () => {
  expect(found({ command: ["/my", "sidecar"], python: "/py" }, [BINARY])).toEqual(["/my sidecar"]);
});

test("a bare name is looked up on PATH only", () => {
  expect(found({ command: ["sidecar", "-v"] }, ["/b/sidecar"])).toEqual(["/b/sidecar -v"]);
  expect(found({ command: ["./sidecar"] }, ["/a/./sidecar"])).toEqual(["./sidecar"]);
});

test("the included sidecar comes first, then installed ones", () => {
  const files = [BINARY, "/a/stream-sidecar", "/b/python3"];
  expect(found({}, files)).toEqual([BINARY, "/a/stream-sidecar", ...served("/b/python3")]);
});

test("an included archive runs on each Python", () => {
  const chosen = { chosenPython: "/venv/python" };
  expect(found(chosen, [ARCHIVE, "/b/python3"])).toEqual([
    `/venv/python -I ${ARCHIVE}`,
    `/b/python3 -I ${ARCHIVE}`,
    ...served("/venv/python"),
    ...served("/b/python3"),
  ]);
});

test("a Python that the user set is the only Python", () => {
  const files = [BINARY, ARCHIVE, "/a/stream-sidecar", "/a/python3"];
  expect(found({ python: "/py" }, files)).toEqual([`/py -I ${ARCHIVE}`, ...served("/py")]);
});

test("on Windows programs end with .exe", () => {
  const windows = { env: { Path: "C:/a;C:/b" }, platform: "win32" };
  const files = ["C:/b/stream-sidecar.exe", "C:/a/stream-sidecar"];
  expect(found({}, files, windows)).toEqual(["C:/b/stream-sidecar.exe"]);
  expect(found({}, ["C:/a/py.exe"], windows)).toEqual(served("C:/a/py.exe -3"));
});

test("nothing is started from the open folder", () => {
  expect(found({}, ["python3", "./python3", "bin/python3", "stream-sidecar"])).toEqual([]);
});

test("no files, no candidates", () => {
  expect(found({}, [])).toEqual([]);
});

test("a batch file of Windows is a program, a stub of macOS is not", () => {
  const windows = { platform: "win32", env: { PATH: "/a" } };
  expect(found({}, ["/a/python.bat"], windows)).toEqual([
    "/a/python.bat -I -m stream_sidecar",
    "/a/python.bat -P -m stream_sidecar",
  ]);
  expect(found({}, ["/usr/bin/python3"], { platform: "darwin", env: { PATH: "/usr/bin" } })).toEqual([]);
});
