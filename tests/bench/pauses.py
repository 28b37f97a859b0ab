"""The longest pause of the garbage collector while 4,000 streams are open.

In a separate process, set up as the command is: streams are opened, pushed to in turns
and closed, and half of them are opened again. Every pass of the collector is timed, in
processor time. Each stream has an unfinished call in its text.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from processes import ROOT, frame
from rows import Bar, Row

if TYPE_CHECKING:
    from collections.abc import Iterator

STREAMS = 4_000
BAR = Bar(limit=50, aim=10, unit=" ms")

PROGRAM = """
import gc, json, sys, time
from stream_sidecar.rpc import garbage
from stream_sidecar.rpc.connection import Connection

connection = Connection(lambda sent: None, None, lambda process: None)
garbage.begin()
begun, passes = 0.0, []

def note(phase, info):
    global begun
    if phase == "start":
        begun = time.process_time()
    else:
        passes.append(time.process_time() - begun)

gc.callbacks.append(note)
for line in sys.stdin.buffer:
    connection.push(bytes.fromhex(line.decode()))
print(json.dumps(passes))
"""


def run() -> Iterator[Row]:
    lines = b"".join(request.hex().encode() + b"\n" for request in _requests())
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=lines,
        capture_output=True,
        cwd=ROOT,
        check=True,
    )
    passes = json.loads(done.stdout)
    longest = max(passes, default=0.0) * 1e3
    measured = f"{longest:.1f} ms, of {len(passes)} passes"
    yield Row(
        f"garbage collection, {STREAMS:,} streams: longest pause",
        measured,
        longest,
        BAR,
    )


def _requests() -> Iterator[bytes]:
    yield frame(1, "initialize", {})
    for round_number in range(2):
        names = [f"{round_number}-{number}" for number in range(STREAMS)]
        for name in names:
            yield frame(1, "stream/open", {"streamId": name, "wire": "text"})
        for name in names:
            for text in ("<think>Hm.</think>Hello ", "and <tool_call>"):
                yield frame(1, "stream/push", {"streamId": name, "chunk": text})
        for name in names:
            yield frame(1, "stream/close", {"streamId": name})
