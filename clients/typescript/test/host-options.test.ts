// What a host can watch and choose: the process's state, log and environment, how long it waits
// for an answer, and the error if there is no suitable Python.

import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RequestTimeout, Sidecar, SidecarUnavailable, type SidecarState } from "../src/index.js";
import { fake, REAL } from "./support.js";

test("states, a restart that open streams outlive, and who answers", async () => {
  const states: SidecarState[] = [];
  const lost: unknown[] = [];
  const options = {
    ...REAL,
    onState: (state: SidecarState) => states.push(state),
    onLost: (e: unknown) => lost.push(e),
  };
  const sidecar = Sidecar.create(options);
  expect([sidecar.state, sidecar.serverInfo]).toEqual(["idle", undefined]);
  const stream = await sidecar.openStream({ wire: "text" });
  expect(sidecar.serverInfo).toMatchObject({ name: "stream-sidecar" });
  expect(sidecar.capabilities).toMatchObject({ protocolVersion: 1 });
  const before = sidecar.pid;
  await stream.push("<think>why</th");
  await sidecar.restart();
  expect(sidecar.pid).not.toBe(before);
  await stream.push("ink>Because.");
  expect((await stream.close()).message.text).toBe("Because.");
  await sidecar.shutdown();
  expect(states).toEqual(["starting", "running", "restarting", "running", "lost"]);
  expect(lost).toEqual([]);
});

test("the log arrives live, and the environment is limited", async () => {
  let log = "";
  process.env["SIDECAR_TEST_SECRET"] = "secret";
  const script = [
    process.execPath,
    "-e",
    `console.error(process.env.SIDECAR_TEST_SECRET, process.argv.slice(1))`,
    "--",
  ];
  for (const [inheritEnv, wanted] of [
    [undefined, "secret"],
    [["PATH"], "undefined"],
  ] as const) {
    log = "";
    const options = { command: script, logLevel: "info", onStderr: (text: string) => (log += text) } as const;
    const sidecar = Sidecar.create({ ...options, ...(inheritEnv && { inheritEnv }), restarts: { max: 0 } });
    await expect(sidecar.start()).rejects.toThrow(SidecarUnavailable);
    expect(log).toContain(`${wanted} [ '--log-level', 'info' ]`);
  }
  delete process.env["SIDECAR_TEST_SECRET"];
});

test("a host waits for a stream's answer as long as it wants to, and no chunk is lost", async () => {
  await using sidecar = await Sidecar.spawn(REAL);
  const stream = await sidecar.openStream({ wire: "text" });
  const reason = new Error("enough");
  await expect(stream.push("Be", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await expect(stream.snapshot({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(await stream.push("cause.", { timeoutMs: 60_000 })).toHaveLength(1);
  const closed = await stream.close({}, { timeoutMs: 60_000 });
  expect(closed.message.text).toBe("Because.");
});

test("an answer that does not come in the host's time is a RequestTimeout", async () => {
  await using sidecar = await Sidecar.spawn({ ...fake("hangs"), requestTimeoutMs: 20_000, shutdownTimeoutMs: 50 });
  const stream = await sidecar.openStream({ wire: "text" });
  await expect(stream.push("a", { timeoutMs: 50 })).rejects.toThrow(RequestTimeout);
});

test.runIf(process.platform !== "win32")(
  "a Python that is missing, too old or without the package is told",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "sidecar-python-"));
    const problemOf = async (program: string | undefined) => {
      const python = join(folder, "python3");
      if (program !== undefined) {
        writeFileSync(python, `#!/bin/sh\n${program}\n`);
        chmodSync(python, 0o755);
      }
      const error = await Sidecar.create({ python, restarts: { max: 0 } })
        .start()
        .catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(SidecarUnavailable);
      const { problem, message } = error as SidecarUnavailable;
      return { problem, message };
    };
    expect((await problemOf(undefined)).problem).toBe("python-missing");
    const old = await problemOf('[ "$1" = -E ] && echo 3.10 || exit 1');
    expect(old.problem).toBe("python-too-old");
    expect(old.message).toContain(`Python 3.11 or newer is needed, found 3.10 at ${join(folder, "python3")}`);
    const bare = await problemOf('[ "$1" = -E ] && echo 3.13 || exit 1');
    expect(bare.problem).toBe("package-missing");
  },
);
