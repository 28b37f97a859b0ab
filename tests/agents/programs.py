"""The agents: where they come from, and how one is asked without a person.

The settings are those of a user who asks a provider at an address: ``{base}`` in a
text or a variable. How an agent gets the gateway's address is the gateway's own table,
`agents.ts`.
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
MODEL = "test-model"
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
_CHAT = {"baseURL": "{base}/v1", "apiKey": "k"}
_OPENCODE = {
    "permission": "allow",
    "share": "disabled",
    "model": f"own/{MODEL}",
    "provider": {
        "own": {
            "npm": "@ai-sdk/openai-compatible",
            "options": _CHAT,
            "models": {MODEL: {"name": MODEL}},
        }
    },
}
_CODEX = f"""
model = "{MODEL}"
model_provider = "own"
[model_providers.own]
name = "own"
base_url = "{{base}}/v1"
env_key = "OPENAI_API_KEY"
"""
_CONTINUE = {
    "name": "own",
    "version": "1.0.0",
    "schema": "v1",
    "models": [
        {
            "name": MODEL,
            "provider": "openai",
            "model": MODEL,
            "apiBase": "{base}/v1",
            "apiKey": "k",
        }
    ],
}
_PI = {
    "providers": {
        "own": {
            "baseUrl": "{base}/v1",
            "api": "openai-completions",
            "apiKey": "k",
            "models": [{"id": MODEL, "name": MODEL, "reasoning": True}],
        }
    }
}
_BOUND = {
    "model": f"anthropic/{BINDING}",
    "provider": {
        "anthropic": {
            "npm": "@ai-sdk/anthropic",
            "options": {"baseURL": "{env:ANTHROPIC_BASE_URL}/v1", "apiKey": "k"},
            "models": {BINDING: {"name": BINDING, "reasoning": True}},
        }
    },
}

_AIDER = (
    *("--model", f"openai/{MODEL}", "--yes-always", "--no-check-update"),
    "--no-show-model-warnings",
    "--chat-history-file=chat.md",  # else at the root of a repository
    "--input-history-file=input",
    *("--analytics-disable", "--no-git", "--no-pretty", "--message"),
)

PROGRAMS = {
    "claude": Program(
        "Claude Code",
        "@anthropic-ai/claude-code",
        "claude",
        ("--dangerously-skip-permissions", "-p"),
        ("--dangerously-skip-permissions", "-c", "-p"),
        {
            "ANTHROPIC_API_KEY": "k",
            "ANTHROPIC_BASE_URL": "{base}",
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
        {".codex/config.toml": _CODEX},
        stored="codex",
    ),
    "gemini": Program(
        "Gemini CLI",
        "@google/gemini-cli",
        "gemini",
        ("-m", "gemini-2.5-flash", "--yolo", "-p"),
        ("-m", "gemini-2.5-flash", "--yolo", "--resume", "latest", "-p"),
        {
            "GEMINI_API_KEY": "k",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GOOGLE_GEMINI_BASE_URL": "{base}",
        },
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
        {**_KEY, "OPENAI_MODEL": MODEL, "OPENAI_BASE_URL": "{base}/v1"},
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
            ".config/opencode/opencode.json": json.dumps(_OPENCODE),
        },
        binding={"OPENCODE_CONFIG_CONTENT": json.dumps(_BOUND)},
        stored="opencode",
    ),
    "cn": Program(
        "Continue",
        "@continuedev/cli",
        "cn",
        ("--auto", "-p"),
        ("--auto", "--resume", "-p"),
        {},
        {".continue/config.yaml": json.dumps(_CONTINUE)},
    ),
    "copilot": Program(
        "Copilot CLI",
        "@github/copilot",
        "copilot",
        ("--allow-all-tools", "-p"),
        ("--allow-all-tools", "--continue", "-p"),
        {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_API_KEY": "k",
            "COPILOT_PROVIDER_BASE_URL": "{base}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_MODEL": MODEL,
        },
        stored="copilot-cli",
    ),
    "pi": Program(
        "pi",
        "@earendil-works/pi-coding-agent",
        "pi",
        ("-p",),
        ("-c", "-p"),
        {},
        {
            ".pi/agent/models.json": json.dumps(_PI),
            ".pi/agent/settings.json": json.dumps(
                {"defaultProvider": "own", "defaultModel": MODEL}
            ),
        },
        stored="pi",
    ),
    "aider": Program(
        "aider",
        "aider-chat",
        "aider",
        _AIDER,
        ("--restore-chat-history", *_AIDER),
        {
            **_KEY,
            "OPENAI_API_BASE": "{base}/v1",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        },
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


def environment(folder: Path, name: str, home: Path, base: str) -> dict[str, str]:
    """Of a machine on which only the agent is set up; writes its settings."""
    program = PROGRAMS[name]
    for at, text in program.settings.items():
        (home / at).parent.mkdir(parents=True, exist_ok=True)
        (home / at).write_text(text.replace("{base}", base), encoding="utf-8")
    own = program.environment.items()
    return {
        "HOME": str(home),
        "PATH": f"{node(folder).parent}{os.pathsep}{os.environ['PATH']}",
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        "CI": "1",
        "DO_NOT_TRACK": "1",
        **{each: value.replace("{base}", base) for each, value in own},
    }
