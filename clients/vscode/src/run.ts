// Runs a process to its end, and gives what it wrote and how it ended. Nothing of it is
// left behind when the window is closed or the user cancels. It never works in the folder
// that is open: nothing of that may be run.

import { spawn } from "node:child_process";
import { childEnvironment, ownFolder, type Environment } from "../../typescript/src/process/child-place.js";
import { startable } from "../../typescript/src/process/programs.js";

export interface Run {
  readonly signal?: AbortSignal | undefined;
}

export interface Ending {
  /** null: it was ended by a signal. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Why a process did not do what it was started for. */
export class RunError extends Error {
  override readonly name = "RunError";
}

/** So much of what a process writes to standard error is kept. */
const KEPT = 64 * 1024;

/**
 * Where every process of ours works, and its environment: the language server's too, which a
 * language client would start in the folder that is open.
 */
export function place(added: Environment = {}) {
  return { cwd: ownFolder(), env: childEnvironment(process.env, added) };
}

/** Rejects with RunError where it cannot be started, with the reason of `signal` where it was ended. */
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
