"""The modules of the package, all of them imported in one process."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

import stream_sidecar

OPTIONAL = {"httpx", "httpx2"}
"""Libraries that modules need and the project does not require."""


def import_all() -> None:
    """Imports every module whose library is installed."""
    for module in walk_packages(stream_sidecar.__path__, "stream_sidecar."):
        try:
            import_module(module.name)
        except ModuleNotFoundError as error:
            if error.name not in OPTIONAL:
                raise
