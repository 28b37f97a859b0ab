"""The methods that need no open stream, one function each.

Parameters have the names and the values of the protocol; ``None`` means absent. A value
that does not fit raises a `UsageError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.message.message import Message
from stream_sidecar.options import Limits, Policy
from stream_sidecar.protocol.converter import camel, unstructure
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.sessions import Sessions

if TYPE_CHECKING:
    from stream_sidecar.protocol.params import (
        InspectResult,
        NormalizeResult,
        PrepareResult,
        RenderResult,
        RepairResult,
    )

Options = dict[str, Any]


def normalize(
    body: Any,
    *,
    wire: str = "auto",
    framing: str = "auto",
    encoding: str = "utf-8",
    provider: str | None = None,
    model: str | None = None,
    tools: list[Any] | None = None,
    policy: Options | None = None,
    response_template: Options | None = None,
    emit: Options | None = None,
    stream_id: str | None = None,
) -> NormalizeResult:
    """``message/normalize``: reads a whole response; ``stream_id`` as in `Stream`."""
    result: NormalizeResult = call("message/normalize", locals())
    return result


def inspect(
    messages: list[Any],
    *,
    tools: list[Any] | None = None,
    model: str | None = None,
    provider: str | None = None,
    policy: Options | None = None,
    response_template: Options | None = None,
) -> InspectResult:
    """``message/inspect``: finds what is malformed in the messages of a session."""
    result: InspectResult = call("message/inspect", locals(), _watch)
    return result


def repair(
    messages: list[Any],
    *,
    tools: list[Any] | None = None,
    model: str | None = None,
    provider: str | None = None,
    policy: Options | None = None,
    response_template: Options | None = None,
) -> RepairResult:
    """``message/repair``: removes what is malformed from the messages of a session."""
    result: RepairResult = call("message/repair", locals(), _watch)
    return result


def render(
    message: Message | Options,
    wire: str,
    *,
    provider: str | None = None,
    model: str | None = None,
    results: list[Any] | None = None,
    claims: str = "drop",
    reasoning: str = "auto",
) -> RenderResult:
    """``message/render``: writes a message as the next request must carry it."""
    if isinstance(message, Message):
        message = as_json(message)
    result: RenderResult = call("message/render", locals())
    return result


def prepare(
    body: Options,
    wire: str,
    *,
    headers: Options | None = None,
    provider: str | None = None,
    model: str | None = None,
    tools: list[Any] | None = None,
    policy: Options | None = None,
    response_template: Options | None = None,
    claims: str = "drop",
    reasoning: str = "auto",
) -> PrepareResult:
    """``request/prepare``: cleans a whole request, and removes or replaces what its
    provider refuses."""
    result: PrepareResult = call("request/prepare", locals())
    return result


def as_json(value: Any) -> Any:
    """An event, a message or a result as the protocol writes it."""
    return unstructure(value)


def call(
    method: str, params: Options, *more: Any, sessions: Sessions | None = None
) -> Any:
    """The result of ``method``. ``params`` have the names of Python (``stream_id``).
    Without ``sessions`` the method runs in new ones. ``more``: further arguments of the
    method."""
    spelled = {camel(name): value for name, value in params.items()}
    return METHODS[method].run(sessions or new_sessions(), spelled, *more)


def new_sessions() -> Sessions:
    """Sessions with the protocol's defaults."""
    return Sessions(Policy(), Limits())


def _watch(done: int, total: int) -> None:
    """Does nothing between two messages, because there is no progress to report."""
