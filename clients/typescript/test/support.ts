// Shared by the tests: the real sidecar, recorded streams, seeded random numbers, and waiting
// without sleeps.

import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import { Sidecar, type ConnectionLost, type OpenParams, type SidecarOptions, type StreamEvent } from "../src/index.js";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PYTHON = process.env["SIDECAR_TEST_PYTHON"] ?? "python3";

/** The real sidecar of this checkout. */
export const REAL = {
  command: [PYTHON, "-m", "stream_sidecar", "--stdio"],
  cwd: ROOT,
  env: { PYTHONPATH: join(ROOT, "sidecar"), PYTHONWARNINGS: "error" },
} satisfies SidecarOptions;

const FAKE = fileURLToPath(new URL("fake-sidecar.mjs", import.meta.url));

/** A sidecar that does what `mode` says (fake-sidecar.mjs). */
export function fake(mode: string, ...more: string[]): SidecarOptions & { readonly command: readonly string[] } {
  return { command: [process.execPath, FAKE, mode, ...more] };
}

/** Restarts without a delay, as often as needed. */
export const UNDAUNTED = { restarts: { max: 10_000, delayMs: 0 } } satisfies SidecarOptions;

export interface Recording {
  readonly name: string;
  readonly params: OpenParams;
  readonly closing: object;
  readonly chunks: readonly unknown[];
  readonly events: readonly StreamEvent[];
}

export function linesOf(path: string): unknown[] {
  const lines = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as unknown);
}

/** Every stream of tests/wires whose chunks JavaScript can represent. */
export function recordings(): Recording[] {
  const home = join(ROOT, "tests", "wires");
  const entries = readdirSync(home, { withFileTypes: true });
  const wires = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return wires.sort().flatMap((wire) => {
    const files = readdirSync(join(home, wire)).filter((file) => file.endsWith(".chunks.jsonl"));
    return files.sort().map((file) => recording(join(home, wire, file), `${wire}/${basename(file, ".chunks.jsonl")}`));
  });
}

function recording(path: string, name: string): Recording {
  const [header, ...chunks] = linesOf(path) as [{ options: OpenParams; close?: object }, ...unknown[]];
  const events = linesOf(path.replace(".chunks.", ".events.")) as StreamEvent[];
  return { name, params: header.options, closing: header.close ?? {}, chunks, events };
}

/** Removes the ids that contain the stream's id, which differs in each run. */
export function withoutMadeIds<T>(told: T): T {
  const text = JSON.stringify(told);
  const made = [...text.matchAll(/"toolCallId":"([^"]+)","idSynthetic":true/g)].map(([, id]) => `"${id}"`);
  return JSON.parse(made.reduce((rest, id) => rest.replaceAll(id, '"made"'), text)) as T;
}

/** Strings are cut further: into 12 pieces or so. */
export function cut({ params, chunks }: Recording): unknown[] {
  if (params.framing === "json" || params.encoding === "base64") return [...chunks];
  return chunks.flatMap((chunk) => {
    if (typeof chunk !== "string" || chunk === "") return [chunk];
    const size = Math.ceil(chunk.length / 12);
    return Array.from({ length: Math.ceil(chunk.length / size) }, (_, at) => chunk.slice(at * size, (at + 1) * size));
  });
}

/** Pseudo-random numbers from 0 to below 1: the same for the same seed. */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Whole numbers from 0 to below `limit`. */
export function dice(seed: number): (limit: number) => number {
  const next = chance(seed);
  return (limit) => Math.floor(next() * limit);
}

/** Waits a few turns of the event loop, in which everything continues that can. */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const wait = globalThis.setTimeout; // also where time stands still

/** Waits until a condition is true; the test's timeout limits the wait. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => wait(resolve, 2));
}

/**
 * Runs a test in which the client's clock stands still, so that no answer is late because the
 * machine is busy. `pass` lets time pass, for everything that waits for an answer at that moment.
 */
export async function timeless(test: (pass: (ms: number) => Promise<void>) => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    await test(async (ms) => {
      await until(() => vi.getTimerCount() > 0);
      await vi.advanceTimersByTimeAsync(ms);
    });
  } finally {
    vi.useRealTimers();
  }
}

export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of source) found.push(each);
  return found;
}

/** A citation; `source` is its source's number, which older sidecars do not send. */
export function cited(fields: { seq: number; source?: number; [field: string]: unknown }): StreamEvent {
  const citation: object = { type: "citation", kind: "url", role: "claim", exact: true, ...fields };
  return citation as StreamEvent;
}

/** The error that a promise is rejected with; fails if it is not rejected. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    (value) => {
      throw new Error(`resolved with ${JSON.stringify(value)}`);
    },
    (error: unknown) => error as Error,
  );
}

/** Whether a process exists, and not only its entry that nobody has read. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return true; // where there is no such file, nobody can tell
  }
}

/** Kills the sidecar's process and waits until the client has seen it. */
export async function crash(sidecar: Sidecar): Promise<void> {
  const { pid } = sidecar;
  if (pid === undefined) throw new Error("no process");
  process.kill(pid, "SIGKILL");
  await until(() => sidecar.pid !== pid);
}

export type { ConnectionLost };
