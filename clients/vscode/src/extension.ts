// The extension where there are processes: VS Code on the desktop, over a remote
// connection, and on a server.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import { clientOptions } from "./documents.js";
import { Explainer } from "./explain.js";
import { locate, type Located } from "./locate.js";
import { Server } from "./server.js";
import { Repair } from "./sessions/repair.js";
import { SessionsView } from "./sessions/view.js";
import { needsRestart, settings } from "./settings.js";
import { ShownTexts } from "./shown.js";

export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel("Stream Sidecar", { log: true });
  let located: Promise<Located> | undefined;
  const server = new Server(async () => {
    located = locate(context);
    const { command, version } = await located;
    output.info(`stream-sidecar ${version}: ${command.join(" ")}`);
    return makeClient(command, output);
  }, output);
  const command = async () => (await (located ??= locate(context))).command;
  const texts = new ShownTexts();
  context.subscriptions.push(
    output,
    server,
    texts,
    new Explainer(command),
    new SessionsView(new Repair(command), texts),
    vscode.commands.registerCommand("streamSidecar.restart", () => server.restart()),
    vscode.commands.registerCommand("streamSidecar.showLog", () => output.show()),
    vscode.workspace.onDidChangeConfiguration((change) => (needsRestart(change) ? server.restart() : undefined)),
  );
  void server.restart();
}

function makeClient(command: readonly string[], output: vscode.LogOutputChannel): LanguageClient {
  const [file = "", ...args] = command;
  const level = ["--log-level", settings().logLevel];
  const executable = { command: file, args: [...args, "--stdio", ...level], options: { env: process.env } };
  return new LanguageClient("streamSidecar", "Stream Sidecar", executable, clientOptions(output));
}
