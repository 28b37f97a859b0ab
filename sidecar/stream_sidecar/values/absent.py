"""A sign for a missing value, as distinct from null."""

from __future__ import annotations

from typing import Final

ABSENT: Final = object()
"""Means "missing" where None is a value."""

NULLABLE: Final = {"nullable": True}
"""Metadata of an attrs field that can be `ABSENT`; its None is written as null."""
