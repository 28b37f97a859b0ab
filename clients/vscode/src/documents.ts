// Which documents the language server gets, and the options it starts with. Both are the
// same for a process and for a worker.

import * as vscode from "vscode";
import type { LanguageClientOptions, Middleware } from "vscode-languageclient";
import { shownMiddleware } from "./lenses.js";
import { isExcluded, SECTION, settings } from "./settings.js";

export const SELECTOR = [
  { language: "json" },
  { language: "jsonl" },
  // Logs of aider; the sidecar itself finds out whether a page is a log.
  { language: "markdown", pattern: "**/*aider*.md" },
];

/** Whether a document may be a session and can be changed. Earlier versions and previews cannot. */
export function isServed(document: vscode.TextDocument): boolean {
  const { scheme } = document.uri;
  // VS Code does not know at once which schemes can be written.
  const isKnown = scheme === "file" || scheme === "untitled";
  const canChange = isKnown || vscode.workspace.fs.isWritableFileSystem(scheme) === true;
  return canChange && !isExcluded(document);
}

/** Only documents that are served reach the server, so it reports nothing for others. */
const middleware: Middleware = {
  ...shownMiddleware,
  didOpen: async (document, next) => (isServed(document) ? next(document) : undefined),
  didChange: async (event, next) => (isServed(event.document) ? next(event) : undefined),
  didClose: async (document, next) => (isServed(document) ? next(document) : undefined),
};

export function clientOptions(output: vscode.LogOutputChannel): LanguageClientOptions {
  return {
    documentSelector: SELECTOR,
    initializationOptions: { streamSidecar: { policy: settings().policy } },
    middleware,
    synchronize: { configurationSection: SECTION },
    outputChannel: output,
    progressOnInitialization: false,
  };
}
