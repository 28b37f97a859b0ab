"use strict";
// Shows the page's data, an explanation. Every string of it goes through `show`, which
// makes only text nodes and visible signs, never markup.

const data = JSON.parse(document.getElementById("data").textContent);
const last = data.steps.length - 1;
const HELD = "held";
const at = (id) => document.getElementById(id);

// Characters that are invisible or reorder other characters: controls, formats, lone
// surrogates, private use, separators, default-ignorable ones, spaces beyond ASCII.
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

// A copy has the original characters. The sign of a line end or a tab is dropped, since
// the character itself follows it; any other sign is replaced by its character.
const UNCOPIED = "[hidden]:not(.rest), script, noscript, .control, .sign.line";
const LINES = "h1, h2, h3, p, li, .text, .code, summary";

function copy(event) {
  const selection = getSelection();
  if (selection.isCollapsed) return;
  const copied = selection.getRangeAt(0).cloneContents();
  for (const each of copied.querySelectorAll(UNCOPIED)) each.remove();
  for (const each of copied.querySelectorAll(".sign"))
    each.replaceWith(String.fromCodePoint(parseInt(each.title.slice(2), 16)));
  for (const each of copied.querySelectorAll(LINES)) each.append("\n");
  event.clipboardData.setData("text/plain", copied.textContent);
  event.preventDefault();
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

// Text of a rule, in which backquotes enclose code.
function prose(text) {
  const paragraph = make("p");
  for (const [number, part] of text.split("`").entries()) paragraph.append(make(number % 2 ? "code" : "span", "", part));
  return paragraph;
}

function button(words, onClick, className = "") {
  const element = make("button", className, words);
  element.type = "button";
  element.addEventListener("click", onClick);
  return element;
}

const inWords = (size) => (size > 2000 ? `${Math.round(size / 1000)} kB` : `${size} characters`);

// Shows only the beginning of a long text. The rest is in the document, but hidden, so
// that it can be copied and printed.
const LONG = 2048;

function fold(element, text) {
  if (text.length <= LONG) return show(element, text);
  const cut = 500 + /^[\udc00-\udfff]/.test(text[500]);
  const rest = make("span", "rest");
  rest.textContent = text.slice(cut);
  rest.hidden = true;
  const more = button(`... ${inWords(text.length - cut)} more`, () => reveal(rest), "control");
  show(element, text.slice(0, cut));
  element.append(more, rest);
  return undefined;
}

function reveal(rest) {
  const text = rest.textContent;
  rest.replaceChildren();
  show(rest, text);
  rest.hidden = false;
  rest.previousSibling.remove();
}

// --- The legend ----------------------------------------------------------------------

const owners = [...Object.keys(data.owners), HELD];
const counts = new Map();
let only = "";

// The legend has only the owners that some character has at some step.
function buildLegend() {
  for (const owner of owners) {
    const item = make("li");
    const most = sums.get(owner).reduce((one, other) => Math.max(one, other));
    item.hidden = most === 0;
    const choice = button("", () => filter(only === owner ? "" : owner));
    choice.setAttribute("aria-pressed", "false");
    const count = make("span", "count");
    count.style.minWidth = `${String(most).length}ch`;
    const words = make("span", "hint", owner === HELD ? "not decided yet" : data.owners[owner]);
    choice.append(make("span", `owner ${owner}`, owner), " ", count, " ", words);
    item.append(choice);
    counts.set(owner, { item, choice, count });
    at("legend").append(item);
  }
}

function filter(owner) {
  only = owner;
  for (const [name, { choice }] of counts) choice.setAttribute("aria-pressed", String(name === owner));
  if (owner) at("lanes").dataset.only = owner;
  else delete at("lanes").dataset.only;
  at("filter").hidden = !owner;
  listFindings();
  if (owner && !isPinned && wanted.length) choose(runAt(wanted[0]));
  else explain();
}

function sayFilter() {
  const words = ` is highlighted. It is in ${wanted.length} of ${findings.length} findings. `;
  at("filter").replaceChildren(make("span", `owner ${only}`, only), words, button("Show all", () => filter("")));
}

// Owner -> the number of its characters at each step.
const sums = new Map(owners.map((owner) => [owner, new Int32Array(last + 2)]));

function sumUp() {
  for (const { pieces } of lanes) {
    for (const piece of pieces) {
      const size = /[\ud800-\udbff]/.test(piece.words) ? [...piece.words].length : piece.words.length;
      let before = HELD;
      sums.get(HELD)[piece.step] += size;
      for (const [when, owner] of piece.fates) {
        sums.get(before)[when] -= size;
        sums.get(owner)[when] += size;
        before = owner;
      }
    }
  }
  for (const row of sums.values()) for (let step = 1; step <= last; step += 1) row[step] += row[step - 1];
}

// --- The lanes -----------------------------------------------------------------------

// A piece of the data is [text, step, [[step, owner, reason, seq], ...]]; the steps of a
// lane's pieces ascend. Pieces are grouped into blocks of about 4,000 characters that end
// at a line end. In a block, neighbours with the same owner and reason are one run, which
// is one element. Only blocks near the visible area have elements; others are plain text.
const BLOCK = 4096;
const lanes = [];
const runs = new WeakMap();
const blocks = new WeakMap();

function buildLane(source, number) {
  const section = make("section", source.usual ? "lane" : "lane part");
  const title = make("h3", "", source.title);
  const text = make("div", "text");
  title.id = `lane-${number}`;
  text.setAttribute("role", "listbox");
  text.setAttribute("aria-labelledby", title.id);
  const lane = { number, usual: source.usual, title: source.title, section, text, pieces: [], blocks: [] };
  let start = 0;
  for (const [words, step, fates] of source.pieces) {
    lane.pieces.push({ words, step, fates, start });
    start += words.length;
  }
  buildBlocks(lane);
  text.addEventListener("keydown", walk);
  text.addEventListener("mouseover", (event) => preview(runs.get(event.target.closest(".piece"))));
  text.addEventListener("click", (event) => isFree(event) && pin(runs.get(event.target.closest(".piece"))));
  text.addEventListener("focusin", (event) => choose(runs.get(event.target)));
  section.append(title, text);
  lanes.push(lane);
  at("lanes").append(section);
}

// A click that selects text or unfolds it does not choose a piece.
const isFree = (event) => !event.target.closest("button") && getSelection().isCollapsed;

function buildBlocks(lane) {
  let [pieces, size] = [[], 0];
  const finish = () => {
    if (pieces.length) buildBlock(lane, pieces);
    [pieces, size] = [[], 0];
  };
  for (let piece of lane.pieces) {
    for (let end; (end = endOfBlock(piece.words, size)); finish()) {
      const { words, start } = piece;
      pieces.push({ ...piece, words: words.slice(0, end) });
      piece = { ...piece, words: words.slice(end), start: start + end };
    }
    if (piece.words) pieces.push(piece);
    size += piece.words.length;
  }
  finish();
}

// The index in `words` at which a block that already has `size` characters ends: after a
// line end or, if the line is far too long, inside it, but not inside a surrogate pair.
// 0: the block has room for all of `words`.
function endOfBlock(words, size) {
  if (size + words.length <= BLOCK) return 0;
  const line = words.indexOf("\n", Math.max(0, BLOCK - size)) + 1;
  const most = Math.max(1, 4 * BLOCK - size);
  if (line && line <= most) return line;
  if (words.length <= most) return 0;
  return /[\udc00-\udfff]/.test(words[most]) ? most + 1 : most;
}

function buildBlock(lane, pieces) {
  const element = make("div", "block");
  element.setAttribute("role", "presentation");
  const changes = [...new Set(pieces.flatMap((piece) => [piece.step, ...piece.fates.map((fate) => fate[0])]))];
  changes.sort((a, b) => a - b);
  const lines = pieces.reduce((sum, piece) => sum + piece.words.split("\n").length - 1 + piece.words.length / 90, 1);
  element.style.containIntrinsicSize = `auto ${Math.round(lines * 22)}px`;
  // Blocks are rendered when they come near the visible area; the first two of each lane
  // are rendered always.
  const block = { lane, pieces, element, changes, runs: [], isNear: false, isFirst: lane.blocks.length < 2, isPlain: true };
  blocks.set(element, block);
  if (watcher) watcher.observe(element);
  else block.isNear = true;
  lane.blocks.push(block);
  lane.text.append(element);
}

const watcher =
  "IntersectionObserver" in window &&
  new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const block = blocks.get(target);
        block.isNear = isIntersecting;
        if (isIntersecting && block.isPlain) render(block);
      }
    },
    { rootMargin: "1000px" },
  );

const fatesAt = (piece, number) => piece.fates.filter((fate) => fate[0] <= number);

// The runs of `pieces` at a step: neighbours with the same owners for the same reasons.
// `of`: the owner that dropped text would have had, else the owner.
function runsOf(pieces, number) {
  const found = [];
  let key;
  for (const piece of pieces) {
    if (piece.step > number) break;
    const fates = fatesAt(piece, number);
    const before = key;
    key = "";
    for (const [, owner, reason] of fates) key += `${owner} ${reason},`;
    if (found.length && key === before) {
      found.at(-1).words += piece.words;
      found.at(-1).last = piece;
    } else {
      const [, owner, reason] = fates.at(-1) ?? [0, HELD];
      const why = data.reasons[reason];
      found.push({ first: piece, last: piece, fates, owner, why, of: why?.of || owner, words: piece.words });
    }
  }
  return found;
}

function render(block) {
  block.isPlain = false;
  block.runs = runsOf(block.pieces, step);
  block.element.replaceChildren(...block.runs.map((run) => buildRun(block, run)));
  if (shown && shown.lane === block.lane) mark();
}

function buildRun(block, run) {
  const element = make("span", `piece ${run.owner} of-${run.of}`);
  if (run.owner === "answer") show(element, run.words);
  else fold(element, run.words);
  if (run.why?.stays) element.classList.add("stays");
  const rule = data.rules[run.why?.rule];
  element.setAttribute("role", "option");
  element.setAttribute("aria-selected", "false");
  element.setAttribute("aria-label", `${run.owner}: ${element.textContent}`);
  element.setAttribute("aria-description", rule ? `Rule ${rule.title}` : "");
  element.tabIndex = block === block.lane.blocks[0] && run === block.runs[0] ? 0 : -1;
  Object.assign(run, { block, element });
  runs.set(element, run);
  return element;
}

function plain(block) {
  block.isPlain = true;
  block.runs = [];
  const count = countWhile(block.pieces, (piece) => piece.step <= step);
  block.element.textContent = block.pieces.slice(0, count).map((piece) => piece.words).join("");
}

// The run at a place of a lane; undefined if its text has not arrived yet.
function runAt({ lane, start }) {
  const block = lane.blocks[countWhile(lane.blocks, (each) => each.pieces[0].start <= start) - 1];
  if (block === undefined) return undefined;
  if (block.isPlain) render(block);
  return block.runs.find((run) => start < run.last.start + run.last.words.length && start >= run.first.start);
}

function walk(event) {
  const run = runs.get(document.activeElement);
  if (!run) return;
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    pin(run);
    return;
  }
  const { lane } = run.block;
  const end = run.last.start + run.last.words.length;
  const all = lane.pieces[countWhile(lane.pieces, (piece) => piece.step <= step) - 1];
  const there = {
    ArrowRight: end,
    ArrowDown: end,
    ArrowLeft: run.first.start - 1,
    ArrowUp: run.first.start - 1,
    Home: 0,
    End: all.start + all.words.length - 1,
  }[event.key];
  const next = there === undefined ? undefined : runAt({ lane, start: there });
  if (!next) return;
  event.preventDefault();
  next.element.focus();
}

// --- Why -----------------------------------------------------------------------------

// The place that is shown, and whether it stays until the user unpins it.
let shown = null;
let isPinned = false;
let marked = null;
let isMore = false;
let step = last;
const isWide = !window.matchMedia || matchMedia("(min-width: 60rem)").matches;

function mark() {
  if (marked) {
    marked.element.classList.remove("chosen", "pinned");
    marked.element.setAttribute("aria-selected", "false");
  }
  marked = shown ? runAt(shown) : null;
  if (!marked) return;
  marked.element.classList.add("chosen");
  marked.element.classList.toggle("pinned", isPinned);
  marked.element.setAttribute("aria-selected", "true");
}

function choose(run) {
  if (!run) return;
  if (shown && (run.block.lane !== shown.lane || run.first.start !== shown.start)) isPinned = false;
  shown = { lane: run.block.lane, start: run.first.start };
  for (const each of shown.lane.text.querySelectorAll('[tabindex="0"]')) each.tabIndex = -1;
  run.element.tabIndex = 0;
  explain();
}

function preview(run) {
  if (run && !isPinned) choose(run);
}

function pin(run) {
  if (!run) return;
  choose(run);
  isPinned = true;
  explain();
}

function release() {
  isPinned = false;
  explain();
}

// Explains the shown place, as far as it was decided by this step.
function explain() {
  mark();
  if (!shown) return;
  const { lane, start } = shown;
  const piece = lane.pieces[countWhile(lane.pieces, (each) => each.start <= start) - 1];
  sayWhich(lane, start);
  const from = piece.step + 1;
  if (!marked) return at("why").replaceChildren(make("p", "", `It comes with ${data.unit} ${from}.`));
  const itself = make("p", "this");
  itself.append(chip(marked.owner, marked.why), make("span", "excerpt", beginning(marked.words)));
  const to = marked.last.step + 1;
  const fates = fatesAt(piece, step).reverse();
  const where = make("p", "hint");
  const rule = data.rules[marked.why?.rule];
  if (rule) where.append(leading(`Rule ${numberOf(rule)}`, rule.link), " · ");
  where.append(from === to ? `${data.unit} ${from} · ` : `${data.unit}s ${from} to ${to} · `, leading("Link to this piece", `#${lane.number}.${start}`));
  if (isPinned) where.append(" ", button("Unpin ", release));
  if (isPinned) where.lastChild.append(make("span", "keys", "(Esc)"));
  const words = fates.length ? `${marked.why.words}.` : "Held back: what follows decides what it is.";
  return at("why").replaceChildren(itself, make("p", "words", words), where, ...(fates.length ? [more(fates)] : []));
}

const numberOf = (rule) => rule.title.split(" ")[0];

// Says which finding the shown place is in, and whether it is pinned.
function sayWhich(lane, start) {
  const place = wanted.findIndex((each) => each.lane === lane && each.from <= start && start < each.end);
  const words = place < 0 ? [] : [`finding ${place + 1} of ${wanted.length}`];
  if (isPinned) words.push("pinned");
  at("which").textContent = words.join(", ");
  at("findings").querySelector("[aria-current]")?.removeAttribute("aria-current");
  at("findings").querySelectorAll("li:not(.further)")[place]?.firstChild.setAttribute("aria-current", "true");
}

// What a user may unfold: the whole rule, and the earlier reasons. `fates`: those of a
// piece, the last one first.
function more([[when, , reason, seq], ...earlier]) {
  const why = data.reasons[reason];
  const rule = data.rules[why.rule];
  const more = make("details");
  more.open = isMore;
  more.addEventListener("toggle", () => (isMore = more.open));
  more.append(make("summary", "", "more"));
  if (rule) more.append(make("h3", "", rule.title), prose(rule.text));
  for (const [from, owner, before] of earlier) {
    const line = make("p", "", `From ${data.unit} ${from + 1} on it was `);
    line.append(make("span", `owner ${owner}`, owner), `: ${data.reasons[before].words}.`);
    more.append(line);
  }
  const origins = make("p");
  if (why.dialect) origins.append("Dialect ", leading(why.dialect, data.dialects));
  if (data.wires[why.wire]) origins.append("Wire ", leading(why.wire, data.wires[why.wire]));
  if (origins.firstChild) more.append(origins);
  const facts = [];
  if (why.code) facts.push(`diagnostic ${why.code}`);
  facts.push(seq ? `event ${seq}, at ${data.unit} ${when + 1}` : `at ${data.unit} ${when + 1}`);
  more.append(make("p", "hint", facts.join(" · ")));
  return more;
}

// A link; only to addresses of the project, and places of the page.
function leading(title, address) {
  const link = make("a", "", title);
  link.href = address;
  link.rel = "noreferrer";
  return link;
}

// --- Findings, and the answer ----------------------------------------------------------

// A finding is a row of neighbours that are not what is usual in their lane: their owner is
// another, or they stay although they look like protocol. Its parts are what is in it; its
// tags and blanks are parts only if it has nothing else.
const UNUSUAL_PARTS = new Set(["error", "dropped"]);
const MINOR = new Set(["delimiter", "dropped"]);
let findings = [];
let wanted = [];
let listed = "";
const LISTED = 100;

// Finds the findings and the answer in the text that had arrived by this step.
function survey() {
  const answers = [];
  findings = [];
  for (const lane of lanes) {
    let finding = null;
    let answer = "";
    for (const run of runsOf(lane.pieces, step)) {
      if (lane.usual && run.owner === "answer") answer += run.words;
      const isUsual = lane.usual ? run.owner === lane.usual && !run.why?.stays : !UNUSUAL_PARTS.has(run.owner);
      if (isUsual || run.owner === HELD) finding = null;
      else {
        if (!finding) findings.push((finding = { lane, from: run.first.start, parts: [] }));
        finding.end = run.last.start + run.last.words.length;
        if (!finding.parts.some(({ why }) => why.kind === run.why.kind)) finding.parts.push(part(run));
      }
    }
    if (answer) answers.push(answer);
  }
  for (const finding of findings) {
    const major = finding.parts.filter(({ of }) => !MINOR.has(of));
    if (major.length) finding.major = major;
  }
  showAnswer(step === last ? data.answer : answers.join("\n\n"));
  listFindings();
}

const part = ({ owner, of, why, first, words }) => ({ owner, of, why, start: first.start, words: beginning(words) });

// The name of an owner; a token that stays in the answer is not shown as good text.
const chip = (owner, why) => (why?.stays ? make("span", "owner stays", "stays") : make("span", `owner ${owner}`, owner));

const beginning = (words) => (words.length > 80 ? `${words.slice(0, 80)}\u2026` : words);

let answered;

function showAnswer(text) {
  const isCut = data.cut !== null && step >= data.cut[0];
  at("cut").hidden = !isCut;
  if (text === answered) return;
  answered = text;
  at("answer").replaceChildren();
  fold(at("answer"), text);
}

function listFindings() {
  const isWanted = ({ owner, of }) => !only || owner === only || of === only;
  wanted = [];
  for (const finding of findings) {
    const { start, words } = (finding.major ?? finding.parts).find(isWanted) ?? finding.parts.find(isWanted) ?? {};
    if (words !== undefined) wanted.push({ ...finding, start, words });
  }
  if (only) sayFilter();
  at("found").textContent = only ? `${wanted.length} of ${findings.length}` : wanted.length;
  at("back").disabled = at("on").disabled = wanted.length === 0;
  const list = wanted.map(({ lane, start, words }) => `${lane.number}.${start}.${words.length}`).join();
  if (list === listed) return;
  listed = list;
  at("findings").replaceChildren();
  listMore();
}

function listMore() {
  const list = at("findings");
  list.querySelector(".further")?.remove();
  const there = list.childElementCount;
  for (const finding of wanted.slice(there, there + LISTED)) {
    const item = make("li");
    const choice = button(`${list.childElementCount + 1} `, () => goTo(finding));
    for (const { owner, why } of finding.major ?? finding.parts) {
      const named = make("span", "named");
      named.append(chip(owner, why), " ", make("span", "hint", why.kind));
      choice.append(named);
    }
    choice.append(make("span", "excerpt", finding.words));
    item.append(choice);
    list.append(item);
  }
  const left = wanted.length - list.childElementCount;
  if (left > 0) {
    const item = make("li", "further control");
    item.append(button(`... ${left} more`, listMore));
    list.append(item);
  }
}

function goTo(place) {
  const run = runAt(place);
  if (!run) return;
  run.element.focus({ preventScroll: true });
  run.element.scrollIntoView({ block: "center" });
  pin(run);
}

// Goes to the finding after the shown place, or before it; wraps around at both ends.
function nextFinding(direction) {
  if (!wanted.length) return;
  const place = shown ? [shown.lane.number, shown.start] : [0, -1];
  const isBefore = ({ lane, start }) => lane.number < place[0] || (lane.number === place[0] && start < place[1]);
  const isHere = ({ lane, start }) => lane.number === place[0] && start === place[1];
  const before = countWhile(wanted, isBefore);
  const there = wanted[before] && isHere(wanted[before]) ? before + 1 : before;
  const next = direction > 0 ? there : before - 1;
  goTo(wanted[(next + wanted.length) % wanted.length]);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") release();
  else if (event.key === "n") nextFinding(1);
  else if (event.key === "p") nextFinding(-1);
}

// A link to a piece is `#lane.start`: the number of its lane, and its offset there.
function followLink() {
  const [, number, start] = /^#(\d+)\.(\d+)$/.exec(location.hash) ?? [];
  const lane = lanes[number];
  if (lane) {
    go(last);
    goTo({ lane, start: Number(start) });
  }
  return lane !== undefined;
}

// --- The steps -----------------------------------------------------------------------

function eventRow({ type, seq, ...rest }) {
  const row = make("li");
  row.append(make("b", "", `${seq} ${type} `));
  fold(row, JSON.stringify(rest));
  return row;
}

function showStep(number) {
  const [from, to] = step < number ? [step, number] : [number, step];
  const isFirst = step === number;
  step = number;
  for (const lane of lanes) {
    for (const block of lane.blocks) {
      const changed = countWhile(block.changes, (each) => each <= to) - countWhile(block.changes, (each) => each <= from);
      if (!changed && !isFirst) continue;
      block.element.hidden = block.changes[0] > number;
      if (block.isNear || block.isFirst) render(block);
      else plain(block);
    }
    lane.section.hidden = !lane.pieces.length || lane.pieces[0].step > number;
  }
  for (const [owner, { count, item }] of counts) {
    count.textContent = sums.get(owner)[number];
    item.classList.toggle("none", sums.get(owner)[number] === 0);
  }
  for (const each of document.querySelectorAll(".at-chunk")) each.textContent = number < last ? `at ${data.unit} ${number + 1}` : "";
  survey();
  saySentence(number);
  showChunk(number);
  at("step").value = number;
  at("step").setAttribute("aria-valuetext", `${data.unit} ${number + 1} of ${last + 1}`);
  at("at").textContent = `${number + 1} of ${last + 1}`;
  at("previous").disabled = number === 0;
  at("next").disabled = number === last;
  if (shown) explain();
  keepHeight();
}

// Says what has happened up to a step.
function saySentence(number) {
  const [, first, rest] = data.summary[countWhile(data.summary, (each) => each[0] <= number) - 1];
  at("summary").textContent = number < last ? soFar(number, first) : first;
  at("further").textContent = rest;
}

const soFar = (number, words) => `Up to ${data.unit} ${number + 1} of ${last + 1}: ${words[0].toLowerCase()}${words.slice(1)}`;

// Keeps the height of the sentence when it gets shorter, so that the slider does not move.
// It is measured after all changes of a step, and set only if it grew: each costs a layout.
function keepHeight() {
  const height = `${at("about").getBoundingClientRect().height}px`;
  if (at("about").style.minHeight !== height) at("about").style.minHeight = height;
}

function forgetHeight() {
  at("about").style.minHeight = "";
}

function showChunk(number) {
  const { chunk, events } = data.steps[number];
  const came = make("div", "came");
  fold(came, chunk || "The end of the stream.");
  const rows = make("ol", "caused");
  rows.append(...events.slice(0, LISTED).map(eventRow));
  if (events.length > LISTED) rows.append(make("li", "hint", `... ${events.length - LISTED} more, under All events`));
  at("chunk").replaceChildren(came, rows);
}

// The folded lists are built when they are first opened.
const EVENTS = 500;
const allEvents = data.steps.flatMap((each) => each.events);

function buildEvents(count = EVENTS) {
  const list = at("events");
  list.querySelector(".further")?.remove();
  const there = list.childElementCount;
  list.append(...allEvents.slice(there, there + count).map(eventRow));
  const left = allEvents.length - list.childElementCount;
  if (left <= 0) return;
  const item = make("li", "further control");
  item.append(button(`... ${left} more`, () => buildEvents()));
  list.append(item);
}

function buildMessage() {
  if (!at("message").firstChild) fold(at("message"), JSON.stringify(data.message, null, 1));
}

// For print: all text of lanes and answer, and a line for each of the first events. The
// message is printed only if it is open.
let wasOpen = [];

function unfold() {
  wasOpen = ["about", "events-part"].map((id) => [at(id), at(id).open]);
  for (const [details] of wasOpen) details.open = true;
  if (!at("events").firstChild) buildEvents(LISTED);
  for (const { blocks: all } of lanes) for (const block of all) if (block.isPlain) render(block);
  document.querySelectorAll("#lanes .rest[hidden], #answer .rest[hidden]").forEach(reveal);
}

function foldAgain() {
  for (const [details, isOpen] of wasOpen) details.open = isOpen;
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
  // Playing lasts about a minute at most, so it skips some of very many chunks.
  const each = Math.max(50, Math.min(500, 20000 / (last + 1)));
  const stride = Math.ceil((last + 1) / 1000);
  timer = setInterval(() => (step < last ? showStep(Math.min(last, step + stride)) : stop()), each);
  return undefined;
}

function go(number) {
  stop();
  showStep(Math.max(0, Math.min(last, number)));
}

// --- The start -----------------------------------------------------------------------

for (const each of document.querySelectorAll(".unit")) each.textContent = data.unit;
if (data.unit === "message") at("answer-name").textContent = "The answers without what leaked";
show(at("facts"), data.facts.map(([name, value]) => `${name} ${value}`).join(" · "));
show(at("cut"), data.cut === null ? "" : data.cut[1]);
at("about").open = isWide;
show(at("seals"), data.seals.join("\n"));
at("seals").hidden = data.seals.length === 0;
at("unknown").textContent = data.unknown;
at("unknown").hidden = !data.unknown;
data.lanes.forEach(buildLane);
sumUp();
buildLegend();
at("events-count").textContent = allEvents.length;
at("events-part").addEventListener("toggle", () => at("events").firstChild || buildEvents());
at("message-part").addEventListener("toggle", buildMessage);
at("step").max = last;
at("step").addEventListener("input", (event) => go(Number(event.target.value)));
at("previous").addEventListener("click", () => go(step - 1));
at("next").addEventListener("click", () => go(step + 1));
at("play").addEventListener("click", play);
at("back").addEventListener("click", () => nextFinding(-1));
at("on").addEventListener("click", () => nextFinding(1));
document.addEventListener("copy", copy);
document.addEventListener("keydown", onKey);
addEventListener("beforeprint", unfold);
addEventListener("afterprint", foldAgain);
addEventListener("hashchange", followLink);
addEventListener("resize", forgetHeight);
at("about").firstElementChild.addEventListener("click", forgetHeight);
showStep(last);
if (!followLink() && wanted.length) choose(runAt(wanted[0]));
