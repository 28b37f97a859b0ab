// A Chromium of this machine, in which pages are opened and scripts run in them, over the pipe of
// its DevTools protocol.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Readable, Writable } from "node:stream";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The program; undefined if it is not on the path. */
export const CHROMIUM = NAMES.flatMap((name) =>
  (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, name)),
).find(isProgram);

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

export class Chromium {
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #waiting = new Map<number, (message: Message) => void>();
  readonly #loads = new Map<string, () => void>();
  #count = 0;

  /** Starts it. Every host whose name ends with `.example` is this machine. */
  constructor(program: string) {
    this.#folder = mkdtempSync(join(tmpdir(), "chromium-"));
    const isRoot = process.getuid?.() === 0;
    const options = [
      ...["--headless=new", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage", "--remote-debugging-pipe"],
      ...[`--user-data-dir=${this.#folder}`, "--host-resolver-rules=MAP *.example 127.0.0.1"],
      ...(isRoot ? ["--no-sandbox"] : []),
    ];
    this.#process = spawn(program, options, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    let rest = "";
    (this.#process.stdio[4] as Readable).setEncoding("utf8").on("data", (piece: string) => {
      const messages = (rest + piece).split("\0");
      rest = messages.pop() ?? "";
      messages.forEach((message) => this.#receive(JSON.parse(message) as Message));
    });
  }

  /** Opens the page, runs the script in it, and returns what its promise is resolved with. */
  async run(url: string, script: string): Promise<unknown> {
    const { targetId } = await this.#call("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.#call("Target.attachToTarget", { targetId, flatten: true });
    const session = String(sessionId);
    await this.#call("Page.enable", {}, session);
    const loaded = new Promise<void>((resolve) => this.#loads.set(session, resolve));
    await this.#call("Page.navigate", { url }, session);
    await loaded;
    const asked = { expression: script, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.#call("Runtime.evaluate", asked, session);
    await this.#call("Target.closeTarget", { targetId });
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { value?: unknown }).value;
  }

  async close(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.kill();
    await ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20 });
  }

  async #call(method: string, params: object, sessionId?: string): Promise<Record<string, unknown>> {
    const id = (this.#count += 1);
    const answered = new Promise<Message>((resolve) => this.#waiting.set(id, resolve));
    (this.#process.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    const { result, error } = await answered;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  }

  #receive(message: Message): void {
    if (message.method === "Page.loadEventFired") this.#loads.get(message.sessionId ?? "")?.();
    if (message.id !== undefined) this.#waiting.get(message.id)?.(message);
  }
}
