// Runs the command `stream-sidecar repair` for the sessions of this machine.

import { run, RunError, type Ending, type Run } from "../run.js";
import type { Kinds } from "../settings.js";
import { agentsOf, batches, isKind, reportOf, type Agent, type Report } from "./report.js";

export class Repair {
  /** Returns the command line of the sidecar; rejects if there is no sidecar. */
  readonly #command: () => Promise<readonly string[]>;
  /** The kinds of findings that the user wants to see. */
  readonly #kinds: () => Kinds;

  constructor(command: () => Promise<readonly string[]>, kinds: () => Kinds = () => ({ only: [], except: [] })) {
    this.#command = command;
    this.#kinds = kinds;
  }

  /** The agents that have session files here. Some agents keep them in a project's folder: `folders` are searched too. */
  async agents(folders: readonly string[], signal?: AbortSignal): Promise<readonly Agent[]> {
    const places = folders.flatMap((folder) => ["--folder", folder]);
    const ending = await this.#run(["--list", ...places, "--output-format", "json"], { signal });
    return agentsOf(ending).filter(({ files }) => files.length > 0);
  }

  /** The findings in the files, a report for each batch of files. */
  async *check(files: readonly string[], signal?: AbortSignal): AsyncGenerator<Report, void, void> {
    for (const batch of batches(files)) yield await this.#report("--check", batch, signal);
  }

  /** Removes the findings; a backup of each changed file is kept. */
  async *write(files: readonly string[], signal?: AbortSignal): AsyncGenerator<Report, void, void> {
    for (const batch of batches(files)) yield await this.#report("--write", batch, signal);
  }

  /** Restores the latest backup of a file. */
  async restore(file: string): Promise<void> {
    const { code, stdout, stderr } = await this.#run(["--restore", "--", file]);
    if (code === 0) return;
    const said = `${stdout}\n${stderr}`.split("\n").find((line) => line.includes("left alone"));
    throw new RunError(said ?? `${file}: no backup could be restored`);
  }

  /** The text of `repair --diff`: every removal in its place, for people. */
  async shown(file: string): Promise<string> {
    return (await this.#run(["--diff", ...this.#wanted(), "--", file])).stdout;
  }

  async #report(what: string, files: readonly string[], signal: AbortSignal | undefined): Promise<Report> {
    const args = [what, ...this.#wanted(), "--output-format", "json", "--", ...files];
    return reportOf(await this.#run(args, { signal }));
  }

  /** The kinds as arguments. Ignores unknown kinds, as the language server does. */
  #wanted(): readonly string[] {
    return Object.entries(this.#kinds()).flatMap(([option, kinds]) =>
      kinds.filter(isKind).flatMap((kind: string) => [`--${option}`, kind]),
    );
  }

  async #run(args: readonly string[], options: Run = {}): Promise<Ending> {
    return run([...(await this.#command()), "repair", ...args], options);
  }
}
