// A provider's state (a signature, an item's id, encrypted reasoning) must be sent back with
// the part that it came with. The provider's own parts bring the state, but the host keeps the
// sidecar's blocks. This module matches the two, for one channel. Example: Anthropic's parts
// of thinking "0" end with `{anthropic: {signature}}`, which is attached to our block 3.

import type { ProviderMetadata, StreamPart } from "./language-model.js";

interface NativePart {
  readonly id: string;
  state: ProviderMetadata | undefined;
  block?: number;
}

/** The signatures anywhere in a provider's state. */
export function sealsIn(state: unknown): string[] {
  if (typeof state !== "object" || state === null) return [];
  return Object.entries(state).flatMap(([name, value]) =>
    name === "signature" && typeof value === "string" && value !== "" ? [value] : sealsIn(value),
  );
}

export class ProviderState {
  /** Parts of the provider that have begun and have no block yet, in order. */
  readonly #waiting: NativePart[] = [];
  readonly #parts = new Map<string, NativePart>();
  readonly #ofBlock = new Map<number, NativePart>();
  readonly #broken = new Set<string>();

  /** These seals no longer fit, because text before them was changed: state with one of them is not returned. */
  break(seals: readonly string[]): void {
    for (const seal of seals) this.#broken.add(seal);
  }

  /**
   * Records a part of the provider. Returns it if it has ended with state, but without a block
   * of ours: encrypted reasoning has no text.
   */
  accept({ type, id = "", providerMetadata }: StreamPart): NativePart | undefined {
    const part = type.endsWith("-start") ? this.#begin(id) : this.#parts.get(id);
    if (!part) return undefined;
    if (providerMetadata) part.state = { ...part.state, ...providerMetadata };
    if (!type.endsWith("-end") || part.block !== undefined) return undefined;
    this.#waiting.splice(this.#waiting.indexOf(part), 1);
    return hasState(part.state) && this.#isWhole(part.state) ? part : undefined;
  }

  #begin(id: string): NativePart {
    const part: NativePart = { id, state: undefined };
    this.#parts.set(id, part);
    this.#waiting.push(part);
    return part;
  }

  /** A block of ours begins: it gets the state of the part that has waited longest. */
  begin(block: number): void {
    const part = this.#waiting.shift();
    if (!part) return;
    part.block = block;
    this.#ofBlock.set(block, part);
  }

  /** The fields for the end of our block. */
  of(block: number): { providerMetadata?: ProviderMetadata } {
    const state = this.#ofBlock.get(block)?.state;
    return state && this.#isWhole(state) ? { providerMetadata: state } : {};
  }

  #isWhole(state: ProviderMetadata | undefined): boolean {
    return !sealsIn(state).some((seal) => this.#broken.has(seal));
  }
}

/** Whether any field except an item's id has a value. */
function hasState(state: ProviderMetadata | undefined): boolean {
  return Object.values(state ?? {}).some((fields) =>
    Object.entries(fields).some(([name, value]) => name !== "itemId" && value !== null && value !== undefined),
  );
}
