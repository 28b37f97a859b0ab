// Records a turn in three files that only the user may read: the request, the provider's answer
// (`came`), and the answer that the agent got (`went`).

import { createWriteStream, mkdirSync, writeFileSync, type WriteStream } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";

/** Options for new files that only the user may read. */
const OWN = { mode: 0o600, flag: "wx" };

/** Makes the tapes of a gateway; each turn has a number. */
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

  /** `base`: the beginning of the names of its files. */
  constructor(base: string) {
    this.#base = base;
  }

  /** Records the request as it is sent to the upstream. */
  asked(bytes: Uint8Array): void {
    writeFileSync(`${this.#base}.request`, bytes, OWN);
  }

  /** Records everything that is written to the agent. */
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
