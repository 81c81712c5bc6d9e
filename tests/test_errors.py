"""Whatever cannot be done is told by an error of this product's own, as a sentence, and by none of Python's."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from core.advice import advised
from core.errors import MissingError, PromptInspectorError
from core.export import exported
from core.readers.builder import TranscriptBuilder
from core.replay import replay
from storage.capture import Refused, exchange_of
from tests.advice_runs import chat, history

AT = datetime(2026, 3, 14, tzinfo=UTC)


@pytest.mark.parametrize("call", [20, 99, -1, -20])
def test_advice_for_a_call_that_is_not_there(call: int) -> None:
    with pytest.raises(MissingError) as raised:
        advised(history(chat(20), 500), call)
    assert str(raised.value) == (
        f"There is no call with the index {call}: the transcript has 20 calls."
        " Give one from 0 to 19, or none for the worst."
    )


def test_advice_where_there_is_no_call_at_all_or_no_limit_is_none() -> None:
    assert advised(history(TranscriptBuilder("openai_chat").build(), 500), 3) is None
    assert advised(history(chat(20), None), 19) is None


def test_an_export_of_nothing() -> None:
    with pytest.raises(MissingError) as raised:
        exported([], AT)
    assert str(raised.value).startswith("There is no replay to export: give ")


REFUSED: list[Callable[[], object]] = [
    lambda: exchange_of([]),
    lambda: exchange_of({}),
    lambda: exchange_of({"request": {}, "session": 5}),
    lambda: exchange_of({"request": {}, "hints": {"pins": 5}}),
    lambda: exchange_of({"request": {}, "at": "yesterday"}),
    lambda: replay(chat(1), {"strategy": {"kind": "none"}}),
    lambda: replay(chat(1), "{"),
    lambda: exported([], AT),
    lambda: advised(history(chat(1), 5), 1),
]


@pytest.mark.parametrize("call", REFUSED)
def test_the_text_of_every_error_is_its_sentence(call: Callable[[], object]) -> None:
    with pytest.raises(PromptInspectorError) as raised:
        call()
    text = str(raised.value)
    assert text[0] not in "(['" and text.endswith(".")


def test_a_refused_capture_has_its_status_beside_its_sentence() -> None:
    with pytest.raises(Refused) as raised:
        exchange_of({"request": 5})
    assert (raised.value.status, str(raised.value)) == (
        400,
        "The field 'request' is a number; an object was expected.",
    )
