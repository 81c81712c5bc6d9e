"""How much of what two prompts share is read from the provider's cache: rounding, marked places, lives, and ranges.

What the recording does not hold is told apart throughout: it stands first (hidden tools, a hidden system part), so it
comes before whatever a strategy puts in at the end of the system part. Where it may stand elsewhere, or may have no
marked place at its end, what is read is a range.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from .cache_lives import Lives, lives, pause_between
from .cache_marks import FixedMarks, has_marks, hidden_mark
from .cache_rules import SLACK, CacheRule
from .chains import links_of
from .common_prefix import inner
from .fixed_prefix import head_tokens
from .output_tokens import output_tokens
from .plan import Plan
from .prefix import BREAKS, Cause, Prefix
from .spans import SpanKind
from .transcript import Fidelity
from .unused_cache import unused_caches

if TYPE_CHECKING:
    from .replay import Replay


class Sent(NamedTuple):
    """A call's prompt beside that of the call before on its chain, -1 if there is none.

    `tokens` in all and those `shared` include what the recording does not hold: `hidden` tokens in this prompt, of
    which `repeated` ones are shared and `both` prompts have at least so many. The `prefix` is that of what is recorded.
    """

    call: int
    before: int
    plan: Plan
    rule: CacheRule | None
    tokens: int
    prefix: Prefix
    shared: int
    hidden: int
    both: int
    repeated: int


class Read(NamedTuple):
    """What is read from the cache and written to it, with the range and what explains it."""

    cached: int | None
    written: int | None
    low: int
    high: int
    cause: Cause


class _Reach(NamedTuple):
    """What is read as long as nothing expired."""

    low: int
    likely: int
    high: int


class Mark(NamedTuple):
    """A marked place as the tokens before it, and the mark before."""

    place: int
    before: Mark | None


class CacheReads:
    """Tells what is read, call after call, and keeps the marked places that are still good on each chain."""

    def __init__(self, replay: Replay) -> None:
        self._replay, self._calls = replay, replay.transcript.calls
        self.marks: dict[int, Mark] = {}
        """The last mark of each prompt, by its call; prompts that go on from one share those before."""
        self._marked = has_marks(replay.transcript)
        self._unused = unused_caches(replay.transcript)
        self._fixed_marks = FixedMarks(self._marked)
        self._pauses = replay.shared(("pauses", replay.of_captured), lambda: _pauses(replay))

    def read(self, sent: Sent) -> Read:
        """Return what is read of a prompt; calls are asked for in order."""
        rule, cause = sent.rule, sent.prefix.cause
        if rule is None:
            return Read(None, None, 0, sent.shared, cause)
        if rule.by_marks and not self._marked and self._calls[sent.call].fidelity is Fidelity.CAPTURED:
            return Read(0, 0, 0, 0, cause or Cause.NO_MARKS)
        reach = self._to_mark(sent, rule) if rule.by_marks else self._whole(sent, rule)
        if cause is Cause.FIRST_CALL:
            return Read(None, None, 0, _head(sent, rule), cause)
        made = self._bounded(sent, rule, reach)
        if made.high and rule.provider in self._unused:
            return Read(None, None, 0, made.high, cause if cause in BREAKS else Cause.UNUSED)
        return made

    def _whole(self, sent: Sent, rule: CacheRule) -> _Reach:
        """Return what is read where every prefix is cached.

        Where the recording itself changes the fixed part, hidden tokens may stand after what changed; where its tools
        change, they do, unless they are tools.
        """
        tokens, cause = sent.shared + self._output_before(sent, rule), sent.prefix.cause
        read = low = high = min(rule.rounded(tokens), sent.tokens)
        if sent.both and cause is Cause.TOOLS:
            high = min(rule.rounded(tokens + sent.both), sent.tokens)
        elif sent.both and cause is Cause.SYSTEM and not sent.prefix.by_plan:
            low = rule.rounded(tokens - sent.repeated)
        return _Reach(low, read, high)

    def _output_before(self, sent: Sent, rule: CacheRule) -> int:
        """Return the tokens of the reply before, where it is cached with its prompt and the whole of that repeated."""
        if not rule.with_output or sent.prefix.cause is not Cause.NONE:
            return 0
        before, counter = self._calls[sent.before], self._replay.counter_of(sent.before)
        return output_tokens(self._replay.transcript, before, counter).tokens or 0

    def _to_mark(self, sent: Sent, rule: CacheRule) -> _Reach:
        """Return what is read up to the last marked place that is repeated. Marks are kept without what is hidden."""
        mark, cause = self.marks.get(sent.before), sent.prefix.cause
        while mark is not None and mark.place > sent.prefix.tokens:
            mark = mark.before
        read = mark.place + sent.repeated if mark is not None else 0
        if mark is None or cause is Cause.SYSTEM:
            good = -1 if mark is None else mark.place
            for place in self._fixed_marks.places(sent.plan):
                mark = Mark(place, mark) if place > good else mark
        self.marks[sent.call] = Mark(sent.plan.tokens_after, mark)
        read = read if read >= rule.minimum else 0
        return _Reach(read, read, read) if cause is not Cause.SYSTEM else self._before_change(sent, rule, read)

    def _before_change(self, sent: Sent, rule: CacheRule, read: int) -> _Reach:
        """Return what is read before a system part that changed: up to a mark that the recording shows, or a range.

        Nobody knows whether a host's mark stands before what a strategy puts in, nor whether hidden tools have one.
        """
        if self._marked:
            return _Reach(read, read, read)
        shown = min(self._hidden_mark, sent.repeated)
        shown = shown if shown >= rule.minimum else 0
        if sent.prefix.by_plan:
            return _Reach(min(read, shown), read, read)
        hidden = sent.repeated if sent.repeated >= rule.minimum else 0
        return _Reach(max(read, shown), max(read, shown), max(read, hidden))

    @cached_property
    def _hidden_mark(self) -> int:
        return hidden_mark(self._replay.transcript, self._replay.calibration.not_recorded)

    def _bounded(self, sent: Sent, rule: CacheRule, reach: _Reach) -> Read:
        """Return the prediction with its range: a pause, a human message after thinking."""
        (low, cached, high), cause = reach, sent.prefix.cause
        pause = self._pauses[sent.call]
        kept = lives(self._replay.transcript, rule) if high and rule.life is not None and pause > rule.life else None
        if kept is not None and pause > kept.messages.least:
            fixed = self._to_fixed_mark(sent, rule) if kept.fixed != kept.messages else 0
            (low, cached, high), cause = _after(pause, kept, reach, fixed), cause or Cause.PAUSE
        elif cause is Cause.NONE and not cached:
            cause = Cause.TOO_SHORT
        elif rule.by_marks and cause is Cause.NONE:
            head = _head(sent, rule)
            if cached > head and self._is_after_thinking(sent):
                low, cause = min(head, self._hidden_mark or head), Cause.THINKING
        written = sent.tokens - cached if rule.by_marks and sent.tokens >= rule.minimum else 0
        return Read(cached, written, low, high, cause)

    def _to_fixed_mark(self, sent: Sent, rule: CacheRule) -> int:
        """Return what is read up to the last marked place of the fixed part."""
        places = self._fixed_marks.places(sent.plan)
        read = places[-1] + sent.repeated if places else 0
        return read if read >= rule.minimum else 0

    def _is_after_thinking(self, sent: Sent) -> bool:
        """Return whether a human message is new and the turn before it held thinking."""
        before, after = inner(self._replay.plan(sent.before)), inner(sent.plan)
        if not any(unit.has_user_text for unit in after.log.units[before.count : after.count]):
            return False
        opener = before.log.openers[before.count - 1] if before.count else -1
        found = after.log.kinds.between(max(0, opener), after.count)
        return any(tokens for kind, tokens in found if kind is SpanKind.THINKING)


def _pauses(replay: Replay) -> list[float]:
    """Return the seconds between each call and the one that it goes on from, 0 where they are not known."""
    calls = replay.transcript.calls
    links = links_of(replay.transcript, replay.of_captured, replay.config.model.name)
    pairs = zip(calls, links, strict=True)
    return [(link.before >= 0 and pause_between(calls[link.before], call)) or 0.0 for call, link in pairs]


def _after(pause: float, kept: Lives, reach: _Reach, fixed: int) -> _Reach:
    """Return what a pause (in seconds) leaves; `fixed` tokens may outlive what follows them."""
    low, likely, high = reach
    low = 0 if pause > kept.fixed.least else min(low, fixed)
    if pause > kept.messages.most * SLACK:
        likely, high = min(likely, fixed), min(high, fixed)
    if pause > kept.fixed.most * SLACK:
        likely = high = 0
    return _Reach(low, likely, high)


def _head(sent: Sent, rule: CacheRule) -> int:
    """Return the most that is read where only the fixed part is known to be cached."""
    hidden = sent.hidden if sent.prefix.cause is Cause.FIRST_CALL else sent.repeated
    return rule.rounded(min(head_tokens(sent.plan) + hidden, sent.tokens))
