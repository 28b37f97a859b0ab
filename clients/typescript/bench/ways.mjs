// Starts a sidecar and makes COUNT pushes: `node ways.mjs WAY COUNT`. WAY is a command line as a
// JSON array, `"webassembly"`, or `null` for Node.js alone. Prints the milliseconds from the
// beginning to the answer to `initialize`.

import { argv } from "node:process";

const [way, count] = argv.slice(2).map((text) => JSON.parse(text));

/** A delta of Chat Completions, as a host decodes it. */
const chunk = (content) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1_760_000_000,
  model: "a-model",
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
});

const { Sidecar } = await import("../dist/index.js");
const { spawn } = await import("../dist/wasm.js");
const place = (path) => new URL(path, import.meta.url);
const places = { files: place("../wasm/"), pyodide: place("../node_modules/pyodide/") };
if (way !== null) {
  const start = performance.now();
  const sidecar = await (way === "webassembly" ? spawn(places) : Sidecar.spawn({ command: way }));
  console.log(performance.now() - start);
  const stream = await sidecar.openStream({ wire: "openai-chat" });
  for (let number = 0; number < count; number += 1) await stream.push(chunk(` word${number % 10}`));
  await sidecar.shutdown();
}
