"""Server-sent events in, provider documents out.

`SseReader` accepts any slices of the text of an event stream, without its byte order
mark, and returns a frame for every event with content. The rules are those of WHATWG
HTML 9.2.6, "Interpreting an event stream", with these differences:

- The last event counts even without its blank line, which many servers leave out.
- ``[DONE]`` is a `DonePart`. Empty data is ignored, and so is a comment that a gateway
  has wrapped as data (mnfst/llm-gateway#2053). Other data that is not JSON is reported.
- Data of several lines may have one document, or a document on a line: the gateway
  forgot the blank lines, or wrote an error after half of a document
  (Wei-Shaw/sub2api#1471). In the second case each line is read separately.
- Data that is not a document may end with ``data:`` and a document, or with an error.
  Then the part before it is a document that was cut off (`frames_of`).
- Lines with an unknown field name are not dropped. They are a *foreign* body (an error
  page, or a bare JSON body under the wrong content type), up to the next known field,
  the end of an event, or the end of the stream. If the body begins with a bracket, it
  is read like data, and already at its first blank line if all of it is JSON. Any other
  body becomes one diagnostic.
- ``error:`` with an object (llama.cpp, ggml-org/llama.cpp#16104) is data of the event
  ``error``.

A frame depends only on the text, never on its slices. Lines are held as pieces and
joined once, so time is linear. Beyond ``kept`` characters only the head of a line or
an event is held.
"""

from __future__ import annotations

from stream_sidecar import patterns
from stream_sidecar.framing.frames import (
    HEAD,
    Frame,
    Held,
    HeldText,
    frame_of,
    frames_of,
    malformed,
)
from stream_sidecar.parts import DiagnosticPart, Document

_COMMON_EVENT = patterns.compile(r"(?:event: ?+(.*+)\n)?+data: ?+([{\[].*+)\n\n")
"""Most events: perhaps a name, then an object (or the end mark) on one line. ``.`` is
all but the line feed; a set of characters takes five times as long."""

_LONGEST_FIELD = len("event: ")
"""How much longer a line may be: the field's name is not the document's."""


class SseReader:
    """``push(text)`` and ``close()`` return the frames that are complete by then."""

    framing = "sse"

    def __init__(self, limit: int, kept: int) -> None:
        self.idle = True  # between two events
        sizes = (limit, kept, HEAD)
        self._line = Held(*[size + _LONGEST_FIELD for size in sizes])
        self._after_return = False
        self._event: str | None = None
        self._data = Held(limit, kept)
        self._foreign = Held(limit, kept)
        self._is_judged = False

    def push(self, text: str) -> list[Frame]:
        if self._after_return or "\r" in text:
            text = self._with_line_feeds(text)
        # mostly a slice is one event, for which one pattern is enough
        event_match = _COMMON_EVENT.fullmatch(text)
        if event_match and self.idle and len(text) <= self._data.limit:
            name, data = event_match.groups("")
            event = name[:HEAD] or None
            frame = frame_of(data, event)
            is_torn = type(frame) is DiagnosticPart
            return frames_of(data, event) if is_torn else [frame]
        frames: list[Frame] = []
        lines = text.split("\n")
        last_line = lines.pop()
        if lines and self._line.pieces:
            self._end_line(lines.pop(0), frames)
        for line in lines:
            if line.startswith("data: "):
                self._add_line(self._data, line[6:])
                if self._foreign.pieces:
                    self._end_foreign(frames)
            else:
                self._read_line(line, 0, frames)
        if last_line:
            self._line.add(last_line)
        self.idle = not (
            self._line.pieces
            or self._data.pieces
            or self._event
            or self._foreign.pieces
            or self._after_return
        )
        return frames

    def close(self) -> list[Frame]:
        frames: list[Frame] = []
        if self._line.pieces:
            self._end_line("", frames)
        self._end_event(frames)
        self._end_foreign(frames)
        self.idle = True
        return frames

    def _with_line_feeds(self, text: str) -> str:
        """``text`` with only line feeds as line breaks. A carriage return ends its line
        at once; its line feed may follow in the next slice."""
        if self._after_return and text:
            text = text.removeprefix("\n")
            self._after_return = False
        if text.endswith("\r"):
            self._after_return, self.idle = True, False
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def _end_line(self, line_end: str, frames: list[Frame]) -> None:
        """Reads the held line, which ends with ``line_end``."""
        self._line.add(line_end)
        line, size = "".join(self._line.pieces), self._line.size
        self._line.take()
        self._read_line(line, size - len(line), frames)

    def _read_line(self, line: str, missing: int, frames: list[Frame]) -> None:
        """Reads one line, which lacks ``missing`` characters."""
        name, _, value = line.partition(":")
        if not line:
            self._read_blank(frames)
        # `error: {..}`: the name of the event stands where `data` should
        elif name == "error" and value.lstrip(" ").startswith("{"):
            self._event = name
            self._add_line(self._data, value.strip(), missing)
            self._end_foreign(frames)
        elif name not in ("data", "event", "id", "retry", ""):
            self._add_line(self._foreign, line, missing)
        else:
            if name == "data":
                self._add_line(self._data, value.removeprefix(" "), missing)
            elif name == "event":
                self._event = value.removeprefix(" ")[:HEAD] or None
            self._end_foreign(frames)

    def _add_line(self, target: Held, line: str, missing: int = 0) -> None:
        target.add("\n" + line if target.pieces else line)
        target.size += missing

    def _read_blank(self, frames: list[Frame]) -> None:
        if self._data.pieces:
            self._end_event(frames)
            self._end_foreign(frames)
            return
        # an event without data is none (HTML, "Server-sent events", 9.2.6)
        self._event = None
        if self._foreign.pieces:
            self._judge_foreign(frames)

    def _end_event(self, frames: list[Frame]) -> None:
        event, self._event = self._event, None
        if self._data.pieces:
            frames += _frames_of_data(self._data.take(), event)

    def _judge_foreign(self, frames: list[Frame]) -> None:
        """Ends the foreign body at its first blank line if all of the body is JSON.
        Otherwise the blank line belongs to the body.

        The body is checked only once, so that time is linear.
        """
        if not self._is_judged:
            self._is_judged = True
            foreign_frames = _foreign_frames(self._foreign.peek())
            if not any(isinstance(frame, DiagnosticPart) for frame in foreign_frames):
                self._end_foreign(frames)
                return
        self._add_line(self._foreign, "")

    def _end_foreign(self, frames: list[Frame]) -> None:
        if self._foreign.pieces:
            frames += _foreign_frames(self._foreign.take())
            self._is_judged = False


def _foreign_frames(text: HeldText) -> list[Frame]:
    if not isinstance(text, str):
        return frames_of(text)
    text = text.rstrip("\n")
    if text.lstrip().startswith(("{", "[")):
        return _frames_of_data(text, None)
    frames = frames_of(text)
    is_none = all(isinstance(frame, DiagnosticPart) for frame in frames)
    return [malformed(text, "Text that is no server-sent event")] if is_none else frames


def _frames_of_data(text: HeldText, event: str | None) -> list[Frame]:
    """The frames of the data of one event: mostly one document."""
    if isinstance(text, str) and "\n" in text:
        return _frames_of_lines(text, event)
    return _frames_of_line(text, event)


def _frames_of_line(text: HeldText, event: str | None) -> list[Frame]:
    if isinstance(text, str) and (not text.strip() or text.startswith(":")):
        return []
    return frames_of(text, event)


def _frames_of_lines(text: str, event: str | None) -> list[Frame]:
    """The frame of the whole text if it is one document or no line is one; otherwise
    the frames of each line.

    A line has no event name, since it is not known to which line the name belongs.
    """
    whole_frame = frame_of(text, event)
    if not isinstance(whole_frame, DiagnosticPart):
        return [whole_frame]
    lines: list[Frame] = []
    for line in text.split("\n"):
        lines += _frames_of_line(line, None)
    is_torn = bool(lines) and isinstance(lines[0], DiagnosticPart)
    return [whole_frame] if is_torn and not any(map(_stands_alone, lines)) else lines


def _stands_alone(frame: Frame) -> bool:
    """Whether the frame is a document or end mark, no piece of a value."""
    if isinstance(frame, Document):
        return isinstance(frame.value, dict | list) and bool(frame.value)
    return not isinstance(frame, DiagnosticPart)
