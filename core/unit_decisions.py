"""One decision a span, for a unit that is sent or that texts stand for.

Tokens after are given to single spans, so that those of all decisions add up to what is sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .decisions import Action, Decision, Edit, Fate, Replacement, Run
from .spans import Span, SpanKind
from .units import Unit
from .wording import counted

UNTOUCHED_PART = "a part of the message that is not touched"
NOT_SMALLER = "kept whole: nothing smaller could stand for it"
STAYS = "pinned, or a system message"


def kept(unit: Unit, edit: Edit | None, run: Run) -> Iterator[Decision]:
    """Decide on a unit that is sent, as it is or with other texts in some of its spans."""
    reason, setting = run.reason, run.setting
    if run.fate is not Fate.KEEP:
        reason, setting = (STAYS, "rules") if unit.stays else (NOT_SMALLER, run.setting)
    if edit is None:
        for span in unit.spans:
            yield Decision(span.id, Action.KEEP, reason, setting, span.tokens, span.tokens)
        return
    for span, cost in zip(unit.spans, edit.costs, strict=True):
        if span.id in edit.texts:
            text = edit.texts[span.id]
            yield Decision(span.id, Action.STUB, edit.reason, edit.setting, span.tokens, cost, text)
        else:
            yield Decision(span.id, Action.KEEP, UNTOUCHED_PART, edit.setting, span.tokens, cost)


def replaced(unit: Unit, replacement: Replacement, run: Run) -> Iterator[Decision]:
    """Give each text to the first span of its role, or of all: the tokens after add up to those of the texts.

    A text that stands for several spans says so, with the tokens that they had.
    """
    given: dict[str, list[tuple[str, int]]] = {}
    stands: dict[str, list[Span]] = {}
    for role, text, tokens in replacement.texts:
        spans = [span for span in unit.spans if span.role == role] or unit.spans
        given.setdefault(spans[0].id, []).append((text, tokens))
        whole = unit.spans if len(replacement.texts) == 1 else told_by(unit, role)
        stands.setdefault(spans[0].id, []).extend(whole)
    reason = f"{run.reason}; {replacement.why}" if replacement.why else run.reason
    for span in unit.spans:
        texts = given.get(span.id, [])
        said, tokens = "\n".join(text for text, _ in texts), sum(tokens for _, tokens in texts)
        why = reason + _together(unit, stands.get(span.id, ()))
        yield Decision(span.id, Action.SUMMARISE, why, run.setting, span.tokens, tokens, said if texts else None)


def told_by(unit: Unit, role: str) -> list[Span]:
    """Return the spans of which a summary of a role tells: what the user said, or all the rest."""
    said = [span for span in unit.spans if span.role == "user" and span.kind is not SpanKind.TOOL_RESULT]
    return said if role == "user" else [span for span in unit.spans if span not in said]


def source_tokens(unit: Unit, spans: Sequence[Span]) -> int:
    """Return the tokens of some spans as they came, before any shrinker."""
    wanted = {span.id for span in spans}
    return sum(span.tokens for span in (unit.source or unit).spans if span.id in wanted)


def _together(unit: Unit, spans: Sequence[Span]) -> str:
    if len(spans) < 2:
        return ""
    return f"; one text for {counted(len(spans), 'span')} of {counted(source_tokens(unit, spans), 'token')}"
