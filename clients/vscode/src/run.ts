// Runs a process to its end, and returns its output and its exit code. The process is killed
// if the user cancels. Its working directory is never the folder that is open, because
// nothing in that folder may be run.

import { spawn } from "node:child_process";
import { childEnvironment, ownFolder, type Environment } from "../../typescript/src/process/child-place.js";
import { startable } from "../../typescript/src/process/programs.js";

export interface Run {
  readonly signal?: AbortSignal | undefined;
}

export interface Ending {
  /** null: a signal ended the process. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process could not be started, or failed. */
export class RunError extends Error {
  override readonly name = "RunError";
}

/** How many characters of standard error are kept: the last ones. */
const KEPT = 64 * 1024;

/**
 * The working directory and the environment of every process of ours. This includes the
 * language server, which a language client would start in the folder that is open.
 */
export function place(added: Environment = {}) {
  return { cwd: ownFolder(), env: childEnvironment(process.env, added) };
}

/** Rejects with RunError if the process cannot be started, and with the reason of `signal` if it was aborted. */
export function run(command: readonly string[], { signal }: Run = {}): Promise<Ending> {
  const { file, args, ...how } = startable(command);
  const env = place({ PYTHONUTF8: "1", PYTHONUNBUFFERED: "1", NO_COLOR: "1" });
  const options = { ...how, ...env, signal, windowsHide: true };
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    const stdout: Buffer[] = [];
    let stderr = "";
    child.stdout.on("data", (data: Buffer) => stdout.push(data));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr = (stderr + text).slice(-KEPT)));
    child.on("error", (cause) => {
      reject(signal?.aborted ? (signal.reason as Error) : new RunError(`${command[0]}: ${cause.message}`, { cause }));
    });
    child.on("close", (code) => resolve({ code, stdout: Buffer.concat(stdout).toString("utf8"), stderr }));
  });
}
