// The conversations of tests/transcripts, the same files that Python replays, spoken with
// the real sidecar through the reader of vscode-jsonrpc, which takes no noise.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { StreamMessageReader } from "vscode-jsonrpc/node";
import { expect, test } from "vitest";
import { SidecarProcess } from "../src/process.js";
import { linesOf, REAL, ROOT } from "./support.js";

interface Line {
  transcript?: number;
  dir?: "in" | "out" | "exit";
  msg?: unknown;
  raw?: string;
  base64?: string;
  end?: true;
  code?: number;
}

const HOME = join(ROOT, "tests", "transcripts");

test.for(readdirSync(HOME).sort())("%s", async (file) => {
  const lines = linesOf(join(HOME, file)) as Line[];
  expect(lines[0]?.transcript).toBe(1);
  const sidecar = new SidecarProcess(REAL.command, REAL);
  const said = listenTo(sidecar);
  for (const line of lines) {
    if (line.dir === "in") tell(sidecar, line);
    if (line.dir === "out") expect(await said.next()).toEqual(asymmetric(line.msg));
    if (line.dir !== "exit") continue;
    const { exitCode, stderr } = await sidecar.ended;
    expect({ exitCode, stderr, rest: said.rest() }).toEqual({ exitCode: line.code, stderr: "", rest: [] });
  }
});

/** The messages one by one; what vscode-jsonrpc cannot read, and the end, are messages, too. */
function listenTo(sidecar: SidecarProcess) {
  const messages: unknown[] = [];
  let wake = () => {};
  const arrived = (message: unknown) => {
    messages.push(message);
    wake();
  };
  const reader = new StreamMessageReader(sidecar.stdout);
  reader.onError(arrived);
  reader.listen(arrived);
  void sidecar.ended.then(() => wake());
  return {
    rest: () => messages,
    next: async () => {
      if (messages.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return messages.shift();
    },
  };
}

function tell(sidecar: SidecarProcess, { msg, raw, base64 }: Line): void {
  if (msg !== undefined) sidecar.stdin.write(frame(JSON.stringify(msg)));
  else if (raw !== undefined) sidecar.stdin.write(raw);
  else if (base64 !== undefined) sidecar.stdin.write(Buffer.from(base64, "base64"));
  else sidecar.stdin.end();
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
