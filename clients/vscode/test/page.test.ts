// The page that explains a stream, in jsdom: keys, clicks, the slider and copied text.
// tests/explain tests in Chromium how the page looks.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { JSDOM, VirtualConsole } from "jsdom";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "..", "..", "..");
const PYTHON = process.env["SIDECAR_TEST_PYTHON"] ?? join(ROOT, ".venv", "bin", "python");
const DELTAS = ["<thi", "nk>why", "</think>A\n\tb\u200bc", " and <think>how</think>wer"];
const STREAM = DELTAS.map((content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`).join("");

let home: string;
let html: string;
let document: Document;
let window: JSDOM["window"];

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "sidecar-page-"));
  const [stream, page] = [join(home, "s.sse"), join(home, "page.html")];
  writeFileSync(stream, STREAM);
  const env = { ...process.env, PYTHONPATH: join(ROOT, "sidecar") };
  const { stderr } = spawnSync(PYTHON, ["-P", "-m", "stream_sidecar", "explain", stream, "--html", page], { env });
  expect(String(stderr)).toBe("");
  html = readFileSync(page, "utf8");
});

afterAll(() => rmSync(home, { recursive: true }));

beforeEach(() => {
  const virtualConsole = new VirtualConsole();
  virtualConsole.on("jsdomError", (error) => {
    // jsdom does not know some colours of the style.
    if (!/parse CSS/.test(error.message)) throw error;
  });
  ({ window } = new JSDOM(html, {
    runScripts: "dangerously",
    url: "https://page.test/",
    virtualConsole,
    beforeParse(early) {
      early.Element.prototype.scrollIntoView = () => undefined;
    },
  }));
  ({ document } = window);
});

const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];
const words = (selector: string) => all(selector).map((each) => each.textContent);
const why = () => words("#why").join();
const active = () => document.activeElement?.textContent;

function one(selector: string): HTMLElement {
  const [first] = all(selector);
  if (first === undefined) throw new Error(`there is no ${selector}`);
  return first;
}

function press(key: string): void {
  const event = new window.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
  (document.activeElement ?? document.body).dispatchEvent(event);
}

function hover(element: HTMLElement): void {
  element.dispatchEvent(new window.MouseEvent("mouseover", { bubbles: true }));
}

test("the first finding is chosen, and the answer is what is left", () => {
  expect(words(".piece.chosen")).toEqual(["why"]);
  expect(words("h1").join()).toContain("6 characters of reasoning");
  expect(words("#legend li:not([hidden]) .owner")).toEqual(["answer", "reasoning", "delimiter", "held"]);
  expect(words("#findings .excerpt")).toEqual(["why", "how"]);
  expect(words("#why-title").join()).toBe("Why finding 1 of 2");
  expect(words("#why .this > *")).toEqual(["reasoning", "why"]);
  expect(words("#findings [aria-current]").join()).toMatch(/^1 reasoning/);
});

test("a print shows the events for as long as it is made, and the message only if it is open", () => {
  window.dispatchEvent(new window.Event("beforeprint"));
  expect((one("#events-part") as HTMLDetailsElement).open).toBe(true);
  expect(words("#events b").length).toBeGreaterThan(5);
  expect(words("#message")).toEqual([""]);
  window.dispatchEvent(new window.Event("afterprint"));
  expect((one("#events-part") as HTMLDetailsElement).open).toBe(false);
});

test("N and P move between findings, arrows between pieces", () => {
  press("n");
  expect(active()).toBe("how");
  press("n");
  expect(active()).toBe("why");
  press("p");
  expect(active()).toBe("how");
  press("ArrowLeft");
  expect(active()).toBe("<think>");
  expect(why()).toContain("Rule 3.2");
  press("End");
  expect(active()).toBe("wer");
  press("Home");
  expect(active()).toBe("<think>");
});

test("Enter pins a piece, and Esc unpins it", () => {
  one(".piece.answer").focus();
  press("Enter");
  expect(all(".piece.pinned")).toEqual([one(".piece.answer")]);
  hover(one(".piece.delimiter"));
  expect(why()).toContain("Rule 2.1");
  press("Escape");
  expect(all(".piece.pinned")).toEqual([]);
  hover(one(".piece.delimiter"));
  expect(why()).toContain("Rule 3.2");
});

test("a click pins a piece, and a button unpins it", () => {
  one(".piece.reasoning").click();
  hover(one(".piece.answer"));
  expect(words(".piece.pinned")).toEqual(["why"]);
  expect(words("#which")).toEqual(["finding 1 of 2, pinned"]);
  expect(one("#why a").getAttribute("href")).toContain("text/README.md#33");
  one("#why button").click();
  hover(one(".piece.answer"));
  expect(words(".piece.chosen")).toEqual(words(".piece.answer").slice(0, 1));
});

test("the slider shows the stream as it was after a chunk", () => {
  const slider = one("#step") as HTMLInputElement;
  slider.value = "0";
  slider.dispatchEvent(new window.Event("input"));
  expect(words(".piece")).toEqual(["<thi"]);
  expect(words(".piece.held")).toEqual(["<thi"]);
  one("#next").click();
  expect(words(".piece")).toEqual(["<think>", "why"]);
  expect(words("#at")).toEqual(["2 of 5"]);
  expect(words("#answer")).toEqual([""]);
  expect(words("#findings .excerpt")).toEqual(["why"]);
  expect(words("#summary").join()).toMatch(/^Up to chunk 2 of \d+: 3 characters of reasoning and 7 of tags/);
  one("#next").click();
  expect(words("#answer")).toEqual(["A↵\n⇥\tbU+200Bc"]);
  expect(words("h2 .at-chunk")).toEqual(["at chunk 3", "at chunk 3"]);
});

test("a word of the legend shows one owner, and a button all of them", () => {
  one("#legend button").click();
  expect(words("#filter")).toEqual(["answer is highlighted. It is in 0 of 2 findings. Show all"]);
  expect(words("#found")).toEqual(["0 of 2"]);
  one("#filter button").click();
  expect(one("#filter").hidden).toBe(true);
  expect(words("#findings .excerpt")).toEqual(["why", "how"]);
});

test("copied text has the characters, not the signs shown for them", () => {
  const lane = one(".lane .text");
  expect(lane.textContent).toMatch(/↵.*⇥.*U\+200B/s);
  window.getSelection()?.selectAllChildren(lane);
  let copied = "";
  const event = Object.assign(new window.Event("copy", { bubbles: true, cancelable: true }), {
    clipboardData: { setData: (_type: string, text: string) => (copied = text) },
  });
  document.dispatchEvent(event);
  expect(copied).toBe(DELTAS.join(""));
  expect(event.defaultPrevented).toBe(true);
});
