"""Checks of the leaves that make several calls of one: 1A and 5A (rule book 1.5)."""

from __future__ import annotations

import re
from itertools import pairwise

from .advice_trial import Check, Trial
from .shrinkers import ChunkPinned
from .shrinkers.chunk_pinned import LABEL
from .spans import SpanKind
from .wording import counted
from .work_units import LEAST_ROOM, Work

SHORTEST_RAW = 20
"""Characters; a shorter text may stand in a task by chance."""

# Leaf 1A: chunk and label


def chunks_cover(trial: Trial) -> Check:
    """Check that the numbered parts cover the text without gap or overlap."""
    return _partition("chunks cover the text without gap or overlap", trial.work)


def numbering_complete(trial: Trial) -> Check:
    """Check that the labels count from 1 to N."""
    giant, shrinkers = trial.prompt.largest_pinned, [made.shrinker() for made in trial.config.shrink]
    sizes = [made.max_tokens for made in shrinkers if isinstance(made, ChunkPinned)]
    if giant is not None and giant.kind is SpanKind.TOOL_DEFINITION:
        why = f"a tool definition cannot be numbered: describe {giant.name!r} in fewer words"
        return Check("numbering k of N complete", False, why)
    if giant is None or not sizes:
        return Check("numbering k of N complete", False, "nothing was numbered")
    text = ChunkPinned(sizes[0]).labelled(giant.text, giant.name, trial.prompt.counter)
    labels = re.findall(rf"{re.escape(LABEL)}(\d+) of (\d+) of ", text)
    complete = [int(number) for number, _ in labels] == list(range(1, len(labels) + 1))
    complete = complete and all(int(total) == len(labels) for _, total in labels)
    return Check("numbering k of N complete", complete and len(labels) > 1, counted(len(labels), "part"))


def fields_named(trial: Trial) -> Check:
    """Check that it is said what each part has to carry on; whether a model does is not in a recording."""
    fields = [name for made in trial.config.shrink for name in getattr(made, "fields", ())]
    why = f"{', '.join(fields)}: present or null in each answer cannot be told before a model has answered"
    if not fields:
        why = "name in `shrink.fields` what each part has to carry on; a recording does not tell"
    return Check("every named field present or null", None, why)


def raw_text_absent(trial: Trial) -> Check:
    """Check that the giant text itself is not sent any more."""
    giant = trial.prompt.largest_pinned
    sent = giant is not None and trial.plan.remains(giant.message, giant.id) is None
    why = (
        "the labels made the one prompt larger, so it is sent as it was: send one part a call" if sent else "it is not"
    )
    return Check("the raw text is absent", not sent, why)


# Leaf 5A: a smaller unit of work


def units_partition(trial: Trial) -> Check:
    """Check that the units hold all of the work, each part once."""
    return _partition("units partition the work", trial.work)


def _partition(name: str, work: Work | None) -> Check:
    if work is None or not work.material:
        return Check(name, False, _why_none(work))
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


def _why_none(work: Work | None) -> str:
    if work is not None and work.room <= LEAST_ROOM:
        return f"what every call carries, {work.base:,} of {counted(work.budget, 'token')}, leaves no room for a unit"
    return "there is nothing that could be split: no tool result and no large text"


def each_unit_fits(trial: Trial) -> Check:
    """Check that every unit fits alone."""
    units = trial.work.units if trial.work else ()
    over = [unit for unit in units if not unit.fits]
    largest = max((unit.tokens for unit in units), default=0)
    why = (
        f"{over[0].name} has {counted(over[0].tokens, 'token')}"
        if over
        else f"the largest has {counted(largest, 'token')}"
    )
    why = why if units else "there is no unit"
    return Check("each unit alone fits", bool(units) and not over, why)


def aggregator_fits(trial: Trial) -> Check:
    """Check that the call that reads the verdicts fits and holds no raw text of a unit."""
    work = trial.work
    if work is None or not work.units:
        return Check("aggregator fits and holds no raw text", False, "there is no unit to aggregate")
    texts = ((unit.name, work.text_of(unit).strip()) for unit in work.units)
    raw = [name for name, text in texts if len(text) > SHORTEST_RAW and text in work.aggregator_text]
    fits = work.aggregator <= work.budget
    why = f"it repeats {raw[0]}" if raw else f"{work.aggregator:,} of {counted(work.budget, 'token')}, verdicts only"
    return Check("aggregator fits and holds no raw text", fits and not raw, why)
