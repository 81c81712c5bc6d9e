"""A task that no trimming makes fit, split into smaller units of work (leaves 1A and 5A).

The work is what can be looked at piece by piece: tool results and texts too large for one prompt. Each unit is one
call of its own, with the fixed part and the task; an aggregator reads their verdicts only. Units follow the material:
the results of one file, records of a list, numbered chunks of one long text. Every unit has the text that it would be
sent with, and is counted with it. What cannot be split is said, with what to do instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from .advice_measures import Prompt, as_records
from .chunked_prompt import MOST_PARTS, ChunkedPrompt, obstacle
from .result_spans import RESULTS
from .shrinkers import ChunkPinned
from .shrinkers.chunk_pinned import LABEL
from .spans import Span, SpanKind
from .wire import dump

VERDICT = 60
"""Tokens that a unit's verdict may have."""
LEAST_ROOM = 64
"""Tokens below which a unit would hold nothing worth a call."""
MARGIN = 32
"""Tokens kept for the label of a unit."""
AGGREGATE = "Answer the task from the verdicts on its parts alone."


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters `start` to `stop` of one span."""

    span_id: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class WorkUnit:
    """One call: what it looks at, and its tokens as it would be sent."""

    kind: str
    name: str
    pieces: tuple[Piece, ...]
    tokens: int
    fits: bool
    text: str
    """What stands in its prompt for the work: the label and the pieces, after the task where it has one."""


@dataclass(frozen=True)
class Work:
    """A task in units. `aggregator` are the tokens of the last call, which reads the verdicts; `base` what each has.

    `budget` is what the budget leaves to what is recorded: what is not is sent with every unit.
    """

    budget: int
    base: int
    units: tuple[WorkUnit, ...]
    aggregator: int
    aggregator_text: str
    material: tuple[Span, ...]
    room: int
    """Tokens that a unit's own text may have."""
    obstacle: str = ""
    """Why the one text that is too large cannot be split, and what to do instead."""

    @cached_property
    def texts(self) -> dict[str, str]:
        """The texts of the material by span id."""
        return {span.id: span.text for span in self.material}

    def text_of(self, unit: WorkUnit) -> str:
        """Return what a unit looks at."""
        return "".join(self.texts[piece.span_id][piece.start : piece.stop] for piece in unit.pieces)

    @property
    def fits(self) -> bool:
        """Whether every unit and the aggregator fit alone."""
        return all(unit.fits for unit in self.units) and self.aggregator <= self.budget


def split_work(prompt: Prompt, giant: Span | None = None) -> Work:
    """Return a prompt's task in units; with `giant` in numbered chunks of that one span."""
    return _Splitter(prompt).work() if giant is None else _chunked(prompt, giant)


def _chunked(prompt: Prompt, giant: Span) -> Work:
    """Return the calls for the numbered parts of one text, each with the part in the text's own place."""
    why, base = obstacle(prompt, giant), _base(prompt, giant)
    if why:
        return Work(prompt.allowed, base, (), 0, "", (), 0, why)
    calls = ChunkedPrompt(prompt, giant)
    room = prompt.allowed - calls.tokens(calls.label(MOST_PARTS, MOST_PARTS))
    if room <= LEAST_ROOM:
        return Work(prompt.allowed, base, (), 0, "", (), room)
    units, start = [], 0
    for label, chunk in calls.parts(room):
        piece, text = Piece(giant.id, start, start + len(chunk)), label + chunk
        tokens = calls.tokens(text)
        name = label.removeprefix(LABEL).rstrip("\n").removesuffix("]")
        units.append(WorkUnit("chunk", f"part {name}", (piece,), tokens, tokens <= prompt.allowed, text))
        start = piece.stop
    text = "\n".join([AGGREGATE, *(f"Verdict on {unit.name}:" for unit in units)])
    aggregator = base + _message(prompt, text) + VERDICT * len(units)
    return Work(prompt.allowed, base, tuple(units), aggregator, text, (giant,), room)


class _Pack(NamedTuple):
    """The pieces of one unit; `fits` where their tokens say that it will."""

    kind: str
    name: str
    pieces: tuple[Piece, ...]
    fits: bool


class _Splitter:
    def __init__(self, prompt: Prompt) -> None:
        self.prompt = prompt
        self.base = _base(prompt)
        self.task = _task(prompt)
        self.room = prompt.allowed - self.base - _message(prompt, self.task) - MARGIN
        found = _material(prompt, self.room, self.task)
        self.material = tuple(found) if self.room > LEAST_ROOM else ()
        self.texts = {span.id: span.text for span in self.material}
        self.most = 10 ** len(str(sum(map(len, self.texts.values())))) - 1
        """A number as long as any number of units can be: none is without a character of its own."""

    def work(self) -> Work:
        """Return the units, each counted."""
        units = self._fitting()
        total = len(units)
        verdicts = [f"Verdict {number} of {total}, {unit.name}:" for number, unit in enumerate(units, start=1)]
        text = "\n".join([self.task, AGGREGATE, *verdicts])
        aggregator = self.base + _message(self.prompt, text) + VERDICT * total
        return Work(self.prompt.allowed, self.base, units, aggregator, text, self.material, self.room)

    def _fitting(self) -> tuple[WorkUnit, ...]:
        """Return the units, packed anew with less room as long as one that should fit does not.

        Texts are measured one by one, and their tokens need not add up to those of the joined text.
        """
        spare = 0
        while True:
            packs = list(self._packs(spare))
            units = tuple(self._counted(pack, number, len(packs)) for number, pack in enumerate(packs, start=1))
            wrong = [unit.tokens for unit, pack in zip(units, packs, strict=True) if pack.fits and not unit.fits]
            if not wrong:
                return units
            spare += max(wrong) - self.prompt.allowed

    def _counted(self, pack: _Pack, number: int, total: int) -> WorkUnit:
        body = "\n".join(self.texts[piece.span_id][piece.start : piece.stop] for piece in pack.pieces)
        text = f"{self._label(pack.name, number, total)}{body}"
        tokens = self.base + _message(self.prompt, text)
        return WorkUnit(pack.kind, pack.name, pack.pieces, tokens, tokens <= self.prompt.allowed, text)

    def _label(self, name: str, number: int, total: int) -> str:
        return f"{self.task}\n\n[part {number} of {total}: {name}]\n"

    def _packs(self, spare: int) -> Iterator[_Pack]:
        """Yield the pieces of each unit: what belongs together, as far as it has room beside what is kept spare."""
        groups: dict[tuple[str, str], list[Span]] = {}
        for span in self.material:
            groups.setdefault(self._group(span), []).append(span)
        for (kind, name), spans in groups.items():
            packs = list(self._packed(spans, self._room(name) - spare))
            for number, (pieces, fits) in enumerate(packs, start=1):
                yield _Pack(kind, name if len(packs) == 1 else _numbered(name, number, len(packs)), pieces, fits)

    def _room(self, name: str) -> int:
        """Return the tokens that the texts of a unit may have beside its label, however many units there are."""
        label = self._label(_numbered(name, self.most, self.most), self.most, self.most)
        return min(self.room, self.prompt.allowed - self.base - _message(self.prompt, label))

    def _group(self, span: Span) -> tuple[str, str]:
        if span.kind not in RESULTS:
            return "chunk", f"{span.name} {span.id}"
        path = _path_of(self.prompt, span)
        if path:
            return "file", path
        return (
            ("records", f"{span.name} {span.id}") if as_records(span.text) else ("results", f"results of {span.name}")
        )

    def _packed(self, spans: Sequence[Span], room: int) -> Iterator[tuple[tuple[Piece, ...], bool]]:
        """Yield as many pieces at a time as have room, with the line break after each, and whether they do."""
        pieces = [piece for span in spans for piece in self._pieces(span, max(room, LEAST_ROOM))]
        lines = [f"{self.texts[piece.span_id][piece.start : piece.stop]}\n" for piece in pieces]
        pack: list[Piece] = []
        used = 0
        for piece, tokens in zip(pieces, self.prompt.counter.pieces(lines), strict=True):
            if pack and used + tokens > room:
                yield tuple(pack), used <= room
                pack, used = [], 0
            pack.append(piece)
            used += tokens
        if pack:
            yield tuple(pack), used <= room

    def _pieces(self, span: Span, room: int) -> Iterator[Piece]:
        """Yield a span whole if there is room, else its records, else its chunks."""
        counter, start = self.prompt.counter, 0
        if counter.count(f"{span.text}\n") <= room:
            yield Piece(span.id, 0, len(span.text))
            return
        for text in _records(span.text) or ChunkPinned(room - 1).chunks(span.text, counter):
            yield Piece(span.id, start, start + len(text))
            start += len(text)


def _numbered(name: str, number: int, total: int) -> str:
    return f"{name} ({number} of {total})"


def _message(prompt: Prompt, text: str) -> int:
    """Return the tokens of a user message of its own."""
    spoken = prompt.dialect
    return spoken.cost_of_messages([spoken.message(spoken.text_message("user", text))], prompt.counter).total


def _base(prompt: Prompt, giant: Span | None = None) -> int:
    """Return the tokens that every call has: the fixed part and what is pinned, without the text to be split."""
    stays = prompt.log.staying[-1]
    newest = prompt.log.units[prompt.log.last_user] if giant and prompt.log.last_user >= 0 else None
    if newest is not None and not newest.stays:
        stays += newest.tokens
    return prompt.plan.fixed.tokens + stays - (giant.tokens if giant else 0)


def _task(prompt: Prompt) -> str:
    """Return what the newest user message asks, unless that is material itself."""
    if prompt.log.last_user < 0:
        return ""
    spans = [span for span in prompt.log.units[prompt.log.last_user].spans if span.kind is SpanKind.USER]
    room = (prompt.allowed - _base(prompt)) // 2
    return "\n".join(span.text for span in spans if span.tokens <= room)


def _material(prompt: Prompt, room: int, task: str) -> Iterator[Span]:
    for index, unit in enumerate(prompt.log.units):
        for span in unit.spans:
            is_large = span.kind is SpanKind.USER and (
                span.tokens > room or (index == prompt.log.last_user and span.text not in task)
            )
            if (span.kind in RESULTS or is_large) and not unit.stays and span.text:
                yield span


def _path_of(prompt: Prompt, span: Span) -> str:
    """Return the file that a result's call names, "" if none."""
    unit = prompt.log.units[prompt.log.unit_of_message(span.message)]
    calls = [made for made in unit.spans if made.kind is SpanKind.TOOL_CALL and made.call_id == span.call_id]
    try:
        arguments = json.loads(calls[0].text) if calls else None
    except (ValueError, RecursionError):
        return ""
    named = arguments if isinstance(arguments, dict) else {}
    paths = (value for key, value in named.items() if "path" in key.lower() or "file" in key.lower())
    return next((value for value in paths if isinstance(value, str) and value), "")


def _records(text: str) -> list[str] | None:
    """Return the parts of a compact JSON list that end with its records, or None if it is no such list."""
    records = as_records(text)
    if not records or len(records) < 2 or dump(records) != text:
        return None
    parts = [dump(record) for record in records]
    return [f"[{parts[0]}", *(f",{part}" for part in parts[1:-1]), f",{parts[-1]}]"]
