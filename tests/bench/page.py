"""The page of explain in a browser: a stream of 1 MB compared with a small stream.

Bars: the page is shown in at most three times the time of a small page, and no step of
its slider needs 50 ms. Needs playwright and a Chromium (tests/README.md).
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rows import Bar, Row

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "sidecar")]

from stream_sidecar.explain.page import page as page_of  # noqa: E402
from stream_sidecar.explain.stored import explain_file  # noqa: E402
from stream_sidecar.options import StreamOptions  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNS = 9
THERE = """new Promise((r) => requestAnimationFrame(() => setTimeout(r)))
  .then(() => performance.now())"""
HEAD = {
    "id": "chatcmpl-5f0c2d1e77aa01c4",
    "object": "chat.completion.chunk",
    "created": 1764201600,
    "model": "example-large",
}
STEPS = """async () => {
  const slider = document.getElementById("step"), times = [];
  for (const at of [0, 1, 2, 0.5, 0.51, 0.9, 1, 0, 1]) {
    const begun = performance.now();
    slider.value = at < 1 ? Math.round(at * slider.max) : at * slider.max;
    slider.dispatchEvent(new Event("input"));
    document.body.offsetHeight;
    times.push(performance.now() - begun);
    await new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
  }
  return Math.max(...times);
}"""


def stream(size: int) -> bytes:
    """Answers with a leak in 40 lines, as a provider streams them, word by word."""
    written: list[bytes] = []
    total = 0
    while total < size:
        is_leak = len(written) % 500 == 250
        text = "<think>hm</think>" if is_leak else f"word{len(written)} "
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
        chunk = {**HEAD, "choices": [choice]}
        written.append(b"data: %b\n\n" % json.dumps(chunk).encode())
        total += len(written[-1])
    return b"".join(written)


def run() -> Iterator[Row]:
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        shown = browser.new_page()
        times, step = {}, 0.0
        for name, size in (("small", 2000), ("large", 1_000_000)):
            path = Path(folder, f"{name}.html")
            explanation = explain_file(name, stream(size), StreamOptions())
            path.write_text(page_of(explanation), encoding="utf-8")
            times[name] = statistics.median(
                _there(shown, path.as_uri()) for _ in range(RUNS)
            )
            step = shown.evaluate(STEPS)
        browser.close()
    large, ratio = f"{times['large']:.0f} ms", times["large"] / times["small"]
    yield Row("page of 1 MB, to be there", large, ratio, Bar(3, 2))
    dearest = Bar(50, 16, unit=" ms")
    yield Row("page of 1 MB, dearest step", f"{step:.1f} ms", step, dearest)


def _there(shown: Any, address: str) -> float:
    shown.goto("about:blank")
    shown.goto(address)
    time: float = shown.evaluate(THERE)
    return time
