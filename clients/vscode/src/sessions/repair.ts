// The command `stream-sidecar repair`, run for the sessions of this machine.

import { run, RunError, type Ending, type Run } from "../run.js";
import { agentsOf, batches, reportOf, type Agent, type Report } from "./report.js";

export class Repair {
  /** The command line of the sidecar; rejects where there is none. */
  readonly #command: () => Promise<readonly string[]>;

  constructor(command: () => Promise<readonly string[]>) {
    this.#command = command;
  }

  /** The agents that have files here; some keep them in a folder that is worked in. */
  async agents(folders: readonly string[], signal?: AbortSignal): Promise<readonly Agent[]> {
    const places = folders.flatMap((folder) => ["--folder", folder]);
    const ending = await this.#run(["--list", ...places, "--output-format", "json"], { signal });
    return agentsOf(ending).filter(({ files }) => files.length > 0);
  }

  /** What leaked into the files, group by group. */
  async *check(files: readonly string[], signal?: AbortSignal): AsyncGenerator<Report, void, void> {
    for (const batch of batches(files)) yield await this.#report("--check", batch, signal);
  }

  /** Takes out what leaked; each file keeps a backup. */
  async *write(files: readonly string[], signal?: AbortSignal): AsyncGenerator<Report, void, void> {
    for (const batch of batches(files)) yield await this.#report("--write", batch, signal);
  }

  /** Puts the latest backup back. */
  async restore(file: string): Promise<void> {
    const { code, stdout, stderr } = await this.#run(["--restore", "--", file]);
    if (code === 0) return;
    const said = `${stdout}\n${stderr}`.split("\n").find((line) => line.includes("left alone"));
    throw new RunError(said ?? `${file}: no backup could be put back`);
  }

  /** Every removal in its place, as text for people. */
  async shown(file: string): Promise<string> {
    return (await this.#run(["--diff", "--", file])).stdout;
  }

  async #report(what: string, files: readonly string[], signal: AbortSignal | undefined): Promise<Report> {
    return reportOf(await this.#run([what, "--output-format", "json", "--", ...files], { signal }));
  }

  async #run(args: readonly string[], options: Run = {}): Promise<Ending> {
    return run([...(await this.#command()), "repair", ...args], options);
  }
}
