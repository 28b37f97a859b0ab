"""The lane of neighbours: other streams of the process change nothing.

Two streams of one host, whose options are the same or not, are open at once and share
what is kept for later ones (`EarlierStreams`). The second gives what it gives alone.
"""

from __future__ import annotations

from itertools import islice
from random import Random
from typing import Any

from checking import Fed, feed
from open_params import options_of

from fuzz import inputs
from stream_sidecar.stream.earlier_streams import EarlierStreams
from stream_sidecar.stream.stream import Stream


def draw_neighbours(number: int) -> dict[str, Any]:
    generator = Random(number)
    (params, chunks), (other, others) = (inputs.documents(generator) for _ in "ab")
    if generator.random() < 0.5:
        other = {**params, "wire": other.get("wire", "auto")}
    return {"params": params, "chunks": chunks, "beside": [other, others]}


def check_neighbours(given: dict[str, Any]) -> None:
    earlier, (other, others) = EarlierStreams(), given["beside"]
    beside = Stream(options_of(other), earlier=earlier)
    stream = Stream(options_of(given["params"]), earlier=earlier)
    events = []
    rest = iter(others)
    for chunk in given["chunks"]:
        for each in islice(rest, 1):
            beside.push(each)
        events += stream.push(chunk)
    events += stream.close()
    fed = Fed(events, stream.message(), stream.stats())
    assert fed == feed(given["params"], given["chunks"]), "its neighbour changes it"
