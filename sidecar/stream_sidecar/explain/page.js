"use strict";
// Shows an explanation: the data of the page, which is text and becomes nothing else.
// Every string of it goes through `show`, which makes text nodes and visible signs.

const data = JSON.parse(document.getElementById("data").textContent);
const last = data.steps.length - 1;
const HELD = "held";
const at = (id) => document.getElementById(id);

// Characters that nobody sees, or that reorder what is seen: controls, formats, halves,
// private ones, separators, everything that may be ignored, blanks beyond ASCII.
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{DI}]|(?! )\p{Zs}/gu;

const CONTROLS = (
  "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI " +
  "DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US"
).split(" ");

function make(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) show(element, text);
  return element;
}

function sign(character) {
  const code = character.codePointAt(0);
  const number = "U+" + code.toString(16).toUpperCase().padStart(4, "0");
  const element = document.createElement("span");
  const isLine = code === 0x0a || code === 0x09;
  element.className = isLine ? "sign line" : "sign";
  element.title = number;
  if (code === 0x0a) element.textContent = "↵";
  else if (code === 0x09) element.textContent = "⇥";
  else if (code < 0x20) element.textContent = CONTROLS[code];
  else if (code === 0x7f) element.textContent = "DEL";
  else element.textContent = number;
  return element;
}

function show(element, text) {
  let from = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > from) element.append(text.slice(from, match.index));
    element.append(sign(match[0]));
    if (match[0] === "\n" || match[0] === "\t") element.append(match[0]);
    from = match.index + match[0].length;
  }
  if (from < text.length) element.append(text.slice(from));
}

// What is copied are the characters that came. Behind the sign of a line end or a tab
// stands the character itself; any other sign stands for its own.
const UNCOPIED = "[hidden], script, noscript, button, .sign.line";
const BLOCKS = "h1, h2, h3, p, li, .text, .code";

function copy(event) {
  const selection = getSelection();
  if (selection.isCollapsed) return;
  const copied = selection.getRangeAt(0).cloneContents();
  for (const each of copied.querySelectorAll(UNCOPIED)) each.remove();
  for (const each of copied.querySelectorAll(".sign"))
    each.replaceWith(String.fromCodePoint(parseInt(each.title.slice(2), 16)));
  for (const each of copied.querySelectorAll(BLOCKS)) each.append("\n");
  event.clipboardData.setData("text/plain", copied.textContent);
  event.preventDefault();
}

// What has come is the beginning of a list: the rest of it is not in the document.
// Hiding each would take a time that grows with the square of their number.
function showFirst(parent, elements, count) {
  const more = document.createDocumentFragment();
  let there = parent.childElementCount;
  for (; there > count; there -= 1) parent.lastElementChild.remove();
  for (; there < count; there += 1) more.append(elements[there]);
  parent.append(more);
}

function countWhile(list, isSo) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isSo(list[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}

// --- The legend ----------------------------------------------------------------------

const owners = [...Object.keys(data.owners), HELD];
const counts = new Map();

function buildLegend() {
  for (const owner of owners) {
    const item = make("li");
    const words = data.owners[owner] ?? "not decided yet";
    item.append(make("span", `owner ${owner}`, owner), " ");
    const count = make("span");
    item.append(count);
    item.title = words;
    counts.set(owner, count);
    at("legend").append(item);
  }
}

// --- The lanes -----------------------------------------------------------------------

// A piece of the data is [text, step, [[step, owner, reason, seq], ...]]; the steps of
// a lane's pieces ascend.
const lanes = [];

function buildLane(lane) {
  const section = make("section", lane.part ? "lane part" : "lane");
  const title = make("h3", "", lane.title);
  const text = make("div", "text");
  title.id = `lane-${at("lanes").childElementCount}`;
  text.setAttribute("role", "listbox");
  text.setAttribute("aria-labelledby", title.id);
  const pieces = [];
  for (const [words, step, fates] of lane.pieces) {
    const element = make("span", "piece", words);
    element.setAttribute("role", "option");
    element.setAttribute("aria-selected", "false");
    element.tabIndex = -1;
    const piece = { element, words, step, fates, owner: "", size: [...words].length, lane: text };
    element.addEventListener("mouseenter", () => explain(piece));
    element.addEventListener("focus", () => choose(piece));
    pieces.push(piece);
  }
  if (pieces.length) pieces[0].element.tabIndex = 0;
  text.addEventListener("keydown", walk);
  section.append(title, text);
  lanes.push({ section, text, pieces, elements: pieces.map((piece) => piece.element) });
  at("lanes").append(section);
}

function walk(event) {
  const all = [...event.currentTarget.children];
  const here = all.indexOf(document.activeElement);
  const there = { ArrowRight: here + 1, ArrowDown: here + 1, ArrowLeft: here - 1, ArrowUp: here - 1, Home: 0, End: all.length - 1 }[event.key];
  if (there === undefined || !all[there]) return;
  event.preventDefault();
  all[there].focus();
}

function fateOf(piece, step) {
  let found = null;
  for (const fate of piece.fates) if (fate[0] <= step) found = fate;
  return found;
}

// --- Why -----------------------------------------------------------------------------

let chosen = null;
let step = last;

function choose(piece) {
  if (chosen) {
    chosen.element.classList.remove("chosen");
    chosen.element.setAttribute("aria-selected", "false");
  }
  chosen = piece;
  for (const each of piece.lane.querySelectorAll('[tabindex="0"]')) each.tabIndex = -1;
  piece.element.tabIndex = 0;
  piece.element.classList.add("chosen");
  piece.element.setAttribute("aria-selected", "true");
  explain(piece);
}

function explain(piece) {
  const parts = [];
  for (const fate of piece.fates.filter((each) => each[0] <= step).reverse()) parts.push(...told(fate));
  if (!parts.length) parts.push(make("p", "", "Held back: what follows decides what it is."));
  parts.push(make("p", "hint", `It came with chunk ${piece.step + 1}.`));
  at("why").replaceChildren(...parts);
}

function told([when, owner, reason, seq]) {
  const why = data.reasons[reason];
  const first = make("p");
  first.append(make("span", `owner ${owner}`, owner), " ");
  show(first, `${why.words}.`);
  const facts = [];
  if (why.code) facts.push(`diagnostic ${why.code}`);
  facts.push(seq ? `event ${seq}, at chunk ${when + 1}` : `at chunk ${when + 1}`);
  const found = [first, make("p", "hint", facts.join(" · "))];
  const rule = data.rules[why.rule];
  const links = [];
  if (rule) links.push(leading("Rule ", rule.title, rule.link), make("p", "", rule.text));
  if (why.dialect) links.push(leading("Dialect ", why.dialect, data.dialects));
  if (data.wires[why.wire]) links.push(leading("Wire ", why.wire, data.wires[why.wire]));
  found.splice(1, 0, ...links);
  return found;
}

// The addresses are the project's own.
function leading(before, title, address) {
  const line = make("p");
  const link = make("a", "", title);
  link.href = address;
  link.rel = "noreferrer";
  line.append(before, link);
  return line;
}

// --- The steps -----------------------------------------------------------------------

const rows = [];
const rowElements = [];

function buildEvents() {
  data.steps.forEach((each, number) => {
    for (const event of each.events) {
      const { type, seq, ...rest } = event;
      const row = make("li");
      row.append(make("b", "", `${seq} ${type} `));
      show(row, JSON.stringify(rest));
      rows.push([row, number]);
      rowElements.push(row);
    }
  });
}

function showStep(number) {
  step = number;
  const sizes = new Map(owners.map((owner) => [owner, 0]));
  for (const lane of lanes) {
    const count = countWhile(lane.pieces, (piece) => piece.step <= number);
    for (const piece of lane.pieces.slice(0, count)) {
      const fate = fateOf(piece, number);
      const owner = fate ? fate[1] : HELD;
      sizes.set(owner, sizes.get(owner) + piece.size);
      if (owner !== piece.owner) paint(piece, owner, fate);
    }
    showFirst(lane.text, lane.elements, count);
    lane.section.hidden = count === 0;
  }
  for (const [owner, count] of counts) count.textContent = sizes.get(owner);
  showEvents(number);
  at("step").value = number;
  at("step").setAttribute("aria-valuetext", `chunk ${number + 1} of ${last + 1}`);
  at("at").textContent = `${number + 1} of ${last + 1}`;
  at("previous").disabled = number === 0;
  at("next").disabled = number === last;
  if (chosen) explain(chosen);
}

function paint(piece, owner, fate) {
  const { element } = piece;
  if (piece.owner) element.classList.remove(piece.owner);
  element.classList.add(owner);
  const rule = fate ? data.rules[data.reasons[fate[2]].rule] : null;
  element.setAttribute("aria-label", `${owner}: ${element.textContent}`);
  element.setAttribute("aria-description", rule ? `Rule ${rule.title}` : "");
  piece.owner = owner;
}

function showEvents(number) {
  const before = countWhile(rows, ([, when]) => when < number);
  const count = countWhile(rows, ([, when]) => when <= number);
  const list = at("events");
  for (const row of list.querySelectorAll(".now")) row.classList.remove("now");
  for (const [row] of rows.slice(before, count)) row.classList.add("now");
  showFirst(list, rowElements, count);
  if (before < count) list.scrollTop = rowElements[before].offsetTop - list.offsetTop;
  else list.scrollTop = list.scrollHeight;
  const chunk = make("div");
  show(chunk, data.steps[number].chunk || "The end of the stream.");
  at("chunk").replaceChildren(chunk);
}

// --- Playing -------------------------------------------------------------------------

let timer = 0;

function stop() {
  clearInterval(timer);
  timer = 0;
  at("play").textContent = "Play";
  at("play").setAttribute("aria-pressed", "false");
}

function play() {
  if (timer) return stop();
  if (step === last) showStep(0);
  at("play").textContent = "Pause";
  at("play").setAttribute("aria-pressed", "true");
  // All of it takes a minute at most, so of very many chunks some are passed over.
  const each = Math.max(50, Math.min(500, 20000 / (last + 1)));
  const stride = Math.ceil((last + 1) / 1000);
  timer = setInterval(() => (step < last ? showStep(Math.min(last, step + stride)) : stop()), each);
  return undefined;
}

function go(number) {
  stop();
  showStep(Math.max(0, Math.min(last, number)));
}

// --- All of it -----------------------------------------------------------------------

show(at("facts"), data.facts.map(([name, value]) => `${name} ${value}`).join(" · "));
at("unknown").textContent = data.unknown;
at("unknown").hidden = !data.unknown;
buildLegend();
data.lanes.forEach(buildLane);
buildEvents();
show(at("message"), JSON.stringify(data.message, null, 1));
at("step").max = last;
at("step").addEventListener("input", (event) => go(Number(event.target.value)));
at("previous").addEventListener("click", () => go(step - 1));
at("next").addEventListener("click", () => go(step + 1));
at("play").addEventListener("click", play);
document.addEventListener("copy", copy);
showStep(last);
