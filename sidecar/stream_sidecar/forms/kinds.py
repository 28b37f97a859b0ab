"""The kinds of pieces: what a character of a channel's text can be.

Each piece of the text engine has one of these kinds, and so does each `Found`. A kind
described as a mark has no characters: it says that something begins, ends or was
decided at its place.
"""

from __future__ import annotations

from enum import Enum


class PieceKind(Enum):
    __hash__ = object.__hash__  # faster than an enum's hash: kinds are keys everywhere

    #: visible text
    TEXT = 1
    #: reasoning
    REASONING = 2
    #: a delimiter that opened or closed a block, or a nested level of it
    DELIMITER = 3
    #: a delimiter without a partner in the answer
    STRAY = 4
    #: text after a removal that would have completed a delimiter begun before it
    REBUILT = 5
    #: white space that is removed with a removal
    BLANK = 6
    #: mark: a tagged block begins
    ENTER = 7
    #: mark: the tagged block is over; ``EXIT_CALL``: a call has ended it
    EXIT = 9
    EXIT_CALL = 20
    #: mark: a nested closer ended a block; reasoning continues in a new block
    CUT = 10
    #: mark: what was visible since the last tool call was reasoning (text rule 9.2)
    REOPEN = 11
    #: mark: the hold limit was reached; held text was decided as at the end
    FULL = 12
    #: tokens without meaning: borders of a section of calls, stop tokens, closers of
    #: calls without an opener
    MARK = 13
    #: a call written as text; CALL, RESULT, CITE and SEEN have a `Taken` each
    CALL = 14
    #: a tool's result written as text
    RESULT = 15
    #: a citation's marker
    CITE = 16
    #: mark: a call stands here, and its text stays (policy ``report``)
    SEEN = 17
    #: mark: a candidate turned out to be no form; it has a `Failed`
    FAILED = 18
    #: mark: the open reasoning is text, and its characters come again in pieces of the
    #: answer; the mark's start and end are those of the raw text
    AGAIN = 19
