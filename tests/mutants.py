"""Takes conditions out, one at a time, and lists those that no case notices.

``python3 tests/mutants.py [--count N] [--seed N] [ROOM or FILE ...]``, in ``text`` and
``forms`` if none is named. A condition is what ``if``, ``while`` or a comprehension
asks, and a part of ``and`` or ``or``. It is taken as always true, then as never, and
each time all cases of ``spec/*.md`` and ``data/dialects.jsonl`` are fed, whole and then
by character, in a process of its own. They notice it when other events come, when
something is raised, or when one takes `SECONDS` or `BYTES`. What is listed wants a
case, or is worth nothing, or is there for its cost. Not for Windows, which cannot fork.
"""

from __future__ import annotations

import argparse
import ast
import os
import resource
import signal
import sys
from functools import partial
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from itertools import chain, islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from environment import ROOT, enter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from importlib.machinery import ModuleSpec

PACKAGE = ROOT / "sidecar" / "stream_sidecar"
ROOMS = ("text", "forms")
SECONDS = 3
"""Of processor time for a case; all of them take some seven."""

BYTES = 2**30
"""An endless loop may fill a list."""


class Condition(NamedTuple):
    """The condition that `_slots` gives as the ``number``-th one of a file."""

    path: Path
    line: int
    number: int
    text: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(PACKAGE)}:{self.line}: {self.text}"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("where", nargs="*", default=ROOMS)
    chosen = parser.parse_args(arguments)
    known = [each for path in _files(chosen.where) for each in conditions(path)]
    sample = Random(chosen.seed).sample(known, min(chosen.count, len(known)))
    trials = Trials()
    if not trials.pass_with(None):
        sys.exit("cases fail as it is")
    print(f"{len(sample)} of {len(known)} conditions", flush=True)
    for condition in sorted(sample):
        for value in (True, False):
            if trials.pass_with(Taken(condition, value)):
                print(condition, "always" if value else "never", flush=True)


def _files(where: Sequence[str]) -> Iterator[Path]:
    for name in where:
        place = PACKAGE / name
        yield from sorted(place.rglob("*.py")) if place.is_dir() else [place]


def conditions(path: Path) -> Iterator[Condition]:
    """All conditions of a file."""
    for number, (holder, at) in enumerate(_slots(ast.parse(path.read_bytes()))):
        node = _get(holder, at)
        yield Condition(path, node.lineno, number, ast.unparse(node))


def _slots(tree: ast.AST) -> Iterator[tuple[Any, Any]]:
    """Where conditions stand: an attribute of a node, or a place of a list."""
    for node in ast.walk(tree):
        slots: list[tuple[Any, Any]] = []
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            slots = [(node, "test")]
        elif isinstance(node, ast.comprehension):
            slots = [(node.ifs, at) for at in range(len(node.ifs))]
        elif isinstance(node, ast.BoolOp):
            slots = [(node.values, at) for at in range(len(node.values))]
        for holder, at in slots:
            found = _get(holder, at)
            is_asked = not isinstance(found, ast.BoolOp | ast.Constant)
            if is_asked and "TYPE_" not in ast.unparse(found):
                yield holder, at


def _get(holder: Any, at: Any) -> Any:
    return holder[at] if isinstance(holder, list) else getattr(holder, at)


class Taken:
    """Loads the module of ``condition``, which is asked there and has this value."""

    def __init__(self, condition: Condition, value: bool) -> None:
        self._path = str(condition.path)
        self._number = condition.number
        self._value = value
        within = condition.path.relative_to(PACKAGE.parent).with_suffix("")
        self._name = ".".join(within.parts).removesuffix(".__init__")

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        if name != self._name:
            return None
        loader = SourceFileLoader(name, self._path)
        loader.get_code = self._code  # type: ignore[method-assign]
        return spec_from_file_location(name, self._path, loader=loader)

    def _code(self, _: str) -> Any:
        tree = ast.parse(Path(self._path).read_bytes())
        holder, at = list(_slots(tree))[self._number]
        # Asked all the same, for ``:=``; a part that gives a value gives none.
        asked = ast.Tuple([_get(holder, at)], ast.Load())
        operator = ast.Or() if self._value else ast.And()
        none = ast.Compare(asked, [ast.NotEq()], [ast.Tuple([], ast.Load())])
        forced = ast.BoolOp(operator, [none, ast.Constant(self._value)])
        if isinstance(holder, list):
            holder[at] = forced
        else:
            setattr(holder, at, forced)
        return compile(ast.fix_missing_locations(tree), self._path, "exec")


class Trials:
    """Feeds all cases in a new process; those first that have noticed anything."""

    def __init__(self) -> None:
        self._first: list[int] = []

    def pass_with(self, taken: Taken | None) -> bool:
        """Whether no case notices what was taken."""
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
            sys.meta_path[:0] = [] if taken is None else [taken]
            try:
                os.write(writer, str(self._noticed()).encode())
            finally:
                os._exit(0)
        os.close(writer)
        with open(reader) as pipe:
            answer = pipe.read()
        os.waitpid(child, 0)
        if answer.isdigit():
            number = int(answer)
            self._first = [number, *(each for each in self._first if each != number)]
        return answer == "None"

    def _noticed(self) -> int | None:
        """The number of the first trial that fails."""
        trials = _trials()
        order = chain(self._first, range(len(trials)))
        return next((number for number in order if not _holds(trials[number])), None)


def _trials() -> list[Callable[[], bool]]:
    """Whether a case comes out as it should: all of them whole, then by character."""
    from checking import feed, feedings
    from dialects.test_dialects import CASES, _difference
    from spec_pages import PAGES, cases_of

    def page(case: Any, way: int) -> bool:
        ways = islice(feedings(case.params, case.chunks), way, way + 1)
        fed = (feed(*given, close=case.close).lines for given in ways)
        return all(lines == case.expected for lines in fed)

    def row(case: Any, cut: Callable[[str], list[str]]) -> bool:
        return not _difference(case, cut(case["text"]))

    pages = [case for page in PAGES for case in cases_of(page.read_text("utf-8"))]
    return [
        *(partial(page, case, 0) for case in pages),
        *(partial(row, case, lambda text: [text]) for case in CASES),
        *(partial(page, case, 2) for case in pages),
        *(partial(row, case, list) for case in CASES),
    ]


def _holds(trial: Callable[[], bool]) -> bool:
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        return trial()
    except Exception:
        return False


if __name__ == "__main__":
    code = enter(__file__, "test")
    if code is None:
        sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "support")]
        import cattrs  # noqa: F401 - not in each process again
        import pytest  # noqa: F401

        code = main(sys.argv[1:])
    sys.exit(code)
