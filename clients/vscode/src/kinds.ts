// The kinds of findings: which there are, and how they are shown.

/** What stands in the way of a session that is resumed: its title. */
const IN_THE_WAY: Readonly<Record<string, string>> = {
  refused: "Refused when resumed",
  "left-out": "Left out when resumed",
  broken: "A broken line",
};

/** The icon of each kind of finding. */
const ICONS: Readonly<Record<string, string>> = {
  reasoning: "lightbulb",
  delimiter: "symbol-misc",
  "tool-result": "output",
  "tool-call": "tools",
  marker: "bookmark",
  "white-space": "whitespace",
  surrogate: "symbol-string",
  bound: "lock",
  refused: "error",
  "left-out": "debug-disconnect",
  broken: "json",
};

/** Whether findings of this kind stand in the way of a session; the others are leaks. */
export function isInTheWay(kind: string): boolean {
  return Object.hasOwn(IN_THE_WAY, kind);
}

export function isKind(name: string): boolean {
  return Object.hasOwn(ICONS, name);
}

/** A kind of leak in words, as the language server has it: `tool call`. */
export function nounOf(kind: string): string {
  return kind.replaceAll("-", " ");
}

export function titleOf(kind: string): string {
  return IN_THE_WAY[kind] ?? (kind === "surrogate" ? "Half a character" : `Leaked ${nounOf(kind)}`);
}

export function iconOf(kind: string): string {
  return ICONS[kind] ?? "warning";
}
