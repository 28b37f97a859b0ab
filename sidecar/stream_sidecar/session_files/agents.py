"""Where agents keep their sessions by default: a table.

A place is a pattern of paths under a root that differs by system: ``*`` is anything
within a name, ``**`` any number of folders. A variable of the environment may name
another root. `places_of` returns the places of an agent on this machine, and `files_of`
the files that are there.
"""

from __future__ import annotations

import glob
import os
import sys
from fnmatch import fnmatch
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar.records import frozen
from stream_sidecar.session_files.found_files import FoundFiles

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}


@frozen
class Variable:
    """A variable of the environment that names a folder: the root is that folder, or
    the folder ``below`` it. It counts on ``system`` alone, if that is set."""

    name: str
    below: str = ""
    system: str = ""

    def root(self, system: str, environment: Mapping[str, str]) -> str | None:
        folder = environment.get(self.name)
        counts = not self.system or system.startswith(self.system)
        return os.path.join(folder, self.below) if folder and counts else None


@frozen
class Root:
    """A folder for each system. The first of ``variables`` that is set replaces it."""

    linux: str
    darwin: str
    win32: str
    variables: tuple[Variable, ...] = ()

    def on(self, system: str) -> str:
        places = {"darwin": self.darwin, "win32": self.win32}
        return places.get(system, self.linux)

    def from_environment(
        self, system: str, environment: Mapping[str, str]
    ) -> str | None:
        """The folder that a variable names; None if no variable does."""
        roots = (variable.root(system, environment) for variable in self.variables)
        return next(filter(None, roots), None)


def _home(name: str, *variables: Variable) -> Root:
    """A folder below the user's home, with the same name on every system."""
    return Root(
        linux=f"~/{name}", darwin=f"~/{name}", win32=f"~/{name}", variables=variables
    )


_SUPPORT = "~/Library/Application Support"
_HERE = Root(linux=".", darwin=".", win32=".")
_CONFIG = Root(
    linux="~/.config",
    darwin=_SUPPORT,
    win32="~/AppData/Roaming",
    variables=(
        Variable("XDG_CONFIG_HOME", "", "linux"),
        Variable("APPDATA", "", "win32"),
    ),
)

_ZED = Root(
    linux="~/.local/share/zed",
    darwin=f"{_SUPPORT}/Zed",
    win32="~/AppData/Local/Zed",
    variables=(
        Variable("FLATPAK_XDG_DATA_HOME", "zed", "linux"),
        Variable("XDG_DATA_HOME", "zed", "linux"),
        Variable("LOCALAPPDATA", "Zed", "win32"),
    ),
)
_XDG = _home(".local/share", Variable("XDG_DATA_HOME"))
_GOOSE = Root(
    linux="~/.local/share/goose",
    darwin="~/.local/share/goose",
    win32="~/AppData/Roaming/Block/goose/data",
    variables=(
        Variable("GOOSE_PATH_ROOT", "data"),
        Variable("XDG_DATA_HOME", "goose"),
        Variable("APPDATA", "Block/goose/data", "win32"),
    ),
)
_LLM = Root(
    linux="~/.config/io.datasette.llm",
    darwin=f"{_SUPPORT}/io.datasette.llm",
    win32="~/AppData/Roaming/io.datasette.llm",
    variables=(
        Variable("LLM_USER_PATH"),
        Variable("XDG_CONFIG_HOME", "io.datasette.llm", "linux"),
        Variable("APPDATA", "io.datasette.llm", "win32"),
    ),
)
_GEMINI = _home(".gemini", Variable("GEMINI_CLI_HOME", ".gemini"))
_QWEN = _home(".qwen", Variable("QWEN_HOME"))
_CLAUDE = _home(".claude", Variable("CLAUDE_CONFIG_DIR"))
_CODEX = _home(".codex", Variable("CODEX_HOME"))
_CODEX_DATABASES = _home(
    ".codex", Variable("CODEX_SQLITE_HOME"), Variable("CODEX_HOME")
)
_KIMI_CODE = _home(".kimi-code", Variable("KIMI_CODE_HOME"))
_KIMI_CLI = _home(".kimi", Variable("KIMI_SHARE_DIR"))
_VIBE = _home(".vibe", Variable("VIBE_HOME"))
_CONTINUE = _home(".continue", Variable("CONTINUE_GLOBAL_DIR"))
_COPILOT = _home(".copilot", Variable("COPILOT_HOME"))
_CLINE = _home(".cline/data", Variable("CLINE_DATA_DIR"), Variable("CLINE_DIR", "data"))
_PI = _home(
    ".pi/agent/sessions",
    Variable("PI_CODING_AGENT_SESSION_DIR"),
    Variable("PI_CODING_AGENT_DIR", "sessions"),
)
_GPTME = Root(
    linux="~/.local/share/gptme/logs",
    darwin=f"{_SUPPORT}/gptme/logs",
    win32="~/AppData/Local/gptme/gptme/logs",
    variables=(Variable("GPTME_LOGS_HOME"), Variable("XDG_DATA_HOME", "gptme/logs")),
)
_CODES = ("Code*", "VSCodium")
"""Folders of VS Code, of its previews and of editors built from its sources."""
_SERVED = _home(".vscode-server/data", Variable("VSCODE_AGENT_FOLDER", "data"))
"""Where extensions keep their data on a machine that is used from another one."""


Places: TypeAlias = tuple[tuple[Root, str], ...]
"""Roots, and patterns of paths below them."""


def _either(root: Root, place: str) -> Places:
    """The places for JSON of one version of a program and JSONL of another."""
    return ((root, f"{place}.json"), (root, f"{place}.jsonl"))


_FORMATS = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".jsonl.zst": "jsonl.zst",
    ".db": "sqlite",
    ".sqlite": "sqlite",
    ".vscdb": "sqlite",
    ".md": "markdown",
}
"""The format of a file, by how its name ends."""


def format_of(name: str) -> str:
    """The format of a file, or of all files at a place; "" if it is not known."""
    return next((_FORMATS[end] for end in _FORMATS if name.endswith(end)), "")


@frozen
class Agent:
    """``title`` is the name for people; ``places`` are where its sessions are."""

    title: str
    places: Places

    def formats(self) -> list[str]:
        """The formats of its files, as in `FileReport.format`."""
        return sorted({format_of(place) for _, place in self.places})

    def patterns(self, system: str) -> Iterator[str]:
        """The places as a person writes them."""
        for root, pattern in self.places:
            folder = root.on(system)
            yield pattern if folder == "." else f"{folder}/{pattern}"


def _tasks(root: Root, folder: str = "") -> Places:
    """The places of Cline and of extensions built from it, below ``folder``."""
    names = ("api_conversation_history", "ui_messages")
    return tuple((root, f"{folder}tasks/*/{name}.json") for name in names)


def _extension(name: str) -> Places:
    storage = f"User/globalStorage/{name}/"
    own = (place for code in _CODES for place in _tasks(_CONFIG, f"{code}/{storage}"))
    return (*own, *_tasks(_SERVED, storage))


def _opencode(title: str, name: str) -> Agent:
    """opencode, or what is built from its sources."""
    places = (f"{name}/storage/part/**/*.json", f"{name}/{name}*.db")
    return Agent(title, tuple((_XDG, place) for place in places))


AGENTS: dict[str, Agent] = {
    "claude-code": Agent("Claude Code", ((_CLAUDE, "projects/**/*.jsonl"),)),
    "codex": Agent(
        "Codex CLI",
        (
            *(
                (_CODEX, f"{folder}/**/*.{ending}")
                for folder in ("sessions", "archived_sessions")
                for ending in ("jsonl", "jsonl.zst")
            ),
            (_CODEX_DATABASES, "thread_history_*.sqlite"),
        ),
    ),
    "gemini-cli": Agent(
        "Gemini CLI",
        (*_either(_GEMINI, "tmp/*/chats/**/*"), (_GEMINI, "tmp/*/checkpoint*.json")),
    ),
    "qwen-code": Agent(
        "qwen-code",
        ((_QWEN, "projects/*/chats/*.jsonl"), *_either(_QWEN, "tmp/*/chats/*")),
    ),
    "kimi-code": Agent(
        "Kimi Code", ((_KIMI_CODE, "sessions/*/*/agents/*/wire.jsonl"),)
    ),
    "kimi-cli": Agent("kimi-cli", ((_KIMI_CLI, "sessions/*/*/**/*.jsonl"),)),
    "mistral-vibe": Agent(
        "mistral-vibe",
        (
            (_VIBE, "logs/session/session_*.json"),
            (_VIBE, "logs/session/**/*.jsonl"),
            (_VIBE, "logs/session/**/chunks/*.json"),
            (_VIBE, "logs/session/**/checkpoint*.json"),
        ),
    ),
    "opencode": _opencode("opencode", "opencode"),
    "kilo": _opencode("Kilo", "kilo"),
    "cline": Agent(
        "Cline",
        (
            *_extension("saoudrizwan.claude-dev"),
            *_tasks(_CLINE),
            (_CLINE, "sessions/*/*.messages.json"),
        ),
    ),
    "roo": Agent("Roo Code", _extension("rooveterinaryinc.roo-cline")),
    "continue": Agent("Continue", ((_CONTINUE, "sessions/*.json"),)),
    "goose": Agent(
        "goose", ((_GOOSE, "sessions/*.jsonl"), (_GOOSE, "sessions/sessions.db"))
    ),
    "crush": Agent("Crush", ((_HERE, ".crush/crush.db"),)),
    "zed": Agent("Zed", ((_ZED, "threads/threads.db"),)),
    "vs-code": Agent(
        "VS Code chat",
        tuple(
            place
            for code in _CODES
            for folder in (
                "workspaceStorage/*/chatSessions",
                "globalStorage/emptyWindowChatSessions",
            )
            for place in _either(_CONFIG, f"{code}/User/{folder}/*")
        ),
    ),
    "copilot-cli": Agent(
        "Copilot CLI",
        ((_COPILOT, "session-state/**/*.jsonl"), (_COPILOT, "session-store.db")),
    ),
    "cursor": Agent(
        "Cursor",
        (
            (_CONFIG, "Cursor/User/globalStorage/state.vscdb"),
            (_home(".cursor"), "projects/*/agent-transcripts/**/*.jsonl"),
            (_home(".cursor"), "chats/*/*/store.db"),
        ),
    ),
    "pi": Agent("pi", ((_PI, "**/*.jsonl"),)),
    "gptme": Agent(
        "gptme",
        tuple(
            (_GPTME, f"*/{name}.jsonl")
            for name in (
                "conversation",
                "events",
                "branches/*",
                "branches/*/events",
                "views/*",
            )
        ),
    ),
    "llm": Agent("llm", ((_LLM, "logs.db"),)),
    "aider": Agent("aider", ((_HERE, ".aider.chat.history.md"),)),
}
"""Agents that have a place of their own. Sessions of other programs need a path."""

ELSEWHERE = (
    "Open WebUI",
    "LibreChat",
    "exports of ChatGPT and opencode",
    "pydantic-ai",
    "LangChain",
    "LangGraph",
    "AI SDK",
    "OpenAI Agents SDK",
)
"""Programs whose sessions are read, too, wherever they are."""


def places_of(
    name: str,
    system: str = sys.platform,
    environment: Mapping[str, str] = os.environ,
    here: str = ".",
) -> list[str]:
    """The places of an agent on this machine: patterns of absolute paths. ``here`` is
    the working directory, where some agents keep their sessions."""
    return [
        os.path.join(root, *pattern.split("/"))
        for root, pattern in _rooted(name, system, environment, here)
    ]


def files_of(
    name: str,
    system: str = sys.platform,
    environment: Mapping[str, str] = os.environ,
    here: str = ".",
) -> FoundFiles:
    """The files at the places of an agent, each once."""
    places = FoundFiles()
    for root, pattern in _rooted(name, system, environment, here):
        _add_files(places, root, pattern.split("/"))
    files, leaving = dict.fromkeys(places.files), dict.fromkeys(places.leaving)
    return FoundFiles([*files], [*leaving], places.unread)


def _add_files(places: FoundFiles, root: str, steps: list[str]) -> None:
    """Adds the files at a place. The steps before the first pattern are its folder, and
    no link out of that folder is followed."""
    fixed = [*takewhile(lambda step: not glob.has_magic(step), steps[:-1])]
    folder = Path(root, *fixed)
    if "**" not in steps:
        for path in sorted(glob.glob(os.path.join(glob.escape(root), *steps))):
            places.add(Path(path), folder)
        return

    def is_wanted(name: str) -> bool:
        return fnmatch(name, steps[-1]) and not name.startswith(".")  # not hidden

    start = os.path.join(glob.escape(root), *steps[: steps.index("**")])
    for path in sorted(glob.glob(start)):
        places.add_below(Path(path), is_wanted, folder)


def _rooted(
    name: str, system: str, environment: Mapping[str, str], here: str
) -> Iterator[tuple[str, str]]:
    """The folders where an agent's places are, and the pattern below each."""
    for root, pattern in AGENTS[name].places:
        folder = root.from_environment(system, environment) or root.on(system)
        below = os.path.join(here, os.path.expanduser(folder))
        yield os.path.abspath(below), pattern
