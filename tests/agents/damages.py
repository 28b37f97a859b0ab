"""Damages of stored sessions, as users report them."""

from __future__ import annotations

import base64
import json
import re
import sqlite3
import struct
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

Lines = list[bytes]
"""The lines of a log. The last is empty: what is behind the last line break."""

_CALL = re.compile(
    rb'"type": ?"(?:tool_use|function_call|custom_tool_call|toolCall)"'
    rb'|"functionCall"|"toolCalls"|"toolRequests": ?\[\{'
)
_RESULT = re.compile(
    rb'"type": ?"(?:tool_result|function_call_output|custom_tool_call_output)"'
    rb'|"functionResponse"|"role": ?"toolResult"|"tool\.execution_complete"'
)
_CALL_OR_RESULT = re.compile(_CALL.pattern + b"|" + _RESULT.pattern)
_ANSWER = re.compile(rb'"text": ?"The file is there\."|"content": ?"The file')
_LOOK = rb'("(?:text|content)": ?)"I will look\."'
_SIGNATURE = rb'("(?:signature|thinkingSignature)": ?)"[^"]+"'
_PRINTED = rb"(It was printed)\."
_PARENT = rb'("parent(?:Uuid|Id)": ?)"[^"]+"'
_NO_PARENT = rb'\1"0badc0de-0000-4000-8000-000000000000"'
_NAME = rb'("name": ?"[a-z_]+)(")'
_ORDINAL = rb'"ordinal": ?(\d+),'
_SEAL = rb'("encrypted_content": ?)"[^"]+"'


def _number(lines: Lines, of: re.Pattern[bytes]) -> int:
    """The line; behind the last one if there is none."""
    found = (number for number, line in enumerate(lines) if of.search(line))
    return next(found, len(lines))


def _without(what: re.Pattern[bytes]) -> Callable[[Lines], Lines]:
    return lambda lines: [line for line in lines if not what.search(line)]


def _changed(
    pattern: bytes, new: bytes, of: re.Pattern[bytes] | None = None
) -> Callable[[Lines], Lines]:
    """``of``: the lines to change."""

    def changed(lines: Lines) -> Lines:
        return [
            re.sub(pattern, new, line, flags=re.IGNORECASE)
            if of is None or of.search(line)
            else line
            for line in lines
        ]

    return changed


def _without_results(lines: Lines) -> Lines:
    """Gemini CLI has a result in its call, too."""
    kept = (x for x in lines if _CALL.search(x) or not _RESULT.search(x))
    return [re.sub(rb'"result": ?\[.*?\}\],', b"", x) for x in kept]


def _twice(what: re.Pattern[bytes]) -> Callable[[Lines], Lines]:
    return lambda lines: [
        each for line in lines for each in [line] * (2 if what.search(line) else 1)
    ]


def _cut_in_the_middle(lines: Lines) -> Lines:
    number = _number(lines, _CALL)
    return [*lines[:number], lines[number][:-25], *lines[number + 1 :]]


def _glued(lines: Lines) -> Lines:
    number = _number(lines, _CALL)
    two = lines[number] + lines[number + 1]
    return [*lines[:number], two, *lines[number + 2 :]]


def _ordinal_again(lines: Lines) -> Lines:
    """The ordinal of a record in the middle is that of the record before it."""
    number = _number(lines, _RESULT)
    before = re.search(_ORDINAL, b"".join(lines[number - 1 : number]))
    if before is None:
        return lines
    return [
        re.sub(_ORDINAL, before[0], line) if at == number else line
        for at, line in enumerate(lines)
    ]


def _no_last_ordinal(lines: Lines) -> Lines:
    return [*lines[:-2], re.sub(_ORDINAL, b"", lines[-2]), b""]


def _image(side: int) -> dict[str, Any]:
    """No more of it than its head, which has the size."""
    head = struct.pack(">I4sIIBBBBB", 13, b"IHDR", side, side, 8, 2, 0, 0, 0)
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n" + head).decode("ascii")
    source = {"type": "base64", "media_type": "image/png", "data": data}
    return {"type": "image", "source": source}


def _images(*sides: int, kind: str = "image/png") -> Callable[[Lines], Lines]:
    """The result of Claude Code's call is images."""

    def shown(line: bytes) -> bytes:
        record = json.loads(line) if _RESULT.search(line) else {}
        for block in record.get("message", {}).get("content", ()):
            if block.get("type") == "tool_result":
                block["content"] = images = [_image(side) for side in sides]
                for image in images:
                    image["source"]["media_type"] = kind
                return json.dumps(record, separators=(",", ":")).encode()
        return line

    return lambda lines: [shown(line) for line in lines]


LOGS: dict[str, Callable[[Lines], Lines]] = {
    "the result is gone": _without_results,
    "the call is gone": _without(_CALL),
    "killed after the call": lambda lines: [*lines[: _number(lines, _CALL) + 1], b""],
    "the result is there twice": _twice(_RESULT),
    "the call is there twice": _twice(_CALL),
    "the last line is cut": lambda lines: [*lines[:-2], lines[-2][:-40]],
    "a line is cut": _cut_in_the_middle,
    "two records in a line": _glued,
    "a raw line break": _changed(_LOOK, rb'\1"I will\nlook."'),
    "NUL bytes": lambda lines: [*lines[:-1], b"\0" * 64],
    "a byte order mark": lambda lines: [b"\xef\xbb\xbf" + lines[0], *lines[1:]],
    "a parent in no record": _changed(_PARENT, _NO_PARENT, _ANSWER),
    "a blank text": _changed(_LOOK, rb'\1""'),
    "half a character": _changed(_LOOK, rb'\1"I will look. \\ud83d"'),
    "half a character in a result": _changed(_PRINTED, rb"\1 \\ud83d", _RESULT),
    "NUL in a name": _changed(_NAME, rb"\1\\u0000\2", _CALL_OR_RESULT),
    "no signature": _changed(_SIGNATURE, rb'\1""'),
    "a signature of another issuer": _changed(_SIGNATURE, rb'\1"sig_#1"'),
    "a seal of another issuer": _changed(_SEAL, rb'\1"b3RoZXI="'),
    "no ordinal": _no_last_ordinal,
    "an ordinal twice": _ordinal_again,
    "an image of 9000 pixels": _images(9000),
    "25 images of 2100 pixels": _images(*[2100] * 25),
    "120 images": _images(*[100] * 120),
    "an image of another kind": _images(100, kind="image/jpeg"),
}
"""Of logs: lines -> lines. One that changes nothing cannot be of that agent."""

_TOOL = "json_extract(data, '$.type') = 'tool'"
_CUT_OFF = f"""
    UPDATE part SET data = json_set(
        json_remove(data, '$.state.output', '$.state.metadata', '$.state.time.end'),
        '$.state.status', 'running'
    ) WHERE {_TOOL};
"""

TABLES: dict[str, str] = {
    "the result is gone": _CUT_OFF,
    "the call is gone": f"DELETE FROM part WHERE {_TOOL};",
    "killed after the call": f"""{_CUT_OFF}
        DELETE FROM part WHERE id > (SELECT id FROM part WHERE {_TOOL});
        DELETE FROM message WHERE id NOT IN (SELECT message_id FROM part);
    """,
    "the call is there twice": f"""
        INSERT INTO part
        SELECT id || 'a', message_id, session_id, time_created, time_updated, data
        FROM part WHERE {_TOOL};
    """,
    "the message is gone": f"""
        DELETE FROM message WHERE id = (SELECT message_id FROM part WHERE {_TOOL});
    """,
    "a blank text": """
        UPDATE part SET data = json_set(data, '$.text', '')
        WHERE json_extract(data, '$.text') = 'I will look.';
    """,
    "half a character": r"""
        UPDATE part SET data = replace(data, 'I will look.', 'I will look. \ud83d');
    """,
    "half a character in a result": r"""
        UPDATE part SET data = replace(data, 'was printed.', 'was printed \ud83d');
    """,
    "NUL in a name": rf"""
        UPDATE part SET data = replace(data, '"bash"', '"bash\u0000"') WHERE {_TOOL};
    """,
    "no signature": """
        UPDATE part SET data = json_set(data, '$.metadata.anthropic.signature', '')
        WHERE json_extract(data, '$.metadata.anthropic.signature') IS NOT NULL;
    """,
    "a signature of another issuer": """
        UPDATE part
        SET data = json_set(data, '$.metadata.anthropic.signature', 'sig_#1')
        WHERE json_extract(data, '$.metadata.anthropic.signature') IS NOT NULL;
    """,
}
"""Of opencode's database: SQL."""

DAMAGES = list(dict.fromkeys([*LOGS, *TABLES]))

LOSES_ANSWER = frozenset(("the last line is cut", "killed after the call"))
"""Damages that may take the answer of the first turn."""


def damaged(path: Path, name: str) -> bool:
    """Damages a session; whether it is another one then."""
    if path.suffix == ".jsonl" and name in LOGS:
        before = path.read_bytes()
        after = b"\n".join(LOGS[name](before.split(b"\n")))
        path.write_bytes(after)
        return before != after
    if path.match("opencode*.db") and name in TABLES:
        with closing(sqlite3.connect(path)) as database:
            rows = [*_rows(database)]
            database.executescript(TABLES[name])
            database.commit()
            return rows != [*_rows(database)]
    return False


def _rows(database: sqlite3.Connection) -> Iterator[Any]:
    for table in ("message", "part"):
        yield from database.execute(f"SELECT * FROM {table} ORDER BY id")
