// A sidecar that misbehaves: `node fake-sidecar.mjs MODE`. It makes its frames itself, so that
// they can be wrong too. Modes are the keys of MODES.

import { spawn } from "node:child_process";
import { appendFileSync, statSync } from "node:fs";

const [mode, ...more] = process.argv.slice(2);
if (mode === "ends-unread") {
  process.stderr.write("no module named sidecar\n");
  process.exit(4);
}
const CAPABILITIES = { protocolVersion: 1, wires: ["auto"], framings: ["auto"], dialects: [], events: [], limits: {} };

function frame(message) {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
const say = (message) => process.stdout.write(frame(message));
const handshake = (streamSidecar = CAPABILITIES) => ({ capabilities: { experimental: { streamSidecar } } });

/** more: "emits", for a sidecar with that option. */
const emit = more.includes("emits") ? { emit: {} } : {};
const opened = { ...emit, streamId: "s", wire: "text", framing: "text", profile: {}, policy: {}, limits: {} };
let pushes = 0;
const text = (seq) => ({ type: "text-delta", seq, block: 0, text: "x" });
const pushed = (params) => {
  pushes += params.chunks?.length ?? 1;
  return { streamId: params.streamId, events: [text(pushes)], lastSeq: pushes, pushes };
};

/** Well behaved: one event for every push, however many chunks it has. */
const GOOD = {
  initialize: () => handshake(),
  "stream/open": () => opened,
  "stream/push": pushed,
  "stream/close": ({ streamId }) => ({
    streamId,
    events: [{ type: "finish", seq: pushes + 1, reason: "stop", emptyAnswer: false, complete: true }],
    message: {},
    stats: {},
  }),
  shutdown: () => null,
};
/** Does not answer, and reports that on standard error. */
const never = () => void process.stderr.write("hangs\n");
/** Answers after all callers have given up. */
const late = (answer) => (never(), void setTimeout(answer, 3_600_000));
const junk = (then) => void process.stdout.write("Traceback (most recent call last):\r\n\r\n", then);

const MODES = {
  good: GOOD,
  // Standard output
  "junk-at-start": { initialize: () => junk(() => process.exit(1)) },
  chatter: { initialize: () => void process.stdout.write("Loading the model ...\n") },
  "said-before": { ...GOOD, initialize: () => (process.stdout.write("(base) activated\n"), handshake()) },
  flood: { initialize: () => void setInterval(() => process.stdout.write("y".repeat(60_000)), 0) },
  "endless-body": { ...GOOD, "stream/push": () => void process.stdout.write("Content-Length: 99999999999\r\n\r\n") },
  "junk-in-between": { ...GOOD, "stream/push": () => junk() },
  "broken-json": { ...GOOD, "stream/push": () => void process.stdout.write("Content-Length: 7\r\n\r\n{nope!!") },
  "no-length": { ...GOOD, "stream/push": () => void process.stdout.write("X-Y: 1\r\n\r\n{}") },
  "closes-output": { ...GOOD, "stream/push": () => void process.stdout.end() },
  // Time
  "hangs-at-start": { initialize: never },
  hangs: { ...GOOD, "stream/push": never, "message/normalize": never },
  "deaf-to-shutdown": { ...GOOD, shutdown: never, exit: never },
  late: { ...GOOD, "stream/push": (params, id) => late(() => say({ id, result: pushed(params) })) },
  "late-at-start": { initialize: (_, id) => late(() => say({ id, result: handshake() })) },
  // Version
  "version-2": { initialize: () => handshake({ ...CAPABILITIES, protocolVersion: 2 }) },
  "refuses-version": {
    initialize: (_, id) => {
      const data = { kind: "unsupported-version", retryable: false, requested: 1, supported: [2, 3] };
      say({ id, error: { code: -31005, message: "protocolVersion 1 is not supported", data } });
    },
  },
  "language-server": { initialize: () => ({ capabilities: { hoverProvider: true } }) },
  // Events
  newer: {
    ...GOOD,
    "stream/push": ({ streamId }) => ({
      streamId,
      events: [text(1), { type: "weather", seq: 2, choice: 1, rain: true }],
      lastSeq: 2,
      pushes: 1,
    }),
    "stream/close": ({ streamId }) => ({
      streamId,
      events: [{ type: "finish", seq: 3, reason: "rain", emptyAnswer: false, complete: true }],
      message: {},
      stats: {},
    }),
  },
  "seq-gap": { ...GOOD, "stream/push": ({ streamId }) => ({ streamId, events: [text(5)], lastSeq: 5, pushes: 1 }) },
  forgetful: {
    ...GOOD,
    "stream/push": (params) => (params.chunks ? { ...pushed(params), lastSeq: 99 } : pushed(params)),
  },
  closed: {
    ...GOOD,
    "stream/push": ({ streamId }, id) => {
      const data = { kind: "stream-not-found", retryable: false, streamId, reason: "closed" };
      say({ id, error: { code: -31001, message: "closed", data } });
    },
  },
  // Process
  "ends-at-start": { initialize: () => (process.stderr.write("no module named sidecar\n"), process.exit(3)) },
  "ends-at-push": { ...GOOD, "stream/push": () => process.exit(7) },
  chatty: {
    ...GOOD,
    initialize: () => {
      for (let line = 0; line < 40_000; line++) process.stderr.write(`line ${line} of many that nobody reads\n`);
      return handshake();
    },
  },
  /** Counts its starts in a file (more). */
  counted: { ...GOOD, initialize: () => (appendFileSync(more[0], "x"), handshake()) },
  /** Works at its first and from its fourth start on; counts in a file (more). */
  "ends-at-next-starts": {
    ...GOOD,
    initialize: () => {
      appendFileSync(more[0], "x");
      const { size } = statSync(more[0]);
      return size === 1 || size > 3 ? handshake() : process.exit(3);
    },
  },
  /** Ends at the first three requests to normalize; counts them in a file (more). */
  "ends-at-requests": {
    ...GOOD,
    "message/normalize": () => {
      appendFileSync(more[0], "x");
      return statSync(more[0]).size > 3 ? { events: [], message: {}, stats: {} } : process.exit(3);
    },
  },
  /** A wrapper, whose child could outlive it. more: a file for the child's pid. */
  wrapper: {
    ...GOOD,
    initialize: () => {
      const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
      appendFileSync(more[0], String(child.pid));
      return handshake();
    },
    shutdown: never,
  },
};

const methods = MODES[mode];
if (methods === undefined) throw new Error(`no mode ${mode}`);

function receive({ id, method, params }) {
  const answer = methods[method];
  const result = answer?.(params, id);
  if (method === "exit" && answer === undefined) process.exit(0);
  if (result !== undefined && id !== undefined) say({ id, result });
}

let buffer = Buffer.alloc(0);
process.stdin.on("data", (data) => {
  buffer = Buffer.concat([buffer, data]);
  for (;;) {
    const end = buffer.indexOf("\r\n\r\n");
    if (end < 0) return;
    const size = Number(/Content-Length: (\d+)/.exec(buffer.subarray(0, end).toString())[1]);
    if (buffer.length < end + 4 + size) return;
    const body = buffer.subarray(end + 4, end + 4 + size).toString();
    buffer = buffer.subarray(end + 4 + size);
    receive(JSON.parse(body));
  }
});
if (mode !== "deaf-to-shutdown" && mode !== "wrapper") process.stdin.on("end", () => process.exit(0));
else setInterval(() => {}, 1_000);
