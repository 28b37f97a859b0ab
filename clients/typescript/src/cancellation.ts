// The ways in which a host says that it does not want an answer any more: an AbortSignal, or the
// CancellationToken of VS Code and of language clients.

import { anything, objectOf, type Check } from "./checks.js";

export interface CancellationToken {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(listener: () => void): { dispose(): unknown };
}

export type Cancellation = AbortSignal | CancellationToken;

/** A check for the options of a call: their names, and that they are not the signal itself. */
export function callOptions(checks: Readonly<Record<string, Check>>): Check {
  const names = objectOf({ ...checks, signal: anything }); // `signalOf` checks the signal
  return (value, path) => {
    if (isSignal(value)) throw new TypeError(`${path} must be an object: { signal }, not the signal`);
    names(value, path);
  };
}

function isSignal(value: unknown): boolean {
  return typeof value === "object" && value !== null && ("aborted" in value || "onCancellationRequested" in value);
}

/** The signal of each token: a token has one listener of ours, however many calls it is given to. */
const signals = new WeakMap<CancellationToken, AbortSignal>();

/** The signal. Throws TypeError for any other value. */
export function signalOf(given: Cancellation | null | undefined): AbortSignal | undefined {
  if (given === undefined || given === null || given instanceof AbortSignal) return given ?? undefined;
  if (typeof given === "object" && "onCancellationRequested" in given) return signalOfToken(given);
  if (typeof given === "object" && "aborted" in given) return given; // of another realm
  throw new TypeError(`signal must be an AbortSignal or a CancellationToken, not ${String(given)}`);
}

function signalOfToken(token: CancellationToken): AbortSignal {
  const known = signals.get(token);
  if (known) return known;
  const controller = new AbortController();
  if (token.isCancellationRequested) controller.abort();
  else token.onCancellationRequested(() => controller.abort());
  signals.set(token, controller.signal);
  return controller.signal;
}

/** A signal as a token. */
export function tokenOf(signal: AbortSignal): CancellationToken {
  return {
    get isCancellationRequested() {
      return signal.aborted;
    },
    onCancellationRequested(listener) {
      const call = () => listener();
      signal.addEventListener("abort", call, { once: true });
      return { dispose: () => signal.removeEventListener("abort", call) };
    },
  };
}

/** The result of `work`, or the signal's reason as soon as it aborts. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  work.catch(() => {}); // its error is ignored if the signal aborts first
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
