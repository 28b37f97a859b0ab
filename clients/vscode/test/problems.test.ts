// The message that the user gets if there is no sidecar, however many commands need it.

import { beforeEach, expect, test, vi } from "vitest";
import { NotFound } from "../src/locate.js";
import { showError, Unavailable } from "../src/problems.js";

const { messages, commands } = vi.hoisted(() => ({
  messages: [] as { text: string; ways: string[]; choose: (way: string | undefined) => void }[],
  commands: [] as unknown[][],
}));

vi.mock("vscode", () => ({
  Uri: { parse: String },
  commands: { executeCommand: async (...all: unknown[]) => commands.push(all) },
  window: {
    showErrorMessage: (text: string, ...ways: string[]) =>
      new Promise((choose) => messages.push({ text, ways, choose })),
  },
}));

beforeEach(() => {
  messages.length = commands.length = 0;
});

test("a missing sidecar is reported once, with a way out", async () => {
  const shown = [1, 2, 3].map(() => showError(new NotFound([])));
  expect(messages).toMatchObject([{ ways: ["How to Install", "Settings", "Show Log"] }]);
  expect(messages[0]?.text).toBe(
    "Sessions cannot be checked: the command line tool “stream-sidecar” is not installed. " +
      "Install it (“pip install stream-sidecar”, with Python 3.11 or newer), or name its command in the settings.",
  );
  messages[0]?.choose("Show Log");
  await Promise.all(shown);
  expect(commands).toEqual([["streamSidecar.showLog"]]);
});

test("another command asks again once the message is gone", async () => {
  const shown = showError(new NotFound([]));
  messages[0]?.choose(undefined);
  await shown;
  void showError(new NotFound([]));
  expect(messages).toHaveLength(2);
  expect(commands).toEqual([]);
});

test("two causes are two messages, and an error that is not about the sidecar has no way out", () => {
  void showError(new Unavailable("It ended."));
  void showError(new Error("No such file."));
  expect(messages.map(({ ways }) => ways.length)).toEqual([3, 0]);
});

test("a setting that leads to no sidecar is named", () => {
  void showError(new NotFound([], { command: [], python: "/opt/python" }));
  expect(messages[0]?.text).toBe(
    "Sessions cannot be checked: the setting “streamSidecar.python” leads to no stream-sidecar. " +
      "Correct the setting, or empty it.",
  );
});
