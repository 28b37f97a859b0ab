// Opens the worker that runs the sidecar in a VS Code with processes.

import { Worker } from "node:worker_threads";
import type * as vscode from "vscode";
import type { SomeWorker } from "./worker-sidecar.js";

export async function openInNode(context: vscode.ExtensionContext): Promise<SomeWorker> {
  const worker = new Worker(context.asAbsolutePath("dist/node-worker.js"));
  return {
    postMessage: (message, transfer) => worker.postMessage(message, transfer),
    terminate: () => worker.terminate(),
    listen(onMessage, onError) {
      worker.on("message", onMessage);
      worker.on("error", (error) => onError(String(error)));
    },
  };
}
