"""Recorded answers of Gemini CLI's own tests (`*.responses`): a line for each request, its method and its response.

Only the model's side was recorded, so the prompts are empty; what is known of each is the usage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import ROOT, Fidelity, Transcript
from ..wire import Wire
from .builder import Placed, TranscriptBuilder
from .event_log import Ignored
from .formats import Format, Reading, share
from .growing import reported
from .problems import Report
from .responses import response_facts
from .streams import join_stream

GENERATE = ("generateContent", "generateContentStream")
OTHERS = frozenset({"countTokens", "embedContent"})


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are recorded answers."""
    return 0.97 * share(values, _is_answer)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield one transcript with a call for each answer."""
    builder, ignored = TranscriptBuilder("gemini"), Ignored(reading, OTHERS)
    for record in reading.records:
        value, place = record.value, record.place
        if not _is_answer(value):
            expected = "An object with `method` and `response` was expected; it was left out."
            reading.report.broken("this is no recorded answer", expected, place=place)
        elif value["method"] not in GENERATE:
            ignored.add(str(value["method"]), place)
        elif not _call(builder, value["response"], reading.report, place):
            expected = "A response of Gemini, or the chunks of one, was expected; it was left out."
            reading.report.broken("the answer is of no known shape", expected, place=place)
        else:
            reading.report.used()
    counted = ignored.tell()
    if builder.calls:
        meta = {"ignored": counted} if counted else {}
        title, notes = reading.stem or "recorded answers", ["prompts not recorded"]
        yield builder.build(
            title=title, format=reading.report.format or "", source=reading.name, notes=notes, meta=meta
        )


def _call(builder: TranscriptBuilder, answer: Any, report: Report, place: str) -> bool:
    chunks = [chunk for chunk in answer if isinstance(chunk, Mapping)] if isinstance(answer, list) else []
    facts = response_facts(join_stream(chunks) if chunks else answer)
    if facts.dialect != "gemini":
        return False
    named: Wire = {"model": facts.model} if facts.model else {}
    builder.call(
        Placed(builder.head({**named, "contents": []}), ROOT),
        response=facts.message,
        usage=reported(facts, report, place),
        model=facts.model,
        at=facts.at,
        fidelity=Fidelity.PARTIAL,
    )
    return True


def _is_answer(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("method"), str)
        and "response" in value
        and "url" not in value
    )


FORMAT = Format("gemini_recordings", "recorded answers of Gemini CLI", sniff, read)
