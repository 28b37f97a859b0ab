"""How agents' records mark a model's text, and where the text is: one table.

`shape_of` finds the row of `SHAPES` for a JSON value by its content and its place in
its document, never by a file's name. Example: ``{"type": "gemini", "content": "Hi"}``
is the model's in Gemini CLI, and its text is at ``content``. Any other agent may use
the same shape. Knows nothing of delimiters.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar.history.paths import at
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.parts import Json
    from stream_sidecar.values.json_places import Path

ASSISTANT = frozenset(("assistant", "model", "ai", "agent", "ROLE_AGENT"))
"""Roles of the model. LangChain has the role in ``type``; the last two are A2A's."""

RoleElsewhere: TypeAlias = "Callable[[dict[str, Json]], str | None]"
"""Returns the role of a record whose role is in another document (opencode)."""

Values: TypeAlias = "frozenset[str | int]"

ANY: Values = frozenset()
"""In a condition: any value that is an object, a list, a string or a number."""

ITEM: Any = int
"""In ``within``: the number of an item."""


@frozen
class PartForm:
    """Parts of one kind. ``when``: the values that such a part has at these names
    (None: no value). The string at ``text`` is the model's text, or its reasoning if
    ``reasons``."""

    when: tuple[tuple[str, str | None], ...]
    text: Path
    reasons: bool = False

    def fits(self, part: dict[str, Json]) -> bool:
        if not isinstance(at(part, self.text), str):
            return False
        return all(part.get(name) == value for name, value in self.when)


@frozen
class RecordShape:
    """One kind of record. ``author`` is the place of its author, and ``models`` are the
    values there that mean a model. ``bodies`` are the places of its text: a string, a
    part, or a list of parts. The forms in ``parts`` are tried before those that all
    records share. A record with several bodies has the same text in each.

    ``also``: the values that it must have at further places. ``within``: how its path
    must end. ``opens``: the first item of a list is the user's, whatever author it
    names. ``elsewhere``: it is a document of its own, and its role is in another
    document.
    """

    name: str
    author: Path
    models: Values
    bodies: tuple[Path, ...]
    also: tuple[tuple[Path, Values], ...] = ()
    parts: tuple[PartForm, ...] = ()
    within: tuple[Any, ...] = ()
    opens: bool = False
    elsewhere: bool = False

    @cached_property
    def holders(self) -> tuple[Path, ...]:
        """Where the record's calls and fields of reasoning are: beside its text, and
        where LangChain keeps further fields of a provider."""
        beside = dict.fromkeys(body[:-1] for body in self.bodies)
        return (*beside, *((*path, "additional_kwargs") for path in beside))

    def fits(self, value: Json, path: Path) -> bool:
        """Whether ``value``, at ``path``, is a model's record of this kind."""
        return (
            (not self.within or _ends(path, self.within))
            and not (self.opens and path[-1:] == (0,))
            and not (self.elsewhere and path)
            and _is_one_of(at(value, self.author), self.models)
            and all(_is_one_of(at(value, place), known) for place, known in self.also)
            and any(
                isinstance(at(value, body), str | list | dict) for body in self.bodies
            )
        )


def _ends(path: Path, pattern: tuple[Any, ...]) -> bool:
    last = path[-len(pattern) :]
    return len(last) == len(pattern) and all(
        isinstance(step, int) if name is ITEM else step == name
        for step, name in zip(last, pattern, strict=True)
    )


def _is_one_of(value: Json, known: Values) -> bool:
    if not known:
        return isinstance(value, str | int | list | dict)
    return isinstance(value, str | int) and value in known


_CHAT_VIEW = (
    PartForm((("kind", None),), ("value",)),
    PartForm((("kind", "markdownContent"),), ("value",)),
    PartForm((("kind", "markdownContent"),), ("content", "value")),
)
"""Parts of VS Code's chat: pieces of text, with parts of other kinds between them."""


def _chat_view(name: str, *within: Any) -> RecordShape:
    place = ("requests", ITEM, "response", *within)
    return RecordShape(
        name=name, author=(), models=ANY, bodies=((),), parts=_CHAT_VIEW, within=place
    )


MESSAGE = RecordShape(
    name="message",
    author=("role",),
    models=ASSISTANT,
    bodies=(("content",), ("parts",)),
)
"""A role, and content or parts: the shape of most agents and of all providers."""

_BESIDE = RecordShape(
    name="Cursor, command line",
    author=("role",),
    models=ASSISTANT,
    bodies=(("message", "content"),),
)
"""The role is beside the message, which has the content."""

SHAPES: tuple[RecordShape, ...] = (
    RecordShape(
        name="LangChain",
        author=("type",),
        models=frozenset(("ai",)),
        bodies=(("content",), ("parts",)),
    ),
    RecordShape(
        name="LangChain, dicts",
        author=("type",),
        models=frozenset(("ai", "AIMessageChunk")),
        bodies=(("data", "content"),),
    ),
    RecordShape(
        name="LangChain, dumps",
        author=("id", -1),
        models=frozenset(("AIMessage", "AIMessageChunk")),
        bodies=(("kwargs", "content"),),
    ),
    RecordShape(
        name="Codex, events",
        author=("type",),
        models=frozenset(("agent_message",)),
        bodies=(("message",),),
    ),
    RecordShape(
        name="Codex, items",
        author=("type",),
        models=frozenset(("AgentMessage",)),
        bodies=(("content",),),
        parts=(PartForm((("type", "Text"),), ("text",)),),
    ),
    RecordShape(
        name="Codex, end of a task",
        author=("type",),
        models=frozenset(("task_complete",)),
        bodies=(("last_agent_message",),),
    ),
    RecordShape(
        name="Codex, app",
        author=("type",),
        models=frozenset(("agentMessage",)),
        bodies=(("text",),),
    ),
    RecordShape(
        name="Gemini CLI",
        author=("type",),
        models=frozenset(("gemini",)),
        bodies=(("content",),),
    ),
    RecordShape(
        name="qwen-code, telemetry",
        author=("systemPayload", "uiEvent", "event.name"),
        models=frozenset(("qwen-code.api_response",)),
        bodies=(("systemPayload", "uiEvent", "response_text"),),
    ),
    RecordShape(
        name="Kimi Code",
        author=("event", "type"),
        models=frozenset(("content.part",)),
        bodies=(("event", "part"),),
        also=((("type",), frozenset(("context.append_loop_event",))),),
    ),
    RecordShape(
        name="kimi-cli, events",
        author=("message", "type"),
        models=frozenset(("ContentPart",)),
        bodies=(("message", "payload"),),
    ),
    RecordShape(
        name="Copilot CLI",
        author=("type",),
        models=frozenset(("assistant.message",)),
        bodies=(("data", "content"),),
    ),
    RecordShape(
        name="Cline",
        author=("say",),
        models=frozenset(("text", "completion_result")),
        bodies=(("text",),),
        also=((("type",), frozenset(("say",))),),
        opens=True,
    ),
    RecordShape(
        name="opencode, export",
        author=("info", "role"),
        models=ASSISTANT,
        bodies=(("parts",),),
    ),
    RecordShape(
        name="opencode, part",
        author=("type",),
        models=frozenset(("text",)),
        bodies=((),),
        also=((("text",), ANY),),
        elsewhere=True,
    ),
    RecordShape(
        name="Zed",
        author=("Agent",),
        models=ANY,
        bodies=(("Agent", "content"),),
        parts=(
            PartForm((), ("Text",)),
            PartForm((), ("Thinking", "text"), reasons=True),
        ),
    ),
    _chat_view("VS Code"),
    _chat_view("VS Code, part", ITEM),
    _chat_view("VS Code, text", ITEM, "value"),
    RecordShape(
        name="LibreChat",
        author=("isCreatedByUser",),
        models=frozenset((False,)),
        bodies=(("text",), ("content",)),
    ),
    RecordShape(
        name="ChatGPT",
        author=("author", "role"),
        models=frozenset(("assistant",)),
        bodies=(("content", "parts"),),
        also=((("content", "content_type"), frozenset(("text", "multimodal_text"))),),
    ),
    RecordShape(
        name="pydantic-ai",
        author=("kind",),
        models=frozenset(("response",)),
        bodies=(("parts",),),
        parts=(
            PartForm((("part_kind", "text"),), ("content",)),
            PartForm((("part_kind", "thinking"),), ("content",), reasons=True),
        ),
    ),
    RecordShape(
        name="ATIF",
        author=("source",),
        models=frozenset(("agent",)),
        bodies=(("message",),),
        also=((("step_id",), ANY),),
    ),
    RecordShape(
        name="A2A, artifact", author=("artifactId",), models=ANY, bodies=(("parts",),)
    ),
    RecordShape(
        name="ACP",
        author=("sessionUpdate",),
        models=frozenset(("agent_message",)),
        bodies=(("content",),),
    ),
)
"""The rows for records without a ``role``; `MESSAGE` and `_BESIDE` are for the
others."""


def shape_of(
    value: Json, path: Path = (), role_elsewhere: RoleElsewhere | None = None
) -> RecordShape | None:
    """The shape of ``value``, at ``path`` of its document; None if it is not a model's.

    ``role_elsewhere`` returns the role of a record that has none itself.
    """
    role = value.get("role") if isinstance(value, dict) else None
    if isinstance(role, str):
        shapes = (MESSAGE, _BESIDE) if role in ASSISTANT else ()
        return next((each for each in shapes if each.fits(value, path)), None)
    for shape in _candidates(value, path):
        if not shape.fits(value, path):
            continue
        if not shape.elsewhere:
            return shape
        if role_elsewhere is not None and role_elsewhere(value) in ASSISTANT:
            return shape
    return None


def _candidates(value: Json, path: Path) -> tuple[RecordShape, ...]:
    """The rows that may fit, by the first names of ``value`` or by ``path``."""
    if path and "response" in path[-3:]:
        return SHAPES
    if not isinstance(value, dict) or _BY_NAME.keys().isdisjoint(value):
        return ()
    rows: tuple[RecordShape, ...] = ()
    for name, by_word in _BY_NAME.items():
        if name in value:
            word = value[name]
            is_known = isinstance(word, str | int) and word in by_word
            rows += by_word[word if is_known else _OTHER]
    return rows


def is_question(first: Json) -> bool:
    """Whether ``first`` is the user's opening question (`RecordShape.opens`)."""
    return any(
        all(_is_one_of(at(first, place), known) for place, known in each.also)
        for each in _OPENED
    )


_PIECES = (frozenset(("projectID", "directory")), frozenset(("id", "worktree")))
"""Members of opencode's sessions and projects."""
_SAYS_A_ROLE = frozenset(("id", "sessionID", "role"))
"""Members of opencode's messages, whose parts are in other files."""
_LISTED = frozenset(("sessionId", "title", "dateCreated", "workspaceDirectory"))
"""Members of an item in Continue's list: it names a session that is in another file."""
_CHANGED = frozenset(("file", "additions", "deletions"))
"""Members of an item in opencode's and Kilo's list of changed files, which may be
empty."""


def is_piece(document: Json, role_elsewhere: RoleElsewhere | None) -> bool:
    """Whether ``document`` is a piece of a store of many files, which may have no text
    of a model: the role of a message, or a part of a message whose role is known."""
    if isinstance(document, list):
        return all(
            isinstance(each, dict)
            and (each.keys() >= _LISTED or each.keys() >= _CHANGED)
            for each in document
        )
    if not isinstance(document, dict):
        return False
    if document.keys() >= _SAYS_A_ROLE:
        return not any(_is_one_of(at(document, body), ANY) for body in MESSAGE.bodies)
    if role_elsewhere is not None and role_elsewhere(document) is not None:
        return True
    return any(names <= document.keys() for names in _PIECES)


def is_based_elsewhere(line: Json) -> bool:
    """Whether a line says that its log continues a log in another file (a fork of
    Codex), so that it may have no text of a model."""
    return isinstance(at(line, ("payload", "history_base")), dict)


_OTHER = ""
"""The key of the rows that no single word of a record finds."""


def _by_word(name: str | int) -> dict[str | int, tuple[RecordShape, ...]]:
    """The rows whose ``author`` begins with ``name``, by the model's words there."""
    rows = [row for row in SHAPES if row.author[:1] == (name,)]
    deeper = tuple(row for row in rows if row.author[1:] or not row.models)
    words = {word for row in rows if row not in deeper for word in row.models}
    of_words = {
        word: tuple(row for row in rows if row in deeper or word in row.models)
        for word in words
    }
    return {**of_words, _OTHER: deeper}


_OPENED = tuple(row for row in SHAPES if row.opens)
_BY_NAME = {row.author[0]: _by_word(row.author[0]) for row in SHAPES if row.author}
"""The rows by the first name of their ``author``, then by the word that a record has
there."""

CURSOR = RecordShape(
    name="Cursor", author=("type",), models=frozenset((2,)), bodies=(("text",),)
)
"""Only for Cursor's own table: elsewhere a number and a text may mean anything."""

OPENCODE_EVENT = RecordShape(
    name="opencode, event",
    author=("part", "type"),
    models=frozenset(("text",)),
    bodies=(("part",),),
)
"""Only for opencode's own table, which says whose part it is."""

OPENCODE_MESSAGE = RecordShape(
    name="opencode, message", author=("content",), models=ANY, bodies=(("content",),)
)
"""Only for opencode's own table, which says whose message it is."""

GENERAL_PARTS = (
    PartForm((("type", "text"),), ("data", "text")),
    PartForm((("type", "text"),), ("text", "value")),
    PartForm((("type", "text"), ("text", None)), ("content",)),
    PartForm((("type", "reasoning"),), ("content",), reasons=True),
)
"""Parts with their text at an unusual place, in records of any shape: those of Crush,
LibreChat and OpenTelemetry."""
