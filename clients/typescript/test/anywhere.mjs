// Runs in a project that has only the packages: `node anywhere.mjs RECORDINGS` streams every
// recording in that folder, and prints how the sidecar was found and which recordings gave other
// events.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { argv } from "node:process";
import { isDeepStrictEqual } from "node:util";
import { Sidecar } from "stream-sidecar";

const home = argv[2];
const linesOf = (path) => {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
};

async function events(sidecar, path) {
  const [header, ...chunks] = linesOf(path);
  const stream = await sidecar.openStream(header.options);
  const found = [];
  for (const chunk of chunks) found.push(...(await stream.push(chunk)));
  found.push(...(await stream.close(header.close)).events);
  return found;
}

/** Removes the ids that contain the stream's id, which differs in each run. */
function withoutMadeIds(told) {
  const text = JSON.stringify(told);
  const made = [...text.matchAll(/"toolCallId":"([^"]+)","idSynthetic":true/g)].map(([, id]) => `"${id}"`);
  return JSON.parse(made.reduce((rest, id) => rest.replaceAll(id, '"made"'), text));
}

const [way] = Sidecar.locate().ways;
const sidecar = await Sidecar.spawn();
const files = readdirSync(home, { recursive: true }).filter((name) => name.endsWith(".chunks.jsonl"));
const different = [];
for (const name of files) {
  const path = join(home, name);
  const expected = withoutMadeIds(linesOf(path.replace(".chunks.", ".events.")));
  if (!isDeepStrictEqual(withoutMadeIds(await events(sidecar, path)), expected)) different.push(name);
}
const isProcess = sidecar.pid !== undefined;
await sidecar.shutdown();
console.log(JSON.stringify({ way: way.name, isProcess, streamed: files.length, different }));
