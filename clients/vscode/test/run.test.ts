// Processes that are run to their end.

import { expect, test } from "vitest";
import { run } from "../src/run.js";

const node = (program: string) => [process.execPath, "-e", program];

test("what it wrote, and how it ended", async () => {
  const program = "process.stdout.write('größe'); process.stderr.write('no'); process.exitCode = 2";
  expect(await run(node(program))).toEqual({ code: 2, stdout: "größe", stderr: "no" });
});

test("what is not there", async () => {
  await expect(run(["/not/there"])).rejects.toThrow("/not/there: spawn /not/there ENOENT");
});

test("what was cancelled", async () => {
  const controller = new AbortController();
  const running = run(node("setInterval(() => {}, 1000)"), { signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(running).rejects.toThrow("enough");
});
