// Runs the command `stream-sidecar repair` for the sessions of this machine.

import { isKind } from "../kinds.js";
import { run, RunError, type Ending, type Run } from "../run.js";
import type { Kinds, Settings } from "../settings.js";
import { agentsOf, batches, reportOf, type Agent, type Report } from "./report.js";

/** The settings that decide what a leak is, and which leaks are shown. */
type Chosen = Kinds & Pick<Settings, "policy">;

const ALL: Chosen = { only: [], except: [], policy: {} };

export class Repair {
  /** Returns the command line of the sidecar; rejects if there is no sidecar. */
  readonly #command: () => Promise<readonly string[]>;
  /** What the user's settings say about leaks. */
  readonly #chosen: () => Chosen;

  constructor(command: () => Promise<readonly string[]>, chosen: () => Chosen = () => ALL) {
    this.#command = command;
    this.#chosen = chosen;
  }

  /** Rejects if there is no sidecar. */
  async isThere(): Promise<void> {
    await this.#command();
  }

  /** The agents that have session files here. Some agents keep them in a project's folder: `folders` are searched too. */
  async agents(folders: readonly string[], signal?: AbortSignal): Promise<readonly Agent[]> {
    const places = folders.flatMap((folder) => ["--folder", folder]);
    const ending = await this.#run(["--list", ...places, "--output-format", "json"], { signal });
    return agentsOf(ending).filter(({ files }) => files.length > 0);
  }

  /** The leaks in the files, a report for each batch of files. */
  async *check(files: readonly string[], signal?: AbortSignal): AsyncGenerator<Report, void, void> {
    for (const batch of batches(files)) yield await this.#report("--check", batch, signal);
  }

  /** Takes the leaks out; a backup of each changed file is kept. */
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

  /** The settings as arguments. Ignores unknown kinds, as the language server does. */
  #wanted(): readonly string[] {
    const { policy, ...kinds } = this.#chosen();
    const given = Object.entries(kinds).flatMap(([option, each]) =>
      each.filter(isKind).flatMap((kind: string) => [`--${option}`, kind]),
    );
    return Object.keys(policy).length === 0 ? given : [...given, "--policy", JSON.stringify(policy)];
  }

  async #run(args: readonly string[], options: Run = {}): Promise<Ending> {
    return run([...(await this.#command()), "repair", ...args], options);
  }
}
