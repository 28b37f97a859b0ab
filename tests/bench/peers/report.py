"""The block of tests/README.md about the peers, made from stored results and the table.

`block(results)` is Markdown; `write(results)` puts it between the page's two marks and
the plot beside this file. Nothing here measures.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from peers.plot import draw
from peers.results import FROM_EVENTS, OURS, Found, Results
from peers.table import LEFT_OUT, PEERS
from peers.texts import COMPARED, CUTTINGS, MORE

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
PAGE = ROOT / "tests" / "README.md"
PLOT = HERE / "cost-per-delta.svg"
BEGIN, END = "<!-- peers: begin -->", "<!-- peers: end -->"

BASELINES = {peer.name for peer in PEERS if peer.baseline}

COLUMNS = (
    "",
    "runs in",
    *(f"{kind}, µs" for kind in COMPARED),
    "1 MB, µs",
    *(f"{kind}, µs" for kind in MORE),
    "depends on the cut",
    *(f"wrong, {cutting}" for cutting in CUTTINGS),
)


def write(results: Results) -> None:
    """Page and plot anew."""
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_block(page, block(results)), encoding="utf-8")
    PLOT.write_text(draw(results), encoding="utf-8")


def with_block(page: str, text: str) -> str:
    """``page`` with ``text`` between the marks; raises ValueError without them."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"no {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def block(results: Results) -> str:
    """What stands between the marks."""
    return "\n".join((*_costs(results), "", *_picture(), "", *_peers()))


def _costs(results: Results) -> Iterator[str]:
    yield _cells(COLUMNS)
    yield _cells(("---", "---", *["--:"] * (len(COLUMNS) - 2)))
    for found in results.found:
        yield _cells(cells(found, results))
    yield ""
    yield from _verdict(results)
    yield f"Measured with {results.machine}."


def _cells(texts: tuple[str, ...]) -> str:
    return f"| {' | '.join(texts)} |"


def cells(found: Found, results: Results) -> tuple[str, ...]:
    """A row of the table, one text for each of `COLUMNS`."""
    name = f"**{found.name}**" if found.name == OURS else found.name
    version = "" if found.name in BASELINES else found.version
    head = (f"{name} {version}".strip(), found.language)
    if found.missing:
        return (*head, found.missing, *[""] * (len(COLUMNS) - 3))
    largest = max(found.sizes, key=int)
    costs = [_microseconds(found.kinds[kind]) for kind in COMPARED]
    costs.append(_microseconds(found.sizes[largest]))
    costs += [
        _microseconds(found.kinds[kind]) if kind in found.kinds else "" for kind in MORE
    ]
    if found.differ is None or found.wrong is None:
        judged = ("",) * (1 + len(CUTTINGS))
    else:
        wrong = [f"{found.wrong[way]} of {results.simple[way]}" for way in CUTTINGS]
        judged = (f"{found.differ} of {results.texts}", *wrong)
    return (*head, *costs, *judged)


def _microseconds(seconds: float | None) -> str:
    return "given up" if seconds is None else f"{seconds * 1e6:.3g}"


def _verdict(results: Results) -> Iterator[str]:
    """Who is cheaper and who is dearer than the sidecar, in words."""
    ours = results.of(OURS)
    means = {found.name: found.each for found in _others(results)}
    ratios = _ratios(means, ours.each)
    cheaper = [each for ratio, each in ratios if ratio < 1]
    dearer = [each for ratio, each in ratios if ratio >= 1]
    yield "Over the four texts together, with the sidecar's cost as 1:"
    yield f"cheaper are {_listed(cheaper)}; dearer are {_listed(dearer)}."
    yield "Peers in Python that are cheaper than the sidecar, by column:"
    yield "; ".join(_lost(results)) + "."


def _lost(results: Results) -> Iterator[str]:
    """By what is timed, those in Python that are cheaper there."""
    rivals = [each for each in _others(results) if each.language == "Python"]
    ours = results.of(OURS).kinds
    for kind in filter(ours.__contains__, (*COMPARED, *MORE)):
        costs = {found.name: found.kinds.get(kind) for found in rivals}
        ratios = _ratios(costs, ours[kind])
        yield f"{kind}: {_listed([each for ratio, each in ratios if ratio < 1])}"


def _others(results: Results) -> list[Found]:
    own = {OURS, FROM_EVENTS, *BASELINES}
    return [found for found in results.found if found.name not in own]


def _ratios(
    costs: dict[str, float | None], ours: float | None
) -> list[tuple[float, str]]:
    """Each cost with ours as 1, and how it is told, the cheapest first."""
    known = [(cost / ours, name) for name, cost in costs.items() if ours and cost]
    return [(ratio, f"{name} {ratio:.3g}") for ratio, name in sorted(known)]


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"


def _picture() -> Iterator[str]:
    place = PLOT.relative_to(PAGE.parent).as_posix()
    yield f"![Cost of a delta by text and by length of the stream, all peers]({place})"


def _peers() -> Iterator[str]:
    yield _cells(("peer", "what a delta goes through", "what it leaves to others"))
    yield _cells(("---",) * 3)
    for peer in PEERS:
        yield _cells((f"{peer.name} (`{peer.pinned}`)", peer.calls, peer.leaves))
    for name, why in LEFT_OUT:
        yield _cells((name, "not measured", why))
