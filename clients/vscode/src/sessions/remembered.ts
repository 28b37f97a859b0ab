// The sessions that were repaired, which a window remembers: their repair can be undone
// after it was closed, too.

import { existsSync } from "node:fs";
import type * as vscode from "vscode";
import type { Agent } from "./report.js";

/** A session that was repaired, and where the old one is. */
export interface Repaired {
  readonly path: string;
  readonly backup: string;
  readonly agent: Pick<Agent, "name" | "title">;
}

const KEY = "repaired";

export class Remembered {
  readonly #state: vscode.Memento;

  constructor(state: vscode.Memento) {
    this.#state = state;
  }

  /** Those whose backup is there. */
  all(): readonly Repaired[] {
    return this.#state.get<readonly Repaired[]>(KEY, []).filter(({ backup }) => existsSync(backup));
  }

  has(path: string): boolean {
    return this.all().some((each) => each.path === path);
  }

  async add(repaired: Repaired): Promise<void> {
    await this.#keep([...this.#others(repaired.path), repaired]);
  }

  async forget(path: string): Promise<void> {
    await this.#keep(this.#others(path));
  }

  #others(path: string): readonly Repaired[] {
    return this.all().filter((each) => each.path !== path);
  }

  async #keep(all: readonly Repaired[]): Promise<void> {
    await this.#state.update(KEY, all);
  }
}
