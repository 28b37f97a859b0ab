"""The methods that need no open stream, one function each.

Parameters have the names and the values of the protocol; ``None`` means absent. A value
that does not fit, and a member of an option that is not known, raises a `UsageError`.
"""

from __future__ import annotations

from os import urandom
from typing import TYPE_CHECKING, Any

from stream_sidecar.api.plain import BYTES, plain, text_of
from stream_sidecar.errors import InvalidParamsError
from stream_sidecar.options import Limits, Policy
from stream_sidecar.protocol.converter import camel, structure
from stream_sidecar.protocol.ignored import known_members as known_members
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.sessions import Sessions
from stream_sidecar.records import PublicRecord, evolve
from stream_sidecar.values.jsontext import portable, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stream_sidecar.api.option_types import (
        CallResult,
        Chunk,
        EmitOptions,
        Encoding,
        Framing,
        JsonObject,
        PolicyOptions,
        RequestClaims,
        RequestReasoning,
        RequestWire,
        Tools,
        Wire,
    )
    from stream_sidecar.message.message import Message
    from stream_sidecar.protocol.params import (
        InspectResult,
        NormalizeResult,
        PrepareResult,
        RenderResult,
        RepairResult,
    )

_POLICY, _LIMITS = Policy(), Limits()
"""The protocol's defaults."""


def normalize(
    body: Chunk,
    *,
    wire: Wire = "auto",
    framing: Framing = "auto",
    encoding: Encoding = "utf-8",
    provider: str | None = None,
    model: str | None = None,
    tools: Tools | None = None,
    policy: PolicyOptions | None = None,
    response_template: JsonObject | None = None,
    emit: EmitOptions | None = None,
    stream_id: str | None = None,
) -> NormalizeResult:
    """``message/normalize``: reads a whole response: text, bytes, a decoded document or
    an object of an SDK. ``stream_id`` as in `Stream`."""
    params = locals()
    if isinstance(body, BYTES):
        params["body"] = text_of(body, encoding)
    params["stream_id"] = new_id() if stream_id is None else stream_id
    result: NormalizeResult = call("message/normalize", params)
    return result


def inspect(
    messages: Sequence[Any],
    *,
    tools: Tools | None = None,
    model: str | None = None,
    provider: str | None = None,
    policy: PolicyOptions | None = None,
    response_template: JsonObject | None = None,
) -> InspectResult:
    """``message/inspect``: finds what is malformed in the messages of a session."""
    result: InspectResult = call("message/inspect", locals(), _watch)
    return result


def repair(
    messages: Sequence[Any],
    *,
    tools: Tools | None = None,
    model: str | None = None,
    provider: str | None = None,
    policy: PolicyOptions | None = None,
    response_template: JsonObject | None = None,
) -> RepairResult:
    """``message/repair``: removes what is malformed from the messages of a session."""
    result: RepairResult = call("message/repair", locals(), _watch)
    return result


def render(
    message: Message | JsonObject,
    wire: RequestWire,
    *,
    provider: str | None = None,
    model: str | None = None,
    results: Sequence[CallResult] | None = None,
    claims: RequestClaims = "drop",
    reasoning: RequestReasoning = "auto",
) -> RenderResult:
    """``message/render``: writes a message, and the results of its calls, as the next
    request must carry them."""
    result: RenderResult = call("message/render", locals())
    # A provider's value (half a character, 10**30) may be one that no request can have.
    return evolve(result, messages=whole(portable(result.messages)))


def prepare(
    body: JsonObject,
    wire: RequestWire,
    *,
    headers: JsonObject | None = None,
    provider: str | None = None,
    model: str | None = None,
    tools: Tools | None = None,
    policy: PolicyOptions | None = None,
    response_template: JsonObject | None = None,
    claims: RequestClaims = "drop",
    reasoning: RequestReasoning = "auto",
) -> PrepareResult:
    """``request/prepare``: cleans a whole request, and removes or replaces what its
    provider refuses."""
    result: PrepareResult = call("request/prepare", locals())
    return result


def as_json(value: Any) -> Any:
    """An event, a message or a result as the protocol writes it, as its ``to_dict``."""
    if not isinstance(value, PublicRecord):
        kind = type(value).__name__
        raise InvalidParamsError(
            f"value: must be an event, a message or a result, and is of type {kind}",
            path="value",
        )
    return value.to_dict()


def call(
    method: str, params: dict[str, Any], *more: Any, sessions: Sessions | None = None
) -> Any:
    """The result of ``method``. ``params`` have the names of Python (``stream_id``).
    Without ``sessions`` the method runs in new ones. ``more``: further arguments of the
    method."""
    row, spelled = METHODS[method], _spelled(params)
    result = row.run(sessions or new_sessions(), spelled, *more)
    row.refuse_ignored(spelled)
    return result


def checked(method: str, params: dict[str, Any]) -> Any:
    """``params`` as ``method`` reads them; raises a `UsageError` if it does not accept
    them."""
    row, spelled = METHODS[method], _spelled(params)
    read = structure(spelled, row.params, "params")
    row.refuse_ignored(spelled)
    return read


def new_sessions() -> Sessions:
    """Sessions with the protocol's defaults."""
    return Sessions(_POLICY, _LIMITS)


def new_id() -> str:
    """A ``stream_id`` that no other stream has."""
    return urandom(8).hex()


def _spelled(params: dict[str, Any]) -> dict[str, Any]:
    items = ((camel(name), value) for name, value in params.items())
    return {name: plain(value, f"params.{name}") for name, value in items}


def _watch(done: int, total: int) -> None:
    """Does nothing between two messages, because there is no progress to report."""
