"""What other texts tell of the uses that stood in a span: found once a text, and the same for every plan."""

from __future__ import annotations

import pytest

from core import stand_ins
from core.branch import Place
from core.reference_classes import ReferenceClass
from core.stand_ins import MOST_TEXTS, StandIns, stand_ins_of
from core.transcript import Transcript
from core.uses import uses_of
from core.watched_texts import LINE, Use
from tests.runs import result, run, says, user, uses

LINE_TEXT = "return order.net_sum + order.tax_sum"
FILE = Use(ReferenceClass.PATH, "shop/prices.py")
NAME = Use(ReferenceClass.IDENTIFIER, "total_price")


def recorded() -> Transcript:
    return run(
        [
            user("Fix shop/prices.py."),
            uses("c1", "read_file", path="shop/prices.py"),
            result("c1", f"def total_price(order):\n    {LINE_TEXT}\n"),
            says(f"In shop/prices.py, total_price says:\n    {LINE_TEXT}\n"),
        ]
    )


def made() -> StandIns:
    return stand_ins_of(transcript := recorded(), uses_of(transcript))


def test_the_uses_that_stand_in_the_spans_of_a_message() -> None:
    spans = made().spans(2)
    assert list(spans) == [Place(2, 0)]
    assert NAME in spans[Place(2, 0)] and Use(LINE, LINE_TEXT) in spans[Place(2, 0)] and FILE not in spans[Place(2, 0)]
    assert FILE in made().spans(0)[Place(0, 0)]
    assert not made().spans(99)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", set()),
        ("Nothing of note.", set()),
        ("It defines total_price.", {NAME}),
        ("It defines total\\_price.", {NAME}),  # spelled as Markdown does
        ("It defines total_prices.", set()),
        (f"def total_price\n  {LINE_TEXT}  ", {NAME, Use(LINE, LINE_TEXT)}),
        ("shop/prices.py", set()),  # that did not stand in this span
    ],
)
def test_what_a_text_tells_of_a_span(text: str, told: set[Use]) -> None:
    found = set(made().told(Place(2, 0), text))
    assert found & {NAME, FILE, Use(LINE, LINE_TEXT)} == told


def test_a_text_is_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    known, place = made(), Place(2, 0)
    first = known.told(place, "total_price")
    monkeypatch.setattr(stand_ins, "stands_in", lambda *_: pytest.fail("It is known."))
    assert known.told(place, "total_price") is first


def test_what_is_remembered_of_a_span_is_bounded() -> None:
    known, place = made(), Place(2, 0)
    for number in range(3 * MOST_TEXTS):
        assert known.told(place, f"total_price {number}") == {NAME}
    assert len(known._told[place]) == MOST_TEXTS


def test_a_transcript_has_one() -> None:
    transcript = recorded()
    assert stand_ins_of(transcript, uses_of(transcript)) is stand_ins_of(transcript, uses_of(transcript))
