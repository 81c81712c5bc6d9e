"""Why a predicted cache read is not the reported one, worked out from what the recording holds and never guessed.

A miss is taken apart. What the provider's own figures for the call before would have predicted is off by what the
provider did: a pause, a prefix that broke, an older prefix that was read. What our counts make of that call is off by
what they did not know: how much the prompt grew beyond its count, what was neither read nor written, another length
of the reply. What no part accounts for stands as not explained, with its size.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from .cache import Break, CachedCall
from .cache_rules import CacheRule
from .output_tokens import output_tokens
from .prefix import Cause
from .tokens import Exactness, TiktokenCounter
from .wording import counted

if TYPE_CHECKING:
    from .replay import Replay

NO_RULE = "no rule is known for this provider"
FEWEST = 16
"""Tokens of a miss that need no reason of their own beside a larger one: frames come and go with them."""


@dataclass(frozen=True, slots=True)
class Reads:
    """One call's cache reads in tokens, as reported and as predicted, with what the predictions were made of.

    `before` is the call that it goes on from; where the model changed, the one before it.
    `whole` is what is read after the usage of the call before if nothing broke; `by_usage` as far as it held.
    """

    call: int
    before: int
    sent: int
    reported: int
    row: CachedCall
    rule: CacheRule | None
    whole: int | None
    by_usage: int | None


class Misses:
    """The causes of the misses of a recording."""

    def __init__(self, captured: Replay) -> None:
        self._replay, self._calls, self._rows = captured, captured.transcript.calls, captured.calibration.calls
        self._known_left: dict[CacheRule, _ByFigure] = {}

    def of_usage(self, reads: Reads) -> str:
        """Return why the prediction from the usage of the call before misses; "" if it does not."""
        if reads.by_usage is None:
            return self._unknown(reads) or _too_little(reads)
        return "; ".join(self._of_provider(reads, reads.by_usage))

    def of_counts(self, reads: Reads, predicted: int | None) -> str:
        """Return why the prediction from the call before as counted, without its report, misses."""
        if predicted is None:
            return self._unknown(reads) or f"call {reads.before + 1} goes on from no reported call"
        return self._of_both(reads, predicted, self._grown(reads.before))

    def of_replay(self, reads: Reads) -> str:
        """Return why the prediction of the replay misses."""
        if reads.row.cached is None:
            return self._unknown(reads) or "nothing is likelier within the range"
        return self._of_both(reads, reads.row.cached, self._shrunk(reads))

    def _unknown(self, reads: Reads) -> str:
        if reads.rule is None:
            return NO_RULE
        return self._broke(reads) if reads.row.cause is not Cause.NONE else ""

    def _of_both(self, reads: Reads, predicted: int, parts: Iterator[tuple[int, str]]) -> str:
        """Return what the provider did, then what the counts did not know."""
        if predicted == reads.reported:
            return ""
        if reads.by_usage is None:
            return "; ".join(self._of_provider(reads, predicted))
        if reads.by_usage == reads.reported == 0 and self._outside(reads) == self._calls[reads.before].usage.input:
            return f"call {reads.before + 1} read and wrote nothing of the cache"
        if self._is_understated(reads):
            return "; ".join(_accounted(reads, reads.reported - predicted, [*parts, *self._of_reply(reads)]))
        said = list(self._of_provider(reads, reads.by_usage))
        made = _accounted(reads, reads.by_usage - predicted, [*parts, *self._of_reply(reads)], alone=not said)
        return "; ".join([*said, *made])

    def _is_understated(self, reads: Reads) -> bool:
        """Whether more was read than the call before reports as cached, and not more than it sent."""
        sent = self._calls[reads.before].usage.input
        is_more = reads.whole is not None and reads.whole == reads.by_usage and reads.whole < reads.reported
        return bool(is_more and reads.rule and reads.rule.by_marks and sent and reads.reported <= sent)

    def _of_provider(self, reads: Reads, predicted: int) -> Iterator[str]:
        """Yield what the provider did otherwise than its rule says."""
        missing = reads.reported - predicted
        if not missing:
            return
        block = reads.rule.block if reads.rule else 1
        if self._is_understated(reads):
            yield f"call {reads.before + 1} reports {counted(missing, 'token')} fewer as cached than were read"
        elif reads.row.cause is not Cause.NONE:
            yield self._broke(reads)
            yield from self._beside(reads)
        elif found := self._older(reads) or self._with_reply(reads):
            yield found
        elif block > 1 and abs(missing) <= block:
            yield f"one block of {block}"
        elif reads.reported:
            yield f"not explained: {_more(missing)} than the call before had left"
        else:
            yield f"not explained: nothing was read of {counted(predicted, 'token')}"

    def _beside(self, reads: Reads) -> Iterator[str]:
        """Yield where a figure lies that a known cause leaves open."""
        if older := self._older(reads):
            yield older
        if not reads.row.low <= reads.reported <= reads.row.high:
            yield f"outside of the range of {reads.row.low:,} to {reads.row.high:,}"

    def _with_reply(self, reads: Reads) -> str:
        """Return whether the reply of the call before was cached, against the provider's rule; "" if it is the rule."""
        usage, rule = self._calls[reads.before].usage, reads.rule
        if rule is None or rule.by_marks or usage.input is None or not usage.output:
            return ""
        least, most = rule.rounded(usage.input), rule.rounded(usage.input + usage.output)
        if not least <= reads.reported <= most or reads.reported == (most if rule.with_output else least):
            return ""
        return f"the reply of call {reads.before + 1} was {'not cached whole' if rule.with_output else 'cached too'}"

    def _broke(self, reads: Reads) -> str:
        """Return the cause that the replay knows, with what it was seen by."""
        row = reads.row
        if row.cause is Cause.PAUSE:
            before, after = self._calls[reads.before].at, self._calls[reads.call].at
            assert before is not None and after is not None
            return f"a pause of {counted(round((after - before).total_seconds()), 'second')}"
        if row.breaks:
            found = self._breaks.get(reads.call)
            at = f" at {found.span_id}" if found is not None and found.span_id else ""
            return f"the prompt repeats {counted(row.prefix, 'token')} of the one before: {row.cause}{at}"
        return str(row.cause)

    def _older(self, reads: Reads) -> str:
        """Return which earlier call had left or read exactly so much; "" if none had."""
        if not reads.reported or reads.rule is None:
            return ""
        call = _newest(self._left(reads.rule), reads.reported, reads.before)
        if call is not None:
            return f"as much as call {call + 1} had left in the cache"
        call = _newest(self._read, reads.reported, reads.before + 1)
        return "" if call is None else f"no more than call {call + 1} had read"

    def _left(self, rule: CacheRule) -> _ByFigure:
        """Return which calls left which figure in the cache by a rule, made once for each."""
        if rule not in self._known_left:
            self._known_left[rule] = _by_figure(rule.after(call.usage) for call in self._calls)
        return self._known_left[rule]

    @cached_property
    def _read(self) -> _ByFigure:
        return _by_figure(call.usage.cache_read for call in self._calls)

    @cached_property
    def _breaks(self) -> dict[int, Break]:
        return {one.call: one for one in self._replay.cache.breaks}

    @cached_property
    def _reported(self) -> list[int]:
        """The calls with a reported prompt, in order."""
        return [call for call, row in enumerate(self._rows) if row.reported is not None]

    def _grown(self, call: int) -> Iterator[tuple[int, str]]:
        """Yield by how much a call's report grew beyond its count, which a prediction before the report cannot know."""
        row = self._rows[call]
        if row.reported is None or row.expected is None:
            return
        short = row.reported - row.expected
        what = f"{counted(abs(short), 'token')} {'more' if short > 0 else 'less'} than counted"
        if row.counted_as is not Exactness.ESTIMATE:
            yield short, f"call {call + 1} has {what} and not recorded before"
            return
        bound = self._estimate_error(call)
        known = "" if bound is None else f", of which the estimate of its texts explains {bound:,} at most"
        yield short, f"call {call + 1} grew by {what}{known}"

    def _estimate_error(self, call: int) -> int | None:
        """Return how many tokens of a call's growth the counter's factor may miss, by the range of the fitted one."""
        model, counter = self._calls[call].model, self._replay.counter_of(call)
        found = self._replay.calibration.by_model.get(model or "")
        if found is None or found.scale is None or found.counter is None or not isinstance(counter, TiktokenCounter):
            return None
        place = bisect_left(self._reported, call) - 1
        before = self._rows[self._reported[place]].counted if place >= 0 else 0
        grown = abs(self._rows[call].counted - before)
        off = max(abs(limit / counter.scale - 1) for limit in (found.scale.low, found.scale.high))
        return min(round(off * grown), abs((self._rows[call].reported or 0) - (self._rows[call].expected or 0)))

    def _shrunk(self, reads: Reads) -> Iterator[tuple[int, str]]:
        """Yield by how much less is not recorded of this call: a replay takes no more of it for repeated.

        A count of the call before that was too high is taken off whole, however high that of this one is.
        """
        before, after = self._rows[reads.before].not_recorded, self._rows[reads.call].not_recorded
        if before is None or after is None or before <= max(0, after):
            return
        fewer = before - max(0, after)
        here = f"in call {reads.call + 1} than in call {reads.before + 1}"
        yield fewer, f"what is not recorded is {counted(fewer, 'token')} less {here}"

    def _outside(self, reads: Reads) -> int | None:
        """Return the tokens of the call before that were neither read nor written; None where that is not reported."""
        usage = self._calls[reads.before].usage
        if usage.input is None or usage.cache_read is None or usage.cache_write is None:
            return None
        return usage.input - usage.cache_read - usage.cache_write

    def _of_reply(self, reads: Reads) -> Iterator[tuple[int, str]]:
        """Yield what of the call before was not cached, and another length of its reply."""
        rule, usage = reads.rule, self._calls[reads.before].usage
        if rule is None or usage.input is None:
            return
        if self._is_understated(reads):
            left = usage.input - reads.reported
            yield -left, f"{counted(left, 'token')} of call {reads.before + 1} not read again"
        elif rule.by_marks and (outside := self._outside(reads)):
            yield -outside, f"{counted(outside, 'token')} of call {reads.before + 1} neither read nor written"
        if rule.with_output and usage.output is not None:
            before, counter = self._calls[reads.before], self._replay.counter_of(reads.before)
            taken = output_tokens(self._replay.transcript, before, counter).tokens
            if taken is not None and taken != usage.output:
                reply = f"the reply of call {reads.before + 1} has {counted(taken, 'token')}, {usage.output:,} reported"
                yield usage.output - taken, reply


_ByFigure = Mapping[int, Sequence[int]]
"""The calls of each figure, in order."""


def _by_figure(figures: Iterable[int | None]) -> _ByFigure:
    found: dict[int, list[int]] = {}
    for call, figure in enumerate(figures):
        if figure is not None:
            found.setdefault(figure, []).append(call)
    return found


def _newest(calls: _ByFigure, figure: int, stop: int) -> int | None:
    """Return the newest call of a figure before the call `stop`."""
    known = calls.get(figure, ())
    place = bisect_left(known, stop)
    return known[place - 1] if place else None


def _accounted(reads: Reads, missing: int, parts: list[tuple[int, str]], *, alone: bool = True) -> Iterator[str]:
    """Yield the parts that account for what is missing, the largest first, and what is left.

    Small parts are told only `alone`, where nothing else is said.
    """
    if not missing:
        return
    parts = sorted((part for part in parts if part[0]), key=lambda part: -abs(part[0]))
    large = [part for part in parts if abs(part[0]) >= FEWEST] or (parts[:1] if alone else [])
    yield from (said for _, said in large)
    block = reads.rule.block if reads.rule else 1
    left = missing - sum(tokens for tokens, _ in parts)
    if abs(left) > max(FEWEST, block):
        yield f"not explained: {_more(left)}"
    elif alone and not large:
        yield f"one block of {block}" if block > 1 else f"not explained: {_more(left)}"


def _too_little(reads: Reads) -> str:
    return f"call {reads.before + 1} reports too little of its usage"


def _more(tokens: int) -> str:
    return f"{counted(abs(tokens), 'token')} {'more' if tokens > 0 else 'fewer'}"
