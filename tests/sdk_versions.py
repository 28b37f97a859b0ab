"""The tests of the room ``sdks`` with each set of SDKs: ``python3 tests/run.py sdks``.

Each set is installed into an environment of its own, in ``.venv-sdks`` (SIDECAR_SDKS
names another place): the newest version of each SDK on the day of the installation, and
an older one, and frameworks above them. Standard library only.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from beside import run
from environment import ROOT, ensure

sys.path.append(str(ROOT / "tests" / "support"))

from sdk_table import SDKS

HOME = Path(os.environ.get("SIDECAR_SDKS", ROOT / ".venv-sdks"))

_ROOM = "tests/sdks"
_EXAMPLES = f"{_ROOM}/test_frameworks.py"

SETS = {
    "newest": ({sdk.package for sdk in SDKS.values()}, _ROOM),
    "older": ({f"{sdk.package}=={sdk.older}" for sdk in SDKS.values()}, _ROOM),
    "frameworks": (
        {"langchain-openai", "litellm", "pydantic-ai-slim[openai]"},
        _EXAMPLES,
    ),
    "agents": ({"instructor", "openai-agents"}, _EXAMPLES),
    "litellm-proxy": ({"litellm[proxy]"}, f"{_ROOM}/test_litellm_proxy.py"),
}
"""The name of a set -> what pip installs, and the tests that are run. Frameworks that
want different versions of an SDK are in different sets."""

_PYTEST = ("-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider")
_THEIRS = ("-W", "default::DeprecationWarning")
"""An older SDK beside a new pydantic uses what is deprecated."""


def main(named: list[str]) -> int:
    """0 if nothing failed in any of the sets."""
    if unknown := {*named} - {*SETS}:
        sys.exit(f"no such set: {' '.join(unknown)}\nsets: {' '.join(SETS)}")
    failed = []
    for name in named or SETS:
        needed, tests = SETS[name]
        packages = tuple(sorted(needed))
        ours = "fast,httpx,httpx2"
        python = ensure("test", extras=ours, packages=packages, home=HOME / name)
        print(f"{name}: {' '.join(packages)}", flush=True)
        failed += [name] if run(python, *_PYTEST, *_THEIRS, tests) else []
    print(f"failed: {', '.join(failed)}" if failed else "everything passed", flush=True)
    return bool(failed)
