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

from stream_sidecar.explain.page import page as page_of

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
    page.told = []
    page.on("console", lambda message: page.told.append(message.text))
    page.on("pageerror", lambda error: page.told.append(str(error)))
    page.on("dialog", lambda dialog: page.told.append(dialog.message))
    page.on("request", lambda request: page.told.append(request.url))
    yield page
    assert page.told == [page.url]
    page.close()


LEAKING = [
    {"choices": [{"delta": {"content": text}}]}
    for text in ("<thi", "nk>why", "</think>Ans", "wer")
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
    links = page.evaluate("[...document.links].map(link => link.protocol)")
    assert set(links) <= {"https:"}


def test_nothing_of_a_hostile_stream_is_hidden(page: Any, tmp_path: Path) -> None:
    """Each character that nobody sees has its sign, in a lane and in the events."""
    page.goto(write(CHUNKS, tmp_path / "page.html"))
    for selector in (".lane .text >> nth=0", "#message"):
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
    refused = [each for each in page.told if "Content Security Policy" in each]
    assert len(refused) == 2
    del page.told[1:]


def test_the_slider_goes_through_the_chunks(page: Any, tmp_path: Path) -> None:
    page.goto(write(LEAKING, tmp_path / "page.html"))
    assert page.locator("#at").inner_text() == "5 of 5"
    assert texts(page, ".piece.delimiter") == ["<thi", "nk>", "</think>"]
    assert page.locator("#message").inner_text().startswith("{")
    page.locator("#step").focus()
    page.keyboard.press("Home")
    assert page.locator("#at").inner_text() == "1 of 5"
    assert texts(page, ".piece:visible") == texts(page, ".piece.held") == ["<thi"]
    page.keyboard.press("ArrowRight")
    assert texts(page, ".piece.delimiter:visible") == ["<thi", "nk>"]
    assert texts(page, ".piece.reasoning:visible") == ["why"]
    events = texts(page, "#events li:visible")
    assert [event.split()[1] for event in events][-1] == "reasoning-delta"
    page.locator("#play").click()
    page.get_by_text("5 of 5").wait_for()
    assert page.locator("#play").inner_text() in ("Play", "Pause")


def test_the_keyboard_is_enough(page: Any, tmp_path: Path) -> None:
    """Tab reaches every part once, arrows go through the pieces, and each says why."""
    page.goto(write(LEAKING, tmp_path / "page.html"))
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className").startswith("piece"):
            break
    assert page.evaluate("document.activeElement.textContent") == "<thi"
    why = page.locator("#why")
    assert "Rule 3.2 Which delimiters count" in why.inner_text()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.ariaLabel") == "reasoning: why"
    assert page.evaluate("document.activeElement.ariaSelected") == "true"
    assert "Rule 3.3 A pair closes itself" in why.inner_text()
    assert why.get_attribute("aria-live") == "polite"
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.textContent") == "wer"
    assert "#21-every-character-has-its-place" in why.locator("a").get_attribute("href")


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


def test_what_is_copied_are_the_characters_that_came(page: Any, tmp_path: Path) -> None:
    text = "a\n\tb\u200b\u202ec\u00a0 d"
    chunk = {"choices": [{"delta": {"content": text}}]}
    page.goto(write([chunk], tmp_path / "page.html"))
    copied = page.evaluate(
        "() => { const range = document.createRange();"
        " range.selectNodeContents(document.querySelector('.lane .text'));"
        " getSelection().removeAllRanges(); getSelection().addRange(range);"
        " const clipboardData = new DataTransfer();"
        " const copy = new ClipboardEvent('copy', { clipboardData, bubbles: true });"
        " document.body.dispatchEvent(copy);"
        " return clipboardData.getData('text/plain'); }"
    )
    assert copied == text
