"""Whether the files of a client use only what stands before them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

File = TypeVar("File")


def late_uses(
    uses: Mapping[File, Iterable[File]],
    order: Sequence[str],
    folder_of: Callable[[File], str],
) -> set[str]:
    """The uses of a file whose folder stands later in ``order``. Each folder of a file
    has to be in ``order``, and each entry of ``order`` has to have a file."""
    assert {folder_of(file) for file in uses} == {*order}
    places = {folder: place for place, folder in enumerate(order)}
    return {
        f"{file} -> {other}"
        for file, others in uses.items()
        for other in others
        if places[folder_of(other)] > places[folder_of(file)]
    }
