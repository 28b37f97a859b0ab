// The headers of a request or a response in the forms that hosts have; `Headers` of `fetch` would
// be empty in JSON.

/** A `Headers` or another iterable of pairs, or an object. */
export type HeadersLike = Iterable<readonly [string, unknown]> | Record<string, unknown>;

/** A failed response, with its headers in any of these forms. */
export type HttpFailure<T> = Omit<T, "headers"> & { headers?: HeadersLike | null };

/** The failed response with its headers as an object. */
export function withPlainHeaders<T>({ headers, ...rest }: HttpFailure<T>) {
  return { ...rest, ...(headers && { headers: plain(headers) }) };
}

/**
 * The headers with these names (in small letters), under the names as the host spells them. A
 * name that stands several times has one value, joined with commas.
 */
export function selected(headers: HeadersLike, names: readonly string[]): Record<string, string> {
  const found = new Map<string, readonly [string, string]>();
  for (const [name, value] of Symbol.iterator in headers ? headers : Object.entries(headers)) {
    const key = String(name).toLowerCase();
    const before = found.get(key);
    if (names.includes(key)) found.set(key, [name, before ? `${before[1]}, ${String(value)}` : String(value)]);
  }
  return Object.fromEntries(found.values());
}

function plain(headers: HeadersLike): Record<string, unknown> {
  return Symbol.iterator in headers ? Object.fromEntries(headers) : headers;
}
