"""``repair --list``: the known agents, and where they keep their sessions.

As text, it lists the places on this system, or with ``--all`` on every system. As JSON,
it lists the places on every system and on this machine, and the files there; see
``session_files/README.md``.
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
    """Prints a line for each agent, and a line for each of its places on this system or
    ``everywhere``. A place that is not on every system is followed by its systems."""
    terminal = Terminal()
    current = sys.platform if sys.platform in SYSTEMS else "linux"
    for name in names:
        agent = AGENTS[name]
        terminal.line((name, "bold"), f"  {agent.title}")
        places: dict[str, list[str]] = {}
        for system in SYSTEMS if everywhere else (current,):
            for pattern in agent.patterns(system):
                places.setdefault(pattern, []).append(SYSTEMS[system])
        for pattern, systems in places.items():
            is_special = everywhere and len(systems) < len(SYSTEMS)
            note = f"  ({', '.join(systems)})" if is_special else ""
            terminal.paragraph(f"    {pattern}{note}", indent=4)
    terminal.paragraph(
        "Use a name in place of a path: stream-sidecar repair claude-code. Relative "
        "places are below the current folder."
    )
    terminal.paragraph(f"Also read, wherever the files are: {', '.join(ELSEWHERE)}.")
    if not everywhere:
        system = SYSTEMS[current]
        terminal.paragraph(
            f"These are the places on {system}; --all has those of all systems."
        )


def print_agents_json(
    names: Iterable[str], folders: Sequence[str], *, everywhere: bool
) -> None:
    """Prints one document: the agents with their places and files, and what else can be
    read. The user works in the ``folders``, which may have sessions. The places on
    every system are always included."""
    document = {
        "version": 1,
        "system": sys.platform,
        "agents": [_agent_as_json(name, folders) for name in names],
        "elsewhere": list(ELSEWHERE),
    }
    Terminal().json(encode(document))


def _agent_as_json(name: str, folders: Sequence[str]) -> dict[str, Any]:
    agent = AGENTS[name]

    def everywhere(look: Callable[..., list[Any]]) -> list[str]:
        paths = chain.from_iterable(look(name, here=folder) for folder in folders)
        return [*dict.fromkeys(map(str, paths))]

    return {
        "name": name,
        "title": agent.title,
        "formats": agent.formats(),
        "places": everywhere(places_of),
        "files": everywhere(lambda name, here: files_of(name, here=here).files),
        "placesBySystem": {name: list(agent.patterns(name)) for name in SYSTEMS},
    }
