// The extension where there are no processes: VS Code in a browser, without a server. The
// sidecar runs in a worker, as WebAssembly. What needs processes and files of a machine is
// hidden by the context key `streamSidecar.inBrowser`.

import * as vscode from "vscode";
import { BrowserMessageReader, BrowserMessageWriter, LanguageClient } from "vscode-languageclient/browser";
import { clientOptions } from "../documents.js";
import { Explainer } from "../explain.js";
import { beginWindow } from "../window.js";
import { settings } from "../settings.js";
import { WorkerSidecar } from "./worker-sidecar.js";

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  await vscode.commands.executeCommand("setContext", "streamSidecar.inBrowser", true);
  let sidecar: Promise<WorkerSidecar> | undefined;
  const end = async () => {
    const last = await sidecar?.catch(() => undefined);
    last?.dispose();
  };

  const server = beginWindow(context, async (output) => {
    await end();
    sidecar = WorkerSidecar.start(context, output, settings().logLevel);
    const { port } = await sidecar;
    output.info("stream-sidecar: in a worker, as WebAssembly");
    const transports = { reader: new BrowserMessageReader(port), writer: new BrowserMessageWriter(port) };
    return new LanguageClient("streamSidecar", "Stream Sidecar", async () => transports, clientOptions(output));
  });
  const explained = async (uri: vscode.Uri, name: string) => {
    await server.client();
    if (sidecar === undefined) throw new Error("There is no sidecar.");
    return (await sidecar).explain(name, await contentOf(uri));
  };
  context.subscriptions.push(new Explainer(explained), { dispose: end });
}

/** What the editor holds, else the file. */
async function contentOf(uri: vscode.Uri): Promise<Uint8Array> {
  const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
  return document?.isDirty ? new TextEncoder().encode(document.getText()) : vscode.workspace.fs.readFile(uri);
}
