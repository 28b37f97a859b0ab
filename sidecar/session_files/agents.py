"""Where agents keep their sessions unless somebody has told them otherwise: a table.

A place is a pattern of paths (`glob`) under a root that differs by system; a root that
a variable of the environment names is there instead. `places_of` and `files_of` tell
the places of an agent on this machine, and what is there.
"""

from __future__ import annotations

import glob
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.records import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}


@frozen
class Root:
    """A folder by system. ``variables`` of the environment name others, the first that
    is set: each with what is below the folder that it names, "" where that is it."""

    linux: str
    darwin: str
    win32: str
    variables: tuple[tuple[str, str], ...] = ()

    def on(self, system: str) -> str:
        places = {"darwin": self.darwin, "win32": self.win32}
        return places.get(system, self.linux)

    def told(self, environment: Mapping[str, str]) -> str | None:
        """The folder that a variable names."""
        for name, below in self.variables:
            if folder := environment.get(name):
                return os.path.join(folder, *below.split("/"))
        return None


def _home(name: str, variable: str, below: str = "") -> Root:
    """The same below everybody's home."""
    return Root(f"~/{name}", f"~/{name}", f"~/{name}", ((variable, below),))


_SUPPORT = "~/Library/Application Support"
_HERE = Root(".", ".", ".")
_CONFIG = Root("~/.config", _SUPPORT, "~/AppData/Roaming")

_ZED = Root("~/.local/share/zed", f"{_SUPPORT}/Zed", "~/AppData/Local/Zed")
_XDG = _home(".local/share", "XDG_DATA_HOME")
_GOOSE = Root(
    *("~/.local/share/goose", "~/.local/share/goose"),
    "~/AppData/Roaming/Block/goose/data",
    (("GOOSE_PATH_ROOT", "data"), ("XDG_DATA_HOME", "goose")),
)
_LLM = Root(
    *("~/.config/io.datasette.llm", f"{_SUPPORT}/io.datasette.llm"),
    "~/AppData/Roaming/io.datasette.llm",
    (("LLM_USER_PATH", ""),),
)
_GEMINI = _home(".gemini", "GEMINI_CLI_HOME", ".gemini")
_QWEN = _home(".qwen", "QWEN_HOME")
_TASKS = "Code/User/globalStorage/{}/tasks/*/{}.json"


_FORMATS = {
    ".json": ("json",),
    ".jsonl": ("jsonl",),
    ".json*": ("json", "jsonl"),
    ".db": ("sqlite",),
    ".vscdb": ("sqlite",),
    ".md": ("markdown",),
}
"""How a place ends, and which formats its files have."""


@frozen
class Agent:
    """``title`` is what people call it; ``places``: roots and patterns below them."""

    title: str
    places: tuple[tuple[Root, str], ...]

    def formats(self) -> list[str]:
        """What its files are, in the words of `FileReport.format`."""
        ends = {
            end for _, place in self.places for end in _FORMATS if place.endswith(end)
        }
        return sorted({each for end in ends for each in _FORMATS[end]})

    def patterns(self, system: str) -> Iterator[str]:
        """The places as a person writes them."""
        for root, pattern in self.places:
            folder = root.on(system)
            yield pattern if folder == "." else f"{folder}/{pattern}"


def _tasks(extension: str) -> tuple[tuple[Root, str], ...]:
    names = ("api_conversation_history", "ui_messages")
    return tuple((_CONFIG, _TASKS.format(extension, name)) for name in names)


_CLAUDE = _home(".claude", "CLAUDE_CONFIG_DIR")
_CODEX = _home(".codex", "CODEX_HOME")
_CHATS = "Code/User/workspaceStorage/*/chatSessions/*.json*"

AGENTS: dict[str, Agent] = {
    "claude-code": Agent("Claude Code", ((_CLAUDE, "projects/**/*.jsonl"),)),
    "codex": Agent(
        "Codex CLI",
        ((_CODEX, "sessions/**/*.jsonl"), (_CODEX, "archived_sessions/**/*.jsonl")),
    ),
    "gemini-cli": Agent(
        "Gemini CLI",
        (
            (_GEMINI, "tmp/*/chats/**/*.json*"),
            (_GEMINI, "tmp/*/checkpoint*.json"),
        ),
    ),
    "qwen-code": Agent(
        "qwen-code",
        (
            (_QWEN, "projects/*/chats/*.jsonl"),
            (_QWEN, "tmp/*/chats/*.json*"),
        ),
    ),
    "opencode": Agent(
        "opencode",
        ((_XDG, "opencode/storage/part/**/*.json"), (_XDG, "opencode/opencode*.db")),
    ),
    "cline": Agent("Cline", _tasks("saoudrizwan.claude-dev")),
    "roo": Agent("Roo Code", _tasks("rooveterinaryinc.roo-cline")),
    "continue": Agent(
        "Continue", ((_home(".continue", "CONTINUE_GLOBAL_DIR"), "sessions/*.json"),)
    ),
    "goose": Agent(
        "goose", ((_GOOSE, "sessions/*.jsonl"), (_GOOSE, "sessions/sessions.db"))
    ),
    "crush": Agent("Crush", ((_HERE, ".crush/crush.db"),)),
    "zed": Agent("Zed", ((_ZED, "threads/threads.db"),)),
    "vs-code": Agent(
        "VS Code chat",
        (
            (_CONFIG, _CHATS),
            (_CONFIG, "Code/User/globalStorage/emptyWindowChatSessions/*.json*"),
        ),
    ),
    "copilot-cli": Agent(
        "Copilot CLI",
        ((_home(".copilot", "COPILOT_HOME"), "session-state/**/*.jsonl"),),
    ),
    "cursor": Agent("Cursor", ((_CONFIG, "Cursor/User/globalStorage/state.vscdb"),)),
    "llm": Agent("llm", ((_LLM, "logs.db"),)),
    "aider": Agent("aider", ((_HERE, ".aider.chat.history.md"),)),
}
"""Agents that have a place of their own; what others write is told by a path."""

ELSEWHERE = (
    *("Open WebUI", "LibreChat", "exports of ChatGPT and opencode", "pydantic-ai"),
    *("LangChain", "LangGraph", "AI SDK", "OpenAI Agents SDK"),
)
"""What is read, too, wherever it is."""


def places_of(
    name: str,
    system: str = sys.platform,
    environment: Mapping[str, str] = os.environ,
) -> list[str]:
    """The places of an agent on this machine: patterns of absolute paths."""
    return [
        os.path.join(root, *pattern.split("/"))
        for root, pattern in _rooted(name, system, environment)
    ]


def files_of(
    name: str,
    system: str = sys.platform,
    environment: Mapping[str, str] = os.environ,
) -> list[Path]:
    """The files at the places of an agent."""
    found: dict[str, None] = {}
    for root, pattern in _rooted(name, system, environment):
        whole = os.path.join(glob.escape(root), *pattern.split("/"))
        found |= dict.fromkeys(sorted(glob.glob(whole, recursive=True)))
    return [Path(each) for each in found if os.path.isfile(each)]


def _rooted(
    name: str, system: str, environment: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The folders where an agent's places are, and the pattern below each."""
    for root, pattern in AGENTS[name].places:
        folder = root.told(environment) or root.on(system)
        yield os.path.abspath(os.path.expanduser(folder)), pattern
