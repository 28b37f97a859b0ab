"""The page in a real browser: what a person does with it, and that nothing else runs.

Needs playwright (the dependency group ``browser``) and a Chromium, which is looked for
on the path; skipped where one of them is missing.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from explaining import explained
from hostile_stream import CHUNKS, SIGNS
from rpc_client import ROOT

from stream_sidecar.explain.page import page as page_of
from stream_sidecar.explain.stored import explain_file
from stream_sidecar.options import StreamOptions

if TYPE_CHECKING:
    from collections.abc import Iterator

playwright = pytest.importorskip(
    "playwright.sync_api", reason="the page in a browser: playwright is not installed"
)
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="the page in a browser: there is no Chromium"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        arguments = ["--no-sandbox"]  # it runs as root in containers
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


def write(chunks: list[Any], path: Path, name: str = "s") -> str:
    path.write_text(page_of(explained({}, chunks, name=name)), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that fails with whatever goes wrong in it, or leaves it."""
    page = browser.new_page()
    page.noted = []
    page.on("console", lambda message: page.noted.append(message.text))
    page.on("pageerror", lambda error: page.noted.append(str(error)))
    page.on("dialog", lambda dialog: page.noted.append(dialog.message))
    page.on("request", lambda request: page.noted.append(request.url))
    yield page
    assert page.noted == [page.url]
    page.close()


LEAKING = [
    {"choices": [{"delta": {"content": text}}]}
    for text in ("<thi", "nk>why", "</think>Ans", "wer")
]

TWO_LEAKS = [
    *LEAKING[:3],
    {"choices": [{"delta": {"content": " and <think>how</think>wer"}}]},
]


def texts(page: Any, selector: str) -> list[str]:
    return page.locator(selector).all_inner_texts()


def test_nothing_of_a_hostile_stream_runs(page: Any, tmp_path: Path) -> None:
    page.goto(write(CHUNKS, tmp_path / "page.html", "<b onclick=alert(1)>"))
    for _ in range(3):
        page.locator("#previous").click()
    for piece in page.locator(".piece:visible").all():
        piece.hover()
    assert page.title() == "A stream, explained"
    names = page.evaluate(
        "[...new Set([...document.querySelectorAll('body *')].map(e => e.localName))]"
    )
    assert not {"img", "svg", "iframe", "style", "object", "form"} & set(names)
    handlers = page.evaluate(
        "[...document.querySelectorAll('*')].flatMap(e => [...e.attributes])"
        ".filter(a => a.name.startsWith('on')).length"
    )
    assert handlers == 0
    links = page.evaluate("[...document.links].map(link => link.href)")
    elsewhere = {link for link in links if not link.startswith(f"{page.url}#")}
    assert {link.partition(":")[0] for link in elsewhere} <= {"https"}


def test_nothing_of_a_hostile_stream_is_hidden(page: Any, tmp_path: Path) -> None:
    """Each character that nobody sees has its sign, in a lane and in the events."""
    page.goto(write(CHUNKS, tmp_path / "page.html"))
    page.locator("#message-part summary").click()
    for each in page.locator(".lane button, .code button").all():
        each.click()
    for selector in (".lane .text >> nth=0", "#message", "#answer"):
        shown = page.locator(selector).inner_text()
        for character, sign in SIGNS.items():
            assert character not in shown or sign in shown
    lane = page.locator(".lane .text").first.inner_text()
    assert all(sign in lane for sign in SIGNS.values())
    assert "</script></style></textarea><!--" in lane


def test_a_policy_forbids_everything_else(page: Any, tmp_path: Path) -> None:
    """Even what somebody else would put into the page does not run."""
    page.goto(write(LEAKING, tmp_path / "page.html"))
    page.evaluate(
        "() => { const s = document.createElement('script');"
        " s.textContent = 'document.title = \"owned\"'; document.body.append(s);"
        " const i = document.createElement('img'); i.src = 'https://e.org/x';"
        " document.body.append(i); }"
    )
    page.wait_for_function("document.images[0].complete")
    assert page.evaluate("document.images[0].naturalWidth") == 0
    assert page.title() == "A stream, explained"
    refused = [each for each in page.noted if "Content Security Policy" in each]
    assert len(refused) == 2
    del page.noted[1:]


def test_the_slider_goes_through_the_chunks(page: Any, tmp_path: Path) -> None:
    page.goto(write(LEAKING, tmp_path / "page.html"))
    assert page.locator("#at").inner_text() == "5 of 5"
    assert texts(page, ".piece.delimiter") == ["<think>", "</think>"]
    assert texts(page, ".piece.answer") == ["Answer"]
    chips = texts(page, "#legend .owner:visible")
    assert chips == ["answer", "reasoning", "delimiter", "held"]
    page.locator("#step").focus()
    page.keyboard.press("Home")
    assert page.locator("#at").inner_text() == "1 of 5"
    assert texts(page, "#legend .owner:visible") == chips
    assert page.locator("#answer").inner_text() == ""
    assert texts(page, "h2 .at-chunk") == ["at chunk 1", "at chunk 1"]
    assert texts(page, "#findings .excerpt") == []
    said = "Up to chunk 1 of 5: nothing was taken out of the answer."
    assert page.locator("#summary").inner_text() == said
    assert texts(page, ".piece:visible") == texts(page, ".piece.held") == ["<thi"]
    assert page.locator("#why").inner_text().startswith("It comes with chunk 2.")
    page.keyboard.press("ArrowRight")
    assert texts(page, ".piece.delimiter:visible") == ["<think>"]
    assert texts(page, ".piece.reasoning:visible") == ["why"]
    assert texts(page, "#findings .excerpt") == ["why"]
    assert texts(page, ".caused b")[-1].endswith("reasoning-delta ")
    page.locator("#play").click()
    page.get_by_text("5 of 5").wait_for()
    assert page.locator("#answer").inner_text() == "Answer"
    said = "3 characters of reasoning and 15 of tags were taken out of the answer."
    assert page.locator("#summary").inner_text() == said
    assert page.locator("#play").inner_text() in ("Play", "Pause")


def test_the_first_thing_said_is_what_happened(page: Any, tmp_path: Path) -> None:
    """And the first finding is chosen, beside the answer that is left."""
    page.goto(write(LEAKING, tmp_path / "page.html"))
    said = "3 characters of reasoning and 15 of tags were taken out of the answer."
    assert page.locator("#summary").inner_text() == said
    assert page.locator("#answer").inner_text() == "Answer"
    assert texts(page, ".piece.chosen") == ["why"]
    assert texts(page, "#findings .excerpt") == ["why"]
    assert page.locator("#why-title").inner_text() == "Why finding 1 of 1"
    assert texts(page, "#why .this > *") == ["reasoning", "why"]


def test_the_keyboard_is_enough(page: Any, tmp_path: Path) -> None:
    """Tab reaches every part once, arrows go through the pieces, n and p through the
    findings, Enter keeps one, Escape lets it go."""
    page.goto(write(TWO_LEAKS, tmp_path / "page.html"))
    why = page.locator("#why")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className").startswith("piece"):
            break
    assert page.evaluate("document.activeElement.textContent") == "why"
    assert "Rule 3.3" in why.inner_text()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.textContent") == "<think>"
    assert "Rule 3.2" in why.inner_text()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.ariaLabel") == "reasoning: why"
    assert page.evaluate("document.activeElement.ariaSelected") == "true"
    assert why.get_attribute("aria-live") == "polite"
    page.keyboard.press("n")
    assert page.evaluate("document.activeElement.textContent") == "how"
    page.keyboard.press("n")
    assert page.evaluate("document.activeElement.textContent") == "why"
    page.keyboard.press("p")
    page.keyboard.press("Enter")
    assert texts(page, ".piece.pinned") == ["how"]
    assert page.locator("#which").inner_text() == "finding 2 of 2, pinned"
    page.keyboard.press("Escape")
    assert texts(page, ".piece.pinned") == []
    assert page.locator("#which").inner_text() == "finding 2 of 2"
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.textContent") == "wer"
    assert "#21-every-character-has-its-place" in why.locator("a").first.get_attribute(
        "href"
    )


def test_the_mouse_is_enough(page: Any, tmp_path: Path) -> None:
    """What is pointed at is shown, a click keeps it on the way to its rule, another
    lets it go; an owner is seen alone; a list leads to each finding."""
    page.goto(write(TWO_LEAKS, tmp_path / "page.html"))
    why = page.locator("#why")
    page.locator(".piece.answer").first.hover()
    assert "Rule 2.1" in why.inner_text()
    page.get_by_text("<think>").first.click()
    page.locator(".piece.answer").first.hover()
    assert "Rule 3.2" in why.inner_text()
    why.locator("a").first.hover()
    why.get_by_role("button").click()
    page.locator(".piece.answer").first.hover()
    assert "Rule 2.1" in why.inner_text()
    page.locator("#legend button").filter(has_text="answer").first.click()
    assert texts(page, "#findings .excerpt") == []
    faded = page.locator(".piece.reasoning").first
    assert faded.evaluate("piece => getComputedStyle(piece).opacity") == "0.35"
    assert page.locator("#found").inner_text() == "0 of 2"
    said = "answer is highlighted. It is in 0 of 2 findings. Show all"
    assert page.locator("#filter").inner_text() == said
    assert page.locator("#on").is_disabled()
    page.get_by_role("button", name="Show all").click()
    assert texts(page, "#findings .excerpt") == ["why", "how"]
    assert not page.locator("#filter").is_visible()
    page.locator("#legend button").filter(has_text="reasoning").first.click()
    page.locator("#findings button").last.click()
    assert texts(page, ".piece.pinned") == ["how"]
    page.locator("#on").click()
    assert texts(page, ".piece.pinned") == ["why"]
    page.locator("#events-part summary").click()
    page.locator("#events li").first.wait_for()
    assert page.locator("#events li").count() == int(texts(page, "#events-count")[0])


@pytest.mark.parametrize("chunks", [TWO_LEAKS, CHUNKS], ids=["leaks", "hostile"])
def test_nothing_moves_under_the_mouse(
    page: Any, tmp_path: Path, chunks: list[Any]
) -> None:
    """Neither the answer while pieces are pointed at, nor the slider while it moves."""
    page.set_viewport_size({"width": 1400, "height": 3000})  # nothing has to scroll
    page.goto(write(chunks, tmp_path / "page.html"))
    answer, slider = page.locator("#answer"), page.locator("#step")
    place = answer.bounding_box()
    for piece in page.locator(".piece").all():
        piece.hover()
        assert answer.bounding_box() == place
    place = slider.bounding_box()
    for _ in range(int(slider.get_attribute("max") or "")):
        page.locator("#previous").click()
        assert slider.bounding_box() == place


def test_an_error_that_cut_the_answer_is_said_first(page: Any, tmp_path: Path) -> None:
    """And beside the answer, from the chunk on that brought it."""
    error = {"error": {"message": "Slow down", "type": "rate_limit_error"}}
    page.goto(write([*LEAKING, error], tmp_path / "page.html"))
    said = "cut off by an error of the provider (rate-limit)"
    assert page.locator("#summary").inner_text() == f"The answer is {said}."
    assert page.locator("#cut").text_content() == said
    page.locator("#step").press("Home")
    assert not page.locator("#cut").is_visible()


PROVIDER_S_OWN = [
    {"choices": [{"delta": {"reasoning_content": "own"}}]},
    {"choices": [{"delta": {"content": "<think>why</think>A</s>B"}}]},
]


def test_reasoning_is_found_where_it_was_dropped(page: Any, tmp_path: Path) -> None:
    """Reasoning in tags beside the provider's own is dropped, and still reasoning."""
    page.goto(write(PROVIDER_S_OWN, tmp_path / "page.html"))
    reasoning = page.locator("#legend button").filter(has_text="reasoning").first
    reasoning.click()
    said = "reasoning is highlighted. It is in 1 of 2 findings. Show all"
    assert page.locator("#filter").inner_text() == said
    assert texts(page, "#findings .excerpt") == texts(page, ".piece.chosen") == ["why"]
    dropped = page.locator(".piece.dropped").first
    assert dropped.evaluate("piece => getComputedStyle(piece).opacity") == "1"
    outline = "button => getComputedStyle(button).outlineStyle"
    page.locator("h1").click()
    assert reasoning.evaluate(outline) == "solid"
    kinds = texts(page, "#legend li:visible .hint")
    assert "reasoning beside the provider's own" in kinds


def test_a_token_that_stays_says_why(page: Any, tmp_path: Path) -> None:
    page.goto(write(PROVIDER_S_OWN, tmp_path / "page.html"))
    assert texts(page, ".piece.stays") == ["</s>"]
    assert texts(page, "#findings .excerpt") == ["why", "</s>"]
    page.keyboard.press("n")
    assert page.locator("#which").inner_text() == "finding 2 of 2, pinned"
    said = "It stays: a stop token is removed only where the text ends."
    assert said in page.locator("#why").inner_text()


def test_the_frame_of_a_piece_covers_nothing_else(page: Any, tmp_path: Path) -> None:
    """Nothing is drawn at the start of the line after a piece that ends a line."""
    chunk = {"choices": [{"delta": {"content": "<think>\nwhy\n</think>\nA"}}]}
    page.goto(write([chunk], tmp_path / "page.html"))
    page.locator(".piece.reasoning").click()
    style = "getComputedStyle(document.querySelector('.piece.pinned'))"
    assert page.evaluate(f"{style}.outlineStyle") == "none"
    assert "inset" in page.evaluate(f"{style}.boxShadow")


def test_a_screen_to_touch_speaks_of_no_mouse(browser: Any, tmp_path: Path) -> None:
    page = browser.new_page(has_touch=True, is_mobile=True)
    page.goto(write(LEAKING, tmp_path / "page.html"))
    assert texts(page, "#input .hint:visible") == [
        "Tap a piece to see what it is and why."
    ]
    page.locator(".piece").first.tap()
    assert texts(page, "button:visible")[-3:-1] == ["Previous", "Next"]
    assert page.locator("#why button").inner_text().strip() == "Unpin"
    page.close()


def test_a_link_leads_to_its_piece(page: Any, tmp_path: Path) -> None:
    address = write(TWO_LEAKS, tmp_path / "page.html")
    page.goto(address)
    page.keyboard.press("p")
    page.get_by_text("Link to this piece").click()
    assert page.url.startswith(f"{address}#0.")
    page.reload()
    assert texts(page, ".piece.pinned") == ["how"]
    page.noted = [page.url]


def test_what_is_long_is_folded(page: Any, tmp_path: Path) -> None:
    text = f"<think>{'long ' * 1000}</think>Hi"
    chunk = {"choices": [{"delta": {"content": text}}]}
    page.goto(write([chunk], tmp_path / "page.html"))
    piece = page.locator(".piece.reasoning")
    assert piece.inner_text().endswith("... 5 kB more")
    assert copied_from(page, ".lane .text") == text
    piece.get_by_role("button").click()
    assert piece.inner_text() == text[7:-10]
    assert not page.locator("#message").is_visible()


def test_a_megabyte_has_few_elements(page: Any, tmp_path: Path) -> None:
    """And what is far down is there when somebody goes there."""
    words = [
        "<think>hm</think>" if n % 50 == 0 else f"word {n}\n" for n in range(100_000)
    ]
    chunks = ["".join(words[at : at + 50]) for at in range(0, len(words), 50)]
    text = "".join(chunks)
    explanation = explained({"wire": "text"}, chunks)
    path = tmp_path / "page.html"
    path.write_text(page_of(explanation), encoding="utf-8")
    page.goto(path.as_uri())
    assert len(text) > 1_000_000
    assert page.evaluate("document.querySelectorAll('*').length") < 3000
    page.keyboard.press("p")
    assert page.evaluate("document.activeElement.textContent") == "hm"
    assert "chunk 2000" in page.locator("#why").inner_text()
    lane = page.locator(".lane .text").first
    assert lane.evaluate("lane => lane.textContent.replaceAll('↵', '')") == text
    page.locator("#step").press("Home")
    there = "lane => lane.querySelectorAll('.block:not([hidden])')[0].textContent"
    assert lane.evaluate(there).replace("↵", "") == chunks[0]


def test_paper_has_the_colours_and_the_events(page: Any, tmp_path: Path) -> None:
    page.goto(write(LEAKING, tmp_path / "page.html"))
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    piece = page.locator(".piece.reasoning")
    style = piece.evaluate("piece => getComputedStyle(piece).printColorAdjust")
    assert style == "exact"
    rows = page.locator("#events li")
    assert rows.last.is_visible()
    assert {row.bounding_box()["height"] < 30 for row in rows.all()} == {True}
    assert not page.locator("#message-part").is_visible()
    marker = "getComputedStyle(document.querySelector('summary'), '::before').display"
    assert page.evaluate(marker) == "none"
    parts = ["#summary", "#legend", "#answer", "#lanes", "#findings", "#events"]
    tops = [page.locator(part).bounding_box()["y"] for part in parts]
    assert tops == sorted(tops)
    assert not page.locator("#player").is_visible()
    assert not page.locator("#this-chunk").is_visible()
    chosen = page.locator(".piece.chosen")
    assert chosen.evaluate("piece => getComputedStyle(piece).boxShadow") == "none"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert not page.locator("#events").is_visible()


def test_a_small_stream_is_two_sheets(page: Any, tmp_path: Path) -> None:
    body = (ROOT / "tests/wires/openai-chat/leaking.sse").read_bytes()
    path = tmp_path / "page.html"
    path.write_text(page_of(explain_file("s", body, StreamOptions())), "utf-8")
    page.goto(path.as_uri())
    sheets = page.pdf(format="A4").count(b"/Type /Page\n")
    assert 1 <= sheets <= 2


def test_without_fills_the_owners_have_lines_of_their_own(
    page: Any, tmp_path: Path
) -> None:
    page.emulate_media(forced_colors="active")
    page.goto(write(LEAKING, tmp_path / "page.html"))
    chosen = page.locator(".piece.chosen")
    grounds = "piece => getComputedStyle(piece).backgroundColor"
    assert chosen.evaluate(grounds) != page.locator(".piece").first.evaluate(grounds)
    signs = page.evaluate(
        "[...document.querySelectorAll('.owner')].slice(0, 9).map((each) => {"
        " const { borderBottomStyle, textDecorationLine, textDecorationStyle,"
        " fontStyle, fontWeight, outlineStyle } = getComputedStyle(each);"
        " return [borderBottomStyle, textDecorationLine, textDecorationStyle,"
        " fontStyle, fontWeight, outlineStyle].join(); })"
    )
    assert len(set(signs)) == 9
    chunk = {"choices": [{"delta": {"content": "<think>a</think>\nb"}}]}
    page.goto(write([chunk], tmp_path / "lines.html"))
    page.noted = [page.url]
    line_end = page.locator(".piece.dropped .sign.line")
    display = line_end.evaluate("sign => getComputedStyle(sign).display")
    assert display == "inline"  # so the line through the piece goes through it, too


@pytest.mark.parametrize("width", [420, 1400])
def test_why_is_short_where_there_is_little_room(
    page: Any, tmp_path: Path, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(write(LEAKING, tmp_path / "page.html"))
    fits = "document.documentElement.scrollWidth <= innerWidth"
    assert page.evaluate(fits)
    more = page.locator("#why details")
    assert not more.locator("p").first.is_visible()
    assert page.locator("#why-title").is_visible()
    assert page.locator("#legend .owner").first.is_visible()
    if width < 1000:
        box = page.locator("#reason").bounding_box()
        assert page.locator(".lane").first.bounding_box()["y"] < 300
        assert box["y"] + box["height"] <= 800
        assert box["height"] < 160
    more.locator("summary").click()
    assert more.locator("p").first.is_visible()
    panel = page.locator("#reason")
    assert panel.evaluate("each => each.scrollHeight - each.clientHeight") <= 1
    page.locator(".piece.answer").first.hover()
    assert more.locator("p").first.is_visible()
    assert page.evaluate(fits)


CONTRAST = """() => {
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((each) => each / 255)
      .map((each) => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    return numbers(color)[3] === 0 ? ground(element.parentElement) : color;
  };
  return [...document.querySelectorAll(".owner, .piece, h1, h2, h3, .hint, a, button")]
    .filter((element) => element.checkVisibility() && !element.disabled)
    .map((element) => {
      const pair = [getComputedStyle(element).color, ground(element)]
        .map((color) => light(numbers(color))).sort((a, b) => b - a);
      return (pair[0] + 0.05) / (pair[1] + 0.05);
    });
}"""
"""The contrast of each text with what is behind it (WCAG 2.2)."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read(page: Any, tmp_path: Path, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto(write(CHUNKS, tmp_path / "page.html"))
    page.locator(".piece.delimiter").first.hover()
    contrasts = page.evaluate(CONTRAST)
    assert len(contrasts) > 20
    assert min(contrasts) >= 4.5


def test_every_control_has_a_name(page: Any, tmp_path: Path) -> None:
    page.goto(write(LEAKING, tmp_path / "page.html"))
    for role in ("button", "slider", "listbox", "option", "region", "list"):
        named = page.get_by_role(role)
        assert named.count()
        for element in named.all():
            assert element.aria_snapshot().split('"')[1:2] not in ([], [""]), role


def test_an_editor_that_shows_it_has_its_theme(page: Any, tmp_path: Path) -> None:
    """VS Code tells its theme by a class of the body."""
    page.emulate_media(color_scheme="light")
    page.goto(write(LEAKING, tmp_path / "page.html"))
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.evaluate("document.body.classList.add('vscode-dark')")
    assert page.evaluate(ground) != light


def copied_from(page: Any, selector: str) -> str:
    """What a person copies who selects an element."""
    page.evaluate(
        "(selector) => { const range = document.createRange();"
        " range.selectNodeContents(document.querySelector(selector));"
        " getSelection().removeAllRanges(); getSelection().addRange(range);"
        " window.copied = ''; addEventListener('copy', (event) => {"
        " window.copied = event.clipboardData.getData('text/plain'); }); }",
        selector,
    )
    page.keyboard.press("Control+C")
    copied = page.evaluate("window.copied")
    page.evaluate("getSelection().removeAllRanges()")
    assert isinstance(copied, str)
    return copied


def test_what_is_copied_are_the_characters_that_came(page: Any, tmp_path: Path) -> None:
    text = "a\n\tb\u200b\u202ec\u00a0 d"
    chunk = {"choices": [{"delta": {"content": text}}]}
    page.goto(write([chunk], tmp_path / "page.html"))
    assert copied_from(page, ".lane .text") == text
