// What the view says about a session besides its leaks: the first words of its user, the folder
// that the agent worked in, and when the file last changed. Words and folder are looked for near
// the beginning of the file, in the shapes that agents store.

import { open } from "node:fs/promises";
import { shortened } from "./report.js";

export interface About {
  /** The first words of the user. */
  readonly words?: string | undefined;
  /** The folder in which the agent worked. */
  readonly folder?: string | undefined;
  /** When the file last changed, in milliseconds. */
  readonly changed?: number | undefined;
}

/** How many bytes of a file are read. */
const LOOKED_AT = 256 * 1024;
const DEEPEST = 6;

/** Nothing is known about a folder, or about a deleted file. */
export async function aboutOf(path: string): Promise<About> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return {};
  try {
    const { mtimeMs } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LOOKED_AT), 0, LOOKED_AT, 0);
    return { ...aboutIn(buffer.toString("utf8", 0, bytesRead)), changed: mtimeMs };
  } catch {
    return {};
  } finally {
    await file.close();
  }
}

/** The first words of the user in a session, and the folder that is named before them. */
export function aboutIn(text: string): About {
  let folder: string | undefined;
  for (const document of documentsIn(text)) {
    folder ??= search(document, folderIn);
    const words = search(document, wordsIn);
    if (words !== undefined) return { words: shortened(words), folder };
  }
  return { folder };
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

type Look = (record: Record<string, unknown>) => string | undefined;

/** What `look` finds first: depth first, in the order of the file. */
function search(value: unknown, look: Look, depth = 0): string | undefined {
  if (typeof value !== "object" || value === null || depth > DEEPEST) return undefined;
  const found = look(value as Record<string, unknown>);
  if (found !== undefined) return found;
  for (const each of Object.values(value)) {
    const below = search(each, look, depth + 1);
    if (below !== undefined) return below;
  }
  return undefined;
}

function folderIn({ cwd }: Record<string, unknown>): string | undefined {
  return typeof cwd === "string" && cwd !== "" ? cwd : undefined;
}

function wordsIn(record: Record<string, unknown>): string | undefined {
  if (record["role"] !== "user" && record["type"] !== "user") return undefined;
  const words = textOf(record["content"] ?? record["parts"] ?? record["text"]);
  // Text that an agent adds before the user's words is written as elements.
  return words?.trimStart().startsWith("<") ? undefined : words;
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
