"""The plot: what a delta costs by the text, and as its stream grows, as an SVG.

`draw(results)` is text in, text out. Texts stand side by side: recordings, those that
are made up, and prose against the length of its stream. Both axes are logarithmic,
every line carries its name at its end, and languages differ in mark and colour, so that
neither colour vision nor the page's background matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import ceil, floor, log10

from attrs import frozen

from peers.results import OURS, Found, Results
from peers.texts import COMPARED, GROWING, SHORT

WIDTH, HEIGHT = 860, 480
LEFT, RIGHT, TOP, BOTTOM = 66, 596, 74, 420
GROWTH = 340
"""Where the lengths begin; the other texts stand left of them."""

LABEL_GAP = 18
"""Between the base lines of two names."""

COLUMNS = {
    kind: LEFT + 30 + 82 * number
    for number, kind in enumerate(kind for kind in COMPARED[::-1] if kind != GROWING)
}
"""Where the texts stand whose streams have one length."""

MARKS = {"Python": "circle", "JavaScript": "square", "Rust": "triangle"}

INKS = {
    "Python": ("#b35900", "#f0a352"),
    "JavaScript": ("#00785a", "#4cc9a0"),
    "Rust": ("#7a4fb5", "#c09bf0"),
    "ours": ("#0550ae", "#6cb6ff"),
}
"""The colours of lines and marks on a light and on a dark page."""

_LIGHT = """
text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #24292f; }
.title { font-size: 15px; font-weight: 600; }
.faint { fill: #57606a; }
.grid { stroke: #d0d7de; }
.lead { stroke: #8c959f; stroke-dasharray: 2 3; }
.line { fill: none; stroke-width: 1.75; }
.line.ours { stroke-width: 3.5; }
.beside { fill: none; stroke-dasharray: 2 4; }
.beside.ours { stroke-width: 2.5; }
text.name { font-weight: 700; }
"""
_DARK = """
text { fill: #e6edf3; }
.faint { fill: #9198a1; }
.grid { stroke: #3d444d; }
.lead { stroke: #656c76; }
"""


@frozen
class Scale:
    """A logarithmic axis: from ``low`` to ``high`` in values, ``start`` to ``end`` in
    pixels."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = log10(value / self.low) / log10(self.high / self.low)
        return round(self.start + share * (self.end - self.start), 1)


@frozen
class Line:
    """A peer's points, in pixels: of the texts `beside` prose, and of prose as it
    grows; and whether its last sizes were given up."""

    found: Found
    beside: list[tuple[float, float]]
    points: list[tuple[float, float]]
    ends: bool

    @property
    def kind(self) -> str:
        """Its class in the style sheet."""
        return "ours" if self.found.name == OURS else self.found.language

    @property
    def name(self) -> str:
        return self.found.name + ("" if self.ends else " (given up beyond)")


def draw(results: Results) -> str:
    """The whole picture; raises ValueError when there is nothing to show."""
    shown = [found for found in results.found if any(found.sizes.values())]
    if not shown:
        raise ValueError("no peer has a cost at any length")
    given = [found.sizes[size] for found in shown for size in found.sizes]
    given += [found.kinds.get(kind) for found in shown for kind in COLUMNS]
    costs = [cost * 1e6 for cost in given if cost]
    lengths = sorted({int(size) for found in shown for size in found.sizes})
    across = Scale(lengths[0], max(lengths[-1], 10 * lengths[0]), GROWTH, RIGHT)
    lowest, highest = floor(log10(min(costs))), ceil(log10(max(costs)))
    up = Scale(10**lowest, 10 ** max(highest, lowest + 1), BOTTOM, TOP)
    lines = [_line(found, across, up) for found in shown]
    body = (*_frame(across, up, lengths), *_lines(lines), *_names(lines))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" '
        'aria-label="Cost of a delta by text and by the length of the stream">\n'
        f"<style>{_style()}</style>\n" + "\n".join(body) + "\n</svg>\n"
    )


def _style() -> str:
    light, dark = (
        "".join(
            f".line.{kind}, .beside.{kind} {{ stroke: {inks[page]}; }} .mark.{kind} "
            f"{{ fill: {inks[page]}; }}\n"
            for kind, inks in INKS.items()
        )
        for page in range(2)
    )
    return f"{_LIGHT}{light}@media (prefers-color-scheme: dark) {{{_DARK}{dark}}}\n"


def _line(found: Found, across: Scale, up: Scale) -> Line:
    known = [(int(size), cost) for size, cost in found.sizes.items() if cost]
    points = [(across.at(size), up.at(cost * 1e6)) for size, cost in sorted(known)]
    beside = [
        (float(x), up.at(cost * 1e6))
        for kind, x in COLUMNS.items()
        if (cost := found.kinds.get(kind))
    ]
    return Line(found, beside, points, all(found.sizes.values()))


def _frame(across: Scale, up: Scale, lengths: list[int]) -> Iterator[str]:
    yield _text(16, 26, "What a delta costs, by text and as its stream grows", "title")
    yield _text(16, 46, "µs a delta", "faint")
    for number, (language, shape) in enumerate(MARKS.items()):
        x = RIGHT - 270 + 100 * number
        yield _mark(shape, x, 42, language)
        yield _text(x + 10, 46, language, "faint")
    for power in range(round(log10(up.low)), round(log10(up.high)) + 1):
        y = up.at(10**power)
        yield f'<path class="grid" d="M{LEFT} {y}H{RIGHT}"/>'
        yield _text(LEFT - 10, y + 4, f"{10**power:g}", "faint", "end")
    for length in lengths:
        yield _text(across.at(length), BOTTOM + 24, _size(length), "faint", "middle")
    for kind, x in COLUMNS.items():
        yield _text(x, BOTTOM + 24, kind, "faint", "middle")
    first, *_, last = COLUMNS.values()
    below = ((first, last, f"{_size(SHORT)} characters each"),)
    below += ((GROWTH, RIGHT, f"characters of a stream of {GROWING}"),)
    for start, end, name in below:
        yield _text((start + end) / 2, BOTTOM + 46, name, "faint", "middle")


def _size(length: int) -> str:
    """``length`` for people."""
    return f"{length // 1000:,} k" if length < 1_000_000 else f"{length / 1e6:g} M"


def _lines(lines: list[Line]) -> Iterator[str]:
    """Ours last, so that it lies on top."""
    for line in sorted(lines, key=lambda line: line.kind == "ours"):
        yield _path("beside", line.kind, [*line.beside, line.points[0]])
        yield _path("line", line.kind, line.points)
        for x, y in (*line.beside, *line.points):
            yield _mark(MARKS[line.found.language], x, y, line.kind)


def _path(name: str, kind: str, points: list[tuple[float, float]]) -> str:
    way = "L".join(f"{x} {y}" for x, y in points)
    return f'<path class="{name} {kind}" d="M{way}"/>'


def _names(lines: list[Line]) -> Iterator[str]:
    """The name of each line at its end, moved apart where they would overlap."""
    ordered = sorted(lines, key=lambda line: line.points[-1][1])
    heights = spread([line.points[-1][1] for line in ordered], LABEL_GAP)
    for line, height in zip(ordered, heights, strict=True):
        x, y = line.points[-1]
        yield f'<path class="lead" d="M{x + 7} {y}L{RIGHT + 20} {height}"/>'
        kind = "name" if line.kind == "ours" else ""
        yield _text(RIGHT + 25, height + 4, line.name, kind)


def spread(places: list[float], gap: float) -> list[float]:
    """Ascending ``places`` moved so that neighbours are ``gap`` apart at least.

    Those that touch share what they must move, so a group stays where it was.
    """
    groups: list[tuple[float, int]] = []  # the middle of a group, and its size
    for place in places:
        middle, size = place, 1
        while groups and middle - groups[-1][0] < gap * (size + groups[-1][1]) / 2:
            other, count = groups.pop()
            middle = (middle * size + other * count) / (size + count)
            size += count
        groups.append((middle, size))
    return [
        round(middle + gap * (number - (size - 1) / 2), 1)
        for middle, size in groups
        for number in range(size)
    ]


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    place = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place}>{escape(text)}</text>'


def _mark(shape: str, x: float, y: float, kind: str) -> str:
    if shape == "circle":
        return f'<circle class="mark {kind}" cx="{x}" cy="{y}" r="4"/>'
    paths = {"square": "m-4-4h8v8h-8z", "triangle": "m0-5l5 9h-10z"}
    return f'<path class="mark {kind}" d="M{x} {y}{paths[shape]}"/>'
