// The JSON report of `stream-sidecar repair`, which "For programs" in
// sidecar/stream_sidecar/session_files/README.md describes, and words for people about it.

import { isInTheWay, nounOf } from "../kinds.js";
import { type Ending, RunError } from "../run.js";

/** An agent whose sessions are known, and its files on this machine. */
export interface Agent {
  readonly name: string;
  readonly title: string;
  readonly files: readonly string[];
}

/**
 * A leak, which is something that does not belong in an answer, or what stands in the way of the
 * session when it is resumed. Findings in a database have no line.
 */
export interface Finding {
  readonly file: string;
  readonly kind: string;
  /** The leaked text, or what stands in the way in a sentence. */
  readonly text: string;
  /** What mends what stands in the way; leaks have none. */
  readonly mend?: "file" | "request" | "none";
  /** It stays, because signed thinking after it is bound to its text. */
  readonly bound?: boolean;
  /** Lines and columns count from 1, columns in code points. */
  readonly line?: number;
  readonly column?: number;
  readonly endLine?: number;
  readonly endColumn?: number;
}

export interface FileReport {
  readonly path: string;
  /** Messages that a repair changes, and messages that it leaves because nothing would remain of them. */
  readonly changed: number;
  readonly blocked: number;
  readonly written: boolean;
  readonly backup: string | null;
  readonly error: string | null;
  readonly recognised: boolean;
  /** By reason: how many malformed messages are not changed, and how many items were not read. */
  readonly kept?: Readonly<Record<string, number>>;
  readonly notRead?: Readonly<Record<string, number>>;
  /** How many findings stand in the way of the session, by kind, and how many of them `--write` mends. */
  readonly refused?: number;
  readonly leftOut?: number;
  readonly broken?: number;
  readonly mendable?: number;
}

export interface Report {
  readonly findings: readonly Finding[];
  readonly files: readonly FileReport[];
}

/** The agents of `repair --list`. Throws RunError. */
export function agentsOf(ending: Ending): readonly Agent[] {
  return (parsed(ending) as { agents: readonly Agent[] }).agents;
}

/** What `repair --check` or `--write` found. Throws RunError. */
export function reportOf(ending: Ending): Report {
  const { findings, files } = parsed(ending) as Report & { readonly findings: readonly Stored[] };
  const withText = (each: Stored): Finding => (isInTheWay(each.kind) ? { ...each, text: each.message ?? "" } : each);
  return { findings: findings.map(withText), files };
}

/** A finding of the report; of what stands in the way, `message` is a sentence. */
type Stored = Finding & { readonly message?: string };

/** Exit codes only say whether there are findings; an output that is not JSON means a failure. */
function parsed({ code, stdout, stderr }: Ending): unknown {
  try {
    return JSON.parse(stdout) as unknown;
  } catch (cause) {
    const reason = stderr.trim().split("\n").at(-1) || `it exited with code ${code}`;
    throw new RunError(`stream-sidecar repair: ${reason}`, { cause });
  }
}

/** The state of a session; `contextValue` in menus is `session.` and the state. */
export type State = "leaks" | "repaired" | "clean" | "failed";

/** The state of a file, and the problem: why it cannot be repaired, or why it may not be clean. */
export function stateOf(file: FileReport): { readonly state: State; readonly problem: string | null } {
  const { error, changed, blocked, written, kept = {}, notRead = {}, mendable = 0 } = file;
  const { refused = 0, leftOut = 0, broken = 0 } = file;
  const staying = Object.values(kept).reduce((sum, count) => sum + count, 0);
  const problem = error ?? Object.keys(kept)[0] ?? Object.keys(notRead)[0] ?? null;
  if (error !== null) return { state: "failed", problem };
  if (written) return { state: "repaired", problem };
  if (changed + blocked > staying || mendable > 0) return { state: "leaks", problem };
  if (refused + leftOut + broken > 0) return { state: "failed", problem: problem ?? NOT_MENDED };
  return { state: problem === null ? "clean" : "failed", problem };
}

/** What a repair cannot do for a session. */
const NOT_MENDED = "no change of the file mends it";

/** `3 leaks, 1 refused`; empty if there is nothing. */
export function foundIn(findings: readonly Finding[]): string {
  const inTheWay = grouped(
    findings.filter(({ kind }) => isInTheWay(kind)),
    ({ kind }) => kind,
  );
  const counts = [...inTheWay].map(([kind, each]) => `${each.length.toLocaleString("en")} ${nounOf(kind)}`);
  const leaks = findings.filter(({ kind }) => !isInTheWay(kind)).length;
  return [...(leaks > 0 ? [counted(leaks, "leak")] : []), ...counts].join(", ");
}

/** Why a leak stays, as the sidecar says it. */
export const BOUND = "a later seal is bound to it";

/** `1 leak`, `12 leaks`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

const UNITS: readonly (readonly [string, number])[] = [
  ["y", 365 * 86_400_000],
  ["mo", 30 * 86_400_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
];

/** The time from `then` to `now`, in its largest unit: `3 d`. */
export function ageOf(then: number, now: number): string {
  const [unit, size] = UNITS.find(([, each]) => now - then >= each) ?? ["", 0];
  return size === 0 ? "now" : `${Math.floor((now - then) / size)} ${unit}`;
}

const LONGEST = 100;

/** A text in one line. */
export function shortened(text: string, longest = LONGEST): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const characters = [...line.slice(0, 2 * longest)];
  return characters.length <= longest && line.length <= 2 * longest
    ? line
    : `${characters.slice(0, longest).join("")}…`;
}

/** The files in groups, each short enough for one command line on every system. */
export function batches(files: readonly string[], most = { files: 250, characters: 20_000 }): string[][] {
  const found: string[][] = [];
  let room = 0;
  for (const file of files) {
    const batch = found.at(-1);
    room -= file.length + 3; // a blank, and quotes
    if (batch !== undefined && batch.length < most.files && room >= 0) batch.push(file);
    else {
      found.push([file]);
      room = most.characters - file.length - 3;
    }
  }
  return found;
}

/** The index in UTF-16 units of a column that counts code points from 1. */
export function unitsBefore(line: string, column: number): number {
  let units = 0;
  for (let left = column - 1; left > 0 && units < line.length; left -= 1) {
    units += (line.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  }
  return units;
}

/** The column, in code points, of an offset in UTF-16 units; the inverse of `unitsBefore`. */
export function columnAt(line: string, units: number): number {
  return [...line.slice(0, units)].length + 1;
}

/** The items grouped by `keyOf`; groups are in the order of their first items. */
export function grouped<K, T>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
