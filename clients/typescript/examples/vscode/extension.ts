// A command that asks a model about the selection and shows the clean answer as it arrives. The
// sidecar starts with the first question and ends with the window; it is the extension's own
// sidecar if the extension includes one.

import { existsSync } from "node:fs";
import { Sidecar } from "stream-sidecar";
import * as vscode from "vscode";

export function activate(context: vscode.ExtensionContext): void {
  const settings = vscode.workspace.getConfiguration("streamSidecar");
  const bundled = context.asAbsolutePath("bundled/stream-sidecar.pyz");
  const python = settings.get<string>("python") || (process.platform === "win32" ? "python" : "python3");
  const own = existsSync(bundled) ? { command: [python, "-I", bundled, "--stdio"] } : {};
  const sidecar = Sidecar.create({ ...own, passThrough: true });
  const output = vscode.window.createOutputChannel("Answer");

  async function ask({ document, selection }: vscode.TextEditor): Promise<void> {
    const model = settings.get<string>("model", "");
    const messages = [{ role: "user", content: document.getText(selection) }];
    const response = await fetch(settings.get<string>("url", ""), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model, stream: true, messages }),
    });
    output.show(true);
    await using stream = await sidecar.openStream({ wire: "openai-chat", model });
    const { ok, status, headers } = response;
    if (ok) {
      for await (const event of stream.pipe(response.body ?? [])) {
        if (event.type === "text-delta") output.append(event.text);
      }
    }
    const closed = await stream.close(ok ? {} : { error: { status, headers, body: await response.text() } });
    for (const error of closed.message.errors ?? []) void vscode.window.showErrorMessage(error.message);
  }

  const command = vscode.commands.registerTextEditorCommand("streamSidecar.ask", ask);
  context.subscriptions.push(command, output, { dispose: () => sidecar.shutdown() });
}
