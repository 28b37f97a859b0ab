// A command that asks a model about the selection and shows the clean answer as it comes.
// The sidecar starts with the first question, and ends with the window.

import { Sidecar } from "stream-sidecar";
import * as vscode from "vscode";

export function activate(context: vscode.ExtensionContext): void {
  const settings = () => vscode.workspace.getConfiguration("streamSidecar");
  const python = settings().get<string>("python");
  const sidecar = Sidecar.create({ ...(python ? { python } : {}), passThrough: true });
  const output = vscode.window.createOutputChannel("Answer");

  async function ask(progress: vscode.Progress<{ message: string }>, token: vscode.CancellationToken): Promise<void> {
    const controller = new AbortController();
    token.onCancellationRequested(() => controller.abort());
    const model = settings().get<string>("model", "");
    const content = vscode.window.activeTextEditor?.document.getText(vscode.window.activeTextEditor.selection) ?? "";
    const body = JSON.stringify({ model, stream: true, messages: [{ role: "user", content }] });
    const request = { method: "POST", headers: { "content-type": "application/json" }, body, signal: controller.signal };
    const response = await fetch(settings().get<string>("url", ""), request);
    await using stream = await sidecar.openStream({ model }, { signal: controller.signal });
    for await (const event of stream.pipe(response.body ?? [])) {
      if (event.type === "text-delta") output.append(event.text);
      if (event.type === "reasoning-delta") progress.report({ message: "thinking" });
      if (event.type === "error") void vscode.window.showErrorMessage(event.message);
    }
  }

  const options = { location: vscode.ProgressLocation.Notification, title: "Asking", cancellable: true };
  const command = () => (output.show(true), vscode.window.withProgress(options, ask));
  context.subscriptions.push(output, { dispose: () => sidecar.shutdown() }, vscode.commands.registerCommand("streamSidecar.ask", command));
}
