"""A pytest plugin (``-p tests.support.every_cut``): inputs are cut at every place.

Without it they are cut at a few places, which finds the same faults of the rules, and
takes a tenth of the time.
"""

from __future__ import annotations

import os

os.environ["SIDECAR_EVERY_CUT"] = "1"
