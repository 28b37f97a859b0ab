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

/**
 * Picks a row of the list that `key` opens. Tries again, because the list has only what existed
 * when it opened, and closes when another part of the window takes the focus.
 */
async function pick(key, text, title) {
  for (let tries = 0; ; tries += 1) {
    await page.keyboard.press(key);
    const row = page.locator(".quick-input-list .monaco-list-row").filter({ hasText: title }).first();
    try {
      await page.locator(".quick-input-widget input").first().fill(text, { timeout: 5_000 });
      await row.click({ timeout: 5_000 });
      return;
    } catch (error) {
      await page.keyboard.press("Escape");
      if (tries === 12) throw error;
    }
  }
}

const command = (title) => pick("F1", `>${title}`, title);

async function open(name) {
  await pick("Control+P", name, name);
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

/** A row of the menu of fixes that `openMenu` opens. Tries again, because a redraw of the window closes the menu. */
async function fixIn(openMenu, title) {
  const fix = page.locator(".action-widget .monaco-list-row").filter({ hasText: title }).first();
  for (let tries = 0; ; tries += 1) {
    await openMenu();
    try {
      await fix.waitFor({ timeout: 5_000 });
      return fix;
    } catch (error) {
      await page.keyboard.press("Escape");
      if (tries === 12) throw error;
    }
  }
}

const fixAtCursor = (title) => fixIn(() => page.keyboard.press("Control+."), title);

const squiggles = () => page.locator(".squiggly-warning");
const notification = (text) => page.locator(".notification-toast").filter({ hasText: text });
const row = (text) => page.locator(".pane-body .monaco-list-row").filter({ hasText: text }).first();

async function until(isSo, what, seconds = 60) {
  for (const late = Date.now() + seconds * 1000; !(await isSo());) {
    if (Date.now() > late) throw new Error(`timed out: ${what}`);
    await page.waitForTimeout(100);
  }
}

/** The number that VS Code draws beside a tab or an icon, or 0. */
const drawn = (locator) =>
  locator.evaluateAll((all) => {
    const texts = all
      .flatMap((each) => [each, ...each.querySelectorAll("*")])
      .flatMap((each) => {
        return [each.textContent, getComputedStyle(each, "::after").content.replaceAll('"', "")];
      });
    return Number(texts.find((text) => /^\d+$/.test(text)) ?? 0);
  });

/** The rows of the view: level, name and leaks. */
async function rowsWithLeaks() {
  const rows = page.locator(".pane-body .monaco-list-row:has(.custom-view-tree-node-item)");
  const found = await rows.evaluateAll((all) =>
    all.map((each) => {
      const text = (name) => each.querySelector(name)?.textContent ?? "";
      return [Number(each.getAttribute("aria-level")), text(".label-name"), text(".label-description")];
    }),
  );
  return found.map(([level, name, said]) => ({ level, name, leaks: Number(/(\d+) leaks?/.exec(said)?.[1] ?? 0) }));
}

/** What disagrees among the numbers of rows, tabs and the icon of the view. */
async function disagreeing() {
  const rows = await rowsWithLeaks();
  const sum = (some) => some.reduce((total, { leaks }) => total + leaks, 0);
  const pairs = rows.map((each, at) => {
    const after = rows.slice(at + 1);
    const end = after.findIndex(({ level }) => level <= each.level);
    const below = after.slice(0, end < 0 ? undefined : end).filter(({ level }) => level === each.level + 1);
    const hasNumbers = below.length > 0 && !below[0].name.startsWith("Leaked");
    return [each.name, each.leaks, hasNumbers ? sum(below) : each.leaks];
  });
  const icon = page.locator('.activitybar .action-item:has([aria-label*="Stream Sidecar"]) .badge-content');
  if (rows.length > 0) pairs.push(["icon", await drawn(icon), sum(rows.filter(({ level }) => level === 1))]);
  for (const { name, leaks } of rows) {
    const tab = page.locator(`.tab[data-resource-name="${name}"] .monaco-icon-label`);
    if ((await tab.count()) > 0) pairs.push([`tab ${name}`, await drawn(tab), leaks]);
  }
  return pairs.filter(([, one, other]) => one !== other);
}

async function numbersAgree() {
  let last = [];
  await until(async () => (last = await disagreeing()).length === 0, "numbers that agree", 30).catch((cause) => {
    throw new Error(`numbers disagree: ${JSON.stringify(last)}`, { cause });
  });
}

/** A picture of every step, in the folder that SIDECAR_PICTURES names. */
async function shot(name) {
  const folder = process.env["SIDECAR_PICTURES"];
  if (folder) await page.screenshot({ path: join(folder, `${name.replaceAll(/\W+/g, "-")}.png`) });
}

async function picture(name) {
  await shot(name);
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

/** Sets what a leak is in the settings of the folder, as a person does. */
function choose(settings) {
  mkdirSync(at("work", ".vscode"), { recursive: true });
  const named = Object.entries(settings).map(([name, value]) => [`streamSidecar.${name}`, value]);
  writeFileSync(at("work", ".vscode", "settings.json"), JSON.stringify(Object.fromEntries(named)));
}

const SETTINGS = at("data", "User", "settings.json");

function settings() {
  return JSON.parse(readFileSync(SETTINGS, "utf8") || "{}"); // it is empty while it is being written
}

const NEVER = "Never show “reasoning”: ignore this kind of leak in all sessions";

const STEPS = {
  async "a session is underlined"() {
    await open("session.jsonl");
    await until(async () => (await squiggles().count()) >= 3, "three squiggles");
    await page.locator(".codelens-decoration").filter({ hasText: "1 leak: reasoning" }).first().waitFor();
  },

  async "a hover says what was found"() {
    await page.mouse.move(...(await pointAt("asks")));
    const hover = page.locator(".monaco-hover").filter({ hasText: "The model imitates that" }).first();
    await hover.waitFor();
    const said = (await hover.innerText()).replaceAll(/\s+/g, " ");
    assert.match(said, /Leaked reasoning: 77 characters \(62 of reasoning, 15 of tags\)/);
    assert.match(said, /The fix “Take it out” deletes the leaked characters\. .* Explain/);
    assert.equal(await hover.locator("strong").count(), 0);
    await page.locator(".monaco-hover").filter({ hasText: "Quick Fix" }).first().waitFor();
    await picture("hover");
    await page.keyboard.press("Escape");
  },

  async "the lens with the count opens the menu of fixes, and changes nothing"() {
    const count = page.locator(".codelens-decoration a").filter({ hasText: "1 leak: reasoning" }).first();
    await fixIn(() => count.click(), "Take out all leaks of this session");
    const menu = page.locator(".action-widget .monaco-list-row");
    await menu.filter({ hasText: NEVER }).first().waitFor();
    assert.equal(await menu.filter({ hasText: "leaks of this message" }).count(), 0);
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
    const fix = await fixAtCursor("Take it out: reasoning");
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
    await row("Claude Code").filter({ hasText: "3 leaks in 2 of 3 files" }).waitFor();
    await row("work-shop").filter({ hasText: "1 leak" }).waitFor();
    await row("5f0c2d1e.jsonl")
      .filter({ hasText: /2 leaks · (now|\d+ min) · Why does the test of the login fail\?/ })
      .waitFor();
    await row("Continue").filter({ hasText: "1 leak in 1 file" }).waitFor();
    await row("Other open sessions").filter({ hasText: "3 leaks" }).waitFor();
    await numbersAgree();
    assert.deepEqual(
      (await rowsWithLeaks()).map(({ name }) => name),
      [
        ...["Claude Code", "login", "5f0c2d1e.jsonl", "work-shop", "0be1.jsonl"],
        ...["Continue", "a1.json", "Other open sessions", "session.jsonl"],
      ],
    );
    await row("5f0c2d1e.jsonl").click();
    await row("Leaked delimiter").waitFor();
    await picture("sessions");
    await row("Leaked delimiter").click();
    await page.locator('.tab.active[data-resource-name="5f0c2d1e.jsonl"]').waitFor();
    await page.locator(".statusbar-item").filter({ hasText: "(10 selected)" }).waitFor();
  },

  async "a repair is previewed, done and undone"() {
    const name = "home/.claude/projects/-work-login/5f0c2d1e.jsonl";
    const disk = () => readFileSync(at(name), "utf8");
    const clean = repaired(FILES[name], "a.jsonl"); // the message with Undo does not wait
    await row("5f0c2d1e.jsonl").hover();
    await row("5f0c2d1e.jsonl").locator('[aria-label="Preview the Repair"]').click();
    await page.locator(".tab.active").filter({ hasText: "Repair of 5f0c2d1e.jsonl: what is taken out" }).waitFor();
    await until(async () => (await crossedOut()) === "<think>Short.</think><|im_end|>", "what is crossed out");
    await page.locator(".editor-actions").getByText("Repair This Session", { exact: true }).waitFor();
    assert.equal(disk(), FILES[name]);
    await picture("preview");
    await page.locator(".codelens-decoration a").filter({ hasText: "Repair: take out what is marked" }).click();
    await notification("5f0c2d1e.jsonl is repaired").waitFor();
    assert.equal(disk(), clean);
    await page.locator(".tab").filter({ hasText: "Repair of" }).waitFor({ state: "detached" });
    await notification("5f0c2d1e.jsonl is repaired").locator('.monaco-button:has-text("Undo")').click();
    await row("5f0c2d1e.jsonl").filter({ hasText: "2 leaks" }).waitFor();
    assert.equal(disk(), FILES[name]);
  },

  async "all sessions are repaired if the user agrees"() {
    await command("Repair All Sessions");
    const question = page
      .locator(".monaco-dialog-box")
      .filter({ hasText: /Repair 4 sessions\?[^]*7 leaks are taken out/ });
    await question.locator('.monaco-button:has-text("Repair")').click();
    await notification("4 sessions are repaired").waitFor();
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
    await row("Leaked delimiter").click();
    await page.locator('.tab.active[data-resource-name="0be1.jsonl"]').waitFor();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("{}");
    await row("0be1.jsonl").filter({ hasText: "1 leak · unsaved" }).waitFor();
    await command("Repair All Sessions");
    const question = page.locator(".monaco-dialog-box").filter({ hasText: "0be1.jsonl has unsaved changes" });
    await question.waitFor();
    await shot("question");
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

  async "a kind of leak is never shown again, until the user goes back"() {
    const isExcept = (kinds) => String(settings()["streamSidecar.except"]) === kinds;
    const goBack = (way) =>
      until(async () => {
        if (await way.isVisible()) await way.click(); // a redraw of the window may lose a click
        return isExcept("");
      }, "all kinds again");
    writeFileSync(at("work", "session.jsonl"), SESSION);
    if (hasProcesses) await command("Check the Sessions of This Machine");
    await open("session.jsonl");
    await until(async () => (await squiggles().count()) >= 3, "three squiggles");
    for (const way of ["Undo", "Show all kinds"]) {
      await lens("reasoning").waitFor();
      await page.mouse.click(...(await pointAt("asks")));
      await (await fixAtCursor(NEVER)).click();
      await notification("“reasoning” are ignored in all sessions").waitFor();
      await lens("reasoning").waitFor({ state: "detached" });
      await lens("tool call").waitFor();
      await until(() => isExcept("reasoning"), "the setting");
      if (hasProcesses) {
        await row("Not shown: reasoning").waitFor();
        await numbersAgree();
        await shot("not-shown");
      }
      const isInMessage = way === "Undo" || !hasProcesses;
      const message = notification("“reasoning”").locator('.monaco-button:has-text("Undo")');
      await goBack(isInMessage ? message : row("Not shown: reasoning"));
    }
    await lens("reasoning").waitFor();
  },

  async "kinds that are chosen are all that editor and view show"() {
    const name = "home/.claude/projects/-work-login/5f0c2d1e.jsonl";
    writeFileSync(at(name), FILES[name]);
    if (hasProcesses) await command("Check the Sessions of This Machine");
    await agentSays("3 leaks in 2 of 3 files");
    choose({ only: ["tool-call"] });
    await lens("tool call").waitFor();
    await lens("delimiter").waitFor({ state: "detached" });
    await agentSays("no leaks in 3 files");
    if (hasProcesses) await row("Shown: only tool call").waitFor();
    choose({});
    for (const kind of ["reasoning", "tool call", "delimiter"]) await lens(kind).waitFor();
    await agentSays("3 leaks in 2 of 3 files");
  },

  async "a policy of the settings is that of editor and view"() {
    choose({ policy: { reasoning: { scope: "boundary", tags: ["plan"] }, toolCalls: { mode: "off" } } });
    for (const kind of ["reasoning", "tool call"]) await lens(kind).waitFor({ state: "detached" });
    await lens("delimiter").waitFor();
    await agentSays("1 leak in 1 of 3 files");
    if (hasProcesses) await numbersAgree();
    choose({});
    await lens("reasoning").waitFor();
    await agentSays("3 leaks in 2 of 3 files");
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
    const said = notification("the command line tool “stream-sidecar” is not installed");
    await said.waitFor();
    await open("leaking.sse");
    await command("Explain This Stream");
    await command("Check the Sessions of This Machine");
    await until(async () => (await page.locator(".notification-toast").count()) === 1, "one message");
    const view = page.locator(".pane-body .welcome-view");
    await view.filter({ hasText: "No session can be checked" }).waitFor();
    assert.equal(await view.filter({ hasText: "Check the Sessions" }).count(), 0);
    await shot("no-sidecar");
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

/** The text that is crossed out in the editor. */
function crossedOut() {
  return page.evaluate(() =>
    [...document.querySelectorAll(".view-line span span")]
      .filter((each) => getComputedStyle(each).textDecorationLine === "line-through")
      .map((each) => each.textContent)
      .join("")
      .replaceAll("\u00a0", " "),
  );
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
    if (hasProcesses) await numbersAgree();
    await shot(name);
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
