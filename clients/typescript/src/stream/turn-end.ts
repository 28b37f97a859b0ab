// The end of a turn of the event loop: after everything that can continue without waiting, and
// before anything new arrives.

const later: (resolve: () => void) => void = globalThis.process?.nextTick ?? queueMicrotask;

/** Waits for the end of the turn; in a browser, for everything that is ready at the call. */
export function endOfTurn(): Promise<void> {
  return new Promise((resolve) => later(resolve));
}
