// A window whose package includes no sidecar: nothing runs, and each command fails for the same cause.

import { expect, test, vi } from "vitest";
import { WorkerSidecars } from "../src/wasm/worker-sidecar.js";

vi.mock("vscode", () => ({
  Uri: { joinPath: () => undefined },
  workspace: { textDocuments: [], fs: { readFile: () => Promise.reject(new Error("there is no such file")) } },
}));

test("a worker that did not start is not said to run", async () => {
  const sidecars = new WorkerSidecars({} as never, () => Promise.reject(new Error("no worker")));
  await expect(sidecars.start({} as never)).rejects.toThrow("includes no sidecar");
  expect(sidecars.isRunning).toBe(false);
  await expect(sidecars.explained({} as never, "a")).rejects.toThrow("includes no sidecar");
});
