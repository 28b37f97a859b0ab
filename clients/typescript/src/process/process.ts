// A child process with three pipes. It has a new process group, so that the children of a wrapper
// (uvx, a shell script) end with it. It does not keep the host's process alive: a host with
// nothing more to do ends, and the child with it; a caller that waits for an answer has a timer.
// This module knows no protocol.

import { spawn, spawnSync, type ChildProcessByStdio } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { childEnvironment, fromHere, ownFolder } from "./child-place.js";
import type { Ending } from "../errors.js";
import { LeadingNoise } from "./leading-noise.js";
import type { Peer } from "../connection/peer.js";
import { startable } from "./programs.js";
import { STDERR_BYTES, StderrTail } from "./stderr-tail.js";
import { after } from "../timer.js";

/** How long the pipes of a process that has ended are read, if they do not end. */
const PIPES_MS = 1_000;

export interface ProcessOptions {
  /** undefined: the folder of the running program. */
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The names of inherited variables; undefined: all. */
  readonly inheritEnv?: readonly string[] | undefined;
  readonly onStderr?: ((text: string) => void) | undefined;
}

export class SidecarProcess implements Peer {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: StderrTail;
  /** Resolves when the process has ended; never rejects. */
  readonly ended: Promise<Ending>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  #isGone = false;

  constructor(command: readonly string[], { cwd, env, inheritEnv, onStderr }: ProcessOptions = {}) {
    const { file, args, ...how } = startable(command);
    this.#child = spawn(cwd === undefined ? fromHere(file) : file, args, {
      ...how,
      cwd: cwd ?? ownFolder(),
      env: childEnvironment(inherited(inheritEnv), env),
      stdio: ["pipe", "pipe", "pipe"],
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    this.stdin = this.#child.stdin;
    this.stdout = this.#child.stdout;
    this.stderr = new StderrTail(this.#child.stderr, STDERR_BYTES, onStderr);
    for (const pipe of [this.stdin, this.stdout]) pipe.on("error", () => {}); // the end of the process reports it
    for (const handle of [this.#child, ...this.#child.stdio]) (handle as Partial<Socket>).unref?.();
    this.ended = this.#watch();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  listen(onData: (data: Uint8Array) => void, onEnd: () => void): void {
    const noise = new LeadingNoise((data) => this.stderr.add(data));
    this.stdout.on("data", (data: Uint8Array) => onData(noise.push(data)));
    this.stdout.on("end", onEnd);
  }

  /** Resolves when the system has the bytes; rejects if the process accepts no more. */
  write(data: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.stdin.write(data, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Kills the whole group; does nothing if the process has ended. */
  kill(): void {
    if (this.#isGone) return;
    if (process.platform === "win32") this.#killTree();
    else this.#killGroup();
  }

  /** Waits up to `patienceMs` for the end, then kills. Keeps the host's process alive while it waits. */
  async end(patienceMs: number): Promise<Ending> {
    let endWait = () => {};
    const wait = (): void => {
      endWait = after(patienceMs, () => {
        this.kill();
        wait(); // keeps the host's process alive until the end
      });
    };
    wait();
    try {
      return await this.ended;
    } finally {
      endWait();
    }
  }

  #watch(): Promise<Ending> {
    const child = this.#child;
    alive.add(this);
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const done = (exitCode: number | null, signal: string | null, cause?: unknown) => {
        clearTimeout(timer);
        if (this.#isGone) return; // its id may belong to another process by now
        this.#killGroup(); // children that the process has left
        this.#isGone = true;
        alive.delete(this);
        resolve({ exitCode, signal, cause, stderr: this.stderr.toString() });
      };
      child.on("error", (error) => done(null, null, error));
      // "close" comes after the pipes are read to their end, and never while another process
      // holds one of them. So "exit" starts a time limit.
      child.once("close", done);
      child.once("exit", (code, signal) => (timer = setTimeout(() => done(code, signal), PIPES_MS).unref()));
    });
  }

  #killGroup(): void {
    if (this.pid === undefined || process.platform === "win32") return;
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // No process of the group is left.
    }
  }

  #killTree(): void {
    spawnSync("taskkill", ["/pid", String(this.pid), "/T", "/F"], { windowsHide: true });
  }
}

function inherited(names: readonly string[] | undefined): NodeJS.ProcessEnv {
  if (!names) return process.env;
  return Object.fromEntries(names.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])));
}

/** The running processes, which are killed if the host ends without `shutdown`. */
const alive = new Set<SidecarProcess>();
process.on("exit", () => {
  for (const each of alive) each.kill();
});
