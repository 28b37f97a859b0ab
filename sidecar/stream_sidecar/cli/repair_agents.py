"""``repair --list``: the agents whose sessions are known, and where they keep them.

For people the places on this system, with ``--all`` on every one; as JSON those on
every system and on this machine, and the files there. The form of that is documented
in ``session_files/README.md``.
"""

from __future__ import annotations

import sys
from itertools import chain
from typing import TYPE_CHECKING, Any

from stream_sidecar.cli.terminal import Terminal
from stream_sidecar.session_files.agents import (
    AGENTS,
    ELSEWHERE,
    SYSTEMS,
    files_of,
    places_of,
)
from stream_sidecar.values.jsontext import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def print_agents(
    names: Iterable[str], _folders: Sequence[str], *, everywhere: bool
) -> None:
    """A line for each agent, and one for each of its places: this system's, or those
    ``everywhere``, with the systems where one of them is."""
    terminal = Terminal()
    here = sys.platform if sys.platform in SYSTEMS else "linux"
    for name in names:
        agent = AGENTS[name]
        terminal.line((name, "bold"), f"  {agent.title}")
        places: dict[str, list[str]] = {}
        for system in SYSTEMS if everywhere else (here,):
            for pattern in agent.patterns(system):
                places.setdefault(pattern, []).append(SYSTEMS[system])
        for pattern, systems in places.items():
            is_special = everywhere and len(systems) < len(SYSTEMS)
            where = f"  ({', '.join(systems)})" if is_special else ""
            terminal.paragraph(f"    {pattern}{where}", indent=4)
    terminal.paragraph(
        "A name can be given in place of a path: stream-sidecar repair claude-code. A "
        "relative place is below the folder you work in."
    )
    terminal.paragraph(f"Also read, as files in any place: {', '.join(ELSEWHERE)}.")
    if not everywhere:
        terminal.paragraph(
            f"Places are those on {SYSTEMS[here]}; --all has the others."
        )


def print_agents_json(
    names: Iterable[str], folders: Sequence[str], *, everywhere: bool
) -> None:
    """One document: the agents with their places and files, and what else is read.
    ``folders`` are worked in, and may have sessions in them. The places on every system
    are always in it."""
    document = {
        "version": 1,
        "system": sys.platform,
        "agents": [_reported(name, folders) for name in names],
        "elsewhere": list(ELSEWHERE),
    }
    Terminal().json(encode(document))


def _reported(name: str, folders: Sequence[str]) -> dict[str, Any]:
    agent = AGENTS[name]

    def everywhere(look: Callable[..., list[Any]]) -> list[str]:
        found = chain.from_iterable(look(name, here=folder) for folder in folders)
        return [*dict.fromkeys(map(str, found))]

    return {
        "name": name,
        "title": agent.title,
        "formats": agent.formats(),
        "places": everywhere(places_of),
        "files": everywhere(lambda name, here: files_of(name, here=here).files),
        "placesBySystem": {each: list(agent.patterns(each)) for each in SYSTEMS},
    }
