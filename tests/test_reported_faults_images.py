"""Pictures: counted by a fixed figure, once, wherever they stand and whatever the texts are counted with."""

from __future__ import annotations

from typing import Any

import pytest

from core.plan import Status
from core.spans import SpanKind
from tests.talks import LISTS, Wire, run, tokens

COUNTERS = (None, "cjk_estimate", "chars4")
FIGURES = {"openai_chat": 765, "openai_responses": 765, "anthropic": 1600, "gemini": 258}
SMALL, LARGE = "QUJD" * 3, "QUJD" * 625_000
"""Pictures of a few bytes, and of 2.5 million characters in base64."""


def chat(data: str) -> Wire:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


def item(data: str) -> Wire:
    return {"type": "input_image", "image_url": f"data:image/png;base64,{data}"}


def block(data: str) -> Wire:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def inline(data: str) -> Wire:
    return {"inlineData": {"mimeType": "image/png", "data": data}}


def chat_called(content: Any) -> list[Wire]:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return [
        {"role": "user", "content": "see"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": content},
    ]


def items_called(output: Any, call: str = "function_call", **more: Any) -> list[Wire]:
    made = {"type": call, "call_id": "c", "name": "look", "arguments": "{}", **more}
    return [{"role": "user", "content": "see"}, made, {"type": f"{call}_output", "call_id": "c", "output": output}]


def blocks_called(content: Any) -> list[Wire]:
    return [
        {"role": "user", "content": "see"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": content}]},
    ]


def contents_called(*parts: Wire) -> list[Wire]:
    answer = {"name": "look", "response": {"output": "found"}, **({"parts": list(parts)} if parts else {})}
    return [
        {"role": "user", "parts": [{"text": "see"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": answer}]},
    ]


def said(*parts: Wire) -> list[Wire]:
    return [{"role": "user", "content": list(parts)}]


TEXT, INPUT_TEXT = {"type": "text", "text": "found"}, {"type": "input_text", "text": "found"}
PLACES: list[Any] = [
    pytest.param("openai_chat", lambda d: said(TEXT, chat(d)), said(TEXT), id="chat: said"),
    pytest.param("openai_chat", lambda d: said(chat(d), TEXT), said(TEXT), id="chat: said before its text"),
    pytest.param("openai_chat", lambda d: chat_called([TEXT, chat(d)]), chat_called([TEXT]), id="chat: in a result"),
    pytest.param("openai_chat", lambda d: chat_called([chat(d)]), chat_called([]), id="chat: the whole result"),
    pytest.param("openai_responses", lambda d: said(INPUT_TEXT, item(d)), said(INPUT_TEXT), id="items: said"),
    pytest.param(
        "openai_responses",
        lambda d: items_called([INPUT_TEXT, item(d)]),
        items_called([INPUT_TEXT]),
        id="items: in a result",
    ),
    pytest.param("openai_responses", lambda d: items_called([item(d)]), items_called(""), id="items: the whole result"),
    pytest.param(
        "openai_responses",
        lambda d: items_called({"type": "computer_screenshot", "image_url": item(d)["image_url"]}, "computer_call"),
        items_called("", "computer_call"),
        id="items: a screenshot",
    ),
    pytest.param(
        "openai_responses",
        lambda d: [*said(INPUT_TEXT), {"type": "image_generation_call", "id": "i", "result": d}],
        [*said(INPUT_TEXT), {"type": "image_generation_call", "id": "i", "result": None}],
        id="items: drawn by the provider",
    ),
    pytest.param("anthropic", lambda d: said(TEXT, block(d)), said(TEXT), id="blocks: said"),
    pytest.param(
        "anthropic", lambda d: blocks_called([TEXT, block(d)]), blocks_called([TEXT]), id="blocks: in a result"
    ),
    pytest.param("anthropic", lambda d: blocks_called([block(d)]), blocks_called([]), id="blocks: the whole result"),
    pytest.param(
        "gemini",
        lambda d: [{"role": "user", "parts": [{"text": "see"}, inline(d)]}],
        [{"role": "user", "parts": [{"text": "see"}]}],
        id="contents: said",
    ),
    pytest.param("gemini", lambda d: contents_called(inline(d)), contents_called(), id="contents: in a result"),
]


@pytest.mark.parametrize("counter", COUNTERS)
@pytest.mark.parametrize(("dialect", "with_picture", "without"), PLACES)
def test_a_picture_counts_its_figure_and_no_character(
    dialect: str, with_picture: Any, without: list[Wire], counter: str | None
) -> None:
    key = LISTS[dialect]
    plain = tokens({key: without}, dialect, counter)
    small, large = (tokens({key: with_picture(data)}, dialect, counter) for data in (SMALL, LARGE))
    assert small - plain == large - plain == FIGURES[dialect]


@pytest.mark.parametrize(("dialect", "with_picture", "without"), PLACES)
def test_a_picture_is_a_span_of_its_own(dialect: str, with_picture: Any, without: list[Wire]) -> None:
    result = run({"model": "m", LISTS[dialect]: with_picture(SMALL)}, dialect, "full_history", None)
    assert result.plan.kinds()[SpanKind.IMAGE] == FIGURES[dialect]
    spans = [span for unit in result.plan.log.units for span in unit.spans]
    assert [span.kind for span in spans].count(SpanKind.IMAGE) == 1
    assert not any(SMALL in span.text for span in spans)


@pytest.mark.parametrize("data", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize(("dialect", "with_picture", "without"), PLACES)
def test_a_large_picture_does_not_set_off_a_strategy(
    dialect: str, with_picture: Any, without: list[Wire], data: str
) -> None:
    body = {"model": "m", LISTS[dialect]: [*with_picture(data), *with_picture(SMALL)]}
    enough = 2 * FIGURES[dialect] + 100
    assert run(body, dialect, "keep_last", enough).status is Status.FITS
    assert run(body, dialect, "summarize_and_keep", enough).request == body


@pytest.mark.parametrize(
    ("url", "kind"), [("https://example.org/a.png", SpanKind.IMAGE), ("data:image/png;base64,QUJD", SpanKind.IMAGE)]
)
def test_where_the_picture_is_kept_makes_no_difference(url: str, kind: SpanKind) -> None:
    body = {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]}
    assert tokens(body, "openai_chat") == 4 + 765
    assert run(body, "openai_chat", "full_history", None).plan.kinds()[kind] == 765


@pytest.mark.parametrize(
    "source",
    [
        {"type": "text", "media_type": "text/plain", "data": "one two three four"},
        {"type": "content", "content": [{"type": "text", "text": "one two three four"}]},
    ],
)
def test_a_document_that_is_sent_as_text_counts_its_text(source: Wire) -> None:
    document = {"type": "document", "source": source}
    alone = {"messages": [{"role": "user", "content": [document]}]}
    held = {"messages": blocks_called([document])}
    assert tokens(alone, "anthropic") == 4 + 5
    assert tokens(held, "anthropic") == tokens({"messages": blocks_called([])}, "anthropic") + 5
