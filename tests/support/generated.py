"""Writes the files that tools of other languages make; ``tests/run.py update`` runs it.

These are the types of both clients with their tables of endpoints, and the updates for
editors (``data/acp_updates.jsonl``). If a machine lacks a tool, its file is reported
and stays unchanged.
"""

from __future__ import annotations

import cargo_package
import node_package


def typescript() -> None:
    node_package.prepare()
    node_package.npm("run", "generate")
    node_package.npm("test", "--", "acp")


def rust() -> None:
    cargo_package.cargo("run", "--package", "xtask", "--locked")


WRITERS = (
    ("clients/typescript/src/protocol.ts", node_package.missing, typescript),
    ("clients/rust/src/protocol.rs", cargo_package.missing, rust),
)

if __name__ == "__main__":
    for file, missing, write in WRITERS:
        lacking = missing()
        print(f"{file} stays: {lacking}" if lacking else f"writing {file}", flush=True)
        if not lacking:
            write()
