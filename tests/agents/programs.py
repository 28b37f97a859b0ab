"""The agents: where they come from, and how one is asked without a person.

How an agent is pointed at a provider is the gateway's own table: `agents.ts`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

NODE = "node@24"
BINDING = "claude-opus-5-5"
"""A model that binds its thinking to everything before it."""


@dataclass(frozen=True)
class Program:
    title: str
    package: str
    command: str
    #: Before the prompt, in a new session; `again` in the last one.
    arguments: tuple[str, ...]
    again: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    #: Files of its home folder.
    settings: dict[str, str] = field(default_factory=dict)
    #: Whether it gives the model tools.
    has_tools: bool = True
    #: From PyPI, not npm.
    is_python: bool = False
    #: Variables with which it asks a model of Anthropic that binds its thinking, at
    #: ANTHROPIC_BASE_URL. None: it cannot.
    binding: dict[str, str] | None = None
    #: What ``stream-sidecar repair`` calls its sessions.
    stored: str = ""
    #: What a provider refuses of every session that it resumes, whatever is stored.
    own_fault: frozenset[str] = frozenset()


_KEY = {"OPENAI_API_KEY": "k"}
_GEMINI = {
    "security": {
        "auth": {"selectedType": "gemini-api-key"},
        "folderTrust": {"enabled": False},
    },
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
}
_QWEN = {**_GEMINI, "security": {"auth": {"selectedType": "openai"}}}
_OPENCODE = {
    "model": f"anthropic/{BINDING}",
    "provider": {
        "anthropic": {
            "npm": "@ai-sdk/anthropic",
            "options": {"baseURL": "{env:ANTHROPIC_BASE_URL}/v1", "apiKey": "k"},
            "models": {BINDING: {"name": BINDING, "reasoning": True}},
        }
    },
}

PROGRAMS = {
    "claude": Program(
        "Claude Code",
        "@anthropic-ai/claude-code",
        "claude",
        ("--dangerously-skip-permissions", "-p"),
        ("--dangerously-skip-permissions", "-c", "-p"),
        {
            "ANTHROPIC_API_KEY": "k",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
        },
        binding={"ANTHROPIC_MODEL": BINDING},
        stored="claude-code",
    ),
    "codex": Program(
        "Codex",
        "@openai/codex",
        "codex",
        ("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
        (
            "exec",
            "resume",
            "--last",
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
        ),
        _KEY,
        {".codex/config.toml": 'model = "test-model"\n'},
        stored="codex",
    ),
    "gemini": Program(
        "Gemini CLI",
        "@google/gemini-cli",
        "gemini",
        ("-m", "gemini-2.5-flash", "--yolo", "-p"),
        ("-m", "gemini-2.5-flash", "--yolo", "--resume", "latest", "-p"),
        {"GEMINI_API_KEY": "k", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        {".gemini/settings.json": json.dumps(_GEMINI)},
        stored="gemini-cli",
        # google-gemini/gemini-cli#29365
        own_fault=frozenset(("other-number-of-results",)),
    ),
    "qwen": Program(
        "qwen-code",
        "@qwen-code/qwen-code",
        "qwen",
        ("--yolo", "-p"),
        ("--yolo", "-c", "-p"),
        {**_KEY, "OPENAI_MODEL": "test-model"},
        {".qwen/settings.json": json.dumps(_QWEN)},
        stored="qwen-code",
    ),
    "opencode": Program(
        "opencode",
        "opencode-ai",
        "opencode",
        ("run",),
        ("run", "-c"),
        {
            **_KEY,
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        },
        {
            ".config/opencode/opencode.json": json.dumps(
                {"permission": "allow", "share": "disabled"}
            )
        },
        binding={"OPENCODE_CONFIG_CONTENT": json.dumps(_OPENCODE)},
        stored="opencode",
    ),
    "cn": Program(
        "Continue",
        "@continuedev/cli",
        "cn",
        ("--auto", "-p"),
        ("--auto", "--resume", "-p"),
        _KEY,
    ),
    "copilot": Program(
        "Copilot CLI",
        "@github/copilot",
        "copilot",
        ("--allow-all-tools", "-p"),
        ("--allow-all-tools", "--continue", "-p"),
        {"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_API_KEY": "k"},
        stored="copilot-cli",
    ),
    "pi": Program(
        "pi",
        "@earendil-works/pi-coding-agent",
        "pi",
        ("-p",),
        ("-c", "-p"),
        _KEY,
        stored="pi",
    ),
    "aider": Program(
        "aider",
        "aider-chat",
        "aider",
        (
            *("--model", "openai/test-model", "--yes-always", "--no-check-update"),
            *(
                "--no-show-model-warnings",
                "--chat-history-file=chat.md",  # else at the root of a repository
                "--input-history-file=input",
                "--analytics-disable",
                "--no-git",
                "--no-pretty",
                "--message",
            ),
        ),
        environment={**_KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        has_tools=False,
        is_python=True,
    ),
}


def install(folder: Path, names: Iterable[str]) -> None:
    """Those that are not there yet, each in a folder of its own."""
    _npm(folder / "node", NODE)
    for name in names:
        program, place = PROGRAMS[name], folder / name
        if not program.is_python:
            _npm(place, program.package)
        elif not place.exists():
            subprocess.run([sys.executable, "-m", "venv", place], check=True)
            pip = (
                place / "bin/python",
                "-m",
                "pip",
                "install",
                "--quiet",
                program.package,
            )
            subprocess.run([*map(str, pip)], check=True)


def _npm(place: Path, package: str) -> None:
    """By the node of the folder: for an older one npm takes older agents."""
    if place.exists():
        return
    print(f"installing {package} ...", flush=True)
    npm = "npm", "install", "--no-audit", "--no-fund", "--loglevel=error"
    path = f"{node(place.parent).parent}{os.pathsep}{os.environ['PATH']}"
    command = [*npm, "--prefix", str(place), package]
    subprocess.run(command, check=True, env={**os.environ, "PATH": path})


def executable(folder: Path, name: str) -> Path:
    inside = "bin" if PROGRAMS[name].is_python else "node_modules/.bin"
    return folder / name / inside / PROGRAMS[name].command


def node(folder: Path) -> Path:
    return folder / "node/node_modules/.bin/node"


def version(folder: Path, name: str) -> str:
    package = PROGRAMS[name].package
    if PROGRAMS[name].is_python:
        pattern = f"lib/*/site-packages/{package.replace('-', '_')}-*.dist-info"
        found = next((folder / name).glob(pattern))
        return found.name.removesuffix(".dist-info").rpartition("-")[2]
    manifest = folder / name / "node_modules" / package / "package.json"
    return str(json.loads(manifest.read_text(encoding="utf-8"))["version"])


def environment(folder: Path, name: str, home: Path) -> dict[str, str]:
    """Of a machine on which nothing is set up; writes the settings of the agent."""
    program = PROGRAMS[name]
    for at, text in program.settings.items():
        (home / at).parent.mkdir(parents=True, exist_ok=True)
        (home / at).write_text(text, encoding="utf-8")
    return {
        "HOME": str(home),
        "PATH": f"{node(folder).parent}{os.pathsep}{os.environ['PATH']}",
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        "CI": "1",
        "DO_NOT_TRACK": "1",
        **program.environment,
    }
