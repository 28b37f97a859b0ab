// Runs a process to its end, and gives what it wrote and how it ended. Nothing of it is
// left behind when the window is closed or the user cancels.

import { spawn } from "node:child_process";
import { startable } from "../../typescript/src/programs.js";

export interface Run {
  readonly cwd?: string | undefined;
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

/** Rejects with RunError where it cannot be started, with the reason of `signal` where it was ended. */
export function run(command: readonly string[], { cwd, signal }: Run = {}): Promise<Ending> {
  const { file, args, ...how } = startable(command);
  const env = { ...process.env, PYTHONUTF8: "1", PYTHONUNBUFFERED: "1", NO_COLOR: "1" };
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { ...how, cwd, env, signal, stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
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
