"""An image that a tool returns is part of what tools gave back, wherever a client puts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.advice import advised
from core.findings import findings
from core.readers import read
from core.readers.builder import TranscriptBuilder
from core.replay import Replay, replay
from core.result_spans import carried_by_results, result_tokens
from core.spans import SpanKind
from core.transcript import Transcript

Wire = dict[str, Any]
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aaaa"}}
DOCUMENT = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "aaaa"}}
TEXT = {"type": "text", "text": "Look at this."}
ASKED = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "shot", "input": {}}]}
LINK = {"url": "data:image/png;base64,aaaa"}


def result(*content: Wire) -> Wire:
    return {"type": "tool_result", "tool_use_id": "c1", "content": list(content)}


def anthropic(*content: Wire) -> Transcript:
    """A run in which the user says something, a tool is called, and these parts come back."""
    said = [{"role": "user", "content": "Go."}, ASKED, {"role": "user", "content": list(content)}]
    return built("anthropic", {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": said})


def built(dialect: str, body: Wire) -> Transcript:
    builder = TranscriptBuilder(dialect)
    builder.call(builder.body(body))
    return builder.build()


def chat() -> Transcript:
    call = {"id": "c1", "type": "function", "function": {"name": "shot", "arguments": "{}"}}
    back = [{"type": "text", "text": "ok"}, {"type": "image_url", "image_url": LINK}]
    said = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": back},
    ]
    return built("openai_chat", {"model": "gpt-4o", "messages": said})


def responses() -> Transcript:
    back = [{"type": "input_image", "image_url": LINK["url"]}]
    items = [
        {"role": "user", "content": "Go."},
        {"type": "function_call", "call_id": "c1", "name": "shot", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": back},
    ]
    return built("openai_responses", {"model": "gpt-4o", "input": items})


def captured(transcript: Transcript, budget: int | None = None) -> Replay:
    return replay(transcript, {"budget": {"soft_limit": budget}, "strategy": {"kind": "as_captured"}})


@pytest.mark.parametrize(
    ("transcript", "kinds"),
    [
        (anthropic(result(TEXT, PICTURE)), ["image"]),
        (anthropic(result(TEXT, DOCUMENT, PICTURE)), ["other", "image"]),
        (anthropic(result(TEXT), PICTURE), ["image"]),
        (anthropic(result(TEXT, PICTURE), TEXT), ["image"]),
        (anthropic(result(TEXT), PICTURE, TEXT), []),
        (anthropic(result(TEXT)), []),
        (anthropic(PICTURE, TEXT), []),
        (chat(), ["image"]),
        (responses(), ["image"]),
    ],
    ids=["in it", "two", "beside it", "in it, said", "said", "none", "no result", "openai_chat", "openai_responses"],
)
def test_what_stands_in_a_result_is_told_from_what_a_user_shows(transcript: Transcript, kinds: list[str]) -> None:
    plan = captured(transcript).plan(0)
    units = plan.log.units[: plan.count]
    carried = [span for unit in units for span in carried_by_results(unit)]
    assert [str(span.kind) for span in carried] == kinds
    texts = [span for unit in units for span in unit.spans if span.kind is SpanKind.TOOL_RESULT]
    assert sum(map(result_tokens, units)) == sum(span.tokens for span in (*texts, *carried))


def test_the_finding_counts_an_image_among_the_results() -> None:
    (finding,) = (
        one for one in findings(captured(anthropic(result(TEXT, PICTURE)))) if one.name == "tool_output_share"
    )
    assert finding.sentence.endswith("the largest of them, an image, has 1,600 tokens.")
    assert finding.figures["tokens"] == 1_600 + 5 and finding.span_ids == ("m2.1", "m2.0")
    shown = captured(anthropic(result(TEXT), PICTURE, TEXT))
    assert "tool_output_share" not in [one.name for one in findings(shown)]


def test_advice_counts_an_image_among_the_results_and_nothing_of_it_as_projected() -> None:
    made = replay(
        anthropic(result(TEXT, PICTURE)), {"budget": {"soft_limit": 1_000}, "strategy": {"kind": "full_history"}}
    )
    found = advised(made)
    assert found is not None
    measured = found.prompt.measured
    assert measured.tool_output == measured.tool_projected == 1_605
    row = next(row for row in found.symptoms if row.name.startswith("jumps after"))
    assert row.seen is True
    assert row.evidence.endswith(
        "the 3 largest have 1,605 tokens; 1,600 of all stand in an image or file, which only the tool can send smaller;"
        f" 3A gives back 0 of the {found.advice.overflow:,} over"
    )


def test_a_recorded_image_is_what_its_tool_returned(transcripts_folder: Path) -> None:
    (transcript,) = read(transcripts_folder / "anthropic-messages/pydantic-image-tool-result.request.json").transcripts
    (finding,) = (one for one in findings(captured(transcript)) if one.name == "tool_output_share")
    assert finding.sentence.startswith("Tool results are 76% of the largest prompt, call 2")
