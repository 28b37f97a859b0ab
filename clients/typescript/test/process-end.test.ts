// The end of a process: its group is killed only once, because its id may be reused afterwards.

import { expect, test, vi } from "vitest";
import { SidecarProcess } from "../src/process/process.js";

test.skipIf(process.platform === "win32")("a group is killed when its process ends, and not again", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const kill = vi.spyOn(process, "kill");
  try {
    const child = new SidecarProcess([process.execPath, "-e", ""]);
    child.listen(
      () => {},
      () => {},
    );
    expect(await child.ended).toMatchObject({ exitCode: 0 });
    vi.runAllTimers();
    child.kill();
    expect(kill.mock.calls).toEqual([[-(child.pid as number), "SIGKILL"]]);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    kill.mockRestore();
    vi.useRealTimers();
  }
});
