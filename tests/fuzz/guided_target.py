"""One target of coverage-guided fuzzing, inside libFuzzer (see ``guided.py``).

``python guided_target.py LANE FINDS CORPUS [libFuzzer's options]``. Bytes become an
input of a lane (`given`), the lane's own rules are checked, and each kind of find goes
to the file ``FINDS`` as a line of JSON; fuzzing goes on. libFuzzer ends the process.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["stream_sidecar"]):
    from fuzz.finds import Find, examine_given
    from fuzz.guided_inputs import given_of
    from fuzz.lanes import LANES


def main(name: str, finds: str, options: list[str]) -> None:
    lane = LANES[name]
    known: dict[str, int] = {}

    def run(data: bytes) -> None:
        given = given_of(name, data)
        find = examine_given(lane, given, timed=False)
        if find is not None and len(data) < known.get(find.kind, sys.maxsize):
            known[find.kind] = len(data)
            _write(Path(finds), find)

    atheris.Setup([sys.argv[0], *options], run, enable_python_coverage=True)
    atheris.Fuzz()


def _write(path: Path, find: Find) -> None:
    line = {"kind": find.kind, "message": find.message, "given": find.given}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
