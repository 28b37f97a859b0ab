// Which documents the language server is told about, and with which options it starts:
// the same for a process and for a worker.

import * as vscode from "vscode";
import type { LanguageClientOptions, Middleware } from "vscode-languageclient";
import { shownMiddleware } from "./lenses.js";
import { isExcluded, SECTION, settings } from "./settings.js";

export const SELECTOR = [
  { language: "json" },
  { language: "jsonl" },
  // Logs of aider; the sidecar itself tells whether a page is one.
  { language: "markdown", pattern: "**/*aider*.md" },
];

/** A document that can be changed and may be a session. Earlier versions and previews are neither. */
export function isServed(document: vscode.TextDocument): boolean {
  const { scheme } = document.uri;
  const canChange = scheme === "untitled" || vscode.workspace.fs.isWritableFileSystem(scheme) === true;
  return canChange && !isExcluded(document);
}

/** The server never hears of documents that are not served, so it has nothing to say of them. */
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
