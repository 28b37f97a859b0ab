"""The official JavaScript SDKs over ``sidecarFetch``: three turns with a tool, against
the server that leaks and refuses. The loops are in `loops.mjs`.

SIDECAR_JS_SDKS names the folder whose ``node_modules`` has the SDKs; else those are
tried that the TypeScript client is developed with.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from node_package import HOME, missing, prepare
from places import TESTS
from strict import Strict

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]


def test_loops(strict: Strict) -> None:
    prepare()
    folder = Path(os.environ.get("SIDECAR_JS_SDKS", HOME)) / "node_modules"
    script = folder / ".sidecar-loops.mjs"
    shutil.copyfile(TESTS / "sdks" / "loops.mjs", script)
    sidecar = str(Path(sys.executable).with_name("stream-sidecar"))
    done = subprocess.run(
        ["node", str(script), strict.address, str(HOME / "dist")],
        env={**os.environ, "STREAM_SIDECAR": sidecar},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.stdout, done.returncode) == ("everything passed\n", 0), done.stderr
    assert strict.refused == []
    asked = json.dumps(strict.asked)
    assert "signature" in asked
    assert "block_binding" not in asked  # every host began with us
