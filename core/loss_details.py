"""Which decision took a lost reference away, when it did so first, and whether it can be had back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .branch import Branch
from .decisions import Action
from .intervals import intervals
from .normal_text import arguments_text, normal
from .reference_texts import SPELLED, text_of
from .spans import Span, SpanKind
from .uses import Uses
from .watched_texts import Use

if TYPE_CHECKING:
    from .plan import Plan
    from .replay import Replay


@dataclass(frozen=True, slots=True)
class LostUse:
    """A reference that a response used and its plan did not send.

    `form` is what it is looked for by, `text` how the newest span that held it spells it: that is what people read.
    `held_by` are the ids of all spans that held it, the newest first. `span_id` is the newest of them, `action`,
    `reason` and `setting` are of the decision on it, and `since` is the first call (0-based) for which it was not sent
    as it is.
    """

    call: int
    kind: Any
    form: str
    text: str
    span_id: str
    span_kind: SpanKind
    action: Action
    reason: str
    setting: str
    since: int
    recoverable: bool
    held_by: tuple[str, ...]


class Gone:
    """Looks up the spans that lost uses stood in."""

    def __init__(self, replay: Replay, uses: Uses) -> None:
        self._replay, self._uses = replay, uses
        self._branch = Branch(replay.transcript)
        self._since: dict[tuple[int, str, int], int] = {}
        self._texts: dict[tuple[Span, Use], str] = {}

    def detail(self, call: int, use: Use) -> LostUse:
        """Return where a use that was lost in a call had stood, and what became of it."""
        plan = self._replay.plan(call)
        self._branch.to(self._replay.last_message(call))
        places = self._branch.newest_first(self._uses.places(use))
        spans = [(self._branch.path[message], message, f"m{message}.{part}") for message, part in places]
        spans += [(-1, -1, span_id) for span_id in self._uses.head_spans(self._head(call), use)]
        node, message, span_id = spans[0]
        span, decision = _recorded(plan, message, span_id), plan.decision(message, span_id)
        return LostUse(
            call=call,
            kind=use.kind,
            form=use.form,
            text=self._text(span, use),
            span_id=span_id,
            span_kind=span.kind,
            action=decision.action,
            reason=decision.reason,
            setting=decision.setting,
            since=self._first_gone(node, message, span_id, call),
            recoverable=any(_names(plan.remains(at, held), held) for _, at, held in spans),
            held_by=tuple(held for _, _, held in spans),
        )

    def _text(self, span: Span, use: Use) -> str:
        """Return how a span spells a use: mostly as it is looked for. The same one is often lost in many calls."""
        if use.kind not in SPELLED or use.form in span.text:
            return use.form
        key = (span, use)
        if key not in self._texts:
            read = arguments_text if span.kind is SpanKind.TOOL_CALL else normal
            self._texts[key] = text_of(use, read(span.text))
        return self._texts[key]

    def _head(self, call: int) -> int:
        return self._replay.transcript.calls[call].head

    def _first_gone(self, node: int, message: int, span_id: str, last: int) -> int:
        key = (node, span_id, self._head(last) if node < 0 else -1)
        if key not in self._since:
            calls = (call for call in range(last + 1) if self._has(call, last, node))
            self._since[key] = next(c for c in calls if self._replay.plan(c).remains(message, span_id) is not None)
        return self._since[key]

    def _has(self, call: int, last: int, node: int) -> bool:
        """Whether a call's prompt has the message `node`; for the fixed part, whether it is that of the call `last`."""
        if node < 0:
            return self._head(call) == self._head(last)
        return intervals(self._replay.transcript).holds(node, self._replay.last_message(call))


def _recorded(plan: Plan, message: int, span_id: str) -> Span:
    """Return a span as it was before shrinkers."""
    part: Any = plan.fixed if message < 0 else plan.log.units[plan.log.unit_of_message(message)]
    found: Span = next(span for span in (part.source or part).spans if span.id == span_id)
    return found


def _names(text: str | None, span_id: str) -> bool:
    """Whether a stub names the span, alone or in a stretch (`m2.0 to m4.1`), so that it can be asked for."""
    if not text:
        return False
    at = _place(span_id)
    stretches = _STRETCH.findall(text)
    return span_id in _SPAN_ID.findall(text) or any(_place(first) <= at <= _place(last) for first, last in stretches)


_SPAN_ID = re.compile(r"(?<![\w.])(?:[ms]\d+\.\d+|t\d+)(?![\w]|\.\d)")
_STRETCH = re.compile(r"(?<![\w.])(m\d+\.\d+) to (m\d+\.\d+)(?![\w]|\.\d)")


def _place(span_id: str) -> tuple[int, ...]:
    return tuple(map(int, span_id[1:].split("."))) if span_id.startswith("m") else ()
