"""The figures at the head of a transcript, each with the word for what it counts: entered, in window, billed.

What a recording does not report stays unknown; it is never shown as 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.advice_sizes import Sizes, unrecorded_parts
from core.engine import counter_of
from core.replay import Replay
from core.sent_sizes import sizes_of
from core.spans import SpanKind
from core.tokens import Counter, Exactness
from core.transcript import Fidelity, Transcript
from core.wording import counted


class FixedParts(NamedTuple):
    """Which parts of what every call carries are recorded."""

    system: bool = False
    tools: bool = False


_PARTS = {
    FixedParts(system=True, tools=True): "system and tools",
    FixedParts(system=True): "system only",
    FixedParts(tools=True): "tools only",
    FixedParts(): "no system, no tools",
}


@dataclass(frozen=True, slots=True)
class Figures:
    """Tokens of a whole transcript; None where the recording reports nothing.

    `missing` is about what the provider counted beyond a recorded prompt, between `least_missing` and `most_missing`;
    below 0 these say that counts were too high. `peak_call` has the largest prompt with what is not recorded of it,
    `peak_sent`; `peak` is the largest one as recorded.
    `floor` is corrected like `peak_sent` where its call was counted too high; `counted_floor` is not.
    `floor_holds` says which parts of it are recorded; `floor_lacks_some`, that the recording lacks any of the others.
    """

    peak: int
    peak_call: int
    entered: int
    floor: int
    smallest_floor: int
    counted_floor: int
    billed: int | None
    billed_calls: int
    cached: int | None
    missing: int | None
    least_missing: int = 0
    most_missing: int = 0
    peak_sent: int = 0
    floor_holds: FixedParts = FixedParts()
    floor_lacks_some: bool = False
    partly: str = ""
    """In how many of the calls `missing` was reported; "" where it was in all or in none."""


def figures(captured: Replay) -> Figures:
    """Return the figures of a transcript, from its replay as captured."""
    calls, sent = captured.transcript.calls, captured.calls["sent"]
    counts = [captured.plan(call).fixed.tokens for call in range(len(calls))]
    floors, holds = _as_sent(counts, captured), _fixed_parts(captured)
    inputs = [call.usage.input for call in calls if call.usage.input is not None]
    cached = [call.usage.cache_read for call in calls if call.usage.cache_read is not None]
    beyond = [tokens for tokens in captured.calls["not_recorded"] if tokens is not None]
    return Figures(
        peak=max(captured.calls["in_window"], default=0),
        peak_call=max(range(len(sent)), key=sent.__getitem__, default=0),
        entered=sum(captured.calls["entered"]),
        floor=max(floors, default=0),
        smallest_floor=min(floors, default=0),
        counted_floor=max(counts, default=0),
        billed=sum(inputs) if inputs else None,
        billed_calls=len(inputs),
        cached=sum(cached) if cached else None,
        missing=captured.calibration.hidden,
        least_missing=min(beyond, default=0),
        most_missing=max(beyond, default=0),
        peak_sent=max(sent, default=0),
        partly=partly_reported(captured),
        floor_holds=holds,
        floor_lacks_some=_lacks_fixed_parts(captured, any(holds)),
    )


def _as_sent(counts: Sequence[int], captured: Replay) -> list[int]:
    """Return parts of prompts, one a call, less their share of a count that was too high: no part exceeds the whole."""
    whole = zip(captured.calls["in_window"], captured.calls["sent"], strict=True)
    return [
        part * sent // recorded if sent < recorded else part
        for part, (recorded, sent) in zip(counts, whole, strict=True)
    ]


def _fixed_parts(captured: Replay) -> FixedParts:
    """Return which parts of what every call carries are recorded in any call."""
    parts = [captured.plan(call).fixed for call in range(len(captured.transcript.calls))]
    spans = [span for part in {id(part): part for part in parts}.values() for span in part.spans]
    defined = [span.kind is SpanKind.TOOL_DEFINITION for span in spans]
    return FixedParts(system=not all(defined), tools=any(defined))


def _lacks_fixed_parts(captured: Replay, has_some: bool) -> bool:
    """Whether the system prompt or tools of a recording are known to be missing."""
    if unrecorded_parts(captured.transcript.notes):
        return True
    if has_some or not captured.transcript.calls:
        return False
    beyond = sizes_of(captured, 0).unseen(captured.calls["in_window"][0], has_fixed_part=False)
    return bool(beyond) or fidelity(captured.transcript) == Fidelity.PARTIAL


def floor_told(found: Figures) -> tuple[str, str]:
    """Return the fixed floor, and what it is the size of; what a recording lacks has some size that nobody knows."""
    holds, lacks = found.floor_holds, found.floor_lacks_some
    if lacks and not any(holds):
        return "not recorded", "neither system nor tools"
    varies = f"from {found.smallest_floor:,}" if found.smallest_floor != found.floor else ""
    if lacks:
        return f"at least {found.floor:,}", ", ".join(filter(None, (_PARTS[holds], varies)))
    return f"{found.floor:,}", varies or _PARTS[holds]


def counter_used(replay: Replay) -> Counter:
    """Return the counter of a replay's texts."""
    head = replay.transcript.heads[0] if replay.transcript.heads else {}
    return counter_of(replay.config, head.get("model"))


def exactness(replay: Replay) -> str:
    """Return the sentence that says how far the figures may be trusted."""
    counter = counter_used(replay)
    if counter.exactness is Exactness.EXACT:
        texts = f"Texts are counted exactly ({_encoding(counter)})"
    else:
        texts = f"Texts are an estimate ({_encoding(counter)}{_why(counter)})"
    frames = "frames, tools and images by formula" if counter.frames else "without frames"
    return f"{texts}; {frames}."


def corrected(found: Figures) -> str:
    """Return the sentence on bars whose counts are too high, "" if there are none."""
    return " A line in a bar: so much was reported, less than counted." if found.least_missing < 0 else ""


def lines_told(found: Figures, sizes: Sizes) -> str:
    """Return the sentence on what is sent beside the lines of strategies, which see what is recorded; "" if nothing."""
    if found.missing:
        recorded = " Lines and the soft limit are about what is recorded, which is all that a strategy sees."
        return f"{recorded} Sent beside it, in tokens a call: {missing_told(found)}."
    if sizes.is_unknown:
        return f" Lines are what is recorded{sizes.beside}."
    return " Lines are as counted; the provider reported less." if found.least_missing < 0 else ""


def _encoding(counter: Counter) -> str:
    kind, *rest = counter.key.split(":")
    if kind != "tiktoken":
        return kind
    name, scale = rest
    return name if float(scale) == 1.0 else f"{name} × {float(scale):g}"


def _why(counter: Counter) -> str:
    return ", the model's own encoding is not known" if counter.key.startswith("tiktoken") else ""


def fidelity(transcript: Transcript) -> str:
    """Return how far the prompts of a transcript can be trusted to be what was sent: the least of its calls."""
    found = {call.fidelity for call in transcript.calls}
    return next((str(level) for level in reversed(list(Fidelity)) if level in found), "no calls")


def partly_reported(captured: Replay) -> str:
    """Return in how many calls the provider's count was reported, in words; "" where it was in all or in none."""
    rows = captured.calibration.calls
    reported = sum(row.reported is not None for row in rows)
    return f"reported in {reported:,} of {counted(len(rows), 'call')}" if 0 < reported < len(rows) else ""


def missing_range(least: int, most: int, partly: str = "") -> str:
    """Return between which tokens that are not recorded the calls lie; counts that were too high hide nothing.

    `partly` says in how many calls that was reported, if not in all: nobody knows that the others have the same.
    """
    if most <= 0 and least < 0:
        return f"counts are {_between(-most, -least)} too high"
    return (partly or "the same in every call") if least == most else f"{_between(least, most)} a call"


def _between(least: int, most: int) -> str:
    return (f"{least:,}" if least == most else f"{least:,} to {most:,}").replace("-", "−")


def missing_told(found: Figures) -> str:
    """Return how much is not recorded: exactly where all calls have the same, else roughly; "unknown" if it is."""
    if found.missing is None:
        return "unknown"
    known = found.least_missing == found.most_missing or not found.missing
    return f"{found.missing:,}" if known else f"about {about(found.missing)}"


def about(tokens: int) -> str:
    """Return a number of tokens rounded to two digits, as what is only known roughly is written."""
    digits = max(0, len(str(tokens)) - 2)
    return f"{round(tokens, -digits):,}"
