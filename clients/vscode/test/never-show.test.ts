// The quick fix that switches a kind of leak off, and the ways back.

import { beforeEach, expect, test, vi } from "vitest";
import { neverShow } from "../src/never-show.js";

const at = vi.hoisted(() => ({
  user: {} as Record<string, string[]>,
  folder: {} as Record<string, string[]>,
  commands: {} as Record<string, (kind?: string) => Promise<void>>,
  chosen: undefined as string | undefined,
  said: [] as string[],
}));

vi.mock("vscode", () => ({
  CodeActionKind: {},
  ConfigurationTarget: { Global: "user", Workspace: "folder" },
  Disposable: { from: () => undefined },
  commands: {
    registerCommand: (name: string, act: () => Promise<void>) => (at.commands[name] = act),
    executeCommand: async (...all: unknown[]) => at.said.push(all.join(" ")),
  },
  languages: { registerCodeActionsProvider: () => undefined },
  window: {
    showInformationMessage: async (text: string, ...ways: string[]) => {
      at.said.push([text, ...ways].join(" | "));
      return at.chosen;
    },
  },
  workspace: {
    fs: {},
    getConfiguration: () => ({
      get: (name: string, other: string[] = []) => at.folder[name] ?? at.user[name] ?? other,
      inspect: (name: string) => ({ workspaceValue: at.folder[name] }),
      update: async (name: string, value: string[], target: "user" | "folder") => (at[target][name] = value),
    }),
  },
}));

neverShow();
const never = at.commands["streamSidecar.neverShow"] ?? Promise.reject;

beforeEach(() => {
  Object.assign(at, { user: {}, folder: {}, chosen: undefined, said: [] });
});

test("the kind is switched off, and the message offers the way back", async () => {
  await never("tool-call");
  expect(at.user).toEqual({ except: ["tool-call"] });
  expect(at.said).toEqual([
    "Leaks of the kind “tool call” are ignored in all sessions: neither shown nor taken out. | Undo | Open Settings",
  ]);
});

test("Undo restores the settings as they were", async () => {
  at.user = { only: ["reasoning", "marker"], except: ["marker"] };
  at.chosen = "Undo";
  await never("reasoning");
  expect(at.user).toEqual({ only: ["reasoning", "marker"], except: ["marker"] });
});

test("a kind is removed from `only`, if other kinds remain there", async () => {
  at.user = { only: ["reasoning", "marker"] };
  await never("reasoning");
  expect(at.user).toEqual({ only: ["marker"] });
  await never("marker");
  expect(at.user).toEqual({ only: ["marker"], except: ["marker"] });
});

test("the settings of a folder are changed where they are", async () => {
  at.folder = { except: ["marker"] };
  await never("reasoning");
  expect([at.user, at.folder]).toEqual([{}, { except: ["marker", "reasoning"] }]);
  await at.commands["streamSidecar.showAllKinds"]?.();
  expect([at.user, at.folder]).toEqual([{}, { except: [] }]);
});

test("the settings are opened at the kinds", async () => {
  at.chosen = "Open Settings";
  await never("reasoning");
  expect(at.said[1]).toBe("workbench.action.openSettings @ext:stream-sidecar.stream-sidecar kinds of leaks");
});
