// Hosts whose sidecar is killed while it starts, in the middle of a frame or between two frames,
// or stops answering. Every stream delivers the events of an undisturbed run, each once, and ends
// with the same message. No host shuts its sidecar down, but every host ends, and no sidecar
// outlives its host.
//
// `SIDECAR_KILLS=250 npm test -- kills` does it 250 times. The order of the faults and where
// they hit are drawn from a seed.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Sidecar, type SidecarOptions } from "../src/index.js";
import { cut, dice, isAlive, REAL, recordings, UNDAUNTED, until, withoutMadeIds, type Recording } from "./support.js";

const KILLS = Number(process.env["SIDECAR_KILLS"] ?? 12);
const KILLS_OF_A_HOST = 4;
const STREAMS_OF_A_HOST = 3;
/** How many hosts run at the same time: starts need most of the time. */
const LANES = 2;
const SEED = 20_240_229;
/** A host that runs longer than this has not ended. */
const PATIENCE_MS = 240_000;

type Fate = { how: "dies" | "tears" | "freezes" | "stalls"; frames?: number };

/** A third each of a dozen: while it starts, in mid-frame, frozen. `at`: after some answers. */
const FAULTS: readonly (Fate & { at?: "later" })[] = [
  { how: "tears", at: "later" },
  { how: "dies" },
  { how: "freezes", at: "later" },
  { how: "tears", frames: 0 },
  { how: "stalls", at: "later" },
  { how: "tears", at: "later" },
  { how: "dies", frames: 0 },
  { how: "tears", at: "later" },
  { how: "freezes", at: "later" },
  { how: "dies", at: "later" },
  { how: "tears", at: "later" },
  { how: "freezes", frames: 0 },
];

const PACKAGE = fileURLToPath(new URL("../", import.meta.url));
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "sidecar-"));
/** The client as a host loads it, where it finds its dependency. */
const built = mkdtempSync(join(PACKAGE, "node_modules", ".client-"));
let healthy: Sidecar;

beforeAll(async () => {
  transpile(join(PACKAGE, "src"), built);
  healthy = await Sidecar.spawn(REAL);
});

afterAll(async () => {
  await healthy.shutdown();
  for (const place of [scratch, built]) rmSync(place, { recursive: true });
});

function transpile(from: string, to: string): void {
  for (const name of readdirSync(from, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts")) continue;
    const compilerOptions = {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
    };
    const { outputText } = ts.transpileModule(readFileSync(join(from, name), "utf8"), { compilerOptions });
    const file = join(to, name.replace(/\.ts$/, ".js"));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, outputText);
  }
}

interface Job {
  readonly name: string;
  readonly streams: readonly Recording[];
  readonly fates: readonly Fate[];
  readonly options?: SidecarOptions;
}

interface Told {
  readonly name: string;
  readonly error?: string;
}

/** Runs a host to its end; gives what it printed and which sidecars it had. */
async function host({ name, streams, fates, options }: Job) {
  const [log, job] = [join(scratch, `${name}.log`), join(scratch, `${name}.json`)];
  const command = [process.execPath, here("flaky-sidecar.mjs"), log, JSON.stringify(fates), ...REAL.command];
  const waits = { requestTimeoutMs: 10_000, startTimeoutMs: 20_000 }; // a frozen sidecar is noticed after this time
  const cuts = streams.map((each) => ({ name: each.name, params: each.params, chunks: cut(each) }));
  const task = { options: { ...REAL, ...UNDAUNTED, ...waits, ...options, command }, streams: cuts, log };
  writeFileSync(job, JSON.stringify({ ...task, starts: options ? 1 : fates.length + 1 }));
  const client = pathToFileURL(join(built, "index.js")).href;
  const child = spawn(process.execPath, [here("host.mjs"), client, job], { stdio: ["ignore", "pipe", "pipe"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
  const ended = new Promise((resolve) => child.once("close", (code, signal) => resolve(signal ?? code)));
  const [said, wrong, end] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  clearTimeout(timer);
  expect({ end, wrong }, `${name} ${JSON.stringify(fates)}`).toEqual({ end: 0, wrong: "" });
  const lines = said.split("\n").filter((line) => line !== "");
  const pids = readFileSync(log, "utf8").trimEnd().split("\n").map(Number);
  await until(() => !pids.some(isAlive));
  return { told: lines.map((line) => JSON.parse(line) as Told), pids };
}

async function undisturbed(recording: Recording): Promise<Told> {
  const stream = await healthy.openStream(recording.params);
  const events = await stream.pushAll(cut(recording));
  const closed = await stream.close();
  const told = { name: recording.name, events: [...events, ...closed.events], message: closed.message };
  return withoutMadeIds(told) as Told;
}

const roll = dice(SEED);
const suitable = recordings().filter(({ closing }) => Object.keys(closing).length === 0);

/** The `number`th host. Its first start succeeds, because a first failure would be reported immediately. */
function jobOf(number: number): Job {
  const fates = Array.from({ length: KILLS_OF_A_HOST }, (_, index): Fate => {
    const { how, at, frames } = FAULTS[(number * KILLS_OF_A_HOST + index) % FAULTS.length] as (typeof FAULTS)[number];
    return at === "later" ? { how, frames: 1 + roll(16) } : { how, ...(frames === undefined ? {} : { frames }) };
  });
  const streams = Array.from({ length: STREAMS_OF_A_HOST }, () => suitable[roll(suitable.length)] as Recording);
  return { name: `host-${number}`, streams, fates };
}

test.skipIf(process.platform === "win32")(`${KILLS} kills`, { timeout: 3_600_000 }, async () => {
  const jobs = Array.from({ length: Math.ceil(KILLS / KILLS_OF_A_HOST) }, (_, number) => jobOf(number));
  let kills = 0;
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    for (const job of jobs.filter((_, number) => number % LANES === lane)) {
      const expected = new Map<string, Told>();
      for (const stream of job.streams) expected.set(stream.name, await undisturbed(stream));
      const { told, pids } = await host(job);
      expect(told.length).toBeGreaterThanOrEqual(STREAMS_OF_A_HOST);
      for (const each of told) expect(withoutMadeIds(each), JSON.stringify(job.fates)).toEqual(expected.get(each.name));
      kills += pids.length - 1;
    }
  });
  await Promise.all(lanes);
  expect(kills).toBeGreaterThanOrEqual(KILLS);
});

test.skipIf(process.platform === "win32").for(["dies", "tears", "freezes", "stalls"] as const)(
  "a host ends whose last sidecar %s",
  async (how) => {
    const [stream] = suitable as [Recording];
    const options = { restarts: { max: 0 }, requestTimeoutMs: 15_000 };
    const { told } = await host({ name: how, streams: [stream], fates: [{ how, frames: 2 }], options });
    expect(told).toMatchObject([{ name: stream.name, error: expect.stringContaining("StreamLost") as string }]);
  },
);
