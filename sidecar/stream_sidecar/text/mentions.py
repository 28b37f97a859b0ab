"""Mentions: a delimiter, a token or a tag that is quoted is spoken of, so it is text.

It has the same quote directly on both sides, the first of which opens there, or
typographic quotes, or a backslash before it (text rule 4.6). Example: of
``"<a>" and 5"<a>"`` the first ``<a>`` is a mention, the second is none.
"""

from __future__ import annotations

import re

from stream_sidecar.markdown.runs import closing_run, open_runs

_OPENS_BEHIND = " \t\r\f\v\n([{=,:"
"""Behind these, and where a line begins, a quote opens."""

_QUOTES = "`\"'”’"  # two of the last are Swedish and Finnish
_TYPOGRAPHIC = re.findall("..", "“”„“„”‘’‚‘‚’«»»«‹››‹「」『』")
_PAIRS = {*_TYPOGRAPHIC, *(quote * 2 for quote in _QUOTES)}
_OPENING = {pair[0] for pair in _PAIRS}

LONGEST_SPAN = 200
"""So much of a code span in reasoning is looked at, on each side of a literal."""

LONGEST_TAG = 48
"""A tag of which the opener is only the beginning has at most so much behind it."""

_TAG = re.compile(rf"[^<>\n]{{0,{LONGEST_TAG}}}+>")


def is_quoted(before: str, after: str, *, final: bool) -> bool | None:
    """Whether what stands between the two has a quote on both sides; None: more of
    what is behind it is needed."""
    quote = before[-1:]
    if quote not in _OPENING:
        return False
    if quote in _QUOTES and before[-2:-1] not in _OPENS_BEHIND:
        return False
    return quote + after[:1] in _PAIRS if after or final else None


def is_mention(before: str, literal: str, after: str, *, final: bool) -> bool | None:
    """Whether ``literal``, between the two, is quoted or escaped; it may begin a tag,
    as ``<function=`` does. None: more of what is behind it is needed."""
    if before[-1:] == "\\":
        return True
    if before[-1:] not in _OPENING:
        return False
    if literal[0] == "<" and ">" not in literal:
        tag = _TAG.match(after)
        if tag is None:
            waits = not final and len(after) <= LONGEST_TAG and "\n" not in after
            return None if waits and "<" not in after else False
        after = after[tag.end() :]
    return is_quoted(before, after, final=final)


def span_around(before: str, after: str, *, known: bool) -> tuple[str, str] | None:
    """What of a code span, on one line, stands before and behind a literal, nothing if
    it is in none; None: more is needed, unless all is ``known`` that is waited for."""
    head, (line, ended, _) = before.rpartition("\n")[2], after.partition("\n")
    runs = open_runs(head)
    run = closing_run(runs, line)
    if runs and not (known or ended) and (run is None or run.end() == len(line)):
        return None
    if run is None:
        return "", ""
    return head[runs[len(run[0])] :], line[: run.start()]
