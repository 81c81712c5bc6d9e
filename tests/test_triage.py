"""Span triage on plain spans, against the rule book's cases; the published program is here only as an oracle."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import ConfigError
from core.rules import Eviction
from core.strategies.triage import TriageSpan, eviction, triage

DATA = json.loads((Path(__file__).parent / "data" / "span_triage_cases.json").read_text(encoding="utf-8"))
CASES = DATA["triage"]


def count(text: str) -> int:
    return max(1, len(text) // 4)


def spans(case: dict[str, Any]) -> list[TriageSpan]:
    return [
        TriageSpan(said["name"], text_of(said["text"]), eviction(said["evict"]), said["priority"])
        for said in case["spans"]
    ]


def text_of(said: Any) -> str:
    return said if isinstance(said, str) else said["repeat"] * said["times"]


def published(known: list[TriageSpan], budget: int) -> dict[str, Any]:
    """The published rules S-P1 to S-P7: stubs are not counted, and stand at the end."""
    total = sum(count(span.text) for span in known)
    candidates = [i for i, span in enumerate(known) if span.evict is not Eviction.PINNED]
    candidates.sort(key=lambda i: (known[i].priority, -count(known[i].text)))
    dropped = []
    while total > budget and candidates:
        dropped.append(candidates.pop(0))
        total -= count(known[dropped[-1]].text)
    kept = [span for i, span in enumerate(known) if i not in dropped]
    stubs = [f"[{known[i].name} omitted: {known[i].evict}]" for i in dropped]
    rendered = "\n\n".join([*(span.text for span in kept), *stubs])
    return {
        "total": total,
        "dropped": [known[i].name for i in dropped],
        "kept": [span.name for span in kept],
        "rendered_tokens": count(rendered),
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_right_result_of_every_case(case: dict[str, Any]) -> None:
    known, right = spans(case), case["right"]
    made = triage(known, case["soft_budget"], count)
    assert made.tokens == right["rendered_tokens"] == count(made.text)
    assert [known[i].name for i in made.dropped] == right["dropped"]
    assert (made.excess > 0) == right["over_budget"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_published_result_is_what_the_case_says(case: dict[str, Any]) -> None:
    made = published(spans(case), case["soft_budget"])
    assert made == {key: case["published"][key] for key in made}


@pytest.mark.parametrize("name", [case["evict"] for case in DATA["invalid"]] + ["", "PINNED", "recoverable "])
def test_an_unknown_class_is_rejected(name: str) -> None:
    with pytest.raises(ConfigError, match="is no eviction class"):
        eviction(name)


def test_a_reconstructible_span_uses_its_summary_where_that_is_smaller() -> None:
    known = [
        TriageSpan("p", "a" * 400, Eviction.PINNED),
        TriageSpan("h", "b" * 400, Eviction.RECONSTRUCTIBLE, 1, summary="short form of h"),
    ]
    made = triage(known, 150, count)
    assert made.text.endswith("\n\nshort form of h")
    assert made.tokens == count("a" * 400 + "\n\nshort form of h") == 104


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_lower_budget_never_sends_more(case: dict[str, Any]) -> None:
    known = spans(case)
    sizes = [triage(known, budget, count) for budget in range(0, 1800, 37)]
    for lower, higher in itertools.pairwise(sizes):
        assert lower.tokens <= higher.tokens or lower.excess > 0
