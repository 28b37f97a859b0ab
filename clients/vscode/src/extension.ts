// The extension where there are processes: VS Code on the desktop, over a remote
// connection, and on a server.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import { clientOptions } from "./documents.js";
import { locate } from "./locate.js";
import { Server } from "./server.js";
import { needsRestart, settings } from "./settings.js";

export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel("Stream Sidecar", { log: true });
  const server = new Server(async () => {
    const { command, version } = await locate(context);
    output.info(`stream-sidecar ${version}: ${command.join(" ")}`);
    return makeClient(command, output);
  }, output);
  context.subscriptions.push(
    output,
    server,
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
