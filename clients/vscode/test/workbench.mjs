// The extension in a real VS Code in a real browser: does what a person does, step by step,
// and checks the files on the disk. test/workbench/setup.mjs says what it needs.
//
//   npm run pack && npm run workbench                 all steps
//   npm run workbench -- --pictures                   all steps, and replaces the pictures of the page
//   npm run workbench -- --missing                    without a sidecar: the message that the user gets
//
//   npm run pack -- --universal --out dist/universal.vsix
//   npm run workbench -- --browser                    the extension runs in the browser, too
//   npm run workbench -- --nothing                    without Python: the included WebAssembly sidecar
//
//   npm run pack -- --target linux-x64 --out dist/linux-x64.vsix
//   npm run workbench -- --target                     without Python: the included native sidecar

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { begin, FILES, PACKAGE, repaired, SESSION } from "./workbench/surroundings.mjs";

const takesPictures = process.argv.includes("--pictures");
/** By argument: the file that the extension is installed from, and its surroundings. */
const WAYS = {
  "--browser": { file: "universal.vsix", inBrowser: true },
  "--nothing": { file: "universal.vsix", isNamed: false, path: "/nowhere" },
  "--missing": { isNamed: false, path: "/nowhere" },
  "--target": { file: `${process.platform}-${process.arch}.vsix`, isNamed: false },
};
const way = Object.keys(WAYS).find((each) => process.argv.includes(each));
const hasProcesses = way === undefined || way === "--target";
const { page, at, end } = await begin(WAYS[way]);

/** Runs a command from the palette. Tries again, because the palette lists only what existed when it opened. */
async function command(title) {
  for (let tries = 0; ; tries += 1) {
    await page.keyboard.press("F1");
    await page.locator(".quick-input-widget input").first().fill(`>${title}`);
    const row = page.locator(".quick-input-list .monaco-list-row").filter({ hasText: title }).first();
    try {
      await row.click({ timeout: 5_000 });
      return;
    } catch (error) {
      await page.keyboard.press("Escape");
      if (tries === 12) throw error;
    }
  }
}

async function open(name) {
  await page.keyboard.press("Control+P");
  await page.locator(".quick-input-widget input").first().fill(name);
  await page.locator(".quick-input-list .monaco-list-row").filter({ hasText: name }).first().click();
  await page.locator(`.tab.active[data-resource-name="${name}"]`).waitFor();
}

async function save(name) {
  await page.locator(".tab.active.dirty").waitFor();
  await page.keyboard.press("Control+S");
  await page.locator(".tab.active:not(.dirty)").waitFor();
  return readFileSync(at("work", name), "utf8");
}

const lens = (kind) =>
  page
    .locator(".codelens-decoration")
    .filter({ hasText: `1 leak: ${kind}` })
    .first();

/** A row of the menu of fixes at the cursor. Tries again, because a redraw of the window closes the menu. */
async function fixAtCursor(title) {
  const fix = page.locator(".action-widget .monaco-list-row").filter({ hasText: title }).first();
  for (let tries = 0; ; tries += 1) {
    await page.keyboard.press("Control+.");
    try {
      await fix.waitFor({ timeout: 5_000 });
      return fix;
    } catch (error) {
      await page.keyboard.press("Escape");
      if (tries === 12) throw error;
    }
  }
}

const squiggles = () => page.locator(".squiggly-warning");
const notification = (text) => page.locator(".notification-toast").filter({ hasText: text });
const row = (text) => page.locator(".pane-body .monaco-list-row").filter({ hasText: text }).first();

async function until(isSo, what, seconds = 60) {
  for (const late = Date.now() + seconds * 1000; !(await isSo());) {
    if (Date.now() > late) throw new Error(`timed out: ${what}`);
    await page.waitForTimeout(100);
  }
}

async function picture(name) {
  if (takesPictures) await page.screenshot({ path: join(PACKAGE, "media", `${name}.png`) });
}

/** The middle of a text (without blanks) in the editor, once it no longer moves. */
async function pointAt(text) {
  const middle = () =>
    page.evaluate((wanted) => {
      const walker = document.createTreeWalker(document.querySelector(".view-lines"), NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        const start = node.data.indexOf(wanted);
        if (start < 0) continue;
        const range = document.createRange();
        range.setStart(node, start);
        range.setEnd(node, start + wanted.length);
        const { x, y, width, height } = range.getBoundingClientRect();
        return [x + width / 2, y + height / 2];
      }
      return undefined;
    }, text);
  for (let last; ; await page.waitForTimeout(500)) {
    const now = await middle();
    if (now !== undefined && String(now) === String(last)) return now;
    last = now;
  }
}

/** Waits until the row of Claude Code has the text, if there is a view. */
async function agentSays(text) {
  if (hasProcesses) await row("Claude Code").filter({ hasText: text }).waitFor();
}

/** Sets the kinds of findings in the settings of the folder, as a person does. */
function choose({ only = [], except = [] }) {
  mkdirSync(at("work", ".vscode"), { recursive: true });
  const kinds = { "streamSidecar.only": only, "streamSidecar.except": except };
  writeFileSync(at("work", ".vscode", "settings.json"), JSON.stringify(kinds));
}

const SETTINGS = at("data", "User", "settings.json");

function settings() {
  return JSON.parse(readFileSync(SETTINGS, "utf8"));
}

const STEPS = {
  async "a session is underlined"() {
    await open("session.jsonl");
    await until(async () => (await squiggles().count()) >= 3, "three squiggles");
    await page.locator(".codelens-decoration").filter({ hasText: "1 leak: reasoning" }).first().waitFor();
  },

  async "a hover says what was found"() {
    await page.mouse.move(...(await pointAt("asks")));
    const hover = page.locator(".monaco-hover").filter({ hasText: "Take out the reasoning" }).first();
    await hover.waitFor();
    const said = await hover.innerText();
    assert.match(said, /The model imitates that[^]*Take out the reasoning removes 77 characters[^]*Explain/);
    assert.equal(said.split("Reasoning in the answer").length, 2, said);
    await picture("hover");
    await page.keyboard.press("Escape");
  },

  async "the lens with the count opens the menu of fixes, and changes nothing"() {
    await page.locator(".codelens-decoration a").filter({ hasText: "1 leak: reasoning" }).first().click();
    const menu = page.locator(".action-widget .monaco-list-row");
    await menu.filter({ hasText: "Take out everything that leaked into this session" }).first().waitFor();
    await menu.filter({ hasText: 'Never show "reasoning"' }).first().waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".tab.active.dirty").count(), 0);
    await page.locator(".codelens-decoration a").filter({ hasText: "Take it out" }).first().click();
    assert.equal(await save("session.jsonl"), SESSION.replace(/<think>.*?<\/think>/, ""));
    await page.keyboard.press("Control+Z");
    assert.equal(await save("session.jsonl"), SESSION);
  },

  async "one finding is fixed, and the fix undone"() {
    await until(async () => (await squiggles().count()) >= 3, "the squiggles again");
    await page.mouse.click(...(await pointAt("asks")));
    const fix = await fixAtCursor("Take out the reasoning");
    await picture("quick-fix");
    await fix.click();
    const text = await save("session.jsonl");
    assert.equal(text, SESSION.replace(/<think>.*?<\/think>/, ""));
    await page.keyboard.press("Control+Z");
    assert.equal(await save("session.jsonl"), SESSION);
  },

  async "all findings are fixed, as the command line does, and undone"() {
    await until(async () => (await squiggles().count()) >= 3, "the squiggles again");
    await command("Fix All");
    assert.equal(await save("session.jsonl"), repaired(SESSION, "session.jsonl"));
    await until(async () => (await squiggles().count()) === 0, "no squiggle");
    await page.keyboard.press("Control+Z");
    assert.equal(await save("session.jsonl"), SESSION);
    await until(async () => (await squiggles().count()) >= 3, "the squiggles again");
  },

  async "a session that is too long for a message is underlined"() {
    await open("long.jsonl");
    await page.locator('.monaco-button:has-text("Open Anyway")').click();
    await until(async () => (await squiggles().count()) >= 1, "a squiggle", 240);
    await command("View: Close All Editors");
    await open("session.jsonl");
  },

  async "a hover links to the explanation of the session, beside the others"() {
    for (const name of ["session.jsonl", "leaking.sse"]) {
      await open(name);
      if (name === "leaking.sse") await command("Explain This Stream");
      else {
        await page.mouse.move(...(await pointAt("asks")));
        await page.locator(".monaco-hover a").filter({ hasText: "Explain" }).first().click();
      }
      await explained(`Explained: ${name}`);
      await page.locator(".tab").filter({ hasText: "session.jsonl" }).first().click();
    }
    assert.equal(await page.locator(".editor-group-container").count(), 2);
    await command("View: Close All Editors");
    await open("session.jsonl");
  },

  async "the sidecar is restarted, and its log says so"() {
    await command("Stream Sidecar: Restart");
    await command("Stream Sidecar: Show Log");
    const starts = page.locator(".part.panel .view-line").filter({ hasText: /stream-sidecar(\s0|:\sin\sa\sworker)/ });
    await until(async () => (await starts.count()) === 2, "two starts in the log");
    await page.keyboard.press("Control+J");
    await until(async () => (await squiggles().count()) >= 3, "the squiggles of the new one");
  },

  async "the sessions of the machine are checked"() {
    await command("Check the Sessions of This Machine");
    await row("Claude Code").filter({ hasText: "3 leaks in 2 files · 3 checked" }).waitFor();
    await row("-work-shop").filter({ hasText: "1 leak" }).waitFor();
    await row("Why does the test of the login fail?")
      .filter({ hasText: /2 leaks · (now|\d+ min) · 5f0c2d1e\.jsonl/ })
      .waitFor();
    await row("Continue").filter({ hasText: "1 leak in 1 file" }).waitFor();
    await row("Open in the editor").filter({ hasText: "3 leaks in 1 file" }).waitFor();
    await row("5f0c2d1e.jsonl").click();
    await row("Stray delimiter").waitFor();
    await picture("sessions");
    await row("Stray delimiter").click();
    await page.locator('.tab.active[data-resource-name="5f0c2d1e.jsonl"]').waitFor();
    await page.locator(".statusbar-item").filter({ hasText: "(10 selected)" }).waitFor();
  },

  async "a repair is previewed, done and undone"() {
    const name = "home/.claude/projects/-work-login/5f0c2d1e.jsonl";
    const disk = () => readFileSync(at(name), "utf8");
    const clean = repaired(FILES[name], "a.jsonl"); // the message with Undo does not wait
    await row("5f0c2d1e.jsonl").hover();
    await row("5f0c2d1e.jsonl").locator('[aria-label="Preview the Repair"]').click();
    await page.locator(".monaco-diff-editor .char-delete").first().waitFor();
    assert.equal(disk(), FILES[name]);
    await page
      .locator(".tab.active")
      .filter({ hasText: "Why does the test of the login fail?: what a repair removes" })
      .waitFor();
    await picture("preview");
    await page.locator(".editor-actions").getByText("Repair", { exact: true }).click();
    await notification("the leaked text is removed").waitFor();
    assert.equal(disk(), clean);
    await notification("the leaked text is removed").locator('.monaco-button:has-text("Undo")').click();
    await row("5f0c2d1e.jsonl").filter({ hasText: "2 leaks" }).waitFor();
    assert.equal(disk(), FILES[name]);
  },

  async "all sessions are repaired if the user agrees"() {
    await command("Repair All Sessions");
    const question = page.locator(".monaco-dialog-box").filter({ hasText: "Remove 7 leaks from 4 sessions?" });
    await question.locator('.monaco-button:has-text("Repair")').click();
    await notification("4 sessions: the leaked text is removed").waitFor();
    await row("session.jsonl").filter({ hasText: "repaired" }).waitFor();
    await until(async () => (await squiggles().count()) === 0, "no squiggle in what is open");
    for (const name of ["work/session.jsonl", ...Object.keys(FILES).filter((each) => each.startsWith("home/"))]) {
      assert.equal(
        readFileSync(at(name), "utf8"),
        repaired(FILES[name], `a${name.slice(name.lastIndexOf("."))}`),
        name,
      );
    }
  },

  async "unsaved changes are saved first, if the user agrees"() {
    const name = "home/.claude/projects/-work-shop/0be1.jsonl";
    await row("0be1.jsonl").hover();
    await row("0be1.jsonl").locator('[aria-label="Undo the Repair"]').click();
    await row("0be1.jsonl").filter({ hasText: "1 leak" }).click();
    await row("Stray delimiter").click();
    await page.locator('.tab.active[data-resource-name="0be1.jsonl"]').waitFor();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("{}");
    await row("0be1.jsonl").filter({ hasText: "1 leak · open, not saved" }).waitFor();
    await command("Repair All Sessions");
    const question = page.locator(".monaco-dialog-box").filter({ hasText: "0be1.jsonl has unsaved changes" });
    await question.locator('.monaco-button:has-text("Save and Repair")').click();
    await row("0be1.jsonl").filter({ hasText: "repaired" }).waitFor();
    const said = readFileSync(at(name), "utf8");
    assert.ok(said.endsWith("{}") && !said.includes("</think>"), said);
  },

  async "a repair can be undone after the window was closed"() {
    const name = "home/.claude/projects/-work-shop/0be1.jsonl";
    await page.reload();
    await page.waitForSelector(".monaco-workbench .part.statusbar");
    await command("View: Show Stream Sidecar");
    await row("0be1.jsonl").filter({ hasText: "repaired" }).hover();
    await row("0be1.jsonl").locator('[aria-label="Undo the Repair"]').click();
    await row("0be1.jsonl").filter({ hasText: "1 leak" }).waitFor();
    assert.equal(readFileSync(at(name), "utf8"), `${FILES[name]}{}`);
  },

  async "a kind of findings is never shown again"() {
    writeFileSync(at("work", "session.jsonl"), SESSION);
    await open("session.jsonl");
    await until(async () => (await squiggles().count()) >= 3, "three squiggles");
    await lens("reasoning").waitFor();
    await page.mouse.click(...(await pointAt("asks")));
    await (await fixAtCursor('Never show "reasoning"')).click();
    await lens("reasoning").waitFor({ state: "detached" });
    await lens("tool-call").waitFor();
    await until(() => String(settings()["streamSidecar.except"]) === "reasoning", "the setting");
  },

  async "kinds that are chosen are all that editor and view show"() {
    const name = "home/.claude/projects/-work-login/5f0c2d1e.jsonl";
    writeFileSync(at(name), FILES[name]);
    if (hasProcesses) await command("Check the Sessions of This Machine");
    await agentSays("2 leaks in 2 files · 3 checked");
    choose({ only: ["tool-call"] });
    await lens("tool-call").waitFor();
    await lens("delimiter").waitFor({ state: "detached" });
    await agentSays("no leaks · 3 checked");
    choose({});
    for (const kind of ["reasoning", "tool-call", "delimiter"]) await lens(kind).waitFor();
    await agentSays("3 leaks in 2 files · 3 checked");
  },

  async "a stream is explained"() {
    if (hasProcesses) await command("Notifications: Clear All Notifications");
    await page.keyboard.press("Control+B");
    await open("leaking.sse");
    await command("Explain This Stream");
    const frame = await explained();
    const [reasoning, answer] = await Promise.all(["reasoning", "answer"].map((owner) => colour(frame, owner)));
    assert.notEqual(reasoning, answer);
    assert.equal(await frame.locator("body").evaluate((body) => getComputedStyle(body).colorScheme), "dark");

    const slider = frame.locator("#step");
    const shown = () => frame.locator(".piece:not([hidden])").count();
    const all = await shown();
    await slider.press("Home");
    const first = await shown();
    for (let step = 0; step < 2; step += 1) await slider.press("ArrowRight");
    const later = await shown();
    assert.ok(first < later && later < all, `${first}, ${later}, ${all} pieces`);
    await frame.locator(".piece.reasoning:not([hidden])").first().hover();
    assert.match(await frame.locator("#why").innerText(), /reasoning/i);
    await picture("explain");
    await slider.press("End");
    assert.equal(await shown(), all);
  },

  async "nothing in a hostile stream runs"() {
    await open("hostile.sse");
    await command("Explain This Stream");
    const frame = await explained("Explained: hostile.sse");
    assert.equal(
      await frame.locator("body").evaluate(() => [window.ran, document.title].join()),
      ",A stream, explained",
    );
    assert.equal(await frame.locator("img, #lanes script, #lanes b").count(), 0);
    assert.match(await frame.locator("#lanes").innerText(), /<script>window\.ran/);
  },
};

/** A window that finds no sidecar. */
const WITHOUT = {
  async "that there is no sidecar is said once, with a way out"() {
    await open("session.jsonl");
    const said = notification("stream-sidecar was not found");
    await said.waitFor();
    await open("leaking.sse");
    await command("Explain This Stream");
    await command("Check the Sessions of This Machine");
    assert.equal(await page.locator(".notification-toast").count(), 1);
    await said.locator('.monaco-button:has-text("Settings")').click();
    await page.locator(".settings-editor .setting-item").filter({ hasText: "Stream Sidecar" }).first().waitFor();
  },
};

/** The page in the webview of the active editor, two frames deep. */
async function explained(title = "Explained: leaking.sse") {
  await page.locator(".tab.active").filter({ hasText: title }).waitFor();
  for (const late = Date.now() + 60_000; Date.now() < late; await page.waitForTimeout(200)) {
    for (const frame of page.frames()) {
      const isIt = await frame
        .locator("#lanes .piece")
        .count()
        .catch(() => 0);
      const outer = isIt > 0 ? await frame.parentFrame().frameElement() : undefined;
      if (outer !== undefined && (await outer.isVisible())) return frame;
    }
  }
  throw new Error("no page that explains");
}

function colour(frame, owner) {
  const piece = frame.locator(`.piece.${owner}`).first();
  return piece.evaluate((element) => getComputedStyle(element).backgroundColor);
}

/** The logs of the server and of the extension. */
function logs() {
  const names = readdirSync(at("data", "logs"), { recursive: true }).filter((name) => name.includes("Stream Sidecar"));
  return [at("server.log"), ...names.map((name) => at("data", "logs", name))];
}

/** The steps that need a process, which are skipped if the sidecar is WebAssembly. */
const NEEDS_PROCESSES = [
  "the sessions of the machine are checked",
  "a repair is previewed, done and undone",
  "all sessions are repaired if the user agrees",
  "unsaved changes are saved first, if the user agrees",
  "a repair can be undone after the window was closed",
];

let failed = false;
for (const [name, step] of Object.entries(way === "--missing" ? WITHOUT : STEPS)) {
  if (!hasProcesses && NEEDS_PROCESSES.includes(name)) continue;
  const began = performance.now();
  try {
    await step();
    console.log(`ok      ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed = true;
    const shot = join(PACKAGE, "dist", "failed.png");
    await page.screenshot({ path: shot });
    console.log(`FAILED  ${name}: ${error.stack}\nThe picture is ${shot}; logs:`);
    for (const log of logs()) console.log(`--- ${log}\n${readFileSync(log, "utf8").slice(-3000)}`);
    break;
  }
}
// A browser writes no log to the disk.
const said = logs()
  .slice(1)
  .map((log) => readFileSync(log, "utf8"))
  .join("");
const expected = { "--nothing": /as WebAssembly/, "--target": /bundled\/stream-sidecar\/stream-sidecar/ }[way];
if (expected && !failed) assert.match(said, expected);
await end();
process.exitCode = failed ? 1 : 0;
