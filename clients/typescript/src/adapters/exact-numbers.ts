// Numbers of a request keep their digits: JavaScript reads an integer of 17 digits as
// another one. Such a number goes through `JSON.parse` as a string with a mark.

const MARK = `${crypto.randomUUID()}:`;
const LONG = /\d{16}/;
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;
const MARKED = new RegExp(`"${MARK}([^"]+)"`, "g");

/** Like `JSON.parse` of an object; what it gives is written by `stringifyExact`. */
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
