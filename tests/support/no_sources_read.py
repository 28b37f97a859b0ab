"""A pytest plugin (``-p tests.support.no_sources_read``): hypothesis takes no constants
from sources. Before its first example it would read every module that was imported, to
find out which are the project's, and that takes Wine many minutes.
"""

from __future__ import annotations

from hypothesis.internal.conjecture import providers

providers._get_local_constants = lambda: providers._local_constants
