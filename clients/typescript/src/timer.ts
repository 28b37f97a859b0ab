// Time limits that may be infinite. A host's process stays alive while one of them runs.

/** The longest time that `setTimeout` knows; it fires immediately for a longer one. */
export const LONGEST_MS = 2 ** 31 - 1;

/** Calls `work` after `ms`, or never if that is more than 24 days. Returns a function that ends the wait. */
export function after(ms: number, work: () => void): () => void {
  const isEndless = ms > LONGEST_MS;
  const timer = isEndless ? setInterval(() => {}, LONGEST_MS) : setTimeout(work, ms);
  return () => (isEndless ? clearInterval(timer) : clearTimeout(timer));
}
