// A worker that runs the sidecar, as the other end of a link. This module knows no Python and no
// protocol: it sends bytes to a port, and passes on the bytes that the port receives.

import type { Ending } from "../errors.js";
import type { Peer } from "../connection/peer.js";
import type { Port, WorkerSays, WorkerStart } from "./messages.js";
import { after } from "../timer.js";

/** The part of a worker, of Node.js or of a web page, that is needed. */
export interface WorkerLike {
  postMessage(message: unknown, transfer: never[]): void;
  terminate(): unknown;
}

interface Listening {
  on?(event: string, listener: (error: unknown) => void): void;
  addEventListener?(event: string, listener: (event: { message?: string }) => void): void;
  ref?(): void;
  unref?(): void;
}

const GONE = "the worker has ended";
const LOG_CHARACTERS = 65_536;

export class WorkerPeer implements Peer {
  readonly pid = undefined;
  readonly ended: Promise<Ending>;
  readonly #worker: WorkerLike;
  readonly #port: Port;
  readonly #onLog: (text: string) => void;
  #log = "";
  #onData: (data: Uint8Array) => void = () => {};
  #writes: { resolve: () => void; reject: (error: Error) => void }[] = [];
  #finish: (ending: Omit<Ending, "stderr">) => void = () => {};
  #isGone = false;

  constructor(worker: WorkerLike, start: Omit<WorkerStart, "port">, onLog: (text: string) => void = () => {}) {
    this.#worker = worker;
    this.#onLog = onLog;
    const { port1, port2 } = new MessageChannel() as unknown as { port1: Port; port2: Port };
    this.#port = port1;
    this.ended = new Promise((resolve) => {
      this.#finish = (ending) => resolve({ ...ending, stderr: this.#log });
    });
    port1.onmessage = ({ data }) => this.#receive(data as WorkerSays);
    this.#watch(worker as Listening);
    worker.postMessage({ ...start, port: port2 }, [port2 as never]);
    (port1 as Listening).unref?.();
  }

  get stderr(): string {
    return this.#log;
  }

  listen(onData: (data: Uint8Array) => void): void {
    this.#onData = onData;
  }

  write(data: Uint8Array): Promise<void> {
    if (this.#isGone) return Promise.reject(new Error(GONE));
    this.#port.postMessage(data);
    (this.#port as Listening).ref?.(); // keeps the process alive until the bytes are accepted, as a pipe does
    return new Promise((resolve, reject) => this.#writes.push({ resolve, reject }));
  }

  /** Ends the input, after which the sidecar exits. */
  endInput(): Promise<void> {
    return this.write(new Uint8Array());
  }

  kill(): void {
    this.#end({ exitCode: null, signal: "terminate", cause: undefined });
  }

  async end(patienceMs: number): Promise<Ending> {
    const endWait = after(patienceMs, () => this.kill());
    try {
      return await this.ended;
    } finally {
      endWait();
    }
  }

  /** Watches the worker, without keeping the process alive. Only Node.js reports the end of a worker. */
  #watch(worker: Listening): void {
    const fail = (message: string) => this.#end({ exitCode: null, signal: null, cause: new Error(message) });
    if (worker.on) {
      worker.on("error", (error) => fail(String(error)));
      worker.on("exit", () => this.kill());
      worker.unref?.();
    } else {
      worker.addEventListener?.("error", ({ message }) => fail(message ?? "the worker cannot be loaded"));
    }
  }

  #receive(says: WorkerSays): void {
    if ("said" in says) this.#onData(says.said);
    else if ("taken" in says) this.#accepted();
    else if ("logged" in says) this.#note(says.logged);
    else if ("exit" in says) this.#end({ exitCode: says.exit, signal: null, cause: undefined });
    else this.#end({ exitCode: null, signal: null, cause: new Error(says.failed) });
  }

  #accepted(): void {
    this.#writes.shift()?.resolve();
    if (this.#writes.length === 0) (this.#port as Listening).unref?.();
  }

  #note(text: string): void {
    this.#log = (this.#log + text).slice(-LOG_CHARACTERS);
    this.#onLog(text);
  }

  #end(ending: Omit<Ending, "stderr">): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#worker.terminate();
    this.#port.close();
    for (const { reject } of this.#writes.splice(0)) reject(new Error(GONE));
    this.#finish(ending);
  }
}
