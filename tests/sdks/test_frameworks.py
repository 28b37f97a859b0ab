"""The examples of `clients/frameworks.md`, as they stand there, against the server that
leaks and refuses."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, requires

import pytest
from places import ROOT
from sdk_table import SDKS
from strict import ANSWER, Strict

PAGE = (ROOT / "clients" / "frameworks.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^## (.+?)\n.*?```python\n(.*?)```", PAGE, re.M | re.S))

FRAMEWORKS = {
    "LangChain": ("langchain-openai", "answer", ANSWER, 1),
    "pydantic-ai": ("pydantic-ai-slim", "native", ANSWER, 3),
    "LiteLLM": ("litellm", "answer", ANSWER, 1),
    "instructor": ("instructor", "json", "['a.txt', 'b.txt']", 1),
    "OpenAI Agents": ("openai-agents", "native", ANSWER, 3),
}
"""The package, the script of the server, what the example prints, and its requests."""


def test_every_example_is_tried() -> None:
    assert [*EXAMPLES] == [*FRAMEWORKS]


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_example(name: str, strict: Strict) -> None:
    package, script, printed, count = FRAMEWORKS[name]
    try:
        requires(package)
    except PackageNotFoundError:
        pytest.skip(f"there is no {package} (python3 tests/run.py sdks)")
    library = SDKS["openai chat"].library().__name__
    given = f"URL, KEY = '{strict.address}/openai/{script}/v1', 'k'\n"
    example = given + EXAMPLES[name].replace("httpx2", library)
    command = [sys.executable, "-c", example]
    environment = {**os.environ, **_ALONE}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.returncode) == (printed, 0), done.stderr
    assert (len(strict.asked), strict.refused) == (count, [])


_ALONE = {
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}
"""Neither framework asks anyone else."""
