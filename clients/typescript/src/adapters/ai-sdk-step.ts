// A step of a UI message as it is now: what is taken back in the middle of it is left out,
// and the step is told again behind `reset-step`, which readers of the SDK know since
// version 7. Example: reasoning that only its closer gave away was told as text before.

import type { SidecarUIMessageChunk } from "./ai-sdk-chunks.js";
import type { StreamEvent } from "../stream/events.js";
import type { Reclassify } from "../protocol.js";
import type { TurnEnd } from "./turn.js";

type Chunk = SidecarUIMessageChunk;

/** No chunk for the types of older versions: only a reader that knows it is asked for it. */
const RESET = { type: "reset-step" } as unknown as Chunk;

export class Step {
  #told: Chunk[] = [];
  /** Characters and chunks that were sent, and those that were sent again. */
  #sent = 0;
  #again = 0;
  #isStale = false;

  /** The chunks of an event, as a reader that resets the step is to see them. */
  of(event: StreamEvent | TurnEnd, chunks: readonly Chunk[]): Chunk[] {
    if (event.type === "reclassify") this.#reclassify(event);
    else if (event.type === "retract") this.#retract(new Set(event.blocks.map(String)));
    else return [...this.#reset(event.type === "turn-end"), ...chunks.map((chunk) => this.#add(chunk))];
    this.#isStale = true;
    return [...this.#reset(false), ...chunks.filter(({ type }) => type.startsWith("tool-") || type === "data-claim")];
  }

  #add(chunk: Chunk): Chunk {
    this.#sent += sizeOf(chunk);
    const last = this.#told.at(-1);
    if (last && "delta" in last && "delta" in chunk && last.id === chunk.id && last.type === chunk.type) {
      this.#told[this.#told.length - 1] = { ...last, delta: last.delta + chunk.delta };
    } else this.#told.push(chunk);
    return chunk;
  }

  /** All of the step again: never more than was sent before, but at the end. */
  #reset(isEnd: boolean): Chunk[] {
    if (!this.#isStale || (!isEnd && this.#again > this.#sent)) return [];
    this.#isStale = false;
    this.#again += this.#told.reduce((sum, chunk) => sum + sizeOf(chunk), 0);
    return [RESET, ...this.#told];
  }

  #reclassify({ blocks, to }: Reclassify): void {
    const ids = new Set(blocks.map(String));
    this.#told = this.#told.map((chunk) => {
      const [, step] = chunk.type.split("-");
      return isOfBlock(chunk, ids) ? ({ ...chunk, type: `${to}-${step}` } as Chunk) : chunk;
    });
  }

  #retract(ids: ReadonlySet<string>): void {
    this.#told = this.#told.filter((chunk) => !isOfBlock(chunk, ids));
  }
}

function isOfBlock(chunk: Chunk, ids: ReadonlySet<string>): boolean {
  return /^(text|reasoning)-/.test(chunk.type) && "id" in chunk && ids.has(chunk.id);
}

function sizeOf(chunk: Chunk): number {
  return "delta" in chunk ? 1 + chunk.delta.length : 1;
}
