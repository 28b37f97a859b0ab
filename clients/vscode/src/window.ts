// What every window has, with processes or without: a log, the language server, and the
// commands that restart the server and show its log.

import * as vscode from "vscode";
import type { BaseLanguageClient } from "vscode-languageclient";
import { fixesCommand } from "./lenses.js";
import { neverShow } from "./never-show.js";
import { Server } from "./server.js";
import { needsRestart } from "./settings.js";

/** Starts the server with the client that `make` returns; the server stops with the window. */
export function beginWindow(
  context: vscode.ExtensionContext,
  make: (output: vscode.LogOutputChannel) => Promise<BaseLanguageClient>,
): Server {
  const output = vscode.window.createOutputChannel("Stream Sidecar", { log: true });
  const server = new Server(() => make(output), output);
  context.subscriptions.push(
    output,
    server,
    neverShow(),
    fixesCommand(),
    vscode.commands.registerCommand("streamSidecar.restart", () => server.restart()),
    vscode.commands.registerCommand("streamSidecar.showLog", () => output.show()),
    vscode.workspace.onDidChangeConfiguration((change) => (needsRestart(change) ? server.restart() : undefined)),
  );
  void server.restart();
  return server;
}
