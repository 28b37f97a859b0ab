// Measures how long a stream waits while another makes a large push: `node wait.mjs SIDECAR FILE`,
// with the command as JSON, and a JSON file of texts by name. One stream pushes a text with one
// call; meanwhile the other pushes short deltas, one by one. Prints JSON: for each name and round
// the milliseconds of the longest `wait`, of the longest wait `alone`, and of the large push.

import { readFileSync } from "node:fs";
import { argv } from "node:process";
import { Sidecar } from "../dist/index.js";

const ROUNDS = 5;
const ALONE = 200;
const command = JSON.parse(argv[2]);
const texts = JSON.parse(readFileSync(argv[3], "utf8"));

/** The longest wait of a stream that pushes until it is stopped. */
async function longest(stream, goesOn) {
  let wait = 0;
  for (let count = 0; goesOn(count); count += 1) {
    const start = performance.now();
    await stream.push("twenty characters, a");
    wait = Math.max(wait, performance.now() - start);
  }
  return wait;
}

async function round(sidecar, text) {
  const large = await sidecar.openStream({ wire: "text" });
  const small = await sidecar.openStream({ wire: "text" });
  const alone = await longest(small, (count) => count < ALONE);
  const start = performance.now();
  let took;
  const pushed = large.push(text).then(() => (took = performance.now() - start));
  const wait = await longest(small, () => took === undefined);
  await pushed;
  await Promise.all([large.close(), small.close()]);
  return { wait, alone, took };
}

const sidecar = await Sidecar.spawn({ command });
const found = {};
for (const [name, text] of Object.entries(texts)) {
  found[name] = [];
  for (let number = 0; number < ROUNDS; number += 1) found[name].push(await round(sidecar, text));
}
await sidecar.shutdown();
console.log(JSON.stringify(found));
