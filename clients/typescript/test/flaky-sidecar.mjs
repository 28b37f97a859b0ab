// The real sidecar behind a relay that fails as planned: `node flaky-sidecar.mjs LOG PLAN
// COMMAND...`. Each start adds its process id as a line to LOG. The first start has the first
// fate of PLAN (JSON), the second start the second, and starts after the last fate run normally. A
// fate is `{ how, frames }`: instead of the answer number `frames` (0: the answer to
// `initialize`) the relay `dies` or `freezes`; with `tears` and `stalls` it does so after half of
// the answer. Without `frames` it dies before it reads anything.

import { spawn } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";

const [log, plan, file, ...args] = process.argv.slice(2);
appendFileSync(log, `${process.pid}\n`);
const starts = readFileSync(log, "utf8").trimEnd().split("\n").length;
const { how, frames } = JSON.parse(plan)[starts - 1] ?? { how: "lives" };
const signal = how === "freezes" || how === "stalls" ? "SIGSTOP" : "SIGKILL";
const isTorn = how === "tears" || how === "stalls";
const meet = () => process.kill(process.pid, signal);
if (how !== "lives" && frames === undefined) meet();

const child = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
process.stdin.on("data", (data) => child.stdin.write(data));
process.stdin.on("end", () => child.stdin.end());
child.stdin.on("error", () => {}); // "close" reports its end
child.on("close", (code) => process.exit(code ?? 1));
if (frames === 0 && !isTorn) process.stdin.once("data", meet);

let rest = Buffer.alloc(0);
let told = 0;
child.stdout.on("data", (data) => {
  rest = Buffer.concat([rest, data]);
  for (let size = frameSize(rest); size > 0; size = frameSize(rest)) {
    const frame = rest.subarray(0, size);
    if (told === frames) {
      if (isTorn) process.stdout.write(frame.subarray(0, size >> 1)); // written when this returns: it is a pipe
      return meet();
    }
    process.stdout.write(frame);
    rest = rest.subarray(size);
    told += 1;
  }
});

/** The bytes of the frame at the beginning; 0: it is not whole yet. */
function frameSize(data) {
  const end = data.indexOf("\r\n\r\n");
  if (end < 0) return 0;
  const size = end + 4 + Number(/Content-Length: (\d+)/.exec(data.toString("latin1", 0, end))[1]);
  return data.length < size ? 0 : size;
}
