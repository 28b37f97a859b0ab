"""The fields of a chat.completions delta or message, and the order of their parts.

A new field is one row of `READERS`, or of `reasoning.REASONING_FIELDS`.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from stream_sidecar.wires.openai_chat import content, reasoning, tools
from stream_sidecar.wires.openai_chat.reasoning import PROVIDER
from stream_sidecar.wires.openai_chat.sources import azure_context, citations
from stream_sidecar.wires.shared import citations as cite

if TYPE_CHECKING:
    from stream_sidecar.parts import JsonObject
    from stream_sidecar.wires.shared.fields import ChoiceState, FieldReader

READERS: tuple[tuple[str, FieldReader], ...] = (
    *((row.name, row.read) for row in reasoning.REASONING_FIELDS),
    # A citation here comes before its text.
    (f"{PROVIDER}.citation", cite.citation),
    ("content", content.content),
    ("refusal", content.refusal),
    ("audio", content.audio),
    ("images", content.images),
    ("function_call", tools.function_call),
    ("tool_calls", tools.tool_calls),
    ("tool_use_id", tools.flat_call),
    ("input", tools.flat_input),
    ("executed_tools", tools.executed_tools),
    (f"{PROVIDER}.server_side_tool_invocations", tools.invocations),
    (f"{PROVIDER}.web_search_results", tools.result_blocks),
    (f"{PROVIDER}.tool_results", tools.result_blocks),
    (f"{PROVIDER}.code_interpreter_results", tools.code_results),
    ("annotations", cite.annotation_list),
    ("citations", citations),
    (f"{PROVIDER}.citations", cite.citation_lists),
    ("context", azure_context),
    (f"{PROVIDER}.container", content.detail),
)
"""The fields in the order in which their parts are given (text rule 8.1)."""

FIELDS = tuple(name for name, _ in READERS)

_RANKS: dict[str, tuple[int, str, FieldReader]] = {
    name: (rank, name, reader) for rank, (name, reader) in enumerate(READERS)
}

_PROVIDER_RANKS = {
    name.removeprefix(f"{PROVIDER}."): row
    for name, row in _RANKS.items()
    if name.startswith(f"{PROVIDER}.")
}


def read_delta(choice: ChoiceState, delta: JsonObject) -> None:
    """Appends the parts of ``delta`` to ``choice.parts``; null fields are absent."""
    choice.delta = delta
    rows = [
        (*_RANKS[name], value)
        for name, value in delta.items()
        if value is not None and name in _RANKS
    ]
    fields = delta.get(PROVIDER)
    if isinstance(fields, dict):
        rows += [
            (*_PROVIDER_RANKS[name], value)
            for name, value in fields.items()
            if value is not None and name in _PROVIDER_RANKS
        ]
    elif fields is not None:
        choice.malformed(PROVIDER, fields)
    rows.sort(key=itemgetter(0))
    for _rank, name, read, value in rows:
        read(choice, value, name)
