// The program of the worker: Python as WebAssembly (Pyodide) with the sidecar, which serves
// the language server and explains streams. The worker has no network: everything that
// Pyodide fetches is one of the files in the first message.

import "./classic.js";
import { loadPyodide, version, type PyodideInterface } from "pyodide";
import createModule from "pyodide/pyodide.asm.mjs";
import { frameOf, FrameReader } from "../../../typescript/src/connection/frames.js";
import type { ExplainRequest, WorkerSays, WorkerStart } from "./messages.js";

const CORE = "/stream-sidecar.zip";
const NOWHERE = "https://stream-sidecar.invalid/";

/** Python and JavaScript pass bytes as copies: neither side sees the other's memory. */
const PROGRAM = `
import sys
sys.path[:0] = [] if "${CORE}" in sys.path else ["${CORE}"]

def begin(say, log_level):
    from pyodide.ffi import to_js
    from stream_sidecar.worker import start

    worker = start(lambda data: say(to_js(data)), lambda: b"", log_level)

    def push(data):
        worker.push(data.to_bytes())
        return worker.exit_code

    return push

def explained(name, data):
    from stream_sidecar.explain.page import page
    from stream_sidecar.explain.source import is_transcript, recorded
    from stream_sidecar.explain.stored import explain_file
    from stream_sidecar.explain.explaining import explain
    from stream_sidecar.options import StreamOptions

    data = data.to_bytes()
    sources = recorded(name, data) if is_transcript(data) else {}
    if sources:
        return page(explain(next(iter(sources.values()))))
    return page(explain_file(name, data, StreamOptions()))

(begin, explained)
`;

type Push = (data: Uint8Array) => number | undefined;
type Begin = (say: (data: Uint8Array) => void, logLevel: string) => Push;
type Explained = (name: string, data: Uint8Array) => string;

interface Memory {
  readonly HEAP8: Int8Array;
  growMemory(size: number): void;
}

const say = (what: WorkerSays) => postMessage(what);

self.onmessage = ({ data }: MessageEvent<WorkerStart>) => {
  run(data).catch((error: unknown) => say({ failed: String(error) }));
};

async function run({ port, files, logLevel }: WorkerStart): Promise<void> {
  globalThis.fetch = async (asked) => fileOf(String(asked), files);
  const python = await loaded(files);
  python.FS.writeFile(CORE, files["core.zip"]);
  const [begin, explained] = python.runPython(PROGRAM).toJs({ depth: 1 }) as [Begin, Explained];
  serve(port, begin, logLevel);
  self.onmessage = ({ data }: MessageEvent<ExplainRequest>) => explain(explained, data);
  say({ ready: true });
}

/** The interpreter, from the snapshot if the snapshot was made with this version of Pyodide. */
async function loaded(files: WorkerStart["files"]): Promise<PyodideInterface> {
  const log = (line: string) => say({ logged: line });
  const options = { indexURL: NOWHERE, stdout: log, stderr: log, createPyodideModule: createModule };
  const made = JSON.parse(new TextDecoder().decode(files["made.json"])) as { pyodide: string };
  if (made.pyodide !== version) return loadPyodide(options);
  const snapshot = await unpacked(files["snapshot.bin.gz"] ?? new Uint8Array());
  const createPyodideModule = async (settings: object) => {
    const module = (await createModule(settings)) as Memory;
    if (module.HEAP8.length < snapshot.length) module.growMemory(snapshot.length);
    return module;
  };
  return loadPyodide({ ...options, createPyodideModule, _loadSnapshot: snapshot } as object);
}

async function unpacked(packed: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([packed as never]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function fileOf(url: string, files: WorkerStart["files"]): Response {
  const name = url.slice(url.lastIndexOf("/") + 1);
  const data = files[name];
  if (!url.startsWith(NOWHERE) || data === undefined)
    throw new TypeError(`cannot fetch ${url}: the worker has no network`);
  const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
  return new Response(data as never, { headers: { "content-type": type } });
}

/** Connects the language server: the port carries objects, the sidecar reads and writes frames. */
function serve(port: MessagePort, begin: Begin, logLevel: string): void {
  const reader = new FrameReader();
  const push = begin((data) => {
    for (const message of reader.push(data)) port.postMessage(message);
  }, logLevel);
  port.onmessage = ({ data }: MessageEvent<object>) => {
    if (typeof push(frameOf(data)) === "number") self.close();
  };
}

function explain(explained: Explained, { id, name, data }: ExplainRequest): void {
  try {
    say({ id, page: explained(name, data) });
  } catch (error) {
    say({ id, problem: String(error).trim().split("\n").at(-1) ?? "" });
  }
}
