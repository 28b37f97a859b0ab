// The window's side of the worker that runs the sidecar. It is used in a browser, and if a
// machine has neither a sidecar nor a Python.

import * as vscode from "vscode";
import type { MakePage } from "../explain.js";
import { settings } from "../settings.js";
import { FILES, type ExplainRequest, type WorkerSays, type WorkerStart } from "./messages.js";

interface Waiting {
  resolve(page: string): void;
  reject(error: Error): void;
}

/** A worker of a browser or of Node.js. */
export interface SomeWorker {
  postMessage(message: unknown, transfer: readonly never[]): void;
  terminate(): unknown;
  listen(onMessage: (says: WorkerSays) => void, onError: (message: string) => void): void;
}

export type OpenWorker = (context: vscode.ExtensionContext) => Promise<SomeWorker>;

/** The worker of this window: at most one at a time. */
export class WorkerSidecars implements vscode.Disposable {
  readonly #context: vscode.ExtensionContext;
  readonly #open: OpenWorker;
  #sidecar: Promise<WorkerSidecar> | undefined;
  #isRunning = false;

  constructor(context: vscode.ExtensionContext, open: OpenWorker) {
    this.#context = context;
    this.#open = open;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Returns the port of the language server. Rejects if the extension includes no sidecar, or if it does not start. */
  async start(output: vscode.LogOutputChannel): Promise<MessagePort> {
    await this.dispose();
    this.#sidecar = WorkerSidecar.start(this.#context, this.#open, output);
    const { port } = await this.#sidecar;
    this.#isRunning = true;
    output.info("stream-sidecar: in a worker, as WebAssembly");
    return port;
  }

  readonly explained: MakePage = async (uri, name) => {
    if (this.#sidecar === undefined) throw new Error("No sidecar is running.");
    return (await this.#sidecar).explain(name, await contentOf(uri));
  };

  async dispose(): Promise<void> {
    const last = this.#sidecar;
    this.#sidecar = undefined;
    this.#isRunning = false;
    (await last?.catch(() => undefined))?.dispose();
  }
}

/** The unsaved text of the editor, or else the file. */
async function contentOf(uri: vscode.Uri): Promise<Uint8Array> {
  const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
  return document?.isDirty ? new TextEncoder().encode(document.getText()) : vscode.workspace.fs.readFile(uri);
}

class WorkerSidecar {
  readonly #worker: SomeWorker;
  /** The window's end of the language server's channel. */
  readonly port: MessagePort;
  readonly #waiting = new Map<number, Waiting>();
  readonly #output: vscode.LogOutputChannel;
  #lastId = 0;

  private constructor(worker: SomeWorker, port: MessagePort, output: vscode.LogOutputChannel) {
    this.#worker = worker;
    this.port = port;
    this.#output = output;
  }

  static async start(context: vscode.ExtensionContext, open: OpenWorker, output: vscode.LogOutputChannel) {
    const files = Object.fromEntries(
      await Promise.all(FILES.map(async (name) => [name, await read(context, "bundled", "wasm", name)] as const)),
    );
    const worker = await open(context);
    const { port1, port2 } = new MessageChannel();
    const sidecar = new WorkerSidecar(worker, port1, output);
    const begun = sidecar.#listen();
    const start: WorkerStart = { port: port2, files, logLevel: settings().logLevel };
    worker.postMessage(start, [port2, ...Object.values(files).map(({ buffer }) => buffer)] as never[]);
    await begun;
    return sidecar;
  }

  /** Returns the page that explains a stream. */
  explain(name: string, data: Uint8Array): Promise<string> {
    const request: ExplainRequest = { id: ++this.#lastId, name, data };
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, { resolve, reject });
      this.#worker.postMessage(request, []);
    });
  }

  dispose(): void {
    this.#worker.terminate();
    for (const { reject } of this.#waiting.values()) reject(new Error("the sidecar was stopped"));
    this.#waiting.clear();
  }

  /** Resolves when the sidecar is ready. */
  #listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      const receive = (says: WorkerSays) => {
        if ("ready" in says) resolve();
        else if ("failed" in says) reject(new Error(says.failed));
        else if ("logged" in says) this.#output.info(says.logged);
        else this.#answer(says);
      };
      this.#worker.listen(receive, (message) => reject(new Error(message)));
    });
  }

  #answer(says: { id: number } & ({ page: string } | { problem: string })): void {
    const waiting = this.#waiting.get(says.id);
    this.#waiting.delete(says.id);
    if ("page" in says) waiting?.resolve(says.page);
    else waiting?.reject(new Error(says.problem));
  }
}

/** A copy of a file of the extension; its memory can be transferred to the worker. */
export async function read(context: vscode.ExtensionContext, ...names: string[]): Promise<Uint8Array> {
  try {
    return (await vscode.workspace.fs.readFile(vscode.Uri.joinPath(context.extensionUri, ...names))).slice();
  } catch (cause) {
    throw new Error(`This package of the extension includes no sidecar (${names.join("/")}).`, { cause });
  }
}
