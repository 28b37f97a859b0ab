// Modules that need no process.

import { PassThrough } from "node:stream";
import { delimiter, dirname } from "node:path";
import { expect, test } from "vitest";
import { askedOf } from "../src/adapters/endpoints.js";
import { childEnvironment, fromHere, ownFolder } from "../src/process/child-place.js";
import { FrameReader, NoFrame } from "../src/connection/frames.js";
import { Gate } from "../src/connection/gate.js";
import { LeadingNoise } from "../src/process/leading-noise.js";
import { described, ways, type Surroundings } from "../src/process/locate.js";
import { QueueFull, Sidecar } from "../src/index.js";
import { startable } from "../src/process/programs.js";
import { Restarts } from "../src/connection/restarts.js";
import { StderrTail } from "../src/process/stderr-tail.js";

function place(files: string[], env: Record<string, string> = {}, platform = "linux"): Surroundings {
  const exists = (file: string) => files.includes(file);
  const resolve = (name: string) => files.find((file) => file.endsWith(`node_modules/${name}`));
  return {
    env: { PATH: ["/a", "", ".", "bin", "/b"].join(delimiter), ...env },
    platform,
    arch: "x64",
    exists,
    resolve,
  };
}

const served = (...python: string[]) =>
  ["-I", "-P"].map((alone) => [...python, alone, "-m", "stream_sidecar", "--stdio"]);

test.for([
  ["nothing", {}, place([]), []],
  ["a command", { command: "/x y/sc" }, place(["/a/stream-sidecar"]), [["/x y/sc", "--stdio"]]],
  ["a command line", { command: ["sc", "serve"] }, place([]), [["sc", "serve"]]],
  ["the environment", {}, place([], { STREAM_SIDECAR: "'/x y/sc' -v \"a b\"" }), [["/x y/sc", "-v", "a b", "--stdio"]]],
  ["a file with blanks", {}, place(["/x y/sc"], { STREAM_SIDECAR: "/x y/sc" }), [["/x y/sc", "--stdio"]]],
  ["an interpreter", { python: "/p" }, place(["/a/stream-sidecar"]), served("/p")],
  [
    "PATH",
    {},
    place(["/b/stream-sidecar", "/a/uvx", "/a/pipx", "/b/python3", "/a/python"]),
    [
      ["/b/stream-sidecar", "--stdio"],
      ...served("/b/python3"),
      ...served("/a/python"),
      ["/a/uvx", "--offline", "stream-sidecar", "--stdio"],
    ],
  ],
  ["the folder that is worked in", {}, place(["python3", "./python3", "bin/python3", "stream-sidecar"]), []],
  [
    "the index",
    { allowDownload: true },
    place(["/a/uvx", "/a/pipx"]),
    [
      ["/a/uvx", "stream-sidecar", "--stdio"],
      ["/a/pipx", "run", "stream-sidecar", "--stdio"],
    ],
  ],
  [
    "Windows",
    {},
    place(["/a/stream-sidecar.exe", "/a/python3", "/b/py.exe"], {}, "win32"),
    [["/a/stream-sidecar.exe", "--stdio"], ...served("/b/py.exe", "-3")],
  ],
  [
    "batch files",
    {},
    place(["/a/python.bat", "/b/python.exe", "/b/uvx.cmd"], {}, "win32"),
    [...served("/a/python.bat"), ["/b/uvx.cmd", "--offline", "stream-sidecar", "--stdio"]],
  ],
  [
    "the stub of macOS",
    {},
    place(["/usr/bin/python3", "/b/python3"], { PATH: ["/usr/bin", "/b"].join(delimiter) }, "darwin"),
    served("/b/python3"),
  ],
] as const)("where it is looked for: %s", ([, choice, surroundings, expected]) => {
  expect(ways(choice, surroundings).map(({ command }) => command)).toEqual(expected);
});

test("the shell starts a batch file, and passes its words on", () => {
  const windows = { platform: "win32", env: { ComSpec: "C:\\cmd.exe" } } as unknown as NodeJS.Process;
  expect(startable(["C:\\a b\\s.cmd", 'say "%x%"', "tail\\"], windows)).toEqual({
    file: "C:\\cmd.exe",
    args: ["/d", "/s", "/c", '"^"C:\\a^ b\\s.cmd^" ^"say^ \\^"^%x^%\\^"^" ^"tail\\\\^""'],
    windowsVerbatimArguments: true,
  });
  expect(startable(["s.exe", "a b"], windows)).toEqual({ file: "s.exe", args: ["a b"] });
  expect(startable(["s.cmd"])).toEqual({ file: "s.cmd", args: [] });
});

test("the ways are tried, and listed, in one order", () => {
  const package_ = "/n/node_modules/@stream-sidecar/linux-x64";
  const program = `${package_}/stream-sidecar/stream-sidecar`;
  const surroundings = place(
    [`${package_}/package.json`, program, "/a/python3", "/a/uvx", "/n/node_modules/@stream-sidecar/wasm/package.json"],
    {},
    "linux",
  );
  expect(ways({}, surroundings)).toEqual([
    { name: "package", command: [program, "--stdio"] },
    ...served("/a/python3").map((command) => ({ name: "python", command })),
    { name: "index", command: ["/a/uvx", "--offline", "stream-sidecar", "--stdio"] },
    { name: "webassembly", files: "/n/node_modules/@stream-sidecar/wasm" },
  ]);
  expect(ways({ allowWebAssembly: false }, place(["/n/node_modules/@stream-sidecar/wasm/package.json"]))).toEqual([]);
  expect(described(ways({}, surroundings)).split("\n")).toEqual([
    "host: not found (the options command and python, and STREAM_SIDECAR)",
    `package: ${program} --stdio`,
    "path: not found (stream-sidecar on PATH)",
    "python: /a/python3 -I -m stream_sidecar --stdio, or /a/python3 -P -m stream_sidecar --stdio",
    "index: /a/uvx --offline stream-sidecar --stdio",
    "webassembly: /n/node_modules/@stream-sidecar/wasm",
  ]);
  expect(String(Sidecar.locate({ command: "/x" }))).toMatch(/^host: \/x --stdio\npackage: not found/);
});

test("of the environment nothing leads a Python into the folder that is worked in", () => {
  const relative = ["", "/a", ".", "b", "/c d", ""].join(delimiter);
  const inherited = { PYTHONHOME: "/h", pythonhome: "/h", PYTHONPATH: relative, PATH: "/bin", PYTHONUTF8: "1" };
  expect(childEnvironment(inherited)).toEqual({
    PYTHONPATH: ["/a", "/c d"].join(delimiter),
    PATH: "/bin",
    PYTHONUTF8: "1",
  });
  expect(childEnvironment(inherited, { PYTHONHOME: "/mine", PYTHONPATH: `/x${delimiter}` })).toEqual({
    PYTHONHOME: "/mine",
    PYTHONPATH: "/x",
    PATH: "/bin",
    PYTHONUTF8: "1",
  });
  expect(ownFolder()).toBe(dirname(process.execPath));
});

test("a program is the one that its path means here", () => {
  expect(["sc", "/x/sc"].map(fromHere)).toEqual(["sc", "/x/sc"]);
  expect(fromHere("./sc")).toBe(`${process.cwd()}/sc`);
});

test("restarts wait longer each time, and are not too many", async () => {
  const clock = {
    time: 0,
    now: () => clock.time,
    after: (ms: number, work: () => void) => {
      clock.time += ms;
      work();
      return () => {};
    },
  };
  const restarts = new Restarts({ max: 4, windowMs: 180_000, delayMs: 100 }, clock);
  const tried: number[] = [];
  for (let count = 0; count < 5; count++) {
    expect(await restarts.ready()).toBe(true);
    tried.push(clock.time);
    restarts.failed();
  }
  expect(tried).toEqual([0, 100, 300, 700, 1_500]);
  expect(await restarts.ready()).toBe(178_500);
  restarts.reset();
  expect([await restarts.ready(), clock.time]).toEqual([true, 1_500]);
  for (let count = 0; count < 5; count++) restarts.failed();
  clock.time = 181_500;
  expect(await restarts.ready()).toBe(true);
});

test("the tail of standard error", async () => {
  const stream = new PassThrough();
  const tail = new StderrTail(stream, 10);
  for (const piece of ["a".repeat(25), "bcd", "€", "efghijk"]) {
    stream.write(piece);
    await new Promise(setImmediate);
    expect(Buffer.byteLength(tail.toString())).toBeLessThanOrEqual(12);
  }
  expect(tail.toString()).toBe("€efghijk");
});

test("the gate limits bytes, and larger work enters alone", async () => {
  const gate = new Gate({ maxConcurrentRequests: 9, maxConcurrentBytes: 100, maxQueuedRequests: 3 });
  const inside = new Set<number>();
  const leave = new Map<number, () => void>();
  const enter = (number: number, bytes: number, isPatient = false) =>
    gate.run(
      () => {
        inside.add(number);
        return new Promise<void>((resolve) => leave.set(number, () => (inside.delete(number), resolve())));
      },
      { bytes, isPatient },
    );
  const works = [enter(1, 60), enter(2, 50), enter(3, 1), enter(4, 1_000)];
  await expect(enter(5, 1)).rejects.toThrow(QueueFull);
  works.push(enter(6, 1, true)); // however many wait
  expect([...inside]).toEqual([1]);
  for (const [number, next] of [
    [1, [2, 3]],
    [2, [3]],
    [3, [4]],
    [4, [6]],
    [6, []],
  ] as const) {
    leave.get(number)?.();
    await new Promise(setImmediate);
    expect([...inside], `behind ${number}`).toEqual(next);
  }
  await Promise.all(works);
});

test("the gate lets in so many at once, in order", async () => {
  const gate = new Gate({ maxConcurrentRequests: 2, maxConcurrentBytes: 100, maxQueuedRequests: 100 });
  const order: number[] = [];
  let inside = 0;
  let most = 0;
  const work = async (number: number) => {
    order.push(number);
    most = Math.max(most, (inside += 1));
    await new Promise(setImmediate);
    inside -= 1;
    if (number % 3 === 0) throw new Error("one that fails leaves its place, too");
  };
  const numbers = Array.from({ length: 20 }, (_, number) => number);
  const enter = (some: number[]) => some.map((number) => gate.run(() => work(number)));
  const early = Promise.allSettled(enter(numbers.slice(0, 10)));
  await new Promise(setImmediate); // some have left already
  await new Promise(setImmediate);
  await Promise.all([early, Promise.allSettled(enter(numbers.slice(10)))]);
  expect([order, most]).toEqual([numbers, 2]);
});

/** The rest of `text` (pushed in pieces of `size`), and the bytes that were skipped as noise. */
function withoutNoise(text: string, size: number): readonly [string, string] {
  const told: Uint8Array[] = [];
  const noise = new LeadingNoise((data) => told.push(data));
  const data = Buffer.from(text);
  const left = Array.from({ length: Math.ceil(data.length / size) }, (_, at) =>
    noise.push(data.subarray(at * size, (at + 1) * size)),
  );
  return [Buffer.concat(left).toString(), Buffer.concat(told).toString()];
}

test.for([
  ["nothing", ""],
  ["a line", "Loading the model ...\n"],
  ["no line break", "Größe: content, Content-Length: Content-Le"],
  ["a header of something else", "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n"],
] as const)("before the first frame: %s", ([, before]) => {
  const frames = "content-length: 2\r\n\r\n{}and Content-Length: 2\r\n\r\n{}";
  for (let size = 1; size <= before.length + 30; size++) {
    expect(withoutNoise(before + frames, size)).toEqual([frames, before]);
  }
});

test("noise is reported as it arrives, up to a limit", () => {
  expect(withoutNoise("Loading", 3)).toEqual(["", "Loading"]);
  const [left, told] = withoutNoise("y".repeat(200_000), 10_000);
  expect([told.length, left.length]).toEqual([60_000, 140_000]);
});

test("a model's name may have percent signs", () => {
  const asked = (path: string, body: object) => askedOf("POST", new URL(path, "http://x"), JSON.stringify(body))?.model;
  for (const model of ["100%", "a%20b", "%zz"]) expect(asked("/v1/chat/completions", { model })).toBe(model);
  expect(asked("/v1/models/a%20b:generateContent", {})).toBe("a b");
  expect(asked("/v1/models/100%:generateContent", {})).toBe("100%");
});

const TWO = "Content-Length: 2\r\n\r\n{}content-type: x\r\ncontent-length:  3 \r\n\r\n[1]";

function messagesOf(text: string, size: number): unknown[] {
  const reader = new FrameReader();
  const data = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(data.length / size) }, (_, at) =>
    data.subarray(at * size, (at + 1) * size),
  );
  return pieces.flatMap((piece) => [...reader.push(piece)]);
}

test("frames cut anywhere are frames", () => {
  for (let size = 1; size <= TWO.length; size++) {
    expect(messagesOf(TWO.repeat(2), size)).toEqual([{}, [1], {}, [1]]);
  }
});

test.for([
  ["a word", "Loading model"],
  ["a line", "\r\n"],
  ["no length", "X: 1\r\n\r\n"],
  ["nothing", "Content-Length: 0\r\n\r\n"],
  ["no JSON", "Content-Length: 2\r\n\r\n{]"],
  ["no UTF-8", 'Content-Length: 3\r\n\r\n"\ud800"'],
  ["a length that is none", "Content-Length: -1\r\n\r\n"],
  ["too large a length", "Content-Length: 9999999999\r\n\r\n"],
  ["a header without end", `X: ${"y".repeat(2_000)}`],
  ["a wrong length", "Content-Length: 1\r\n\r\n{}Content-Length: 2\r\n\r\n{}"],
] as const)("no frame: %s", ([, text]) => {
  for (const size of [1, 7, 5_000]) expect(() => messagesOf(TWO + text, size)).toThrow(NoFrame);
});
