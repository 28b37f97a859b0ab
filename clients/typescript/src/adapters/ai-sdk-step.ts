// The current step of a UI message. After a reclassify or a retract, the step is sent again
// after `reset-step`, without the retracted parts; readers of the SDK support this since
// version 7. Example: text that turns out to be reasoning when its closing tag arrives.

import type { SidecarUIMessageChunk } from "./ai-sdk-chunks.js";
import type { StreamEvent } from "../stream/events.js";
import type { Reclassify } from "../protocol.js";
import type { TurnEnd } from "./turn.js";

type Chunk = SidecarUIMessageChunk;

/** Not a chunk in the types of older versions; it is used only if the host asks for it. */
const RESET = { type: "reset-step" } as unknown as Chunk;

export class Step {
  #chunks: Chunk[] = [];
  /** The size of everything sent, and of everything sent again, in characters plus chunks. */
  #sent = 0;
  #again = 0;
  #isStale = false;

  /** The chunks for an event, for a reader that supports `reset-step`. */
  of(event: StreamEvent | TurnEnd, chunks: readonly Chunk[]): Chunk[] {
    if (event.type === "reclassify") this.#reclassify(event);
    else if (event.type === "retract") this.#retract(new Set(event.blocks.map(String)));
    else return [...this.#reset(event.type === "turn-end"), ...chunks.map((chunk) => this.#add(chunk))];
    this.#isStale = true;
    return [...this.#reset(false), ...chunks.filter(({ type }) => type.startsWith("tool-") || type === "data-claim")];
  }

  #add(chunk: Chunk): Chunk {
    this.#sent += sizeOf(chunk);
    const last = this.#chunks.at(-1);
    if (last && "delta" in last && "delta" in chunk && last.id === chunk.id && last.type === chunk.type) {
      this.#chunks[this.#chunks.length - 1] = { ...last, delta: last.delta + chunk.delta };
    } else this.#chunks.push(chunk);
    return chunk;
  }

  /** The whole step again. Before the end, repeats never exceed the size of everything sent. */
  #reset(isEnd: boolean): Chunk[] {
    if (!this.#isStale || (!isEnd && this.#again > this.#sent)) return [];
    this.#isStale = false;
    this.#again += this.#chunks.reduce((sum, chunk) => sum + sizeOf(chunk), 0);
    return [RESET, ...this.#chunks];
  }

  #reclassify({ blocks, to }: Reclassify): void {
    const ids = new Set(blocks.map(String));
    this.#chunks = this.#chunks.map((chunk) => {
      const [, step] = chunk.type.split("-");
      return isOfBlock(chunk, ids) ? ({ ...chunk, type: `${to}-${step}` } as Chunk) : chunk;
    });
  }

  #retract(ids: ReadonlySet<string>): void {
    this.#chunks = this.#chunks.filter((chunk) => !isOfBlock(chunk, ids));
  }
}

function isOfBlock(chunk: Chunk, ids: ReadonlySet<string>): boolean {
  return /^(text|reasoning)-/.test(chunk.type) && "id" in chunk && ids.has(chunk.id);
}

function sizeOf(chunk: Chunk): number {
  return "delta" in chunk ? 1 + chunk.delta.length : 1;
}
