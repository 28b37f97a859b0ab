// The worker with the sidecar, as the window sees it.

import * as vscode from "vscode";
import { FILES, type ExplainRequest, type WorkerSays, type WorkerStart } from "./messages.js";

interface Waiting {
  resolve(page: string): void;
  reject(error: Error): void;
}

export class WorkerSidecar {
  readonly #worker: Worker;
  /** The end of the language server's channel that is the window's. */
  readonly port: MessagePort;
  readonly #waiting = new Map<number, Waiting>();
  readonly #output: vscode.LogOutputChannel;
  #lastId = 0;

  private constructor(worker: Worker, port: MessagePort, output: vscode.LogOutputChannel) {
    this.#worker = worker;
    this.port = port;
    this.#output = output;
  }

  /** Rejects where the extension came without the files of the sidecar, or they do not work here. */
  static async start(context: vscode.ExtensionContext, output: vscode.LogOutputChannel, logLevel: string) {
    const script = await read(context, "dist", "worker.js");
    const files = Object.fromEntries(
      await Promise.all(FILES.map(async (name) => [name, await read(context, "bundled", "wasm", name)] as const)),
    );
    // A worker made from the extension's own address is refused where that is another server's.
    const url = URL.createObjectURL(new Blob([script as never], { type: "text/javascript" }));
    const worker = new Worker(url);
    const { port1, port2 } = new MessageChannel();
    const sidecar = new WorkerSidecar(worker, port1, output);
    const begun = sidecar.#listen();
    const start: WorkerStart = { port: port2, files, logLevel };
    worker.postMessage(start, [port2, ...Object.values(files).map(({ buffer }) => buffer as ArrayBuffer)]);
    await begun.finally(() => URL.revokeObjectURL(url));
    return sidecar;
  }

  /** The page that explains a stream. */
  explain(name: string, data: Uint8Array): Promise<string> {
    const request: ExplainRequest = { id: ++this.#lastId, name, data };
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, { resolve, reject });
      this.#worker.postMessage(request);
    });
  }

  dispose(): void {
    this.#worker.terminate();
    for (const { reject } of this.#waiting.values()) reject(new Error("the sidecar was ended"));
    this.#waiting.clear();
  }

  /** Resolves when the sidecar is there. */
  #listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#worker.onerror = ({ message }) => reject(new Error(message || "the worker cannot be loaded"));
      this.#worker.onmessage = ({ data }: MessageEvent<WorkerSays>) => {
        if ("ready" in data) resolve();
        else if ("failed" in data) reject(new Error(data.failed));
        else if ("logged" in data) this.#output.info(data.logged);
        else this.#answer(data);
      };
    });
  }

  #answer(says: { id: number } & ({ page: string } | { problem: string })): void {
    const waiting = this.#waiting.get(says.id);
    this.#waiting.delete(says.id);
    if ("page" in says) waiting?.resolve(says.page);
    else waiting?.reject(new Error(says.problem));
  }
}

/** A copy, whose memory can be handed over to the worker. */
async function read(context: vscode.ExtensionContext, ...names: string[]): Promise<Uint8Array> {
  try {
    return (await vscode.workspace.fs.readFile(vscode.Uri.joinPath(context.extensionUri, ...names))).slice();
  } catch (cause) {
    throw new Error(`This package of the extension has no sidecar for browsers (${names.join("/")}).`, { cause });
  }
}
