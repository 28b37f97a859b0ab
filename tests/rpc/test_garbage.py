"""The collector looks at everything only when there is nothing to do."""

from __future__ import annotations

import subprocess
import sys

import pytest
from places import ROOT

from stream_sidecar.rpc import garbage

PROGRAM = """
import gc
from stream_sidecar.rpc import garbage
from stream_sidecar.rpc.base_protocol import frame
from stream_sidecar.rpc.connection import Connection

connection = Connection(lambda sent: None, None, lambda process: None)
garbage.begin()
looked = set()
gc.callbacks.append(lambda phase, info: looked.add(info["generation"]))
connection.push(frame(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'))
for number in range(1500):
    params = b'{"streamId":"%d","wire":"text"}' % number
    ask = b'{"jsonrpc":"2.0","id":1,"method":"stream/open","params":%b}' % params
    connection.push(frame(ask))
    params = b'{"streamId":"%d","chunk":"<tool_call> and <think>"}' % number
    ask = b'{"jsonrpc":"2.0","id":1,"method":"stream/push","params":%b}' % params
    connection.push(frame(ask))
print(sorted(looked), len(gc.get_objects()) > 100_000)
"""


@pytest.mark.thorough
@pytest.mark.skipif(
    sys.version_info >= (3, 14), reason="it looks at all objects in small steps there"
)
def test_while_streams_are_opened_old_objects_are_left_alone() -> None:
    said = subprocess.check_output([sys.executable, "-c", PROGRAM], cwd=ROOT, text=True)
    assert said == "[0, 1] True\n"


class OverError(Exception):
    """The test's last wait is over."""


# what is spent until each wait is over, how often objects were looked at by then
# -> behind which waits all of them are looked at
WAITS = (
    ([0, 5, 5, 5], [1, 9, 9, 9], [2]),
    ([0, 5, 9, 13], [1, 2, 3, 4], []),
    ([0, 0, 0, 0], [1, 1, 1, 1], []),
    ([0, 0, 0, 0], [1, 2, 2, 4], [1, 3]),
)


@pytest.mark.parametrize(("spent", "passes", "expected"), WAITS)
def test_everything_is_looked_at_when_there_is_nothing_to_do(
    spent: list[int],
    passes: list[int],
    expected: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits, looked = 0, list[int]()

    def wait(_seconds: float) -> None:
        nonlocal waits
        waits += 1
        if waits == len(spent):
            raise OverError

    monkeypatch.setattr(garbage.time, "process_time", lambda: spent[waits])
    monkeypatch.setattr(garbage, "_passes", lambda: passes[waits])
    monkeypatch.setattr(garbage.gc, "collect", lambda: looked.append(waits))
    with pytest.raises(OverError):
        garbage.collect_when_idle(wait)
    assert looked == expected
