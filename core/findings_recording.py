"""Findings about the recording itself: what it does not hold, and what its agent fetched twice or never used."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from .branch import Branch
from .calibration import CalibratedCall
from .finding import Finding, Level, calls_by_log, calls_of
from .refetches import made_likelier, refetches
from .replay import Replay
from .result_spans import RESULTS, carried_by_results
from .sent_sizes import sizes_of
from .spans import Span, SpanKind
from .transcript import ROOT
from .uses import uses_of
from .wording import counted

LARGE_SHARE = 0.4
"""From this share of the window on, tool results are what fills it (rule book 1.6)."""
HUGE = 2_000
"""Tokens from which a result that nothing refers to is worth a sentence."""
LEAST_SENT = 3
"""A result that was sent in fewer calls had no time to be used."""

_TRUNCATED = re.compile(r"truncat|compact|cleared|taken out|left out|cut off", re.IGNORECASE)


def captured_truncated(replay: Replay) -> Iterator[Finding]:
    """Find prompts that were already cut when they were recorded: by a compaction, or as the recording notes."""
    transcript = replay.transcript
    shorter = [call for call, made in enumerate(transcript.calls) if made.captured != made.history]
    said = [note for note in transcript.notes if _TRUNCATED.search(note) and "after the last call" not in note]
    said += [f"{key}: {value}" for key, value in sorted(transcript.meta.items()) if _TRUNCATED.search(str(key))]
    if not shorter and not said:
        return
    parts = []
    if shorter:
        first = transcript.calls[shorter[0]]
        parts.append(
            f"{counted(len(shorter), 'recorded prompt')}, first call {shorter[0] + 1}, had been cut before it was sent:"
            f" {counted(_messages(replay, first.captured), 'message')} of {_messages(replay, first.history):,}."
        )
    parts += [f"The recording notes: {'; '.join(said)}."] if said else []
    yield Finding(
        name="captured_truncated",
        level=Level.WARNING,
        sentence=" ".join(parts),
        call=shorter[0] if shorter else None,
        figures={"calls": len(shorter), "notes": len(said)},
    )


def _messages(replay: Replay, last: int) -> int:
    return 0 if last == ROOT else replay.transcript.depths[last] + 1


def counts_drift(replay: Replay) -> Iterator[Finding]:
    """Find reported totals that say that the recorded prompt is not what was sent, or that the reserve is too small."""
    calibration, reserve = replay.calibration, replay.config.budget.reserve_ratio
    if calibration.problem:
        yield Finding(
            name="not_what_was_sent",
            level=Level.WARNING,
            sentence=calibration.problem,
            call=max(calibration.growing, key=lambda call: calibration.calls[call].difference or 0),
            figures={"growth": calibration.growth},
        )
    for model, drift in calibration.by_model.items():
        if drift.reserve_ratio > reserve:
            of_model = [call.model == model for call in replay.transcript.calls]
            rows = [row if own else None for own, row in zip(of_model, calibration.calls, strict=True)]
            yield Finding(
                name="drift_above_margin",
                level=Level.WARNING,
                sentence=f"In 99% of {counted(drift.calls, 'call')}, counts for {model} fall short of the reported"
                f" total by up to {drift.reserve_ratio:.1%}; the reserve is {reserve:.1%}.",
                call=_furthest(rows, lambda row: None if row.surcharge else row.error),
                figures={"reserve_ratio": drift.reserve_ratio, "calls": drift.calls},
            )


def _furthest(rows: Sequence[CalibratedCall | None], value: Callable[[CalibratedCall], float | None]) -> int | None:
    """Return the call with the largest of some values; None if none is known."""
    known = {call: found for call, row in enumerate(rows) if row is not None and (found := value(row)) is not None}
    return max(known, key=known.__getitem__, default=None)


def tool_output_share(replay: Replay) -> Iterator[Finding]:
    """Find a window that tool results fill for the greater part, at its peak."""
    call = max(calls_of(replay), key=replay.calls["sent"].__getitem__, default=None)
    recorded = 0 if call is None else replay.calls["in_window"][call]
    if call is None or not recorded:
        return
    plan, kinds = replay.plan(call), replay.plan(call).kinds()
    units = plan.log.units[: plan.count]
    carried = [span for unit in units for span in carried_by_results(unit)]
    if sum(kinds.get(kind, 0) for kind in RESULTS) + sum(span.tokens for span in carried) < LARGE_SHARE * recorded:
        return
    left = {made.span_id: made.tokens_after for made in plan.decisions}
    tokens = sum(kinds.get(kind, 0) for kind in RESULTS) + sum(left[span.id] for span in carried)
    if tokens < LARGE_SHARE * recorded:
        return
    whole = "what is recorded of " if sizes_of(replay, call).lacks_some(recorded) else ""
    spans = [*(span for unit in units for span in unit.spans if span.kind in RESULTS), *carried]
    largest = sorted(spans, key=lambda span: -left[span.id])[:3]
    yield Finding(
        name="tool_output_share",
        level=Level.NOTICE,
        sentence=f"Tool results are {tokens / recorded:.0%} of {whole}the largest prompt, call {call + 1}; the largest"
        f" of them, {_source(largest[0])}, has {counted(left[largest[0].id], 'token')}.",
        call=call,
        span_ids=tuple(span.id for span in largest if left[span.id]),
        figures={"tokens": tokens, "share": round(tokens / recorded, 4)},
    )


def _source(span: Span) -> str:
    """Return what a result is from; of what stands in one that is no text, what it is."""
    return f"from {span.name}" if span.kind in RESULTS else "an image" if span.kind is SpanKind.IMAGE else "a file"


def fetched_again(replay: Replay) -> Iterator[Finding]:
    """Find results that were fetched again although nothing had changed them."""
    again = [refetch for refetch in refetches(replay.transcript) if refetch.is_reread]
    likelier = made_likelier(replay)
    if not again and not likelier:
        return
    first = (again or likelier)[0]
    said = []
    if again:
        said.append(
            f"{counted(len(again), 'result')} came from fetching the same again with nothing changed in between, first"
            f" by {again[0].tool} in call {again[0].call + 1}."
        )
    if likelier:
        said.append(
            f"Before {counted(len(likelier), 'call')} of the recording that repeat an earlier one, first"
            f" {likelier[0].tool} in call {likelier[0].call + 1}, this strategy had removed the earlier result."
        )
    yield Finding(
        name="fetched_again",
        level=Level.NOTICE,
        sentence=" ".join(said),
        call=first.call,
        span_ids=(first.span_id,),
        figures={"rereads": len(again), "likelier": len(likelier)},
    )


class _Unused(NamedTuple):
    span: Span
    call: int
    sent: int


def never_referenced(replay: Replay) -> Iterator[Finding]:
    """Find huge results that no recorded response names anything of."""
    found = list(_unused(replay))
    if not found:
        return
    worst = max(found, key=lambda one: one.span.tokens * one.sent)
    spent = worst.span.tokens * worst.sent
    yield Finding(
        name="never_referenced",
        level=Level.NOTICE,
        sentence=f"No response names anything of {counted(len(found), 'result')} of {HUGE:,} tokens or more. The"
        f" costliest, {counted(worst.span.tokens, 'token')} of {worst.span.name}, stood in"
        f" {counted(worst.sent, 'prompt')}: {counted(spent, 'token')}.",
        call=worst.call,
        span_ids=(worst.span.id,),
        figures={"results": len(found), "tokens": sum(one.span.tokens * one.sent for one in found)},
    )


def _unused(replay: Replay) -> Iterator[_Unused]:
    """Yield such results, each with the calls of all conversations that send it whole; what a strategy cut costs less.

    A result that was sent in fewer than `LEAST_SENT` calls had no time to be used.
    """
    found: dict[tuple[int, int], _Unused] = {}
    plans = [replay.plan(call) for call in range(len(replay.transcript.calls))]
    whole_from = [plan.whole_from if plan.changed else 0 for plan in plans]
    for place, span, calls in _huge(replay):
        whole = [
            call
            for call in calls
            if span.message >= whole_from[call] or plans[call].remains(span.message, span.id) is None
        ]
        known = found.get(place, _Unused(span, whole[0], 0) if whole else None)
        if known is not None:
            found[place] = known._replace(sent=known.sent + len(whole))
    yield from (one for one in found.values() if one.sent >= LEAST_SENT)


def _huge(replay: Replay) -> Iterator[tuple[tuple[int, int], Span, Sequence[int]]]:
    """Yield the place of each huge result that no response names, its span, and a conversation's calls that have it."""
    uses, branch = uses_of(replay.transcript), Branch(replay.transcript)
    named = {place for call in uses.calls for use in (*call.used, *call.copied) for place in uses.places(use)}
    for calls in calls_by_log(replay):
        plan = replay.plan(calls[-1])
        branch.to(replay.last_message(calls[-1]))
        counts = [replay.plan(call).count for call in calls]
        for index, unit in enumerate(plan.log.units[: plan.count]):
            sent = calls[bisect_right(counts, index) :]
            if not sent or replay.transcript.calls[sent[0]].response is None:
                continue
            for span in (unit.source or unit).spans:
                place = (branch.path[span.message], span.part)
                if span.kind in RESULTS and span.tokens >= HUGE and place not in named:
                    yield place, span, sent
