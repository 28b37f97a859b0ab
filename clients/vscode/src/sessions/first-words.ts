// The first words of a session's user, for its row in the view. They are looked for near the
// beginning of the file, in the shapes that agents store.

import { open } from "node:fs/promises";
import { shortened } from "./report.js";

/** How many bytes of a file are read. */
const LOOKED_AT = 256 * 1024;
const DEEPEST = 6;

/** The first words of the user; undefined if there are none near the beginning. */
export async function firstWords(path: string): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LOOKED_AT), 0, LOOKED_AT, 0);
    return wordsIn(buffer.toString("utf8", 0, bytesRead));
  } catch {
    return undefined; // a folder, or a deleted file: the row shows its name
  } finally {
    await file.close();
  }
}

export function wordsIn(text: string): string | undefined {
  for (const document of documentsIn(text)) {
    const words = search(document, 0);
    if (words !== undefined) return shortened(words);
  }
  return undefined;
}

/** The whole text as JSON; else the user's first heading in a log of aider, then each line as JSON. */
function* documentsIn(text: string): Generator<unknown> {
  const whole = parsed(text);
  if (whole !== undefined) return yield whole;
  const asked = /^#### (.+)$/m.exec(text);
  if (asked !== null) yield { role: "user", content: asked[1] };
  for (const line of text.split("\n")) yield parsed(line);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Depth first, in the order of the file. */
function search(value: unknown, depth: number): string | undefined {
  if (typeof value !== "object" || value === null || depth > DEEPEST) return undefined;
  const record = value as Record<string, unknown>;
  if (record["role"] === "user" || record["type"] === "user") {
    const words = textOf(record["content"] ?? record["parts"] ?? record["text"]);
    // Text that an agent adds before the user's words is written as elements.
    if (words !== undefined && !words.trimStart().startsWith("<")) return words;
  }
  for (const each of Object.values(record)) {
    const words = search(each, depth + 1);
    if (words !== undefined) return words;
  }
  return undefined;
}

function textOf(content: unknown): string | undefined {
  if (typeof content === "string") return content.trim() || undefined;
  if (!Array.isArray(content)) return undefined;
  const texts = content.map((part: { text?: unknown } | null) => part?.text);
  return (
    texts
      .filter((text) => typeof text === "string")
      .join(" ")
      .trim() || undefined
  );
}
