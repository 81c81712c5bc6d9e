"""Truncation debt: what the recorded responses used of their prompts and a plan no longer sends.

The recording itself is the truth: no model is asked, nothing is planted. A use is lost when no span that holds it is
sent as it is and no stub or summary in their places repeats it. The figure says what a model could not have looked up
any more; it does not say that the model would have failed, and a name that is still there is not the content behind
it, which is why copied lines are counted beside references.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .loss_details import Gone, LostUse
from .loss_meter import Row, measured
from .reference_classes import ReferenceClass
from .result_spans import RESULTS
from .spans import SpanKind
from .uses import Uses, uses_of

if TYPE_CHECKING:
    from .replay import Replay

LEAST_USED = 20
"""Below this many references used, a share would only look exact."""

_OWN_WORDS = frozenset({SpanKind.ASSISTANT, SpanKind.THINKING, SpanKind.TOOL_CALL})


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many. `value` is None where a share would mislead: too few, or the strategy did nothing."""

    lost: int
    used: int
    value: float | None


class Loss:
    """The loss of a replay: sequences with one value a call, totals, and the list of what was lost."""

    def __init__(self, replay: Replay, uses: Uses, rows: Sequence[Row]) -> None:
        self._replay, self._uses, self._rows = replay, uses, rows

    @property
    def used(self) -> list[int | None]:
        """References that each response used of its prompt; None where the response was not recorded."""
        return self._column(lambda row: row.used)

    @property
    def lost(self) -> list[int | None]:
        """Those of them that the plan no longer sends."""
        return self._column(lambda row: len(row.lost))

    @property
    def retold(self) -> list[int | None]:
        """Those of them that only a stub or a summary still has: a name without its content."""
        return self._column(lambda row: row.retold)

    @property
    def copied(self) -> list[int | None]:
        """Lines that each response took verbatim from its prompt."""
        return self._column(lambda row: row.copied)

    @property
    def copied_lost(self) -> list[int | None]:
        """Those of them that the plan no longer sends."""
        return self._column(lambda row: len(row.copied_lost))

    @property
    def unknown(self) -> int:
        """Calls whose response was not recorded: what they used cannot be told."""
        return self.used.count(None)

    @cached_property
    def did_nothing(self) -> bool:
        """Whether every prompt was sent as it was: then nothing can be said about the strategy."""
        return not any(self._replay.plan(call).changed for call in range(len(self._rows)))

    @property
    def references(self) -> Share:
        """References lost of those used, over all calls."""
        return self._share(sum(len(row.lost) for row in self._rows), sum(row.used for row in self._rows))

    @property
    def lines(self) -> Share:
        """Copied lines lost of those copied, over all calls."""
        return self._share(sum(len(row.copied_lost) for row in self._rows), sum(row.copied for row in self._rows))

    @property
    def by_class(self) -> dict[ReferenceClass, Share]:
        """References lost of those used, for each class that was used."""
        used = Counter(use.kind for found in self._uses.calls for use in found.used)
        lost = Counter(use.kind for row in self._rows for use in row.lost)
        return {kind: self._share(lost[kind], used[kind]) for kind in ReferenceClass if used[kind]}

    @property
    def without_identifiers(self) -> Share:
        """The loss of all classes but identifiers, which code that is written anew shares with its prompt."""
        rest = [share for kind, share in self.by_class.items() if kind is not ReferenceClass.IDENTIFIER]
        return self._share(sum(share.lost for share in rest), sum(share.used for share in rest))

    @property
    def by_span_kind(self) -> dict[SpanKind, int]:
        """How many references were lost, by the kind of the newest span that held them."""
        found = Counter(item.span_kind for item in self.items)
        return {kind: found[kind] for kind in SpanKind if found[kind]}

    @property
    def from_results(self) -> int:
        """References lost whose newest holder was a tool's result."""
        return sum(count for kind, count in self.by_span_kind.items() if kind in RESULTS)

    @property
    def from_own_words(self) -> int:
        """References lost whose newest holder was something that the model itself had written."""
        return sum(count for kind, count in self.by_span_kind.items() if kind in _OWN_WORDS)

    @property
    def recoverable(self) -> int:
        """References lost for which a stub says how they can be had back."""
        return sum(item.recoverable for item in self.items)

    @property
    def distinct(self) -> int:
        """Different references lost; one that is missed in ten calls counts once."""
        return len({use for row in self._rows for use in row.lost})

    @property
    def calls_with_loss(self) -> int:
        """Calls whose response used at least one reference that was lost."""
        return sum(bool(row.lost) for row in self._rows)

    @property
    def first_call(self) -> int | None:
        """The first call with a loss (0-based); None if there is none."""
        return next((call for call, row in enumerate(self._rows) if row.lost), None)

    @cached_property
    def items(self) -> list[LostUse]:
        """Every reference lost, call by call, with the decision that removed it."""
        gone = Gone(self._replay, self._uses)
        return [gone.detail(call, use) for call, row in enumerate(self._rows) for use in row.lost]

    def totals(self) -> dict[str, Any]:
        """Return all totals as plain values for JSON; the same on every run."""
        return {
            "did_nothing": self.did_nothing,
            "used": self.references.used,
            "lost": self.references.lost,
            "share": self.references.value,
            "share_without_identifiers": self.without_identifiers.value,
            "retold": sum(row.retold for row in self._rows),
            "unknown_calls": self.unknown,
            "distinct": self.distinct,
            "recoverable": self.recoverable,
            "from_results": self.from_results,
            "from_own_words": self.from_own_words,
            "calls_with_loss": self.calls_with_loss,
            "first_call": self.first_call,
            "by_class": {str(kind): [share.lost, share.used] for kind, share in self.by_class.items()},
            "by_span_kind": {str(kind): count for kind, count in self.by_span_kind.items()},
            "copied": self.lines.used,
            "copied_lost": self.lines.lost,
            "copied_share": self.lines.value,
        }

    def _column(self, value: Callable[[Row], int]) -> list[int | None]:
        calls = self._replay.transcript.calls
        return [None if made.response is None else value(row) for made, row in zip(calls, self._rows, strict=True)]

    def _share(self, lost: int, used: int) -> Share:
        telling = used >= LEAST_USED and not self.did_nothing
        return Share(lost, used, lost / used if telling else None)


def loss(replay: Replay) -> Loss:
    """Return what a replay's plans lost of what the recorded responses used."""
    uses = uses_of(replay.transcript)
    return Loss(replay, uses, measured(replay, uses))
