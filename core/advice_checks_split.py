"""Checks of the leaves that make several calls of one: 1A and 5A (rule book 1.5)."""

from __future__ import annotations

import re
from itertools import pairwise

from .advice_sizes import Sizes
from .advice_trial import Check, Trial
from .shrinkers.chunk_pinned import LABEL
from .wording import counted
from .work_units import LEAST_ROOM, Work

SHORTEST_RAW = 20
"""Characters; a shorter text may stand in a task by chance."""

# Leaf 1A: chunk and label, on the parts as they would be sent, one a call


def chunks_cover(trial: Trial) -> Check:
    """Check that the parts that would be sent make up the text without gap or overlap."""
    name, work, giant = "chunks cover the text without gap or overlap", trial.work, trial.prompt.largest_pinned
    if work is None or giant is None or not work.units:
        return Check(name, False, _why_none(work, trial.prompt.sizes))
    sent = "".join(unit.text.partition("\n")[2] for unit in work.units)
    why = f"{counted(len(work.units), 'part')} of {giant.name}, {counted(len(sent), 'character')}"
    return Check(name, sent == giant.text, why if sent == giant.text else f"{why} of {len(giant.text):,}")


def numbering_complete(trial: Trial) -> Check:
    """Check that the labels of the parts that would be sent count from 1 to N."""
    name, work = "numbering k of N complete", trial.work
    if work is None or not work.units:
        return Check(name, False, _why_none(work, trial.prompt.sizes))
    found = [re.match(rf"{re.escape(LABEL)}(\d+) of (\d+) of ", unit.text) for unit in work.units]
    numbers = [(int(label[1]), int(label[2])) for label in found if label]
    wanted = [(number, len(work.units)) for number in range(1, len(work.units) + 1)]
    return Check(name, numbers == wanted and len(numbers) > 1, counted(len(numbers), "numbered part"))


def fields_named(trial: Trial) -> Check:
    """Check that it is said what each part has to carry on; whether a model does is not in a recording."""
    shrink = trial.played.config.shrink if trial.played is not None else ()
    fields = [name for made in shrink for name in getattr(made, "fields", ())]
    why = f"{', '.join(fields)}: present or null in each answer cannot be told before a model has answered"
    if not fields:
        why = "name in `shrink.fields` what each part has to carry on; a recording does not tell"
    return Check("every named field present or null", None, why)


def raw_text_absent(trial: Trial) -> Check:
    """Check that no call holds the whole giant text."""
    name, work, giant = "the raw text is absent", trial.work, trial.prompt.largest_pinned
    if work is None or giant is None or not work.units:
        return Check(name, False, _why_none(work, trial.prompt.sizes))
    whole = [unit.name for unit in work.units if giant.text in unit.text]
    parts = counted(len(work.units), "part")
    why = f"{whole[0]} is the whole text" if whole else f"of {parts} no call holds more than one"
    return Check(name, not whole, why)


# Leaf 5A: a smaller unit of work


def units_partition(trial: Trial) -> Check:
    """Check that the units hold all of the work, each part once."""
    return _partition("units partition the work", trial.work, trial.prompt.sizes)


def _partition(name: str, work: Work | None, sizes: Sizes) -> Check:
    if work is None or not work.material:
        return Check(name, False, _why_none(work, sizes))
    pieces: dict[str, list[tuple[int, int]]] = {}
    for unit in work.units:
        for piece in unit.pieces:
            pieces.setdefault(piece.span_id, []).append((piece.start, piece.stop))
    for span in work.material:
        edges = sorted(pieces.get(span.id, []))
        joined = all(before[1] == after[0] for before, after in pairwise(edges))
        if not edges or not joined or (edges[0][0], edges[-1][1]) != (0, len(span.text)):
            return Check(name, False, f"{span.id} is not covered once and whole")
    return Check(
        name,
        True,
        f"{counted(len(work.units), 'unit', 'holds', 'hold')} {counted(len(work.material), 'text')}, each part once",
    )


def _why_none(work: Work | None, sizes: Sizes) -> str:
    if work is not None and work.obstacle:
        return work.obstacle
    if work is not None and work.room <= LEAST_ROOM:
        return f"what every call carries, {sizes.of_budget(work.base)}, leaves no room for a unit"
    return "there is nothing that could be split: no tool result and no large text"


def each_unit_fits(trial: Trial) -> Check:
    """Check that every unit fits alone."""
    units = trial.work.units if trial.work else ()
    over = [unit for unit in units if not unit.fits]
    largest = max((unit.tokens for unit in units), default=0)
    sizes = trial.prompt.sizes
    why = f"the largest has {sizes.of_budget(largest)}"
    why = f"{over[0].name} has {sizes.of_budget(over[0].tokens)}" if over else why
    why = why if units else (trial.work and trial.work.obstacle) or "there is no unit"
    return Check("each unit alone fits", bool(units) and not over, why)


def aggregator_fits(trial: Trial) -> Check:
    """Check that the call that reads the verdicts fits and holds no raw text of a unit."""
    work = trial.work
    if work is None or not work.units:
        why = (work and work.obstacle) or "there is no unit to aggregate"
        return Check("aggregator fits and holds no raw text", False, why)
    texts = ((unit.name, work.text_of(unit).strip()) for unit in work.units)
    raw = [name for name, text in texts if len(text) > SHORTEST_RAW and text in work.aggregator_text]
    sizes = trial.prompt.sizes
    why = f"the aggregator repeats {raw[0]}" if raw else f"the aggregator has {sizes.of_budget(work.aggregator)}"
    fits = sizes.fits(work.aggregator)
    return Check("aggregator fits and holds no raw text", fits and not raw, why)
