// The sidecar in a web page: the built package, served as files, in an installed Chromium
// (CHROMIUM names another). Without a Chromium the test is skipped.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";

const HOME = fileURLToPath(new URL("..", import.meta.url));
const USUAL = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const CHROMIUM = [process.env["CHROMIUM"] ?? "", ...USUAL].find((file) => file !== "" && existsSync(file));

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

const PAGE = `<!doctype html><script type="module">
const told = { events: [] };
try {
  const { spawn } = await import("/dist/wasm.js");
  const place = (path) => new URL(path, location.href);
  const workers = [];
  const worker = (url) => {
    const made = new Worker(url, { type: "module" });
    workers.push(made);
    return made;
  };
  const sidecar = await spawn({ files: place("/wasm/"), pyodide: place("/node_modules/pyodide/"), worker });
  const stream = await sidecar.openStream({ wire: "text" });
  told.events.push(...(await stream.push("<think>why</think>Be")));
  await sidecar.restart();
  told.events.push(...(await stream.push("cause.")));
  const { message } = await stream.close();
  told.message = { reasoning: message.reasoning, text: message.text };
  const bytes = await sidecar.openStream({ wire: "text", encoding: "base64" });
  told.bytes = (await bytes.push(new TextEncoder().encode("é"))).length > 0 || (await bytes.close()).message.text;
  told.workers = workers.length;
  await sidecar.shutdown();
} catch (error) {
  told.error = String(error);
}
await fetch("/told", { method: "POST", body: JSON.stringify(told) });
</script>`;

const folder = mkdtempSync(join(tmpdir(), "sidecar-browser-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

test.runIf(CHROMIUM)("a stream goes on over a restart in a page", { timeout: 300_000 }, async () => {
  let tell = (_told: string) => {};
  const told = new Promise<string>((resolve) => (tell = resolve));
  const server = createServer((request, response) => void serve(request, response, tell));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", `--user-data-dir=${folder}`];
  const browser = spawn(CHROMIUM!, [...flags, `http://127.0.0.1:${port}/page.html`], { stdio: "ignore" });
  try {
    const { events, ...rest } = JSON.parse(await told) as { events: { seq: number }[] };
    expect(rest).toEqual({
      message: { reasoning: "why", text: "Because." },
      bytes: expect.anything() as unknown,
      workers: 2,
    });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  } finally {
    const ended = new Promise((resolve) => browser.once("exit", resolve));
    browser.kill();
    await ended;
    server.closeAllConnections();
    server.close();
  }
});

async function serve(request: IncomingMessage, response: ServerResponse, tell: (told: string) => void): Promise<void> {
  const path = new URL(request.url ?? "/", "http://host").pathname;
  if (path === "/told") {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    tell(Buffer.concat(pieces).toString());
    response.end();
    return;
  }
  const file = join(HOME, path);
  if (path === "/page.html") response.setHeader("content-type", "text/html").end(PAGE);
  else if (!existsSync(file)) response.writeHead(404).end();
  else response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream").end(readFileSync(file));
}
