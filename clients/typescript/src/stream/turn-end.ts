// The end of a turn of the event loop: when nothing is left that can go on without waiting,
// and before anything new comes.

const later: (resolve: () => void) => void = globalThis.process?.nextTick ?? queueMicrotask;

/** In a browser, the end of what was ready when it was called. */
export function endOfTurn(): Promise<void> {
  return new Promise((resolve) => later(resolve));
}
