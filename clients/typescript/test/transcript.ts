// Replays a transcript of tests/transcripts, the same files that Python replays, to a sidecar. It
// uses the reader of vscode-jsonrpc, which accepts no text between frames.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { StreamMessageReader } from "vscode-jsonrpc/node";
import { expect } from "vitest";
import type { Ending } from "../src/errors.js";
import { linesOf, ROOT } from "./support.js";

interface Line {
  transcript?: number;
  dir?: "in" | "out" | "exit";
  msg?: unknown;
  raw?: string;
  base64?: string;
  end?: true;
  code?: number;
}

/** The part of a process or a worker that is needed. */
export interface Spoken {
  readonly ended: Promise<Ending>;
  listen(onData: (data: Uint8Array) => void, onEnd: () => void): void;
  write(data: Uint8Array): Promise<void>;
  endInput(): unknown;
}

const HOME = join(ROOT, "tests", "transcripts");

export function transcripts(): string[] {
  return readdirSync(HOME).sort();
}

/** Fails if `sidecar` sends anything that was not recorded. */
export async function speak(file: string, sidecar: Spoken): Promise<void> {
  const lines = linesOf(join(HOME, file)) as Line[];
  expect(lines[0]?.transcript).toBe(1);
  const said = listenTo(sidecar);
  for (const line of lines) {
    if (line.dir === "in") await tell(sidecar, line);
    if (line.dir === "out") expect(await said.next()).toEqual(asymmetric(line.msg));
    if (line.dir !== "exit") continue;
    const { exitCode, stderr } = await sidecar.ended;
    expect({ exitCode, stderr, rest: said.rest() }).toEqual({ exitCode: line.code, stderr: "", rest: [] });
  }
}

/** The messages one by one; what vscode-jsonrpc cannot read, and the end, are messages, too. */
function listenTo(sidecar: Spoken) {
  const output = new PassThrough();
  sidecar.listen(
    (data) => void output.write(data),
    () => {},
  );
  const messages: unknown[] = [];
  let wake = () => {};
  const arrived = (message: unknown) => {
    messages.push(message);
    wake();
  };
  const reader = new StreamMessageReader(output);
  reader.onError(arrived);
  reader.listen(arrived);
  return {
    rest: () => messages,
    next: async () => {
      if (messages.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return messages.shift();
    },
  };
}

async function tell(sidecar: Spoken, { msg, raw, base64 }: Line): Promise<void> {
  if (msg !== undefined) await sidecar.write(Buffer.from(frame(JSON.stringify(msg))));
  else if (raw !== undefined) await sidecar.write(Buffer.from(raw));
  else if (base64 !== undefined) await sidecar.write(Buffer.from(base64, "base64"));
  else sidecar.endInput();
}

function frame(body: string): string {
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** The value "..." stands for any value. */
function asymmetric(expected: unknown): unknown {
  if (expected === "...") return expect.anything();
  if (Array.isArray(expected)) return expected.map(asymmetric);
  if (typeof expected !== "object" || expected === null) return expected;
  return Object.fromEntries(Object.entries(expected).map(([key, value]) => [key, asymmetric(value)]));
}
