"""What is sent is what the decisions say, text by text; what stands for others says so, and can be got back."""

from __future__ import annotations

import re
from typing import Any

from core import marks
from core.dialects import dialect as dialect_named
from core.errors import RequestError
from core.marks import SUMMARY
from core.plan import Action
from core.runtime import ContextRuntime, Hints, Result
from core.spans import Span, SpanKind
from tests.engine_bodies import Wire
from tests.engine_values import PUT_IN

NAMED = re.compile(r"(?:\[left out: |\(\d+ lines of .*?, \d+ tokens, )([ms]\d+\.\d+)(?: to ([ms]\d+\.\d+))?")
WRITTEN = (marks.SUMMARY, marks.ROLLING_SUMMARY, marks.TOOL_MENU, marks.CONTEXT)


def check_texts(runtime: ContextRuntime, body: Wire, dialect: str, result: Result, hints: Hints | None) -> None:
    spans = sources(result)
    check_decisions_tell(body, dialect, result, spans)
    check_put_in(result, spans)
    check_restore(runtime, body, result, spans, hints)


def sources(result: Result) -> dict[str, Span]:
    """The spans of the request as it came, in its order."""
    plan = result.plan
    found = [span for span in (plan.fixed.source or plan.fixed).spans if not span.id.startswith("t")]
    found += [span for unit in plan.log.units[: plan.count] for span in (unit.source or unit).spans]
    return {span.id: span for span in found}


def check_decisions_tell(body: Wire, dialect: str, result: Result, spans: dict[str, Span]) -> None:
    """All texts sent, one behind the other, are those of the decisions: what is kept, and what stands for the rest."""
    told, put = [], []
    for made in result.decisions:
        if made.span_id in spans:
            kept = made.action is Action.KEEP
            stands = (made.replacement or "").replace(f"\n{SUMMARY}", SUMMARY)  # two texts for one span, line by line
            told.append((made.span_id, spans[made.span_id].text if kept else stands))
        elif made.replacement is not None:
            put.append(made.replacement)
    head = "".join(text for span_id, text in told if span_id.startswith("s"))
    said = "".join(text for span_id, text in told if span_id.startswith("m"))
    assert everything(result.request, dialect) == head + "".join(put) + said


def everything(body: Wire, dialect: str) -> str:
    """All texts of a body in their order, without tools."""
    spoken = dialect_named(dialect)
    head, messages = spoken.split(body)
    parts = (part for wire in messages for part in spoken.message(wire).parts)
    return "".join([*spoken.system_texts(head), *(part.text for part in parts)])


def check_put_in(result: Result, spans: dict[str, Span]) -> None:
    """What a strategy wrote carries its marker, and tells nothing of what an earlier assembly wrote.

    A stub that stands as a tool's result goes with its call where the exchange is summarised.
    """
    for made in result.decisions:
        text = made.replacement
        if text is None:
            continue
        if made.span_id not in spans:
            assert text.startswith(WRITTEN)
        if text.startswith(WRITTEN) and not marks.is_injected(getattr(spans.get(made.span_id), "text", "")):
            assert PUT_IN not in text, "what was put in before is told again"
        if made.action is Action.SUMMARISE:
            assert marks.is_injected(text)
        span = spans.get(made.span_id)
        exchange = made.action is Action.SUMMARISE and span is not None and span.kind is SpanKind.TOOL_RESULT
        if span is not None and made.action is not Action.KEEP and not exchange:
            assert not marks.is_injected(span.text), "what was put in before is replaced"


def check_restore(
    runtime: ContextRuntime, body: Wire, result: Result, spans: dict[str, Span], hints: Hints | None
) -> None:
    """Every span that a stub or a placeholder names is given back to the letter."""
    places = list(spans)
    for made in result.decisions:
        for first, last in NAMED.findall(made.replacement or ""):
            if first not in spans:
                continue
            name = f"{first} to {last}" if last else first
            named = [spans[at].text for at in places[places.index(first) : places.index(last or first) + 1]]
            if any(named):
                check_given_back(runtime.restore(name, body, hints), named)
            else:
                check_is_told(runtime, name, body, hints)


def check_given_back(text: str, named: list[Any]) -> None:
    if len(named) == 1:
        assert text == named[0]
    place = 0
    for part in named:
        place = text.index(part, place) + len(part)


def check_is_told(runtime: ContextRuntime, name: str, body: Wire, hints: Hints | None) -> None:
    """What has no text (pictures, sealed reasoning) is refused with a sentence, not answered with nothing."""
    try:
        text = runtime.restore(name, body, hints)
    except RequestError as error:
        assert str(error).endswith(".")
    else:
        assert text.strip(), "nothing is given back without a word"
