// Records a turn in three files that only the user may read: the request, the provider's answer
// (`came`), and the answer that the agent got (`went`). A record that fails ends alone: the turn
// goes on, and so do later records.

import { chmodSync, createWriteStream, mkdirSync, readdirSync, type WriteStream } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { finished } from "node:stream/promises";

/** Options for new files that only the user may read. */
const OWN = { mode: 0o600, flags: "wx" };
/** Bytes of a file that may wait for the disk: more than any body that is written in one piece. */
const MOST_WAITING = 64 * 1024 * 1024;

type Part = "request" | "came" | "went";

/** Makes the tapes of a gateway; each turn has a number. */
export class Recorder {
  readonly #folder: string;
  readonly #begun = new Date().toISOString().replaceAll(/[:.]/g, "-");
  readonly #onFailure: (error: Error) => void;
  #turns = 0;
  #failure = "";

  /**
   * Makes the folder, which only the user may read. A folder with files in it keeps its access.
   * `onFailure` is called for the first of several records in a row that fail for the same reason.
   * Throws the system's error if the folder cannot be made.
   */
  constructor(folder: string, onFailure: (error: Error) => void) {
    this.#folder = folder;
    this.#onFailure = onFailure;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (readdirSync(folder).length === 0) chmodSync(folder, 0o700);
  }

  turn(): Tape {
    this.#turns += 1;
    return new Tape(join(this.#folder, `${this.#begun}-${this.#turns}`), (failure) => this.#ended(failure));
  }

  #ended(failure: NodeJS.ErrnoException | undefined): void {
    const reason = failure ? (failure.code ?? failure.message) : "";
    if (failure && reason !== this.#failure) this.#onFailure(failure);
    this.#failure = reason;
  }
}

export class Tape {
  readonly #base: string;
  readonly #onEnd: (failure?: Error) => void;
  readonly #files = new Map<Part, WriteStream>();
  #isOver = false;

  /** `base`: the beginning of the names of its files. */
  constructor(base: string, onEnd: (failure?: Error) => void) {
    this.#base = base;
    this.#onEnd = onEnd;
  }

  /** Records everything that is written to the agent; the record ends with it. */
  follow(reply: ServerResponse): void {
    const write = reply.write.bind(reply) as (...given: unknown[]) => boolean;
    const end = reply.end.bind(reply) as (...given: unknown[]) => ServerResponse;
    reply.write = (...given: unknown[]) => (this.write("went", given[0]), write(...given));
    reply.end = (...given: unknown[]) => (this.write("went", given[0]), end(...given));
    reply.on("close", () => void this.#end());
  }

  write(part: Part, bytes: unknown): void {
    if (this.#isOver || !(typeof bytes === "string" || bytes instanceof Uint8Array)) return;
    const file = this.#files.get(part) ?? this.#open(part);
    file.write(bytes);
    if (file.writableLength > MOST_WAITING) file.destroy(new Error("the disk is too slow"));
  }

  #open(part: Part): WriteStream {
    const file = createWriteStream(`${this.#base}.${part}`, OWN);
    this.#files.set(part, file);
    file.on("error", (error) => this.#fail(error));
    return file;
  }

  async #end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const files = [...this.#files.values()];
    for (const file of files) file.end();
    await Promise.all(files.map((file) => finished(file))).then(() => this.#onEnd(), this.#onEnd);
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const file of this.#files.values()) file.destroy();
    this.#onEnd(error);
  }
}
