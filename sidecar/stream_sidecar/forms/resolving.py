"""Finds the tool that a call means if the model wrote an id in place of the name.

Kimi's calls have ids such as ``functions.f:0`` in that place. Models that saw the ids
of another host write ``functions_f_1`` or ``call_a1b2c3d4`` there. A declared name is
never an id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.forms.call_bodies import ARGUMENT_KEYS
from stream_sidecar.records import evolve
from stream_sidecar.values.jsontext import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Container

    from stream_sidecar.forms.form import WrittenCall

_NUMBERED = patterns.compile(r"(?:functions?[._])?+(?P<name>.+?)(?:[:!_]\d{1,6})?")
_NAMESPACED = patterns.compile(r"functions?[._](?P<name>.+?)(?:[:!_]\d{1,6})?")
_MEANINGLESS = patterns.compile(r"(?:call|tool|toolu|fc)[_-][A-Za-z0-9_-]{3,}")


def resolved(
    call: WrittenCall, tools: Container[str], *, undeclared: bool
) -> WrittenCall:
    """``call`` with the name of the tool that its id means (text rule 11.15).
    ``undeclared``: if the id means no declared tool, takes the name inside the id."""
    name = call.name
    if name in tools:
        return call
    match = _NUMBERED.fullmatch(name)
    if match is not None and match["name"] in tools:
        return evolve(call, name=match["name"])
    if _MEANINGLESS.fullmatch(name):
        return _by_arguments(call, tools)
    match = _NAMESPACED.fullmatch(name)
    return evolve(call, name=match["name"]) if match and undeclared else call


def _by_arguments(call: WrittenCall, tools: Container[str]) -> WrittenCall:
    """``call`` with the tool's name from its arguments:
    ``{"name": "f", "arguments": {..}}``, or other arguments beside ``"name"``. Returns
    ``call`` itself if they have no declared name."""
    try:
        arguments = loads(call.arguments)
    except ValueError:
        return call
    name = arguments.pop("name", None) if isinstance(arguments, dict) else None
    if not isinstance(name, str) or name not in tools:
        return call
    (key, inner), *others = [*arguments.items()] or [("", None)]
    if key in ARGUMENT_KEYS and isinstance(inner, dict) and not others:
        arguments = inner
    return evolve(call, name=name, arguments=dumps(arguments))
