// The page that explains a stream, as the command `stream-sidecar explain` writes it.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import type { MakePage } from "./explain.js";
import { run, RunError } from "./run.js";

/** `command` returns the command line of the sidecar; it rejects if there is no sidecar. */
export function explainedBy(command: () => Promise<readonly string[]>): MakePage {
  return async (uri, name) => {
    const folder = await mkdtemp(join(tmpdir(), "stream-sidecar-"));
    try {
      const output = join(folder, "page.html");
      const input = await fileOf(uri, join(folder, name));
      const { stderr } = await run([...(await command()), "explain", "--html", output, "--", input]);
      return await readFile(output, "utf8").catch((cause: unknown) => {
        throw new RunError(`${name}: ${stderr.trim().split("\n").at(-1)}`, { cause });
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
}

/** The path of the file itself, or of a copy at `place` with the unsaved text of the editor. */
async function fileOf(uri: vscode.Uri, place: string): Promise<string> {
  const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
  if (uri.scheme === "file" && !document?.isDirty) return uri.fsPath;
  const text = document?.getText() ?? (await vscode.workspace.fs.readFile(uri));
  await writeFile(place, text);
  return place;
}
