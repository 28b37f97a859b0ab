// State of a provider (a signature, an item's id, encrypted reasoning) goes back with the
// part that it came with. The provider's own parts tell it, the sidecar's blocks are what
// the host keeps: this brings the two together, for one channel. Example: Anthropic's
// parts of thinking "0" end with `{anthropic: {signature}}`, which goes to our block 3.

import type { ProviderMetadata, StreamPart } from "./language-model.js";

interface NativePart {
  readonly id: string;
  state: ProviderMetadata | undefined;
  block?: number;
}

export class ProviderState {
  /** Parts of the provider that have begun and belong to no block yet, in their order. */
  readonly #waiting: NativePart[] = [];
  readonly #parts = new Map<string, NativePart>();
  readonly #ofBlock = new Map<number, NativePart>();

  /**
   * Takes the provider's part. Gives its state where it has ended without a block of ours:
   * encrypted reasoning, of which there is nothing to read.
   */
  take({ type, id = "", providerMetadata }: StreamPart): NativePart | undefined {
    const part = type.endsWith("-start") ? this.#begin(id) : this.#parts.get(id);
    if (!part) return undefined;
    if (providerMetadata) part.state = { ...part.state, ...providerMetadata };
    if (!type.endsWith("-end") || part.block !== undefined) return undefined;
    this.#waiting.splice(this.#waiting.indexOf(part), 1);
    return hasState(part.state) ? part : undefined;
  }

  #begin(id: string): NativePart {
    const part: NativePart = { id, state: undefined };
    this.#parts.set(id, part);
    this.#waiting.push(part);
    return part;
  }

  /** A block of ours begins: it carries the state of the provider's part that waits longest. */
  begin(block: number): void {
    const part = this.#waiting.shift();
    if (!part) return;
    part.block = block;
    this.#ofBlock.set(block, part);
  }

  /** What goes into the end of our block. */
  of(block: number): { providerMetadata?: ProviderMetadata } {
    const state = this.#ofBlock.get(block)?.state;
    return state ? { providerMetadata: state } : {};
  }
}

/** Whether anything of it has a value: an id with `null` beside it is no state. */
function hasState(state: ProviderMetadata | undefined): boolean {
  return Object.values(state ?? {}).some((fields) =>
    Object.entries(fields).some(([name, value]) => name !== "itemId" && value !== null && value !== undefined),
  );
}
