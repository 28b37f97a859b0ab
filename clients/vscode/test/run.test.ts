// Running processes to their end.

import { expect, test } from "vitest";
import { run } from "../src/run.js";

const node = (program: string) => [process.execPath, "-e", program];

test("the output and the exit code", async () => {
  const program = "process.stdout.write('größe'); process.stderr.write('no'); process.exitCode = 2";
  expect(await run(node(program))).toEqual({ code: 2, stdout: "größe", stderr: "no" });
});

test("a program that does not exist", async () => {
  await expect(run(["/not/there"])).rejects.toThrow("/not/there: spawn /not/there ENOENT");
});

test("a cancelled process", async () => {
  const controller = new AbortController();
  const running = run(node("setInterval(() => {}, 1000)"), { signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(running).rejects.toThrow("enough");
});
