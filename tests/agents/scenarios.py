"""What the provider says, as data: each answer once as it should be, and once with the
leaks that models really write. Both mean the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Kind(Enum):
    TEXT = "text"
    REASONING = "reasoning"
    CALL = "call"  # a shell command
    CLAIM = "claim"  # the same as text
    LIMIT = "limit"  # status 429, once
    ERROR = "error"  # an error in mid-stream, once
    STALL = "stall"  # pieces of text until the client goes away


@dataclass(frozen=True)
class Part:
    kind: Kind
    text: str = ""


@dataclass(frozen=True)
class Answer:
    clean: tuple[Part, ...]
    leaking: tuple[Part, ...]


@dataclass(frozen=True)
class Scenario:
    title: str
    #: By turn, then by the number of rounds of tools before.
    turns: tuple[tuple[Answer, ...], ...]
    needs_tools: bool = False
    aborts: bool = False
    #: Thinking is bound to all before it.
    seals: bool = False
    #: The answers leak into the stored session. It is repaired before the last turn.
    is_stored: bool = False
    #: Its stored session is damaged and repaired before the last turn (`damages.py`).
    is_damaged: bool = False
    #: Every second turn is asked behind the gateway.
    crosses: bool = False
    #: The files that are there afterwards.
    files: dict[str, str] = field(default_factory=dict)


#: What no later request may have.
LEAKS = ("<think>", "</think>", "<tool_call>", "<|im_end|>")
#: Only the delimiter behind it makes it reasoning. It has been handed on by then, and
#: an agent has shown it.
LATE = "Both were asked for."


def text(words: str) -> Part:
    return Part(Kind.TEXT, words)


def _call(command: str) -> Part:
    return Part(Kind.CALL, command)


def _claim(command: str) -> Part:
    return Part(Kind.CLAIM, command)


def _reasoning(words: str) -> Part:
    return Part(Kind.REASONING, words)


def _done(clean: str, leaking: str, reasoning: str = "") -> Answer:
    thought = (_reasoning(reasoning),) if reasoning else ()
    return Answer((*thought, text(clean)), (text(leaking),))


def _after(title: str, first: Kind) -> Scenario:
    """The answer comes once something has gone wrong."""
    parts = (Part(first), _reasoning("Again."), text("It works now."))
    leaking = (
        Part(first),
        text("<think>\nAgain.\n</think>\n\nIt works now.<|im_end|>"),
    )
    return Scenario(title, ((Answer(parts, leaking),),))


_FIRST, _SECOND, _THIRD = (
    f"echo {name} > {name}.txt" for name in ("one", "two", "three")
)
_READ = "cat one.txt two.txt three.txt > all.txt"
_LONG = "".join(
    f"Line {number} of an answer that is long.\n" for number in range(5_500)
)

TOOLS = Scenario(
    title="three turns with tools",
    needs_tools=True,
    files={
        "all.txt": "one\ntwo\nthree\n",
        **{f"{name}.txt": f"{name}\n" for name in ("one", "two", "three")},
    },
    turns=(
        (
            Answer(
                (_reasoning("A file it is."), text("I write it."), _call(_FIRST)),
                (
                    text("<think>\nA file it is.\n</think>\n\nI write it."),
                    _call(_FIRST),
                ),
            ),
            _done("The file is there.", "The file is there.<|im_end|>"),
        ),
        (
            Answer(
                (text("Two at once.\n"), _call(_SECOND), _call(_THIRD)),
                (text("Two at once.\n"), _claim(_SECOND), _claim(_THIRD)),
            ),
            _done("Both are there.", f"{LATE}\n</think>\n\nBoth are there.", LATE),
        ),
        (
            Answer(
                (text("I read.\n"), _call(_READ)), (text("I read.\n"), _claim(_READ))
            ),
            _done(
                "That is all.",
                "<think>\nEnough.\n</think>\n\nThat is all.<|im_end|>",
                "Enough.",
            ),
        ),
    ),
)


CROSSING = Scenario(
    title="a session across",
    crosses=True,
    files=TOOLS.files,
    turns=TOOLS.turns,
)


def _around(words: str, leak: str, *calls: Part) -> tuple[Part, ...]:
    """Text with a leak between two thoughts."""
    return (_reasoning("Hm."), text(f"{leak}{words}"), _reasoning("So."), *calls)


_LEAK = "<think>\nA file it is.\n</think>\n\n"

_BOUND = (
    (
        Answer(
            _around("I write it.", "", _call(_FIRST)),
            _around("I write it.", _LEAK, _call(_FIRST)),
        ),
        Answer(
            (_reasoning("Done."), text("The file is there.")),
            (_reasoning("Done."), text("The file is there.<|im_end|>")),
        ),
    ),
    (
        Answer(
            (_reasoning("Two."), text("Two at once.\n"), _call(_SECOND), _call(_THIRD)),
            (
                *(_reasoning("Two."), text("Two at once.\n"), _claim(_SECOND)),
                *(_claim(_THIRD), _reasoning("That is it.")),
            ),
        ),
        Answer(_around("Both are there.", ""), _around("Both are there.", _LEAK)),
    ),
    (
        Answer(
            _around("I read.\n", "", _call(_READ)),
            _around("I read.\n", "", _call(_READ)),
        ),
        Answer((text("That is all."),), (text("That is all.<|im_end|>"),)),
    ),
)

SEALED = Scenario(
    title="sealed thinking",
    needs_tools=True,
    seals=True,
    files=TOOLS.files,
    turns=_BOUND,
)

_STORED = _around("I write it.", _LEAK, _call(_FIRST))
_LAST = (_reasoning("Done."), text("The file is there.<|im_end|>"))
_AGAIN = (_reasoning("Again."), text("Yes.<|im_end|>"))  # nothing is sealed behind it

STORED = Scenario(
    title="a repaired session, sealed",
    needs_tools=True,
    seals=True,
    is_stored=True,
    files={"one.txt": "one\n"},
    turns=(
        (Answer(_STORED, _STORED), Answer(_LAST, _LAST)),
        (Answer(_AGAIN, _AGAIN),),
        (_done("That is all.", "That is all."),),
    ),
)

ANSWER = "The file is there."
_SEEN = "echo It was printed. | tee one.txt"
_LOOK = (_reasoning("A file it is."), text("I will look."), _call(_SEEN))

DAMAGED = Scenario(
    title="a damaged session, repaired",
    needs_tools=True,
    is_damaged=True,
    turns=(
        (Answer(_LOOK, _LOOK), _done(ANSWER, ANSWER)),
        (_done("That is all.", "That is all."),),
    ),
)

SCENARIOS = {
    "tools": TOOLS,
    "crossing": CROSSING,
    "sealed": SEALED,
    "stored": STORED,
    "damaged": DAMAGED,
    "long": Scenario(
        "200 kB",
        ((_done(_LONG, f"<think>\nLong.\n</think>\n\n{_LONG}<|im_end|>", "Long."),),),
    ),
    "limit": _after("429", Kind.LIMIT),
    "error": _after("an error in mid-stream", Kind.ERROR),
    "abort": Scenario(
        "an interruption",
        (
            (
                Answer(
                    (Part(Kind.STALL),),
                    (text("<think>\nHm.\n</think>\n\n"), Part(Kind.STALL)),
                ),
            ),
        ),
        aborts=True,
    ),
}
