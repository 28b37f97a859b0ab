"""Mentions: a delimiter, a token or a tag that is quoted is spoken of, so it is text.

It has the same quote directly on both sides, the first of which opens there, or
typographic quotes, or a backslash before it (text rule 4.6). Example: of
``"<a>" and 5"<a>"`` the first ``<a>`` is a mention, the second is none.
"""

from __future__ import annotations

from stream_sidecar import patterns
from stream_sidecar.forms.literals import UndecidedError
from stream_sidecar.markdown.runs import closing_run, open_runs

_OPENS_BEHIND = " \t\r\f\v\n([{=,:"
"""Behind these, and where a line begins, a quote opens."""

_QUOTES = "`\"'”’"  # two of the last are Swedish and Finnish
_TYPOGRAPHIC = patterns.compile("..").findall("“”„“„”‘’‚‘‚’«»»«‹››‹「」『』")
_PAIRS = {*_TYPOGRAPHIC, *(quote * 2 for quote in _QUOTES)}
_OPENING = {pair[0] for pair in _PAIRS}

LONGEST_SPAN = 200
"""So much of a code span in reasoning is looked at, on each side of a literal."""

LONGEST_TAG = 48
"""A tag of which the opener is only the beginning has at most so much behind it."""

_TAG = patterns.compile(rf"[^<>\n]{{0,{LONGEST_TAG}}}+>")


def may_be_mention(before: str) -> bool:
    """Whether something behind ``before`` may be quoted or escaped."""
    return before[-1:] == "\\" or _opens(before)


def _opens(before: str) -> bool:
    """Whether a quote opens at the end of ``before``."""
    quote = before[-1:]
    return quote in _OPENING and (
        quote not in _QUOTES or before[-2:-1] in _OPENS_BEHIND
    )


def is_quoted(before: str, after: str, *, final: bool) -> bool:
    """Whether what stands between the two has a quote on both sides."""
    if not _opens(before):
        return False
    if not (after or final):
        raise UndecidedError
    return before[-1] + after[:1] in _PAIRS


def is_mention(before: str, literal: str, after: str, *, final: bool) -> bool:
    """Whether ``literal``, between the two, which `may_be_mention`, is quoted or
    escaped; it may begin a tag, as ``<function=`` does."""
    if before[-1:] == "\\":
        return True
    if literal[0] == "<" and ">" not in literal:
        tag = _TAG.match(after)
        if tag is None:
            waits = not final and len(after) <= LONGEST_TAG and "\n" not in after
            if waits and "<" not in after:
                raise UndecidedError
            return False
        after = after[tag.end() :]
    return is_quoted(before, after, final=final)


def span_around(before: str, after: str, *, known: bool) -> tuple[str, str]:
    """What of a code span, on one line, stands before and behind a literal, nothing if
    it is in none; all that is waited for may be ``known``."""
    head, (line, ended, _) = before.rpartition("\n")[2], after.partition("\n")
    runs = open_runs(head)
    run = closing_run(runs, line)
    if runs and not (known or ended) and (run is None or run.end() == len(line)):
        raise UndecidedError
    if run is None:
        return "", ""
    return head[runs[len(run[0])] :], line[: run.start()]
