// The repaired sessions. They are stored, so that a repair can be undone after the window was
// closed.

import { existsSync } from "node:fs";
import type * as vscode from "vscode";
import type { Agent } from "./report.js";

/** A repaired session, and the path of its backup. */
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

  /** The sessions whose backup still exists. */
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
