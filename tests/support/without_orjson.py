"""A pytest plugin (``-p tests.support.without_orjson``): hides orjson from the project.

Processes that the tests start get the same by ``PYTHONPATH`` and a ``sitecustomize``
in a temporary folder.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

_HIDE = "import sys\nsys.modules['orjson'] = None\n"

sys.modules["orjson"] = None  # type: ignore[assignment]
_FOLDER = tempfile.TemporaryDirectory(prefix="sidecar-without-orjson-")
(Path(_FOLDER.name) / "sitecustomize.py").write_text(_HIDE, encoding="utf-8")
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, (_FOLDER.name, os.environ.get("PYTHONPATH")))
)
