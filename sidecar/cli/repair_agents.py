"""``repair --list``: the agents whose sessions are known, and where they keep them."""

from __future__ import annotations

from sidecar.cli.terminal import Terminal
from sidecar.session_files.agents import AGENTS, ELSEWHERE, SYSTEMS


def print_agents() -> None:
    """A line for each agent, and one for each place of it by system."""
    terminal = Terminal()
    for name, agent in AGENTS.items():
        terminal.line((name, "bold"), f"  {agent.title}")
        places: dict[str, list[str]] = {}
        for system, title in SYSTEMS.items():
            for pattern in agent.patterns(system):
                places.setdefault(pattern, []).append(title)
        for pattern, systems in places.items():
            where = f"  ({', '.join(systems)})" if len(systems) < len(SYSTEMS) else ""
            terminal.line(f"    {pattern}{where}")
    terminal.line(f"Read wherever they are: {', '.join(ELSEWHERE)}.")
