"""Modules of a package whose ``__init__`` asks for a GPU stack they do not need."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType


def without_init(name: str) -> None:
    """Lets ``import name.x`` find ``x`` without running the package's own code.

    The modules below it are those of the package, unchanged. Packages above ``name``
    must have been treated the same way before.
    """
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    package = ModuleType(name)
    package.__path__ = list(spec.submodule_search_locations)
    package.__spec__ = spec
    sys.modules[name] = package
