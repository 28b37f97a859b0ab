"""The tests of the room ``sdks`` with each set of SDKs: ``python3 tests/run.py sdks``.

Each set is installed into an environment of its own, in ``.venv-sdks`` (SIDECAR_SDKS
names another place): the newest version of each SDK on the day of the installation, an
older one, and frameworks above them; the same of SDKs in JavaScript.
Standard library only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from beside import run
from environment import ROOT, ensure

sys.path.append(str(ROOT / "tests" / "support"))

from sdk_shapes import SHAPES
from sdk_table import SDKS

HOME = Path(os.environ.get("SIDECAR_SDKS", ROOT / ".venv-sdks"))

_ROOM = "tests/sdks"
_EXAMPLES = f"{_ROOM}/test_frameworks.py"

SETS = {
    "newest": ({sdk.package for sdk in SDKS.values()}, _ROOM),
    "older": ({f"{sdk.package}=={sdk.older}" for sdk in SDKS.values()}, _ROOM),
    "types": ({shape.sdk for shape in SHAPES}, "tests/wires/test_sdk_shapes.py"),
    "frameworks": (
        {"langchain-openai", "litellm", "pydantic-ai-slim[openai]"},
        _EXAMPLES,
    ),
    "agents": ({"instructor", "openai-agents"}, _EXAMPLES),
    "litellm-proxy": ({"litellm[proxy]==1.108.5"}, f"{_ROOM}/test_litellm_proxy.py"),
}
"""The name of a set -> what pip installs, and the tests that are run. Frameworks that
want different versions of an SDK are in different sets. Each version of LiteLLM pins
the packages of its proxy, and not all of later versions are on the index: without a
pin, pip tries one version after the other for more than nine minutes."""

JAVASCRIPT = {
    "js-newest": (
        "openai",
        "@anthropic-ai/sdk",
        "@google/genai",
        "ai",
        "@ai-sdk/openai",
        "@ai-sdk/anthropic",
    ),
    "js-older": (
        *("openai@5.23.2", "@anthropic-ai/sdk@0.65.0", "@google/genai@1.22.0"),
        *("ai@5.0.60", "@ai-sdk/openai@2.0.42", "@ai-sdk/anthropic@2.0.23"),
    ),
}
"""The name of a set -> what npm installs."""

_PYTEST = ("-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider")
_THEIRS = ("-W", "default::DeprecationWarning")
"""An older SDK beside a new pydantic uses what is deprecated."""


def main(named: list[str]) -> int:
    """0 if nothing failed in any of the sets."""
    known = (*SETS, *JAVASCRIPT)
    if unknown := {*named} - {*known}:
        sys.exit(f"no such set: {' '.join(unknown)}\nsets: {' '.join(known)}")
    runs = {name: _javascript if name in JAVASCRIPT else _python for name in known}
    failed = [name for name in named or known if runs[name](name)]
    print(f"failed: {', '.join(failed)}" if failed else "everything passed", flush=True)
    return bool(failed)


def _python(name: str) -> int:
    needed, tests = SETS[name]
    packages = tuple(sorted(needed))
    ours = "fast,httpx,httpx2"
    python = ensure("test", extras=ours, packages=packages, home=HOME / name)
    print(f"{name}: {' '.join(packages)}", flush=True)
    return run(python, *_PYTEST, *_THEIRS, tests)


def _javascript(name: str) -> int:
    folder, packages = HOME / name, JAVASCRIPT[name]
    manifest, wanted = folder / "package.json", "\n".join(packages)
    stamp = folder / "sidecar-stamp"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        folder.mkdir(parents=True, exist_ok=True)
        manifest.write_text('{"private": true}', encoding="utf-8")
        npm = (shutil.which("npm") or "npm", "install", *_NO_QUESTIONS)
        subprocess.run([*npm, *packages], cwd=folder, check=True)
        stamp.write_text(wanted, encoding="utf-8")
    python = ensure("test", home=HOME / "js-python")
    print(f"{name}: {' '.join(packages)}", flush=True)
    tests = f"{_ROOM}/test_javascript.py"
    return run(python, *_PYTEST, tests, SIDECAR_JS_SDKS=str(folder))


_NO_QUESTIONS = ("--no-audit", "--no-fund", "--loglevel=error")
