"""The host of a soak: many streams at once, and what each of them has to answer.

`soak` drives one process until the test stops it, closes everything, and gives the
curve of its memory and what was counted; it raises when an answer is another one than
alone. A stream that nobody uses for longer than the idle limit has to be gone, one
that is used within it has to be there; both are known from the times at which messages
were written and answers read, so that a slow machine changes nothing.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from random import Random
from typing import Any

from attrs import define, field, frozen
from process_memory import IS_KNOWN, resident_memory
from rpc_client import RpcClient, message

from fuzz.curve import Sample
from fuzz.plans import Plan, plans, without_made_ids

PLANS = 240
"""Different streams of a soak."""

BATCH = 32
"""Requests that are written before any of their answers is read."""

DEAF_BATCHES = 24
"""Batches that are written before the host reads again, when it is slow."""

DEAF, CANCELLED, ABANDONED = 0.01, 0.02, 0.004
"""How often: per batch, per request."""

EXPIRED = -31001


@define
class _Slot:
    """One of the streams that are open at the same time."""

    name: str
    plan: Plan
    pushed: int = 0
    opened: bool = False
    used: tuple[float, float] = (0.0, 0.0)  # written, answered
    rests: float = 0.0  # until then nobody uses it


@frozen
class Run:
    """What a soak gives."""

    samples: list[Sample]
    counts: dict[str, int]


@define
class _Soak:
    client: RpcClient
    generator: Random
    plans: list[Plan]
    idle: float
    waiting: deque[tuple[int, float, _Slot, str, Any]] = field(factory=deque)
    counts: Counter[str] = field(factory=Counter)
    begun: float = field(factory=time.monotonic)
    samples: list[Sample] = field(factory=list)
    last_id: int = 0

    # What a slot does next

    def step(self, slot: _Slot) -> None:
        """Writes one request of a stream."""
        now = time.monotonic()
        if now < slot.rests:
            return
        done = slot.pushed == len(slot.plan.chunks)
        if not slot.opened:
            slot.opened = True
            params = {"streamId": slot.name, **slot.plan.params}
            self._ask(slot, "stream/open", params, None)
        elif done or self.generator.random() < CANCELLED:
            self._close(slot, "eof" if done else "cancelled")
        else:
            self._push(slot)
            if self.idle and self.generator.random() < ABANDONED:
                slot.rests = now + 1.2 * self.idle

    def _push(self, slot: _Slot) -> None:
        count = self.generator.choice((1, 1, 1, 2, 4))
        chunks = slot.plan.chunks[slot.pushed : slot.pushed + count]
        events = slot.plan.events[slot.pushed : slot.pushed + count]
        slot.pushed += len(chunks)
        params = {"streamId": slot.name, "chunks": chunks}
        self._ask(
            slot, "stream/push", params, [each for some in events for each in some]
        )

    def _close(self, slot: _Slot, reason: str) -> None:
        expected = slot.plan.closed(slot.pushed, reason)
        params = {"streamId": slot.name, "reason": reason}
        self._ask(slot, "stream/close", params, expected)
        self.counts[reason] += 1
        self._renew(slot)

    def _renew(self, slot: _Slot) -> None:
        slot.plan = self.generator.choice(self.plans)
        slot.pushed, slot.opened, slot.rests = 0, False, 0.0

    # Both ends

    def _ask(self, slot: _Slot, method: str, params: Any, expected: Any) -> None:
        self.last_id += 1
        now = time.monotonic()
        self.client.send(message(method, params, id=self.last_id))
        self.waiting.append((self.last_id, now, slot, method, expected))
        self.counts["requests"] += 1

    def read(self) -> None:
        """Reads and compares all answers."""
        while self.waiting:
            number, written, slot, method, expected = self.waiting.popleft()
            answer = self.client.read()
            assert answer["id"] == number
            self._compare(slot, written, method, expected, answer)

    def _compare(
        self, slot: _Slot, written: float, method: str, expected: Any, answer: Any
    ) -> None:
        now = time.monotonic()
        if "error" in answer:
            self._gone(slot, written, answer["error"])
            return
        result = without_made_ids(answer["result"])
        if method == "stream/push":
            assert result["events"] == expected, "a push gave other events"
        elif method == "stream/close":
            assert result["events"] == expected["events"], "a close gave other events"
            assert result["message"] == expected["message"], "another message"
        if method != "stream/open" and self.idle:
            late = written - slot.used[1] > self.idle
            assert not late, "a stream that was idle for too long is there"
        slot.used = written, now

    def _gone(self, slot: _Slot, written: float, error: Any) -> None:
        """The stream expired, which is right only if nobody used it."""
        assert error["code"] == EXPIRED, error
        assert self.idle
        assert time.monotonic() - slot.used[0] >= self.idle, "it expired too early"
        if slot.opened:
            self.counts["expired"] += 1
            self._renew(slot)

    def sample(self) -> None:
        """Memory, about once a second."""
        now = time.monotonic() - self.begun
        if IS_KNOWN and (not self.samples or now - self.samples[-1].seconds >= 1):
            resident = resident_memory(self.client.process.pid)
            self.samples.append(Sample(now, resident))


def soak(
    streams: int,
    seed: int,
    *,
    idle_ms: int,
    continues: Callable[[], bool],
    count: int = PLANS,
    deaf: float = DEAF,
) -> Run:
    """Runs until ``continues()`` is False; AssertionError when an answer differs.

    ``count``: of how many plans a stream follows one; ``deaf``: how often, per batch,
    the host stops reading for a while.
    """
    generator = Random(seed)
    with RpcClient() as client:
        client.initialize(limits={"maxStreams": streams, "idleTimeoutMs": idle_ms})
        run = _Soak(client, generator, plans(seed, count), idle_ms / 1000)
        slots = [
            _Slot(f"s{number}", generator.choice(run.plans))
            for number in range(streams)
        ]
        while continues():
            _round(run, slots, deaf)
        _end(run, slots)
        client.end_input()
        assert client.wait() == 0
        assert client.stderr() == ""
    return Run(run.samples, dict(run.counts))


def _round(run: _Soak, slots: list[_Slot], chance: float) -> None:
    """Every stream has its turn, in any order."""
    run.generator.shuffle(slots)
    deaf = 0
    for start in range(0, len(slots), BATCH):
        if not deaf and run.generator.random() < chance:
            deaf = DEAF_BATCHES
            run.counts["deaf"] += 1
        for slot in slots[start : start + BATCH]:
            run.step(slot)
        deaf = max(0, deaf - 1)
        if not deaf:
            run.read()
            run.sample()
    run.read()


def _end(run: _Soak, slots: list[_Slot]) -> None:
    """Closes what is open; then nothing is."""
    for slot in slots:
        if slot.opened:
            run._close(slot, "eof")
    run.read()
    streams = run.client.request("sidecar/stats")["streams"]
    assert streams["open"] == 0
    assert streams["opened"] == streams["closed"] + streams["expired"]
    run.counts["streams"] = streams["opened"]
