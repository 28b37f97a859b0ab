// The extension where there are processes: VS Code on the desktop, over a remote
// connection, and on a server.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import { clientOptions } from "./documents.js";
import { Explainer } from "./explain.js";
import { explainedBy } from "./explain-process.js";
import { locate, type Located } from "./locate.js";
import { Repair } from "./sessions/repair.js";
import { SessionsView } from "./sessions/view.js";
import { settings } from "./settings.js";
import { ShownTexts } from "./shown.js";
import { beginWindow } from "./window.js";

export function activate(context: vscode.ExtensionContext): void {
  let located: Promise<Located> | undefined;
  const command = async () => (await (located ??= locate(context))).command;
  beginWindow(context, async (output) => {
    located = locate(context);
    const { command, version } = await located;
    output.info(`stream-sidecar ${version}: ${command.join(" ")}`);
    return makeClient(command, output);
  });
  const texts = new ShownTexts();
  const view = new SessionsView(new Repair(command), texts);
  context.subscriptions.push(texts, view, new Explainer(explainedBy(command)));
}

function makeClient(command: readonly string[], output: vscode.LogOutputChannel): LanguageClient {
  const [file = "", ...args] = command;
  const level = ["--log-level", settings().logLevel];
  const executable = { command: file, args: [...args, "--stdio", ...level], options: { env: process.env } };
  return new LanguageClient("streamSidecar", "Stream Sidecar", executable, clientOptions(output));
}
