"""Histories that providers refuse, and what `request/prepare` makes of them.

A line of ``data/refusals.jsonl`` is a request with the name of a check of the server's
that ``says`` no to it (`refusing`), and public ``source``s of that refusal. ``ends``:
the server has the prepared request ``accepted``, or ``lost`` has ``told`` why it can
not be mended, or it takes the request as it is, which then stays the ``same``.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from places import TESTS
from refusing import SERVERS, objections

from stream_sidecar.options import Limits, Policy
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.sessions import Sessions
from stream_sidecar.values.jsontext import dumps

Json = Any

LINES = (TESTS / "data" / "refusals.jsonl").read_text("utf-8").splitlines()
ROWS = [json.loads(line) for line in LINES]


def _prepare(row: Json, body: Json) -> Json:
    params = {name: row[name] for name in ("wire", "provider", "model")}
    sessions = Sessions(Policy(), Limits())
    result = METHODS["request/prepare"].call(sessions, {**params, "body": body})
    return json.loads(dumps(result))


@pytest.mark.parametrize(
    "row", ROWS, ids=[f"{row['server']}: {row['case']}" for row in ROWS]
)
def test_a_refused_history(row: Json) -> None:
    body = copy.deepcopy(row["body"])
    result = _prepare(row, body)

    assert body == row["body"]
    assert result["changed"] == ("body" in result)
    said = objections(row["server"], row["wire"], body)
    if row["ends"] == "same":
        assert (said, result) == ([], {"changed": False, "lost": []})
        return
    assert row["says"] in said
    assert row["source"]
    now = result.get("body", body)
    left = objections(row["server"], row["wire"], now)
    if row["ends"] == "told":
        assert result["lost"]
    else:
        assert (left, row["says"] in left) == ([], False)
        again = _prepare(row, now)
        assert (again["changed"], again["lost"]) == (False, [])


def test_every_check_is_tried() -> None:
    """Each check objects to a row of each server that has it, or of a like one."""
    said = {row["says"] for row in ROWS}
    assert {check for checks in SERVERS.values() for check in checks} <= said
    assert {row["server"] for row in ROWS} == SERVERS.keys()
