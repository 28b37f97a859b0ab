// Makes a worker of Node.js look like a browser's worker to Pyodide: it then fetches its
// files as in a browser, and reaches no other files. Must be imported first.

import { parentPort } from "node:worker_threads";

const scope = globalThis as unknown as { onmessage?: (event: { data: unknown }) => void };

class WorkerGlobalScope {
  static [Symbol.hasInstance](): boolean {
    return true;
  }
}

Object.assign(process, { browser: true, type: "renderer" });
Object.assign(globalThis, {
  self: globalThis,
  location: new URL("https://stream-sidecar.invalid/"),
  WorkerGlobalScope,
  postMessage: (message: unknown) => parentPort?.postMessage(message),
  close: () => process.exit(),
});
parentPort?.on("message", (data: unknown) => scope.onmessage?.({ data }));
