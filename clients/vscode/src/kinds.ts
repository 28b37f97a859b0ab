// The kinds of leaks: which there are, and how they are shown.

/** The icon of each kind of leak. */
const ICONS: Readonly<Record<string, string>> = {
  reasoning: "lightbulb",
  delimiter: "symbol-misc",
  "tool-result": "output",
  "tool-call": "tools",
  marker: "bookmark",
  "white-space": "whitespace",
  surrogate: "symbol-string",
};

export function isKind(name: string): boolean {
  return Object.hasOwn(ICONS, name);
}

/** A kind of leak in words, as the language server has it: `tool call`. */
export function nounOf(kind: string): string {
  return kind.replaceAll("-", " ");
}

export function titleOf(kind: string): string {
  return kind === "surrogate" ? "Half a character" : `Leaked ${nounOf(kind)}`;
}

export function iconOf(kind: string): string {
  return ICONS[kind] ?? "warning";
}
