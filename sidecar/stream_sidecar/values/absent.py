"""What tells a value that is not there from one that is null."""

from __future__ import annotations

from typing import Final

ABSENT: Final = object()
"""Says "not there" where None is a value."""

NULLABLE: Final = {"nullable": True}
"""Metadata of an attrs field that can be `ABSENT`: None is written as null."""
