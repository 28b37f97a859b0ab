"""The npm packages in empty projects: ``python3 tests/installed.py [KIND ...]``.

Those of ``tests/house/test_installed.py``, and those whose tools are fetched from the
index: TypeScript 5 and 7, Jest, Bun, Deno, tsx. A KIND is the beginning of a name.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from environment import ROOT, enter

TESTS = ROOT / "tests"


def main(wanted: list[str]) -> int:
    if (code := enter(__file__, "test")) is not None:
        return code
    sys.path.insert(0, str(TESTS / "support"))
    from node_package import GATEWAY, prepare
    from projects import FETCHED, KINDS, failure, install, pack

    prepare(GATEWAY)
    failed = 0
    with TemporaryDirectory(prefix="stream-sidecar-") as scratch:
        packages = pack(Path(scratch, "packages"))
        for name, kind in {**KINDS, **FETCHED}.items():
            if wanted and not name.startswith(tuple(wanted)):
                continue
            project = Path(scratch, "-".join(kind.tools) or "project")
            if not project.exists():
                install(packages, project, *kind.tools)
            problem = failure(kind, project, name)
            failed += problem is not None
            print(f"{name}: {problem or 'works'}", flush=True)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
