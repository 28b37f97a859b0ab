"""Stored messages: what is malformed in them, and the messages without it.

`History` reads the messages of one session in their order. For each message, it knows
the results of tools that came before it in the session, and the options for its model.
``examine`` gives an `ExaminedMessage`, from which the results of message/inspect and
message/repair are made. This module searches no text itself: ``removals`` does.
Never raises for any JSON value. Positions are code points of a text as it is stored, or
UTF-16 units where a name says so.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from stream_sidecar.channel.sieve import Sieve
from stream_sidecar.forms.known_results import known_value
from stream_sidecar.history.messages import Text, read_message
from stream_sidecar.history.reading import read_text, reading_options
from stream_sidecar.history.removals import Judge, removals_in
from stream_sidecar.history.repairs import ExaminedMessage
from stream_sidecar.history.shapes import shape_of
from stream_sidecar.records import evolve
from stream_sidecar.values.jsontext import dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from stream_sidecar.history.messages import StoredMessage
    from stream_sidecar.history.removals import Wants
    from stream_sidecar.history.results import Inspection, Repair
    from stream_sidecar.options import StreamOptions
    from stream_sidecar.parts import Json

_KNOWN = 256
"""How many results of tools a session remembers: the latest."""

_MODELS = 64
"""How many models' options and sieves are kept."""

_OF_DELIMITERS = frozenset(("reasoning", "delimiter", "tool-call", "marker"))
"""Kinds of removals that mean a leak, whoever wrote the text."""

_BEFORE_JSON = " \t\r\n\ufeff"


class Readings:
    """The options and the sieve of each model, made once. All sessions that know no
    result of a tool yet share them."""

    def __init__(self, options: StreamOptions) -> None:
        self._options = reading_options(options)
        self._of: dict[str | None, tuple[StreamOptions, Sieve]] = {}

    def of(self, model: str | None) -> tuple[StreamOptions, Sieve]:
        """The options for ``model``, and the sieve that decides whether a text has to
        be read. ``model`` of None: the model of the options."""
        pair = self._of.get(model)
        if pair is None:
            if len(self._of) >= _MODELS:  # names come from strangers
                self._of.clear()
            options = self._options
            if model is not None:
                options = evolve(options, model=model)
            pair = self._of[model] = (options, Sieve(options))
        return pair


class History:
    """The messages of one session, read with ``options``.

    A message that names its model is read as that model's. ``kinds`` and ``wants``: as
    in `Judge`. ``known`` are results of tools that came before. ``readings`` are
    those of ``options``, if the caller has them. ``learns``: results in the messages
    are remembered, so that later copies of them are found.
    """

    def __init__(
        self,
        options: StreamOptions,
        wants: Wants | None = None,
        known: Iterable[Json] = (),
        readings: Readings | None = None,
        kinds: Collection[str] | None = None,
        *,
        learns: bool = True,
    ) -> None:
        self.options = options
        self._learns = learns
        self._wants, self._kinds = wants, kinds
        self._known: deque[Json] = deque(known, maxlen=_KNOWN)
        self._readings = readings or Readings(options)
        if self._known:
            self._readings = self._informed()
        #: a hash of what is known: equal states give equal results for equal items
        self.state = 0

    @property
    def known(self) -> tuple[Json, ...]:
        return tuple(self._known)

    def inspect(self, item: Json) -> Inspection:
        """The findings in any item of a session."""
        return self.examine(read_message(item, shape_of(item))).inspection()

    def repair(self, item: Json) -> Repair:
        """The repair of any item of a session."""
        return self.examine(read_message(item, shape_of(item))).repair()

    def examine(
        self, message: StoredMessage, bound_until: Callable[[], float] | None = None
    ) -> ExaminedMessage:
        """What is found in the next message. ``bound_until`` as in `Judge`."""
        fields = []
        if message.fields:
            options, sieve = self._readings.of(message.own_model or message.model)
            judge = Judge(self._kinds, self._wants, bound_until)
            removals = (removals_in(f, options, sieve, judge) for f in message.fields)
            fields = [field for field in removals if field is not None]
        self.learn(message.results)
        return ExaminedMessage(message.message, fields)

    def would_cut(self, text: str) -> bool:
        """Whether a delimiter, or text that belongs to it, would be removed if a model
        had written ``text``. ``wants`` is not asked."""
        options, sieve = self._readings.of(None)
        if sieve.passes(text):
            return False
        reading = read_text((Text((), text),), options)
        return any(kind in _OF_DELIMITERS for _, _, kind in reading.removals)

    def learn(self, results: Iterable[Json]) -> None:
        """Remembers results of tools for the messages that follow. A result that is not
        an object is ignored, because only an object can be an echo."""
        longest = self.options.limits.max_held_chars  # more is never held
        for result in filter(_may_be_object, results if self._learns else ()):
            text = result if isinstance(result, str) else dumps(result)
            value = known_value(result) if len(text) <= longest else None
            if isinstance(value, dict):
                self._known.append(value)
                self.state = hash((self.state, text))
                self._readings = self._informed()

    def _informed(self) -> Readings:
        """The readings for which the results are known, beside those of the host."""
        policy = self.options.policy
        results = policy.tool_results
        results = evolve(results, known=(*results.known, *self._known))
        policy = evolve(policy, tool_results=results)
        return Readings(evolve(self.options, policy=policy))


def _may_be_object(result: Json) -> bool:
    """Whether a result of a tool, or the JSON in it, may be an object."""
    if isinstance(result, str):
        return result.lstrip(_BEFORE_JSON).startswith("{")
    return isinstance(result, dict)
