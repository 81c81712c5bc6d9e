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

from .advice_measures import RESULTS, Prompt, as_records
from .chunked_prompt import MOST_PARTS, ChunkedPrompt, obstacle
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


class _Splitter:
    def __init__(self, prompt: Prompt) -> None:
        self.prompt = prompt
        self.base = _base(prompt)
        self.task = _task(prompt)
        self.room = prompt.allowed - self.base - _message(prompt, self.task) - MARGIN
        found = _material(prompt, self.room, self.task)
        self.material = tuple(found) if self.room > LEAST_ROOM else ()

    def work(self) -> Work:
        """Return the units, each counted."""
        grouped = list(self._units())
        total = len(grouped)
        units = tuple(self._counted(*unit, number, total) for number, unit in enumerate(grouped, start=1))
        verdicts = [f"Verdict {number} of {total}, {unit.name}:" for number, unit in enumerate(units, start=1)]
        text = "\n".join([self.task, AGGREGATE, *verdicts])
        aggregator = self.base + _message(self.prompt, text) + VERDICT * total
        return Work(self.prompt.allowed, self.base, units, aggregator, text, self.material, self.room)

    def _counted(self, kind: str, name: str, pieces: Sequence[Piece], number: int, total: int) -> WorkUnit:
        texts = {span.id: span.text for span in self.material}
        body = "\n".join(texts[piece.span_id][piece.start : piece.stop] for piece in pieces)
        text = f"{self.task}\n\n[part {number} of {total}: {name}]\n{body}"
        tokens = self.base + _message(self.prompt, text)
        return WorkUnit(kind, name, tuple(pieces), tokens, tokens <= self.prompt.allowed, text)

    def _units(self) -> Iterator[tuple[str, str, list[Piece]]]:
        """Yield kind, name and pieces of each unit: what belongs together, as far as it has room."""
        groups: dict[tuple[str, str], list[Span]] = {}
        for span in self.material:
            groups.setdefault(self._group(span), []).append(span)
        for (kind, name), spans in groups.items():
            packs = list(self._packed(spans))
            for number, pack in enumerate(packs, start=1):
                yield kind, name if len(packs) == 1 else f"{name} ({number} of {len(packs)})", pack

    def _group(self, span: Span) -> tuple[str, str]:
        if span.kind not in RESULTS:
            return "chunk", f"{span.name} {span.id}"
        path = _path_of(self.prompt, span)
        if path:
            return "file", path
        return (
            ("records", f"{span.name} {span.id}") if as_records(span.text) else ("results", f"results of {span.name}")
        )

    def _packed(self, spans: Sequence[Span]) -> Iterator[list[Piece]]:
        pack: list[Piece] = []
        used = 0
        for span in spans:
            for piece, tokens in self._pieces(span):
                if pack and used + tokens > self.room:
                    yield pack
                    pack, used = [], 0
                pack.append(piece)
                used += tokens
        if pack:
            yield pack

    def _pieces(self, span: Span) -> Iterator[tuple[Piece, int]]:
        """Yield a span whole if there is room, else its records, else its chunks, with their tokens."""
        counter, start = self.prompt.counter, 0
        if counter.count(span.text) <= self.room:
            yield Piece(span.id, 0, len(span.text)), counter.count(span.text)
            return
        for text in _records(span.text) or ChunkPinned(self.room).chunks(span.text, counter):
            yield Piece(span.id, start, start + len(text)), counter.count(text)
            start += len(text)


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
