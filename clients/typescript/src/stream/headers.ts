// The headers of a response as a host has them: those of `fetch` are empty in JSON.

/** A `Headers` or another iterable of pairs, or an object. */
export type HeadersLike = Iterable<readonly [string, unknown]> | Record<string, unknown>;

/** The same with its headers in any of these shapes. */
export type HttpFailure<T> = Omit<T, "headers"> & { headers?: HeadersLike | null };

/** The same with its headers as an object. */
export function withPlainHeaders<T>({ headers, ...rest }: HttpFailure<T>) {
  return { ...rest, ...(headers && { headers: plain(headers) }) };
}

function plain(headers: HeadersLike): Record<string, unknown> {
  return Symbol.iterator in headers ? Object.fromEntries(headers) : headers;
}
