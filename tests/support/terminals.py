"""A real terminal, and what it gets of the command line."""

from __future__ import annotations

import os
import re
import subprocess
from typing import IO, Any

from forked import ended, start

STEERS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def on_terminal(*arguments: str, term: str = "dumb", columns: int = 2000) -> str:
    """What a terminal gets of ``stream-sidecar``, errors included; rich writes colours
    to one of another kind than ``dumb`` only."""
    import pty

    terminal, ours = pty.openpty()
    environment = {"PATH": "", "TERM": term, "COLUMNS": str(columns)}
    process = start(arguments, environment, (ours, ours, ours), (terminal,))
    said = b""
    with os.fdopen(terminal, "rb", buffering=0) as reader:
        while data := _read(reader):
            said += data
    ended(process)
    return said.decode().replace("\r\n", "\n")


def ended_by_ctrl_c(process: subprocess.Popen[bytes], keys: IO[bytes]) -> bytes:
    """What ``process`` says after Ctrl-C at its terminal, the key pressed again where
    it came right before a read began: Python hears of a signal only when the read
    ends."""
    while True:
        keys.write(b"\x03")
        try:
            return process.communicate(timeout=2)[0]
        except subprocess.TimeoutExpired:
            continue


def _read(reader: Any) -> bytes:
    """Some bytes; no bytes if no process has the terminal open any more."""
    try:
        return reader.read(65_536) or b""
    except OSError:  # EIO, on Linux
        return b""


def is_harmless(said: str) -> bool:
    return not STEERS.search(said)
