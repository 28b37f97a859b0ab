"""A pytest plugin (``-p tests.support.few_cuts``): inputs are cut at few places.

For coverage, which is slow to measure and takes no more than that.
"""

from __future__ import annotations

import os

os.environ["SIDECAR_FEW_CUTS"] = "1"
