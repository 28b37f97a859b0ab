// What a turn was asked, what came of it and what went on to the agent, each in a file of
// its own that only the user may read.

import { createWriteStream, mkdirSync, writeFileSync, type WriteStream } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";

/** New files that nobody else may read. */
const OWN = { mode: 0o600, flag: "wx" };

/** Makes the tapes of a gateway, a number for each turn. */
export class Recorder {
  readonly #folder: string;
  readonly #begun = new Date().toISOString().replaceAll(/[:.]/g, "-");
  #turns = 0;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  turn(): Tape {
    this.#turns += 1;
    return new Tape(join(this.#folder, `${this.#begun}-${this.#turns}`));
  }
}

export class Tape {
  readonly #base: string;
  readonly #files: Record<string, WriteStream> = {};

  /** `base`: how the names of its files begin. */
  constructor(base: string) {
    this.#base = base;
  }

  /** The request as it goes to the upstream. */
  asked(bytes: Uint8Array): void {
    writeFileSync(`${this.#base}.request`, bytes, OWN);
  }

  /** Everything that is written to the agent. */
  follow(reply: ServerResponse): void {
    const write = reply.write.bind(reply) as (...given: unknown[]) => boolean;
    const end = reply.end.bind(reply) as (...given: unknown[]) => ServerResponse;
    reply.write = (...given: unknown[]) => (this.write("went", given[0]), write(...given));
    reply.end = (...given: unknown[]) => (this.write("went", given[0]), end(...given));
    reply.on("close", () => this.#end());
  }

  write(name: "came" | "went", bytes: unknown): void {
    if (!(typeof bytes === "string" || bytes instanceof Uint8Array)) return;
    const options = { mode: OWN.mode, flags: OWN.flag };
    const file = (this.#files[name] ??= createWriteStream(`${this.#base}.${name}`, options));
    file.write(bytes);
  }

  #end(): void {
    for (const file of Object.values(this.#files)) file.end();
  }
}
