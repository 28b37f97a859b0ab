// Kills the sidecars of a gateway at random while many streams go through it:
// `node soak.mjs SECONDS STREAMS WORKERS SEED KILL_SECONDS`, with the sidecar in STREAM_SIDECAR.
// One process is the upstream and the clients; the gateway is its program, in a process of its own.
// Some clients leave, and some answers of the upstream break off. Every answer must be equal to the
// one that the same question got before the first kill, or its beginning with an error behind it.
// The gateway's heap is small, so that it ends if memory leaks.
// Prints JSON: what happened to the streams, what was wrong, and the memory of gateway and sidecars.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import { argv } from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const [SECONDS, STREAMS, WORKERS, SEED, KILL_SECONDS] = argv.slice(2).map(Number);
const PROGRAM = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const [PLANS, WHOLE, LEFT, BROKEN] = [100, 0.2, 0.03, 0.03];
const MOST_FAULTS = 20;
/** A limit of the gateway's heap, so that a leak of memory ends it. */
const HEAP_MEGABYTES = 64;
const agent = new Agent({ keepAlive: true });

let state = SEED;
function chance() {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
const upTo = (limit) => Math.floor(chance() * limit);

/** The slices of an answer: text that leaks, cut anywhere. */
function planOf(number) {
  const sentences = Array.from({ length: 5 + upTo(30) }, (_, at) => {
    const leak = `<think>secret ${number}.${at}, which nobody may see.</think>`;
    return `${chance() < 0.2 ? leak : ""}Sentence ${at} of answer ${number} ends here. `;
  });
  const text = sentences.join("");
  const slices = [];
  for (let at = 0; at < text.length; at += slices.at(-1).length) slices.push(text.slice(at, at + 1 + upTo(24)));
  return slices;
}

function event(content, finish_reason = null) {
  const choices = [{ index: 0, delta: { content }, finish_reason }];
  return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`;
}

/** Answers with the slices of a plan, as slowly as a model. */
async function answer(plans, asked, reply, isCalm) {
  let body = "";
  for await (const data of asked) body += data;
  const { messages, stream } = JSON.parse(body);
  const slices = plans[Number(messages[0].content)];
  if (!stream) {
    const message = { role: "assistant", content: slices.join("") };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    const whole = { id: "c", object: "chat.completion", created: 1, model: "m", choices };
    return void reply.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole));
  }
  const end = !isCalm() && chance() < BROKEN ? upTo(slices.length) : slices.length;
  reply.writeHead(200, { "content-type": "text/event-stream" });
  for (const slice of slices.slice(0, end)) {
    reply.write(event(slice));
    if (!isCalm()) await pause(upTo(20));
    if (reply.destroyed) return;
  }
  if (end < slices.length) reply.destroy();
  else reply.end(`${event("", "stop")}data: [DONE]\n\n`);
}

/** Asks for a plan; resolves with what came. A client that leaves does so after so many pieces. */
async function ask(port, plan, stream, leavesAfter = Infinity) {
  const body = JSON.stringify({ model: "m", stream, messages: [{ role: "user", content: String(plan) }] });
  const options = { port, host: "127.0.0.1", path: "/v1/chat/completions", method: "POST", agent };
  const asked = request(options);
  asked.end(body);
  const [reply] = await once(asked, "response");
  let came = "";
  try {
    for await (const data of reply) {
      came += data;
      if ((leavesAfter -= 1) < 0) break;
    }
  } catch {
    return { status: reply.statusCode, came, stream, isBroken: true };
  }
  return { status: reply.statusCode, came, stream, hasLeft: leavesAfter < 0 };
}

/** The text of an answer. If a stream broke off within a tag, its beginning is text. */
function textOf({ came, stream }) {
  if (!stream) return came.startsWith("{") ? (JSON.parse(came).choices?.[0].message.content ?? "") : "";
  const lines = came.split("\n").filter((line) => line.startsWith("data: {") && line.endsWith("}"));
  const text = lines.map((line) => JSON.parse(line.slice(6)).choices?.[0]?.delta?.content ?? "").join("");
  return text.replace(/<\/?[a-z]*$/, "");
}

/** What happened to a stream; a text with a space says what is wrong. */
function verdictOf(got, expected) {
  const { status, came, stream, isBroken, hasLeft } = got;
  const text = textOf(got);
  if (/think>|secret/.test(text)) return "it leaked";
  if (status !== 200) return came.includes('"error"') ? "refused" : `the status ${status} without a word`;
  if (!expected.startsWith(text)) return "it has another text";
  if (hasLeft) return "left";
  const isWhole = !isBroken && (!stream || came.endsWith("data: [DONE]\n\n"));
  if (text === expected && isWhole) return "equal";
  if (came.includes('"error"')) return "cut";
  return isBroken ? "broken" : "it was cut without a word";
}

async function main() {
  const plans = Array.from({ length: PLANS }, (_, number) => planOf(number));
  let isCalm = true;
  const upstream = createServer((asked, reply) => void answer(plans, asked, reply, () => isCalm));
  await once(upstream.listen(0, "127.0.0.1"), "listening");
  const address = `http://127.0.0.1:${upstream.address().port}`;
  const words = ["--upstream", address, "--port", "0", "--workers", String(WORKERS)];
  const env = { ...process.env, NODE_OPTIONS: `--max-old-space-size=${HEAP_MEGABYTES}` };
  const gateway = spawn(process.execPath, [PROGRAM, ...words], { env, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  const trouble = new Map();
  process.on("exit", () => gateway.kill());
  gateway.on("exit", (code, signal) => {
    console.error(`the gateway ended with ${code ?? signal}: ${log.slice(-2_000)}`);
    process.exit(1);
  });
  const port = await new Promise((resolve) => {
    gateway.stderr.setEncoding("utf8").on("data", (piece) => {
      log = (log + piece).slice(-10_000);
      for (const [line] of piece.matchAll(/^(NOT CLEANED|NO SIDECAR).*/gm))
        trouble.set(line, (trouble.get(line) ?? 0) + 1);
      const found = /listening on http:\/\/[^/]*:(\d+)/.exec(log);
      if (found) resolve(Number(found[1]));
    });
  });
  const health = async () => (await fetch(`http://127.0.0.1:${port}/health`)).json();

  const expected = [];
  for (const plan of plans.keys()) expected.push(textOf(await ask(port, plan, true)));
  const wrong = expected.filter(
    (text, number) => /think>|secret/.test(text) || !text.includes(`answer ${number} ends`),
  );
  if (wrong.length > 0) throw new Error(`an answer without any kill is wrong: ${wrong[0]}\n${log.slice(-500)}`);
  isCalm = false;

  const [counts, faults, samples] = [{ kills: 0 }, [], []];
  const begun = performance.now();
  const seconds = () => (performance.now() - begun) / 1_000;
  const isOver = () => seconds() >= SECONDS || faults.length >= MOST_FAULTS;
  async function streams() {
    while (!isOver()) {
      const plan = upTo(PLANS);
      const isStream = chance() >= WHOLE;
      const got = await ask(port, plan, isStream, isStream && chance() < LEFT ? upTo(20) : undefined);
      const verdict = verdictOf(got, expected[plan]);
      counts[verdict] = (counts[verdict] ?? 0) + 1;
      if (verdict.includes(" ")) faults.push({ verdict, plan, at: seconds(), came: got.came.slice(-1_000) });
    }
  }
  async function kills() {
    while (!isOver()) {
      await pause(2_000 * KILL_SECONDS * chance());
      const { sidecars } = await health();
      const alive = sidecars.filter(({ pid }) => pid !== undefined);
      if (alive.length === 0) continue;
      process.kill(alive[upTo(alive.length)].pid, "SIGKILL");
      counts.kills += 1;
    }
  }
  async function memory() {
    while (!isOver()) {
      const { memoryBytes, sidecars } = await health();
      const most = Math.max(...sidecars.map((each) => each.memoryBytes ?? 0));
      samples.push([seconds(), memoryBytes, most]);
      await pause(1_000);
    }
  }
  await Promise.all([kills(), memory(), ...Array.from({ length: STREAMS }, streams)]);
  const { requests } = await health();
  console.log(JSON.stringify({ counts, faults, samples, requests, trouble: Object.fromEntries(trouble) }));
  process.exit();
}

await main();
