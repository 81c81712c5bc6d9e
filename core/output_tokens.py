"""How many tokens a reply has: what the provider reported, or what the recorded reply counts.

Some recordings keep the figure of a stream's first event. A reported figure far below the recorded reply is not used:
the larger one is, with a mark.
"""

from __future__ import annotations

from dataclasses import dataclass

from .dialects import PartKind, dialect
from .dialects.base import Part
from .tokens import Counter, Exactness
from .transcript import Call, Transcript
from .wire import Wire

TOO_LOW = 0.6
"""A reported figure below this share of the counted one is a wrong one: formulas and scales err by less."""


@dataclass(frozen=True, slots=True)
class Output:
    """The tokens of a reply, None if nothing is known; where they come from; whether the reported ones were too low."""

    tokens: int | None
    exactness: Exactness | None
    reported_too_low: bool = False

    @property
    def is_not_reported(self) -> bool:
        """Whether the tokens are counted because nothing was reported."""
        return self.tokens is not None and self.exactness is not Exactness.REPORTED and not self.reported_too_low


def output_tokens(transcript: Transcript, call: Call, counter: Counter) -> Output:
    """Return the output tokens of a call: reported ones, unless far fewer than the recorded reply counts."""
    known: dict[tuple[int, str], tuple[Call, Output]] = transcript.memo.setdefault("output_tokens", {})
    key = (id(call), counter.key)
    if key not in known:
        known[key] = (call, _output(transcript, call, counter))  # kept, so that no other call can take its identity
    return known[key][1]


def _output(transcript: Transcript, call: Call, counter: Counter) -> Output:
    reported = call.usage.output
    counted = None if call.response is None else _counted(transcript, call.response, counter)
    if reported is None:
        return Output(counted, None if counted is None else _estimated(counter))
    if counted is not None and reported < TOO_LOW * counted:
        return Output(counted, _estimated(counter), reported_too_low=True)
    return Output(reported, Exactness.REPORTED)


def _estimated(counter: Counter) -> Exactness:
    return Exactness.FORMULA if counter.exactness is Exactness.EXACT else Exactness.ESTIMATE


def _counted(transcript: Transcript, response: Wire, counter: Counter) -> int:
    """Count a reply as its parts have it, without frames: texts, and names and arguments of calls."""
    parts = dialect(transcript.dialect).message(response).parts
    return sum(counter.count(text) for part in parts for text in _texts(part) if text)


def _texts(part: Part) -> tuple[str, ...]:
    return (part.name, part.text) if part.kind is PartKind.TOOL_CALL else (part.text,)
