// A child process with three pipes, in a process group of its own, so that what a
// wrapper (uvx, a shell script) has started ends with it. It keeps nobody alive: a host
// that has nothing more to do ends, and the process with it; whoever waits for an answer
// has a timer for that. Knows no protocol.

import { spawn, spawnSync, type ChildProcessByStdio } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { childEnvironment, fromHere, ownFolder } from "./child-place.js";
import type { Ending } from "../errors.js";
import { LeadingNoise } from "./leading-noise.js";
import type { Peer } from "../connection/peer.js";
import { startable } from "./programs.js";
import { STDERR_BYTES, StderrTail } from "./stderr-tail.js";

/** So long the pipes of a process that has ended are read, when they do not end. */
const PIPES_MS = 1_000;

export interface ProcessOptions {
  /** undefined: the folder of the program that runs. */
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The variables that it has of ours; undefined: all. */
  readonly inheritEnv?: readonly string[] | undefined;
  readonly onStderr?: ((text: string) => void) | undefined;
}

export class SidecarProcess implements Peer {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: StderrTail;
  /** Resolves when the process is gone; never rejects. */
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
    for (const pipe of [this.stdin, this.stdout]) pipe.on("error", () => {}); // broken: the end of the process tells
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

  /** Resolves when the bytes are with the system; rejects when the process takes none any more. */
  write(data: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.stdin.write(data, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Ends the whole group at once; nothing happens when it is gone. */
  kill(): void {
    if (this.#isGone) return;
    if (process.platform === "win32") this.#killTree();
    else this.#killGroup();
  }

  /** Waits for the end for so long, then kills; whoever waits here is kept alive. */
  async end(patienceMs: number): Promise<Ending> {
    const timer = setInterval(() => this.kill(), patienceMs);
    try {
      return await this.ended;
    } finally {
      clearInterval(timer);
    }
  }

  #watch(): Promise<Ending> {
    const child = this.#child;
    alive.add(this);
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const done = (exitCode: number | null, signal: string | null, cause?: unknown) => {
        clearTimeout(timer);
        if (this.#isGone) return; // its number may be another's by now
        this.#killGroup(); // what the process has left behind
        this.#isGone = true;
        alive.delete(this);
        resolve({ exitCode, signal, cause, stderr: this.stderr.toString() });
      };
      child.on("error", (error) => done(null, null, error));
      // "close" comes when the pipes are read to their end, and not at all while somebody
      // else holds one of them; so "exit" bounds it.
      child.once("close", done);
      child.once("exit", (code, signal) => (timer = setTimeout(() => done(code, signal), PIPES_MS).unref()));
    });
  }

  #killGroup(): void {
    if (this.pid === undefined || process.platform === "win32") return;
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // Nobody of the group is left.
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

/** A host that ends without `shutdown` leaves nothing behind. */
const alive = new Set<SidecarProcess>();
process.on("exit", () => {
  for (const each of alive) each.kill();
});
