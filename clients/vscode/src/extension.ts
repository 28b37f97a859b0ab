// The extension in a VS Code with processes: on the desktop, over a remote connection, and
// on a server.

import * as vscode from "vscode";
import { LanguageClient, PortMessageReader, PortMessageWriter } from "vscode-languageclient/node";
import { startable } from "../../typescript/src/process/programs.js";
import { clientOptions } from "./documents.js";
import { Explainer, type MakePage } from "./explain.js";
import { explainedBy } from "./explain-process.js";
import { locate, NotFound, type Located } from "./locate.js";
import { place } from "./run.js";
import { Previews } from "./sessions/preview.js";
import { Remembered } from "./sessions/remembered.js";
import { Repair } from "./sessions/repair.js";
import { SessionsView } from "./sessions/view.js";
import { kinds, settings } from "./settings.js";
import { openInNode } from "./wasm/open-in-node.js";
import { WorkerSidecars } from "./wasm/worker-sidecar.js";
import { beginWindow } from "./window.js";

/** The context key for the view: there is no program that could check sessions. */
const MISSING = "streamSidecar.missing";

export function activate(context: vscode.ExtensionContext): void {
  let located: Promise<Located> | undefined;
  const command = async () => (await (located ??= locate(context))).command;
  const inWorker = new WorkerSidecars(context, openInNode);
  beginWindow(context, async (output) => {
    await inWorker.dispose();
    try {
      located = locate(context);
      const isMissing = (yes: boolean) => vscode.commands.executeCommand("setContext", MISSING, yes);
      void located.then(
        () => isMissing(false),
        () => isMissing(true),
      );
      const { command, version } = await located;
      output.info(`stream-sidecar ${version}: ${command.join(" ")}`);
      return processClient(command, output);
    } catch (error) {
      return await workerClient(inWorker, output, error);
    }
  });
  const byProcess = explainedBy(command);
  const explained: MakePage = (uri, name) => (inWorker.isRunning ? inWorker.explained : byProcess)(uri, name);
  const previews = new Previews();
  const view = new SessionsView(
    new Repair(command, () => ({ ...kinds(), policy: settings().policy })),
    previews,
    new Remembered(context.globalState),
  );
  context.subscriptions.push(inWorker, previews, view, new Explainer(explained));
}

function processClient(command: readonly string[], output: vscode.LogOutputChannel): LanguageClient {
  const { file, args, ...how } = startable([...command, "--stdio", "--log-level", settings().logLevel]);
  const executable = { command: file, args: [...args], options: { ...how, ...place() } };
  return new LanguageClient("streamSidecar", "Stream Sidecar", executable, clientOptions(output));
}

/** If no sidecar was found and the settings name none: the included WebAssembly sidecar. Otherwise throws `error`. */
async function workerClient(
  sidecars: WorkerSidecars,
  output: vscode.LogOutputChannel,
  error: unknown,
): Promise<LanguageClient> {
  const { command, python } = settings();
  if (!(error instanceof NotFound) || command.length > 0 || python !== "") throw error;
  const port = await sidecars.start(output).catch(() => Promise.reject(error));
  const transports = { reader: new PortMessageReader(port as never), writer: new PortMessageWriter(port as never) };
  return new LanguageClient("streamSidecar", "Stream Sidecar", async () => transports, clientOptions(output));
}
