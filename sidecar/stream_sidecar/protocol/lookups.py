"""Methods that need no stream: tool/classify, error/normalize and message/render.

All read the tables that streams read. So a host can treat calls and errors that it got
elsewhere (stored messages, other protocols, failed HTTP requests) like a stream's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import asdict

from stream_sidecar.protocol.params import (
    ClassifyResult,
    NormalizeErrorResult,
    RenderResult,
)
from stream_sidecar.provider_errors.normalize import normalize_error
from stream_sidecar.tools.classify import CallContext, classify, from_item
from stream_sidecar.wires.render import render

if TYPE_CHECKING:
    from stream_sidecar.protocol.params import (
        ClassifyParams,
        NormalizeErrorParams,
        RenderParams,
    )
    from stream_sidecar.protocol.sessions import Sessions


def classify_calls(_: Sessions, params: ClassifyParams) -> ClassifyResult:
    """``tool/classify``: every item as a `ToolCall`; missing ids are made up."""
    wire = None if params.wire == "auto" else params.wire
    tools = {tool.name: tool for tool in params.tools or ()}
    context = CallContext(None if params.tools is None else tools, wire)
    calls = [from_item(item, number) for number, item in enumerate(params.calls, 1)]
    return ClassifyResult([classify(call, context) for call in calls])


def render_message(_: Sessions, params: RenderParams) -> RenderResult:
    """``message/render``: the turn as the next request must carry it."""
    messages, lost = render(
        params.message,
        params.wire,
        provider=params.provider,
        model=params.model,
        results=params.results,
        claims=params.claims == "include",
        reasoning=params.reasoning,
    )
    return RenderResult(messages, lost)


def normalize_http_error(
    _: Sessions, params: NormalizeErrorParams
) -> NormalizeErrorResult:
    """``error/normalize``: ``before-stream``, as no part of the response was used."""
    error = normalize_error(params.body, params.status, params.headers, params.provider)
    fields = asdict(error, recurse=False)
    del fields["choice"]
    return NormalizeErrorResult(phase="before-stream", partial=False, **fields)
