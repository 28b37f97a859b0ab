// Records of turns: only the user may read them, and one that fails ends nothing else.

import * as fs from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { Sidecar } from "stream-sidecar";
import { createGateway } from "../src/gateway.js";
import { Recorder } from "../src/tape.js";
import { asking, behindGateway, CHAT, closeServers, LEAKING, listening, QUESTION, said } from "./gateways.js";
import { REAL, until } from "../../typescript/test/support.js";

vi.mock(import("node:fs"), async (original) => {
  const real = await original();
  return { ...real, createWriteStream: vi.fn(real.createWriteStream) };
});
const files = vi.mocked(fs.createWriteStream);
const openFile = files.getMockImplementation()!;

const EVENTS = { "content-type": "text/event-stream" };
const WHOLE = `${LEAKING.join("")}data: [DONE]\n\n`;
const isPosix = process.platform !== "win32";

let sidecar: Sidecar;
let folder: string;
beforeAll(async () => void (sidecar = await Sidecar.spawn(REAL)));
afterAll(() => sidecar.shutdown());
beforeEach(() => void (folder = join(fs.mkdtempSync(join(tmpdir(), "tape-")), "turns")));
afterEach(() => {
  files.mockImplementation(openFile);
  closeServers();
});

const recording = () =>
  behindGateway(
    (asked, answer) => {
      asked.resume();
      answer.writeHead(200, EVENTS).end(WHOLE);
    },
    sidecar,
    { record: folder },
  );
const turn = async (port: number) => said(await text(await asking(port, { path: CHAT, body: QUESTION })));

/** What the files of a folder hold, by their endings. */
function kept(): Record<string, string> {
  const names = fs.readdirSync(folder);
  const contents = names.map((name) => [name.replace(/.*\./, ""), fs.readFileSync(join(folder, name), "utf8")]);
  return Object.fromEntries(contents) as Record<string, string>;
}

const modeOf = (path: string) => fs.statSync(path).mode & 0o777;

test("a turn is recorded in three files", async () => {
  const { port } = await recording();
  const told = await text(await asking(port, { path: CHAT, body: QUESTION }));
  await vi.waitFor(() => expect(kept()).toEqual({ request: QUESTION, came: WHOLE, went: told }));
});

test.runIf(isPosix)("only the user may read the folder and its files, whatever the umask is", async () => {
  const before = process.umask(0);
  try {
    const { port } = await recording();
    await turn(port);
    await until(() => fs.readdirSync(folder).length === 3);
  } finally {
    process.umask(before);
  }
  expect(modeOf(folder)).toBe(0o700);
  expect(fs.readdirSync(folder).map((name) => modeOf(join(folder, name)))).toEqual([0o600, 0o600, 0o600]);
});

test.runIf(isPosix)("an empty folder is made the user's own; one with files stays as it is", async () => {
  fs.mkdirSync(folder, { mode: 0o755 });
  await recording();
  expect(modeOf(folder)).toBe(0o700);
  fs.chmodSync(folder, 0o755);
  fs.writeFileSync(join(folder, "notes"), "");
  await recording();
  expect(modeOf(folder)).toBe(0o755);
});

test("a folder that is removed: every turn goes on, and one line says that they are not recorded", async () => {
  const { port, lost } = await recording();
  fs.rmSync(folder, { recursive: true });
  for (const _ of [1, 2, 3]) expect(await turn(port)).toBe("On main.");
  await until(() => lost.length > 0);
  expect(lost).toEqual([expect.stringMatching(/^NOT RECORDED: ENOENT/)]);
  fs.mkdirSync(folder);
  await turn(port);
  await vi.waitFor(() => expect(Object.keys(kept()).sort()).toEqual(["came", "request", "went"]));
  await until(() => files.mock.results.every(({ value }) => (value as Writable).closed));
  fs.rmSync(folder, { recursive: true });
  await turn(port);
  await until(() => lost.length > 1);
});

/** A file on a disk with room for so many bytes; undefined: one that takes nothing, and says nothing. */
const onDisk = (room?: number) =>
  (() =>
    new Writable({
      write(bytes: Buffer, _encoding, done) {
        if (room === undefined) return;
        room -= bytes.length;
        done(room < 0 ? Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" }) : null);
      },
    })) as unknown as typeof fs.createWriteStream;

test.each([0, 200])("a disk that is full after %i bytes", async (room) => {
  files.mockImplementation(onDisk(room));
  const { port, lost } = await recording();
  expect(await Promise.all([turn(port), turn(port)])).toEqual(["On main.", "On main."]);
  await until(() => lost.length > 0);
  expect(await turn(port)).toBe("On main.");
  expect(lost).toEqual(["NOT RECORDED: ENOSPC: no space left on device"]);
});

test("not more than 64 MiB wait for a disk that hangs", async () => {
  files.mockImplementation(onDisk());
  const lost: string[] = [];
  const tape = new Recorder(folder, ({ message }) => void lost.push(message)).turn();
  const mebibyte = Buffer.alloc(1 << 20);
  for (let count = 0; count < 64; count += 1) tape.write("came", mebibyte);
  const [file] = files.mock.results.slice(-1).map(({ value }) => value as Writable);
  expect(file?.destroyed).toBe(false);
  tape.write("came", mebibyte);
  expect(file?.destroyed).toBe(true);
  tape.write("came", mebibyte);
  expect(file?.writableLength).toBeLessThan(66 * mebibyte.length);
  await until(() => lost.length > 0);
  expect(lost).toEqual(["the disk is too slow"]);
});

test("a client that leaves before its answer leaves no file open", async () => {
  let isAsked = false;
  const { port, lost } = await behindGateway(() => (isAsked = true), sidecar, { record: folder });
  const gone = new AbortController();
  const response = fetch(`http://127.0.0.1:${port}${CHAT}`, { method: "POST", body: QUESTION, signal: gone.signal });
  response.catch(() => {});
  await until(() => isAsked);
  gone.abort();
  await until(() => files.mock.results.every(({ value }) => (value as Writable).closed));
  expect(lost).toEqual([]);
});

test("a folder that cannot be made is an error of whoever makes the gateway", async () => {
  fs.writeFileSync(folder, "");
  const upstreams = { "/": `http://127.0.0.1:${await listening(createServer())}` };
  expect(() => createGateway(sidecar, { upstreams, record: folder })).toThrow(/EEXIST/);
});
