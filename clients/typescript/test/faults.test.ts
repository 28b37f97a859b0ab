// The sidecar is killed at 200 moments of 50 recorded streams: before, during and after
// pushes, while it starts again, and while streams are closed. Every stream delivers the
// events of an undisturbed run, each once, and ends with the same message.

import { afterAll, beforeAll, expect, test } from "vitest";
import { Sidecar, type ClosedStream, type StreamEvent } from "../src/index.js";
import { cut, dice, REAL, recordings, turns, UNDAUNTED, withoutMadeIds, type Recording } from "./support.js";

const STREAMS = 50;
const GROUP = 5;
const KILLS = 200;
/** How many groups run at the same time, each with its own sidecar: starts need most of the time. */
const LANES = 2;
const SEED = 20_240_229;

let healthy: Sidecar;
beforeAll(async () => void (healthy = await Sidecar.spawn(REAL)));
afterAll(() => healthy.shutdown());

interface Delivered {
  readonly events: StreamEvent[];
  readonly message: ClosedStream["message"];
}

type Roll = (limit: number) => number;
type Step = (isLast: boolean) => Promise<void>;

/** Pipes a stream in small pieces; `step` is called at every moment in which something happens. */
async function deliver(sidecar: Sidecar, chunks: readonly unknown[], { params }: Recording, step: Step) {
  async function* source() {
    for (const chunk of chunks) {
      await step(false);
      yield chunk;
    }
    await step(true);
  }
  await using stream = await sidecar.openStream(params);
  const events: StreamEvent[] = [];
  for await (const event of stream.pipe(source())) events.push(event);
  const { message } = await stream.close();
  return { events, message } satisfies Delivered;
}

/**
 * Kills the process at chosen steps, each time another process. A source waits for its kill while
 * its earlier chunks are in flight. At its end it does not wait, so that the kill happens during
 * the close of the stream.
 */
class Killer {
  readonly #victim: Sidecar;
  readonly #moments: Map<number, number[]>;
  readonly #killed = new Set<number>();
  #steps = 0;
  #ends = 0;
  #kills: Promise<void>[] = [];
  /** Kills that came when every stream had ended. */
  late = 0;

  constructor(victim: Sidecar, steps: number, kills: number, roll: Roll) {
    this.#victim = victim;
    this.#moments = new Map();
    for (let kill = 0; kill < kills; kill++) {
      const step = roll(steps);
      this.#moments.set(step, [...(this.#moments.get(step) ?? []), roll(12)]);
    }
  }

  async step(isLast: boolean): Promise<void> {
    const delays = this.#moments.get(this.#steps++) ?? [];
    const kills = delays.map((delay) => this.#kill(delay));
    this.#kills.push(...kills);
    if (!isLast) await Promise.all(kills);
    await turns(1 + (this.#steps % 3));
  }

  ended(): void {
    this.#ends += 1;
  }

  /** How many processes were killed. */
  async finish(): Promise<number> {
    await Promise.all(this.#kills);
    return this.#killed.size;
  }

  async #kill(delay: number): Promise<void> {
    for (;;) {
      await this.#victim.start();
      await turns(delay + 1);
      const { pid } = this.#victim;
      if (pid === undefined || this.#killed.has(pid)) continue;
      this.#killed.add(pid);
      if (this.#ends === GROUP) this.late += 1;
      process.kill(pid, "SIGKILL");
      return;
    }
  }
}

const roll = dice(SEED);
const chosen = recordings()
  .filter(({ closing }) => Object.keys(closing).length === 0)
  .map((recording) => ({ recording, order: roll(1_000_000) }))
  .sort((one, other) => one.order - other.order)
  .slice(0, STREAMS)
  .map(({ recording }) => recording);

/** Runs a group undisturbed and under fire, compares; gives its kills. */
async function compare(victim: Sidecar, group: readonly Recording[], roll: Roll) {
  const pieces = group.map((recording) => ({ recording, chunks: cut(recording) }));
  const steps = pieces.reduce((sum, { chunks }) => sum + chunks.length + 1, 0);
  const killer = new Killer(victim, steps, (KILLS * GROUP) / STREAMS, roll);
  const run = (sidecar: Sidecar, step: Step) =>
    pieces.map(({ recording, chunks }) => deliver(sidecar, chunks, recording, step));
  const undisturbed = await Promise.all(run(healthy, () => turns(1)));
  const running = run(victim, (isLast) => killer.step(isLast));
  const disturbed = await Promise.all(running.map((each) => each.finally(() => killer.ended())));
  const kills = await killer.finish();
  for (const [at, { name }] of group.entries()) {
    expect(withoutMadeIds(disturbed[at]), name).toEqual(withoutMadeIds(undisturbed[at]));
    const numbers = disturbed[at]?.events.map(({ seq }) => seq);
    expect(numbers, name).toEqual(numbers?.map((_, index) => index + 1));
  }
  return { kills, late: killer.late };
}

test(`${KILLS} kills over ${STREAMS} streams`, { timeout: 900_000 }, async () => {
  expect(chosen).toHaveLength(STREAMS);
  let [kills, late] = [0, 0];
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    await using victim = await Sidecar.spawn({ ...REAL, ...UNDAUNTED });
    for (let first = lane * GROUP; first < STREAMS; first += LANES * GROUP) {
      const found = await compare(victim, chosen.slice(first, first + GROUP), dice(SEED + first));
      kills += found.kills;
      late += found.late;
    }
    expect(victim.keptBytes).toBe(0);
  });
  await Promise.all(lanes);
  expect(kills).toBe(KILLS);
  expect(late).toBeLessThan(KILLS / 20);
});
