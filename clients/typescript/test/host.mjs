// A host that forgets `shutdown`: `node host.mjs CLIENT JOB`, the client's module and a JSON file.
// It sends the job's streams through one sidecar, all at the same time, and repeats this until the
// sidecar was started `starts` times (`log` has a line for each start). It prints the result of
// each stream as a line of JSON, and then has nothing more to do.

import { readFileSync } from "node:fs";

const [client, job] = process.argv.slice(2);
const { options, streams, log, starts } = JSON.parse(readFileSync(job, "utf8"));
const { Sidecar } = await import(client);
const sidecar = await Sidecar.spawn(options);

async function pushed(stream, chunks) {
  const events = [];
  for (const chunk of chunks) events.push(...(await stream.push(chunk)));
  return events;
}

async function piped(stream, chunks) {
  const events = [];
  for await (const event of stream.pipe(chunks)) events.push(event);
  return events;
}

async function deliver({ name, params, chunks }, number) {
  const stream = await sidecar.openStream(params);
  const isPiped = number % 2 === 1;
  const events = await (isPiped ? piped : pushed)(stream, chunks);
  const closed = await stream.close();
  return { name, events: isPiped ? events : [...events, ...closed.events], message: closed.message };
}

const told = (stream, number) =>
  deliver(stream, number).catch((error) => ({ name: stream.name, error: `${error.name}: ${error.message}` }));

do {
  for (const line of await Promise.all(streams.map(told))) console.log(JSON.stringify(line));
} while (readFileSync(log, "utf8").split("\n").length - 1 < starts);
