// The program of the worker: Python as WebAssembly (Pyodide) with the sidecar. Each message
// (`WorkerStart`) brings a port that carries the bytes of the protocol, for a separate sidecar in
// the same interpreter; an empty message ends the input. The file imports nothing, so that a web
// page can serve it unchanged: `worker.js` of `@stream-sidecar/wasm`.
//
// If a snapshot of the interpreter's memory was made with this version of Pyodide, the interpreter
// continues from it, in a tenth of the time. Otherwise it starts, and imports the sidecar.

import type { Port, WorkerSays, WorkerStart } from "./messages.js";

interface Python {
  readonly FS: { writeFile(path: string, data: Uint8Array): void };
  runPython(code: string): unknown;
}

interface PythonModule {
  readonly HEAP8: Int8Array;
  growMemory(size: number): void;
}

interface Pyodide {
  readonly version: string;
  loadPyodide(options: object): Promise<Python>;
}

/** Pushes bytes; returns the sidecar's exit code after it has ended. */
type Push = (data: Uint8Array) => number | undefined;
type Begin = (say: (data: Uint8Array) => void, ask: () => Uint8Array, logLevel: string) => Push;

const CORE = "/stream-sidecar.zip";

/** Python and JavaScript pass bytes as copies: neither side sees the other's memory. */
const BEGIN = `
import sys
sys.path[:0] = [] if ${JSON.stringify(CORE)} in sys.path else [${JSON.stringify(CORE)}]

def begin(say, ask, log_level):
    from pyodide.ffi import to_js
    from stream_sidecar.worker import start

    worker = start(lambda data: say(to_js(data)), lambda: ask().to_bytes(), log_level)

    def push(data):
        worker.push(data.to_bytes()) if data.length else worker.close()
        return worker.exit_code

    return push

begin
`;

async function run({ port, pyodide, files, logLevel }: WorkerStart): Promise<void> {
  const say = (what: WorkerSays) => port.postMessage(what);
  const early: Uint8Array[] = [];
  port.onmessage = ({ data }) => void early.push(data as Uint8Array);
  try {
    logs.add((logged) => say({ logged }));
    loading ??= load(pyodide, files);
    const begin = (await loading) as Begin;
    const ask = await asker(port, (taken) => say({ taken }));
    const push = begin((said) => say({ said }), ask, logLevel);
    const receive = (data: Uint8Array) => {
      const exit = push(data);
      say({ taken: data.length });
      if (typeof exit === "number") say({ exit });
    };
    port.onmessage = ({ data }) => guarded(() => receive(data as Uint8Array), say);
    for (const data of early.splice(0)) receive(data);
  } catch (error) {
    say({ failed: String(error) });
  }
}

let loading: Promise<unknown> | undefined;
const logs = new Set<(text: string) => void>();

/** Runs `work`. An error that leaves the interpreter is a bug, and ends the worker as it would a process. */
function guarded(work: () => void, say: (what: WorkerSays) => void): void {
  try {
    work();
  } catch (error) {
    say({ failed: String(error) });
  }
}

/** Returns a function that reads waiting messages during a request; only Node.js can do this. */
async function asker(port: Port, taken: (size: number) => void): Promise<() => Uint8Array> {
  const nothing = new Uint8Array();
  if (!isNode()) return () => nothing;
  const { receiveMessageOnPort } = await import(/* webpackIgnore: true */ /* @vite-ignore */ THREADS);
  return () => {
    const data = (receiveMessageOnPort(port) as { message: Uint8Array } | undefined)?.message;
    if (data) taken(data.length);
    return data ?? nothing;
  };
}

async function load(place: string, files: string): Promise<unknown> {
  const pyodide = (await import(/* webpackIgnore: true */ /* @vite-ignore */ `${place}pyodide.mjs`)) as Pyodide;
  const core = read(`${files}core.zip`);
  const write = (line: string) => logs.forEach((log) => log(`${line}\n`));
  const options = { stdout: write, stderr: write, indexURL: await pathOf(place) };
  const snapshot = await snapshotOf(pyodide, files);
  const python = snapshot
    ? await resumed(pyodide, place, options, snapshot).catch(() => pyodide.loadPyodide(options))
    : await pyodide.loadPyodide(options);
  python.FS.writeFile(CORE, await core);
  return python.runPython(BEGIN);
}

/** The snapshot, if it was made with this version of Pyodide. */
async function snapshotOf({ version }: Pyodide, files: string): Promise<Uint8Array | undefined> {
  const made = JSON.parse(new TextDecoder().decode(await read(`${files}made.json`))) as { pyodide: string };
  if (made.pyodide !== version) return undefined;
  const packed = await read(`${files}snapshot.bin.gz`).catch(() => undefined);
  if (!packed) return undefined;
  const stream = new Blob([packed as never]).stream().pipeThrough(new DecompressionStream("gzip") as never);
  return new Uint8Array(await new Response(stream as never).arrayBuffer());
}

/** Resumes from the snapshot. The memory must first be as large as the snapshot. */
async function resumed(pyodide: Pyodide, place: string, options: object, snapshot: Uint8Array): Promise<Python> {
  const made = (await import(/* webpackIgnore: true */ /* @vite-ignore */ `${place}pyodide.asm.mjs`)) as {
    default: (settings: object) => Promise<PythonModule>;
  };
  const createPyodideModule = async (settings: object) => {
    const module = await made.default(settings);
    if (module.HEAP8.length < snapshot.length) module.growMemory(snapshot.length);
    return module;
  };
  return pyodide.loadPyodide({ ...options, _loadSnapshot: snapshot, createPyodideModule });
}

/** The path that Pyodide loads from. Without it, Pyodide parses a stack trace, which source maps change. */
async function pathOf(place: string): Promise<string> {
  if (!place.startsWith("file:")) return place;
  const { fileURLToPath } = await import(/* webpackIgnore: true */ /* @vite-ignore */ URLS);
  return fileURLToPath(place) as string;
}

async function read(url: string): Promise<Uint8Array> {
  if (url.startsWith("file:")) {
    const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ FILES);
    return readFile(new URL(url)) as Promise<Uint8Array>;
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}

function isNode(): boolean {
  return "process" in globalThis && process.versions?.node !== undefined;
}

// Typed as string, so that bundlers ignore them: they are imported only in Node.js.
const THREADS: string = "node:worker_threads";
const FILES: string = "node:fs/promises";
const URLS: string = "node:url";

async function main(): Promise<void> {
  const scope = globalThis as unknown as { onmessage: ((event: { data: WorkerStart }) => void) | null };
  const { parentPort } = isNode() ? await import(/* webpackIgnore: true */ /* @vite-ignore */ THREADS) : {};
  if (parentPort) parentPort.on("message", (start: WorkerStart) => void run(start));
  else scope.onmessage = ({ data }) => void run(data);
}

void main();
