// What a host should know although no call failed: an option that has no effect, answers that
// pass uncleaned, a listener that throws. Each is said once.

export class Warnings {
  readonly #warn: (message: string) => unknown;
  readonly #said = new Set<string>();

  constructor(warn: ((message: string) => void) | undefined) {
    this.#warn = warn ?? inConsole;
  }

  /** Shows the message, unless another one about the same `topic` was shown. */
  once(message: string, topic = message): void {
    if (this.#said.size >= MOST || this.#said.has(topic)) return;
    this.#said.add(topic);
    const said = `stream-sidecar: ${message}`;
    safely(
      () => this.#warn(said),
      () => inConsole(said),
    );
  }

  /** The listener of a host, which never throws: its error is logged, and affects nothing else. */
  guarded<A extends unknown[]>(
    name: string,
    listener: ((...args: A) => unknown) | null | undefined,
  ): (...args: A) => void {
    if (!listener) return () => {};
    const log = (error: unknown) => this.once(`the listener ${name} threw: ${wordsOf(error)}`);
    return (...args) => safely(() => listener(...args), log);
  }
}

/** Calls a listener of the host, whose error goes to `log`, also later. */
export function safely(listener: () => unknown, log: (error: unknown) => void): void {
  try {
    const result = listener();
    if (result instanceof Promise) result.catch(log);
  } catch (error) {
    log(error);
  }
}

/** An error as text. Anything can be thrown, also what has no text. */
export function wordsOf(error: unknown): string {
  try {
    return String(error);
  } catch {
    return typeof error;
  }
}

/** How many different warnings there may be: the errors of a listener may differ without end. */
const MOST = 100;

function inConsole(message: string): void {
  console.warn(message);
}
