// `--watch`: a line for each request, with what was removed in colour.

import { headOf, type Phrase, type PhraseKind, type TurnReport } from "./lines.js";

/** Codes of ANSI terminals. */
const [RED, GREEN, YELLOW, DIM, PLAIN] = [31, 32, 33, 2, 0];
const COLOURS: Partial<Record<PhraseKind, number>> = {
  ...{ removed: YELLOW, late: YELLOW, mended: GREEN },
  ...{ uncleaned: RED, cut: RED, failed: RED, error: RED, unanswered: RED, left: DIM, passed: DIM, nothing: DIM },
};

/** The line of a request; the beginning of what was removed stands at its end. */
export function watchedLine(report: TurnReport, hasColours: boolean): string {
  const coloured = (text: string, code = PLAIN) => (hasColours && code ? `\x1b[${code}m${text}\x1b[${PLAIN}m` : text);
  const phrases = report.phrases.map(({ kind, text }: Phrase) => coloured(text, COLOURS[kind]));
  const excerpt = report.excerpt === undefined ? "" : ` | ${coloured(report.excerpt, YELLOW)}`;
  return `${headOf(report)}: ${phrases.join("; ")}${excerpt}`;
}
