// The headers of a response in the forms that hosts have; `Headers` of `fetch` would be empty in
// JSON.

/** A `Headers` or another iterable of pairs, or an object. */
export type HeadersLike = Iterable<readonly [string, unknown]> | Record<string, unknown>;

/** A failed response, with its headers in any of these forms. */
export type HttpFailure<T> = Omit<T, "headers"> & { headers?: HeadersLike | null };

/** The failed response with its headers as an object. */
export function withPlainHeaders<T>({ headers, ...rest }: HttpFailure<T>) {
  return { ...rest, ...(headers && { headers: plain(headers) }) };
}

function plain(headers: HeadersLike): Record<string, unknown> {
  return Symbol.iterator in headers ? Object.fromEntries(headers) : headers;
}
