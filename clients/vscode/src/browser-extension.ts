// The extension in a VS Code without processes: in a browser, without a server. The sidecar
// runs in a worker, as WebAssembly. The context key `streamSidecar.inBrowser` hides
// everything that needs processes or files of a machine.

import * as vscode from "vscode";
import { BrowserMessageReader, BrowserMessageWriter, LanguageClient } from "vscode-languageclient/browser";
import { clientOptions } from "./documents.js";
import { Explainer } from "./explain.js";
import type { WorkerSays } from "./wasm/messages.js";
import { read, WorkerSidecars, type SomeWorker } from "./wasm/worker-sidecar.js";
import { beginWindow } from "./window.js";

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  await vscode.commands.executeCommand("setContext", "streamSidecar.inBrowser", true);
  const sidecars = new WorkerSidecars(context, openWorker);
  beginWindow(context, async (output) => {
    const port = await sidecars.start(output);
    const transports = { reader: new BrowserMessageReader(port), writer: new BrowserMessageWriter(port) };
    return new LanguageClient("streamSidecar", "Stream Sidecar", async () => transports, clientOptions(output));
  });
  context.subscriptions.push(sidecars, new Explainer(sidecars.explained));
}

/** Browsers refuse a worker whose address is on another server than the page, so its code becomes a Blob. */
async function openWorker(context: vscode.ExtensionContext): Promise<SomeWorker> {
  const script = new Blob([(await read(context, "dist", "worker.js")) as never], { type: "text/javascript" });
  const worker = new Worker(URL.createObjectURL(script));
  return {
    postMessage: (message, transfer) => worker.postMessage(message, [...transfer]),
    terminate: () => worker.terminate(),
    listen(onMessage, onError) {
      worker.onerror = ({ message }) => onError(message || "the worker cannot be loaded");
      worker.onmessage = ({ data }: MessageEvent<WorkerSays>) => onMessage(data);
    },
  };
}
