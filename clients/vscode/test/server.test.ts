// The language server of a window: what the user hears about requests that fail.

import { expect, test, vi } from "vitest";
import type { BaseLanguageClient } from "vscode-languageclient";
import { Server } from "../src/server.js";

vi.mock("vscode", () => ({ Uri: { parse: String } }));

test("what fails while the server stops is not shown", async () => {
  const reported = vi.fn(() => "reported");
  const logged = vi.fn();
  let isRunning = true;
  const client = {
    start: async () => undefined,
    isRunning: () => isRunning,
    handleFailedRequest: reported,
    error: logged,
  } as unknown as BaseLanguageClient;
  const server = new Server(async () => client, {} as never);
  await server.restart();
  const fail = () => client.handleFailedRequest({ method: "a" } as never, undefined, new Error("why"), "nothing");
  expect(fail()).toBe("reported");
  isRunning = false;
  expect(fail()).toBe("nothing");
  expect(reported).toHaveBeenCalledOnce();
  client.error("why", "stack");
  isRunning = true;
  client.error("why", "stack");
  expect(logged.mock.calls).toEqual([
    ["why", "stack", false],
    ["why", "stack", undefined],
  ]);
});
