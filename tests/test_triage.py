"""Span triage: the rules on plain texts against the rule book's cases, and the strategy against those rules.

The published program is here only as an oracle.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ConfigError
from core.plan import Status
from core.rules import Eviction
from core.runtime import ContextRuntime
from tests.plain_triage import STUB, TriageSpan, triage

DATA = json.loads((Path(__file__).parent / "data" / "span_triage_cases.json").read_text(encoding="utf-8"))
CASES = DATA["triage"]
NEWEST = "last"
"""The newest user message stays, whatever the budget: a text of one token."""


def count(text: str) -> int:
    return max(1, len(text) // 4)


def as_one_text(texts: Sequence[str]) -> int:
    return count("\n\n".join(texts))


def each(texts: Sequence[str]) -> int:
    return sum(count(text) for text in texts if text)  # an empty message costs nothing


def spans(case: dict[str, Any]) -> list[TriageSpan]:
    return [
        TriageSpan(said["name"], text_of(said["text"]), Eviction(said["evict"]), said["priority"])
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
    made = triage(known, case["soft_budget"], as_one_text)
    assert made.tokens == right["rendered_tokens"] == as_one_text(made.texts)
    assert [known[i].name for i in made.dropped] == right["dropped"]
    assert (made.excess > 0) == right["over_budget"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_published_result_is_what_the_case_says(case: dict[str, Any]) -> None:
    made = published(spans(case), case["soft_budget"])
    assert made == {key: case["published"][key] for key in made}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_lower_budget_never_sends_more(case: dict[str, Any]) -> None:
    known = spans(case)
    sizes = [triage(known, budget, as_one_text) for budget in range(0, 1800, 37)]
    for lower, higher in itertools.pairwise(sizes):
        assert lower.tokens <= higher.tokens or lower.excess > 0


@pytest.mark.parametrize("name", [case["evict"] for case in DATA["invalid"]] + ["", "PINNED", "recoverable "])
def test_an_unknown_class_is_rejected(name: str) -> None:
    with pytest.raises(ConfigError) as raised:
        ContextRuntime.load({"rules": [{"evict": name}], "strategy": {"kind": "span_triage"}})
    assert raised.value.key == "rules.0.evict"


def as_message(at: int, span: TriageSpan) -> TriageSpan:
    """A text as a message that a rule can name by its first character; extracts have tests of their own."""
    evict = Eviction.PINNED if span.evict is Eviction.PINNED else Eviction.RECOVERABLE
    return TriageSpan(
        ("user", "assistant")[at % 2], mark(at) + span.text[1:] if span.text else "", evict, span.priority
    )


def mark(at: int) -> str:
    return chr(0x4E00 + at)


def check_strategy(texts: Sequence[TriageSpan], budget: int) -> None:
    """The strategy drops what the rules drop, and sends as much, where each text is a message of its own."""
    known = [as_message(at, span) for at, span in enumerate(texts)]
    messages = [{"role": one.name, "content": one.text} for one in known]
    rules = [
        {"match": {"pattern": f"^{mark(at)}"}, "priority": one.priority, "evict": one.evict}
        for at, one in enumerate(known)
    ]
    config = {
        "model": {"dialect": "openai_chat"},
        "counter": {"kind": "chars4"},
        "budget": {"soft_limit": budget},
        "rules": rules,
        "strategy": {"kind": "span_triage", "merge_stubs": False, "stub": STUB},
    }
    result = ContextRuntime.load(config).assemble({"messages": [*messages, {"role": "user", "content": NEWEST}]})
    newest = TriageSpan("user", NEWEST, Eviction.PINNED)
    made = triage([*known, newest], budget, each)
    assert [wire["content"] for wire in result.request["messages"]] == list(made.texts)
    assert (result.tokens_after, result.excess) == (made.tokens, made.excess)
    assert (result.status is Status.FITS) is not bool(made.dropped or made.excess)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_strategy_follows_the_rules_in_every_case(case: dict[str, Any]) -> None:
    known = spans(case)
    whole = each([one.text for one in known]) + 1
    for budget in sorted({0, case["soft_budget"], case["soft_budget"] + 1, whole - 1, whole, *range(0, whole, 97)}):
        check_strategy(known, budget)


SPANS = st.lists(
    st.builds(
        TriageSpan,
        st.just(""),
        st.integers(1, 90).map(lambda times: "abcd" * times),
        st.sampled_from([Eviction.RECOVERABLE, Eviction.RECOVERABLE, Eviction.PINNED]),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=9,
)


@given(SPANS, st.integers(0, 700))
def test_the_strategy_follows_the_rules_on_any_texts(known: list[TriageSpan], budget: int) -> None:
    check_strategy(known, budget)
