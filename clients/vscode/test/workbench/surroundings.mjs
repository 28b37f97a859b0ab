// The surroundings of the workbench: a home folder with the sessions of two agents, a folder
// to work in, a server and a browser. All of it is removed at the end.

import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { workbench } from "./setup.mjs";

export const PACKAGE = resolve(import.meta.dirname, "..", "..");
export const ROOT = resolve(PACKAGE, "..", "..");
const PYTHON = process.env["SIDECAR_TEST_PYTHON"] ?? join(ROOT, ".venv", "bin", "python");

const assistant = (content) => JSON.stringify({ role: "assistant", content });
const user = (content) => JSON.stringify({ role: "user", content });

/** A session with one leak of each kind that people meet. */
export const SESSION = [
  user("Why does the login fail?"),
  assistant("<think>The user asks about the login. I should look at auth.py first.</think>I will look at the code. 🌿"),
  user("Go on."),
  assistant(
    'Reading it now.\n\n<tool_call>\n{"name": "read_file", "arguments": {"path": "src/auth.py"}}\n</tool_call>',
  ),
  user("And?"),
  assistant("The token is compared before it is trimmed.<|im_end|>"),
  "",
].join("\n");

const claude = (content) =>
  JSON.stringify({ type: "assistant", message: { role: "assistant", content: [{ type: "text", text: content }] } });

const asked = (content, cwd) => JSON.stringify({ type: "user", cwd, message: { role: "user", content } });

const HOSTILE = `<img src=x onerror="window.ran=1"><script>window.ran=2</script></script><b>bold</b>\u202e\u001b[31m`;

export const FILES = {
  "work/hostile.sse": `data: ${JSON.stringify({ choices: [{ delta: { content: HOSTILE } }] })}\n\ndata: [DONE]\n\n`,
  "work/session.jsonl": SESSION,
  // Longer than a message to the server may be.
  "work/long.jsonl": `${assistant("<think>Hm.</think>Hi")}\n${`${user("x".repeat(100_000))}\n`.repeat(350)}`,
  "home/.claude/projects/-work-login/5f0c2d1e.jsonl": [
    asked("Why does the test of the login fail?", "/code/login"),
    claude("<think>Short.</think>The test fails because of a blank."),
    claude("Fixed.<|im_end|>"),
    "",
  ].join("\n"),
  "home/.claude/projects/-work-login/77aa01c4.jsonl": `${claude("All is well.")}\n`,
  "home/.claude/projects/-work-shop/0be1.jsonl": `${asked("Add a test.")}\n${claude("Done.</think>")}\n`,
  "home/.continue/sessions/a1.json": JSON.stringify(
    { sessionId: "a1", title: "Login", history: [{ message: { role: "assistant", content: "Done.</think> Bye." } }] },
    undefined,
    1,
  ),
};

const SETTINGS = {
  "workbench.startupEditor": "none",
  "telemetry.telemetryLevel": "off",
  "chat.disableAIFeatures": true,
  "extensions.autoCheckUpdates": false,
  "workbench.tips.enabled": false,
  "editor.wordWrap": "on",
  "editor.minimap.enabled": false,
  "workbench.colorTheme": "Default Dark Modern",
  "window.commandCenter": false,
  "files.autoSave": "off",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
};

/**
 * Starts everything. `file`: the package to install. `inBrowser`: the extension runs in the
 * browser. `isNamed`: a setting names the sidecar. `path`: the PATH that the user's shell sets.
 */
export async function begin({ file = "stream-sidecar.vsix", inBrowser = false, isNamed = true, path } = {}) {
  const { chromium, server, playwright } = workbench();
  const scratch = mkdtempSync(join(tmpdir(), "sidecar-workbench-"));
  const at = (...names) => join(scratch, ...names);
  write(
    at("bin", "stream-sidecar"),
    `#!/bin/sh\nPYTHONPATH='${ROOT}/sidecar' exec '${PYTHON}' -P -m stream_sidecar "$@"\n`,
  );
  chmodSync(at("bin", "stream-sidecar"), 0o755);
  for (const [name, text] of Object.entries(FILES)) write(at(name), text);
  copyFileSync(join(ROOT, "tests/wires/openai-chat/leaking.sse"), at("work", "leaking.sse"));
  const kind = inBrowser ? { "remote.extensionKind": { "stream-sidecar.stream-sidecar": ["web"] } } : {};
  write(at("data", "User", "settings.json"), JSON.stringify({ ...SETTINGS, ...kind }));
  // The user's shell replaces PATH, so a setting names the sidecar.
  const command = isNamed ? { "streamSidecar.command": [at("bin", "stream-sidecar")] } : {};
  write(at("data", "Machine", "settings.json"), JSON.stringify(command));
  if (path !== undefined) write(at("home", ".profile"), `export PATH='${path}'\n`);
  write(at("config.yaml"), "auth: none\n");

  const env = { ...process.env, HOME: at("home"), PATH: "/usr/bin:/bin" };
  for (const name of ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"]) delete env[name];
  const folders = ["--user-data-dir", at("data"), "--extensions-dir", at("extensions"), "--config", at("config.yaml")];
  const [node, entry] = server;
  const vsix = join(PACKAGE, "dist", file);
  const installed = spawnSync(node, [entry, ...folders, "--install-extension", vsix], { env, encoding: "utf8" });
  if (installed.status !== 0) throw new Error(`${installed.stdout}${installed.stderr}`);

  const port = await freePort();
  const quiet = ["--auth", "none", "--disable-telemetry", "--disable-update-check", "--disable-workspace-trust"];
  const log = openSync(at("server.log"), "a");
  const child = spawn(node, [entry, "--bind-addr", `127.0.0.1:${port}`, ...quiet, ...folders], {
    env,
    stdio: ["ignore", log, log],
    detached: true,
  });
  const address = `http://127.0.0.1:${port}`;
  await answers(`${address}/healthz`);
  const browser = await playwright.chromium.launch({
    executablePath: chromium,
    args: ["--no-sandbox", "--force-color-profile=srgb"],
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, deviceScaleFactor: 1 });
  page.setDefaultTimeout(60_000);
  if (process.env["SIDECAR_CONSOLE"]) page.on("console", (message) => console.log(message.text()));
  await page.goto(`${address}/?folder=${encodeURIComponent(at("work"))}`);
  await page.waitForSelector(".monaco-workbench .part.statusbar");

  async function end() {
    await browser.close();
    process.kill(-child.pid, "SIGTERM");
    await new Promise((resolve) => child.once("exit", resolve));
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
  return { page, at, env, end };
}

/** The text of a file after a separate process of the sidecar has repaired it. */
export function repaired(text, name) {
  const folder = mkdtempSync(join(tmpdir(), "sidecar-repaired-"));
  const file = join(folder, name);
  write(file, text);
  const env = { ...process.env, PYTHONPATH: `${ROOT}/sidecar` };
  spawnSync(PYTHON, ["-P", "-m", "stream_sidecar", "repair", "--write", file], { env });
  const result = readFileSync(file, "utf8");
  rmSync(folder, { recursive: true });
  return result;
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function answers(address) {
  for (const end = Date.now() + 120_000; Date.now() < end;) {
    const response = await fetch(address).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error(`nothing answers at ${address}`);
}
