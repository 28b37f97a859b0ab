// Keeps the digits of numbers in a request. JavaScript rounds an integer of 17 digits, so such
// a number is parsed as a string with a mark, and written as a number again.

const MARK = `${crypto.randomUUID()}:`;
const LONG = /\d{16}/;
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;
const MARKED = new RegExp(`"${MARK}([^"]+)"`, "g");

/** Like `JSON.parse` for an object; `stringifyExact` writes the result. */
export function parseExact(text: string): Record<string, unknown> {
  return JSON.parse(LONG.test(text) ? text.replace(TOKEN, marked) : text) as Record<string, unknown>;
}

export function stringifyExact(value: unknown): string {
  return JSON.stringify(value).replace(MARKED, "$1");
}

function marked(token: string): string {
  const isExact = token.startsWith('"') || !LONG.test(token) || String(Number(token)) === token;
  return isExact ? token : `"${MARK}${token}"`;
}
