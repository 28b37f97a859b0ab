"""The sessions of Claude Code as requests of Anthropic's Messages API.

Records (``{"uuid", "parentUuid", "type", "message": {"role", "content"}}``) form a
tree. What leads from the root to the last record is sent, from the last compaction on.
An answer has a record for each block, with one ``message.id``. The blocks of parallel
calls and their results lie on several branches, and all of them are sent.
A record whose parent is in no record continues the record before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.records import frozen
from stream_sidecar.resume.conversation import LeftOut, ResumedConversation, SentItem
from stream_sidecar.resume.findings import FileEdit
from stream_sidecar.resume.records import members
from stream_sidecar.resume.stored import Stored
from stream_sidecar.values.jsontext import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stream_sidecar.parts import Json
    from stream_sidecar.resume.conversation import StoredPlace
    from stream_sidecar.resume.records import StoredRecord
    from stream_sidecar.values.json_places import Path

CLAUDE_CODE_HEALS = {
    "call-without-result": "Claude Code does not send the call",
    "result-without-call": "Claude Code does not send the result",
    "repeated-id": 'Claude Code sends "[Tool use interrupted]" in place of the second',
    "two-results": "Claude Code sends one of them",
}

CLAUDE_CODE_READS = {
    "": members(
        *("type", "subtype", "uuid", "parentUuid", "sessionId"),
        *("isSidechain", "isApiErrorMessage", "compactMetadata"),
        message=members("id", "role", "model", "content"),
    )
}

_TURNS = ("user", "assistant")
_MADE = "<synthetic>"
"""The model of an answer that Claude Code wrote itself: of an error."""

_THINKING = ("thinking", "redacted_thinking")
_NO_PARENT = (
    "its parent is in no record: older versions of Claude Code do not send what comes "
    "before it, newer ones go on from the record before it"
)
_OFF = (
    "its branch is not the one that goes on: older versions of Claude Code do not send "
    "the result, newer ones find it by its call"
)
_DEAD = "it continues a result whose branch does not go on, so it is not sent"


def fits(value: Json) -> bool:
    if not isinstance(value, dict) or "parentUuid" not in value:
        return False
    message = value.get("message")
    return isinstance(message, dict) and "content" in message


def conversations(records: Sequence[StoredRecord]) -> Iterator[ResumedConversation]:
    """One: side chains within a session are not sent on resume. A file that has only a
    side chain is the session of a sub-agent."""
    tree = _Tree.of([Stored.of(record) for record in records])
    chain, cut = tree.chain()
    sent, lost = tree.with_parallel(chain)
    models = [each.at("message", "model").text for each in sent]
    yield ResumedConversation(
        wire="anthropic",
        provider="anthropic",
        model=next((each for each in reversed(models) if each not in ("", _MADE)), ""),
        items=tuple(_items(sent)),
        left_out=(*cut, *lost),
    )


@frozen
class _Tree:
    """The records that have an id, in their order, and by it."""

    nodes: list[Stored]
    by_id: dict[str, Stored]

    @classmethod
    def of(cls, records: Sequence[Stored]) -> _Tree:
        named = [each for each in records if _id(each)]
        main = [each for each in named if not each.at("isSidechain").value]
        has_main = any(map(_is_turn, main))
        nodes = main if has_main else named
        return cls(nodes, {_id(each): each for each in nodes})

    def chain(self) -> tuple[list[Stored], list[LeftOut]]:
        """The records from the root to the last turn, and the links that lead
        nowhere."""
        turns = [each for each in self.nodes if _is_turn(each)]
        chain, cut = self._up(turns[-1] if turns else None)
        starts = [number for number, each in enumerate(chain) if _is_compaction(each)]
        if not starts:
            return chain, cut
        boundary = chain[starts[-1]]
        after = chain[starts[-1] + 1 :]
        begin = boundary.record.number
        cut = [each for each in cut if each.source.record.number > begin]
        return self._with_kept(boundary, after), cut

    def _up(self, node: Stored | None) -> tuple[list[Stored], list[LeftOut]]:
        chain: list[Stored] = []
        cut: list[LeftOut] = []
        places = {_id(each): number for number, each in enumerate(self.nodes)}
        seen: set[str] = set()
        while node is not None and _id(node) not in seen:
            chain.append(node)
            seen.add(_id(node))
            link = node.at("parentUuid")
            if not link.text:
                break
            parent = self.by_id.get(link.text)
            if parent is None and (place := places[_id(node)]):
                parent = self.nodes[place - 1]
                edit = FileEdit(link.source, dumps(_id(parent)))
                if any(map(_is_turn, self.nodes[:place])):
                    cut.append(LeftOut(link.source, _NO_PARENT, edits=(edit,)))
            node = parent
        return chain[::-1], cut[::-1]

    def _with_kept(self, boundary: Stored, after: list[Stored]) -> list[Stored]:
        """The messages after a compaction, with those from before it that were kept:
        they come behind the summary, their anchor."""
        metadata = boundary.at("compactMetadata")
        segment, listed = (
            metadata.at("preservedSegment"),
            metadata.at("preservedMessages"),
        )
        kept: list[Stored] = []
        node = self.by_id.get(segment.at("tailUuid").text)
        seen: set[str] = set()
        while node is not None and _id(node) not in seen:
            seen.add(_id(node))
            kept.insert(0, node)
            if _id(node) == segment.at("headUuid").text:
                break
            node = self.by_id.get(node.at("parentUuid").text)
        ids = [each.text for each in listed.at("uuids").items()]
        kept += [self.by_id[id] for id in ids if id in self.by_id and id not in seen]
        sent = {_id(each) for each in after}
        kept = [each for each in kept if _id(each) not in sent]
        anchor = segment.at("anchorUuid").text or listed.at("anchorUuid").text
        place = [_id(each) for each in after].index(anchor) + 1 if anchor in sent else 0
        return [*after[:place], *kept, *after[place:]]

    def with_parallel(self, chain: list[Stored]) -> tuple[list[Stored], list[LeftOut]]:
        """The chain with the blocks and results of its answers that lie on other
        branches, and what is lost on these branches."""
        on_chain = {_id(each) for each in chain}
        answers = {_answer(each) for each in chain} - {""}
        blocks = [each for each in self.nodes if _answer(each) in answers]
        owners = {_id(each): each for each in blocks}
        beside: dict[str, list[Stored]] = {}
        for each in self.nodes:
            owner = owners.get(self._behind(each))
            of = _answer(each) or (_answer(owner) if owner and _results(each) else "")
            if of in answers and _id(each) not in on_chain:
                beside.setdefault(of, []).append(each)
        if not beside:
            return chain, []
        last = {_answer(each): _id(each) for each in chain}
        sent: list[Stored] = []
        for each in chain:
            sent.append(each)
            if last.get(_answer(each)) == _id(each):
                sent += beside.get(_answer(each), ())
        found = [each for listed in beside.values() for each in listed]
        return sent, [*self._off(found, chain), *self._dead(found, on_chain)]

    def _behind(self, node: Stored) -> str:
        """The id of the record that a record continues. Older versions kept the
        progress of a tool between its call and its result."""
        id = node.at("parentUuid").text
        seen: set[str] = set()
        while (parent := self.by_id.get(id)) and id not in seen:
            if parent.at("type").text != "progress":
                break
            seen.add(id)
            id = parent.at("parentUuid").text
        return id

    def _off(self, found: list[Stored], chain: list[Stored]) -> Iterator[LeftOut]:
        """Results on a branch of their own, though one record has all calls: Claude
        Code itself writes such results one after the other."""
        following = {each.at("parentUuid").text: each for each in chain}
        for each in found:
            parent = self.by_id.get(each.at("parentUuid").text)
            next_one = following.get(_id(parent)) if parent else None
            if parent and next_one and _results(each) and len(_calls(parent)) > 1:
                edit = FileEdit(next_one.at("parentUuid").source, dumps(_id(each)))
                yield LeftOut(each.source, _OFF, edits=(edit,))

    def _dead(self, found: list[Stored], on_chain: set[str]) -> Iterator[LeftOut]:
        """Answers to a result that the conversation does not go on from. A turn that
        the user took back begins at a question."""
        results = {_id(each) for each in found if _results(each)}
        for each in self.nodes:
            is_behind = each.at("parentUuid").text in results
            if is_behind and _answer(each) and _id(each) not in on_chain:
                yield LeftOut(each.source, _DEAD)


def _id(node: Stored) -> str:
    return node.at("uuid").text


def _answer(node: Stored) -> str:
    """The id of the answer that a record is a block of; "" for other records."""
    is_answer = node.at("type").text == "assistant"
    return (node.at("message", "id").text or _id(node)) if is_answer else ""


def _is_turn(node: Stored) -> bool:
    return node.at("type").text in _TURNS and bool(node.at("message").members)


def _is_compaction(node: Stored) -> bool:
    return node.at("subtype").text == "compact_boundary"


def _parts(node: Stored, kind: str) -> list[Stored]:
    parts = node.at("message", "content").items()
    return [part for part in parts if part.at("type").text == kind]


def _calls(node: Stored) -> list[Stored]:
    return _parts(node, "tool_use")


def _results(node: Stored) -> list[Stored]:
    return _parts(node, "tool_result")


# --- Turns ----------------------------------------------------------------------------


@frozen
class _Turn:
    role: str
    #: Of an answer.
    id: str
    first: Stored
    parts: list[Stored]


def _items(nodes: Sequence[Stored]) -> Iterator[SentItem]:
    for turn in _joined(_sent(_turns(nodes))):
        content = [_part(part) for part in turn.parts]
        yield SentItem(
            {"role": turn.role, "content": content},
            turn.first.at("message").source,
            tuple(part.source for part in turn.parts),
            _texts(turn.parts),
        )


def _turns(nodes: Sequence[Stored]) -> Iterator[_Turn]:
    """The blocks of an answer are one turn, also if results came in between. A gateway
    may give several answers one id: a question ends an answer."""
    turns: list[_Turn] = []
    answers: dict[str, _Turn] = {}
    for node in nodes:
        is_error = node.at("message", "model").text == _MADE
        if not _is_turn(node) or (is_error and node.at("isApiErrorMessage").value):
            continue
        content = node.at("message", "content")
        parts = list(content.items()) or ([content] if content.text else [])
        id = _answer(node)
        if id and (turn := answers.get(id)):
            turn.parts.extend(parts)
            continue
        if not id and len(_results(node)) < len(parts):
            answers.clear()
        turn = _Turn(node.at("type").text, id, node, [*parts])
        turns.append(turn)
        if id:
            answers[id] = turn
    yield from turns


def _sent(turns: Iterator[_Turn]) -> Iterator[_Turn]:
    """An answer of blank texts, or of nothing but thinking, is not sent; nor is a blank
    text of a user."""
    for turn in turns:
        says = [part for part in turn.parts if not _is_blank(part)]
        if turn.role == "user":
            parts = says
        elif all(part.at("type").text in _THINKING for part in says):
            parts = []
        else:
            parts = turn.parts
        if parts:
            yield _Turn(turn.role, turn.id, turn.first, parts)


def _is_blank(part: Stored) -> bool:
    if isinstance(part.value, str):
        return not part.text.strip()
    return part.at("type").text == "text" and not part.at("text").text.strip()


def _joined(turns: Iterator[_Turn]) -> Iterator[_Turn]:
    """Turns of a user in a row are one, with the results first."""
    waiting: list[_Turn] = []
    for turn in turns:
        if turn.role == "user":
            waiting.append(turn)
            continue
        yield from _one(waiting)
        waiting = []
        yield turn
    yield from _one(waiting)


def _one(turns: list[_Turn]) -> Iterator[_Turn]:
    if len(turns) < 2:
        yield from turns
        return
    parts = [part for turn in turns for part in turn.parts]
    parts.sort(key=lambda part: part.at("type").text != "tool_result")
    yield _Turn("user", "", turns[0].first, parts)


def _part(part: Stored) -> Json:
    """A content that is a string is sent as a text."""
    if isinstance(part.value, str):
        return {"type": "text", "text": part.value}
    return part.value


def _texts(parts: Sequence[Stored]) -> dict[Path, StoredPlace]:
    return {
        ("content", number, "text"): part.source
        for number, part in enumerate(parts)
        if isinstance(part.value, str)
    }
