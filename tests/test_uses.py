"""What a response used of its prompt, and where that stands."""

from __future__ import annotations

import pytest

from core.copied_lines import LONGEST_REMEMBERED, lines_of
from core.uses import uses_of
from tests.runs import run, says, user

REPEATED = [
    ("10 March 2026, so by 10 March", ["2026-03-10"]),
    ("10 March, and not 11 March 2026", ["--03-10", "2026-03-11"]),
    ("order.net_sum is net_sum", ["net_sum"]),
    ("order.net_sum", ["order.net_sum"]),
]


@pytest.mark.parametrize(("answer", "expected"), REPEATED)
def test_what_a_response_says_twice_is_one_use(answer: str, expected: list[str]) -> None:
    asked = "10 March 2026 or 11 March 2026? order.net_sum"
    (call,) = uses_of(run([user(asked), says(answer)])).calls
    assert [use.form for use in call.used] == expected


def test_terms_are_found_in_each_text_that_has_them() -> None:
    messages = [
        user("《密室》 和 《火焰杯》"),
        says("《火焰杯》"),
        user("plain"),
        says("《密室》、《混血王子》"),
        user("《混血王子》 密室"),
        says("《混血王子》、《密室》、《凤凰社》"),
    ]
    found = uses_of(run(messages))
    assert [[use.form for use in call.used] for call in found.calls] == [
        ["火焰杯"],
        ["密室"],
        ["混血王子", "密室"],
    ]
    assert {use.form: [place.node for place in found.places(use)] for call in found.calls for use in call.used} == {
        "火焰杯": [0, 1],
        "密室": [0, 3, 4, 5],
        "混血王子": [3, 4, 5],
    }


@pytest.mark.parametrize("filler", ["", "x = 1\n" * LONGEST_REMEMBERED])
def test_lines_are_compared_without_what_stands_before_them(filler: str) -> None:
    line = "return order.net_sum + order.tax_sum"
    text = f"    {line}\n17: {line}\n- {line} \nshort\n{'=' * 40}\n"
    assert lines_of(filler + text) == (line,)


def test_an_address_without_a_host_is_read() -> None:
    (call,) = uses_of(run([user("Open file:///srv/app/log.txt"), says("I opened file:///srv/app/other.txt")])).calls
    assert [use.form for use in call.used] == ["/srv/app"]
