// Parts of this package that `stream-sidecar-gateway` is made of. They are not stable: they may
// change with every version, and both packages always have the same version.

import type { Sidecar } from "./sidecar.js";

export { askedOf, formatOf, isOfType, MOST_WHOLE } from "./adapters/endpoints.js";
export { cleaningFetch, FETCH } from "./adapters/fetch.js";
export { callback, checked, data, text, type Checks } from "./checks.js";

/** The listener, which never throws: its error becomes a warning of the sidecar. */
export function guarded<A extends unknown[]>(
  sidecar: Sidecar,
  name: string,
  listener: ((...args: A) => unknown) | undefined,
): (...args: A) => void {
  return sidecar.warnings.guarded(name, listener);
}
