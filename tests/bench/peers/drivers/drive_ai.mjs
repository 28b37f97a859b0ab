// ai: the middleware that its models are wrapped in, between two web streams, as there.
//
// `node drive_ai.mjs [--bare] JOB RESULT`, see harness.py. With --bare an empty
// TransformStream stands where the middleware's is: what the carrier costs. It is run
// from a copy in the folder where `ai` is installed.
import { readFileSync, writeFileSync } from "node:fs";
import { extractReasoningMiddleware } from "ai";

const BARE = process.argv.includes("--bare");
const BATCH = 1_000; // deltas between two looks at the clock
const middleware = extractReasoningMiddleware({ tagName: "think" });

class TooSlow extends Error {}

/** The stream of one answer; `alive` is asked every BATCH deltas. */
function source(deltas, alive) {
  let at = 0;
  return new ReadableStream({
    start(controller) {
      controller.enqueue({ type: "text-start", id: "0" });
    },
    pull(controller) {
      if (at % BATCH === 0 && !alive()) throw new TooSlow();
      if (at < deltas.length) {
        controller.enqueue({ type: "text-delta", id: "0", delta: deltas[at++] });
        return;
      }
      controller.enqueue({ type: "text-end", id: "0" });
      controller.close();
    },
  });
}

async function splitter(stream) {
  if (BARE) return stream.pipeThrough(new TransformStream());
  const doStream = async () => ({ stream });
  return (await middleware.wrapStream({ doStream })).stream;
}

/** Seconds that this process has had, all its threads together. */
function processorTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** All streams, from making the splitter of each to its end. */
async function round(streams, most) {
  const begin = processorTime();
  const alive = () => processorTime() - begin < most;
  for (const deltas of streams) {
    const reader = (await splitter(source(deltas, alive))).getReader();
    while (!(await reader.read()).done);
  }
  return processorTime() - begin;
}

/** Seconds of processor a delta in the best round, null when one takes over `most`. */
async function time({ streams, seconds, most }) {
  const rounds = [];
  try {
    while (rounds.reduce((a, b) => a + b, 0) < seconds)
      rounds.push(await round(streams, most));
  } catch (error) {
    if (error instanceof TooSlow) return null;
    throw error;
  }
  const deltas = streams.reduce((sum, each) => sum + each.length, 0);
  return Math.min(...rounds) / deltas;
}

async function split(deltas) {
  let answer = "";
  let reasoning = "";
  for await (const part of await splitter(source(deltas, () => true))) {
    if (part.type === "text-delta") answer += part.delta;
    if (part.type === "reasoning-delta") reasoning += part.delta;
  }
  return [answer, reasoning];
}

const [jobFile, resultFile] = process.argv.slice(-2);
const job = JSON.parse(readFileSync(jobFile, "utf8"));
const result = { timed: [], split: [] };
for (const each of job.timed) result.timed.push(await time(each));
for (const each of job.split) result.split.push(await split(each));
writeFileSync(resultFile, JSON.stringify(result));
