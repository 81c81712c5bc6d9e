"""What shrinkers leave is smaller as it is sent, and the status says that something was changed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.runtime import ContextRuntime
from core.shrinkers.project_tool_results import two_ends

NOTES = "# Rules\n1. Be brief always.\n2. Cite sources always.\n\n<examples>\nQ: a\n</examples>\nEnd"
ROWS = json.dumps([{"id": number} for number in range(40)], indent=2)
LINES = "line\n" * 400


def body(*results: str, model: str = "gpt-4o") -> dict[str, Any]:
    ids = [f"c{number}" for number in range(len(results))]
    calls = [{"id": name, "type": "function", "function": {"name": "read", "arguments": "{}"}} for name in ids]
    answers = [{"role": "tool", "tool_call_id": name, "content": text} for name, text in zip(ids, results, strict=True)]
    step = [{"role": "assistant", "content": None, "tool_calls": calls}, *answers]
    return {"model": model, "messages": [{"role": "user", "content": "a"}, *step, {"role": "user", "content": "b"}]}


def assembled(request: dict[str, Any], limit: int | None = None, **settings: Any) -> Any:
    settings.setdefault("strategy", {"kind": "full_history"})
    return ContextRuntime.load({"budget": {"soft_limit": limit}, **settings}).assemble(request)


def size(request: dict[str, Any]) -> int:
    return int(assembled(request).tokens_before)


CAP = {"rules": [{"match": {"kind": "tool_result"}, "max_tokens": 30}]}
PROJECT = {"shrink": [{"kind": "project_tool_results", "max_tokens": 30}]}
MASK_ALL = {"strategy": {"kind": "mask_tool_results", "keep": 0, "trigger": 0}}
MASK = {"strategy": {"kind": "mask_tool_results", "keep": 0, "trigger": 0, "placeholder": "{tokens}: " + "é" * 30}}


@pytest.mark.parametrize(
    ("settings", "results", "changed"),
    [
        (CAP, [NOTES, "ok"], []),
        (PROJECT, [NOTES, "ok"], []),
        (CAP, [NOTES, LINES], ["m3.0"]),
        (PROJECT, [NOTES, LINES], ["m3.0"]),
        (MASK, [NOTES, "ok"], []),
        (MASK, [NOTES, LINES], ["m3.0"]),
        (CAP, [LINES], ["m2.0"]),
    ],
)
def test_a_text_is_used_only_where_it_is_smaller_as_it_is_sent(
    settings: dict[str, Any], results: list[str], changed: list[str]
) -> None:
    """Results of parallel calls are sent as JSON, in which a text may be larger than by itself."""
    request = body(*results)
    made = assembled(request, **settings)
    assert [one.span_id for one in made.decisions if one.action != "keep"] == changed
    assert all(one.tokens_after < one.tokens_before for one in made.decisions if one.action != "keep")
    assert size(made.request) == made.tokens_after <= made.tokens_before
    if not changed:
        assert (made.request, made.status) == (request, "fits")


@pytest.mark.parametrize("results", [[LINES], [LINES, LINES], [ROWS, "ok"], [NOTES, "ok"]])
@pytest.mark.parametrize("least", [0, 25, 60, 5000])
@pytest.mark.parametrize(
    "settings", [CAP, PROJECT, {"strategy": {"kind": "mask_tool_results", "keep": 0, "trigger": 0}}]
)
def test_no_result_becomes_smaller_than_a_rule_lets_it(
    settings: dict[str, Any], least: int, results: list[str]
) -> None:
    rules = [*settings.get("rules", []), {"match": {"kind": "tool_result"}, "min_tokens": least}]
    made = assembled(body(*results), **{**settings, "rules": rules})
    changed = [one for one in made.decisions if one.action != "keep"]
    assert all(one.tokens_after >= least for one in changed)
    assert changed or least or results == [NOTES, "ok"]


SHORT = {"kind": "summarize_and_keep"}
SHORT_MASK = {"kind": "mask_tool_results", "trigger": 0.01, "min_turns": 9, "min_steps": 9}


@pytest.mark.parametrize(
    ("strategy", "limit", "shrunk", "status", "excess", "tokens"),
    [
        (SHORT, 50, True, "over_budget", 29, 79),
        (SHORT, 79, True, "trimmed", 0, 79),
        (SHORT, 5000, True, "trimmed", 0, 79),
        (SHORT, 50, False, "skipped_short", 779, 829),
        (SHORT_MASK, 1000, True, "trimmed", 0, 79),
        (SHORT_MASK, 1000, False, "skipped_short", 0, 829),
        (SHORT | {"exact_recall": True}, 50, True, "skipped_exact_recall", 779, 829),
    ],
)
def test_a_task_that_shrinkers_changed_was_not_skipped(
    strategy: dict[str, Any], limit: int, shrunk: bool, status: str, excess: int, tokens: int
) -> None:
    shrink = [{"kind": "project_tool_results", "max_tokens": 50}] if shrunk else []
    made = assembled(body(LINES), limit, strategy=strategy, shrink=shrink)
    assert (made.status, made.excess, made.tokens_before, made.tokens_after) == (status, excess, 829, tokens)
    assert bool(made.blockers) == bool(excess)
    assert (made.request == body(LINES)) == status.startswith("skipped")


@pytest.mark.parametrize(("text", "said"), [("x" * 5000, "1 line]"), ("x\n" * 2500, " lines]")])
def test_a_note_says_one_line_of_one(text: str, said: str) -> None:
    assert said in two_ends(text, "m1.0", lambda cut: len(cut) < 900)
    assert said in two_ends(text, "m1.0", lambda cut: False)


@pytest.mark.parametrize("settings", [{}, CAP, PROJECT], ids=["plain", "cap", "project"])
@pytest.mark.parametrize("keep", [2, 4, 6, 9])
def test_what_is_sent_twice_is_told_twice(settings: dict[str, Any], keep: int) -> None:
    """The published program sends some messages twice where there are fewer than it keeps."""
    strategy = {"kind": "summarize_and_keep", "mode": "published", "keep_messages": keep}
    made = assembled(body(NOTES, LINES), strategy=strategy, **settings)
    sent = {"model": "gpt-4o", "messages": made.request["messages"]}
    assert sum(one.tokens_after for one in made.decisions) == made.tokens_after == size(sent)
    assert sum(one.tokens_before for one in made.decisions) == made.tokens_before
    assert keep != 6 or sum(one.span_id == "m0.0" for one in made.decisions) == 2


PADDED = "x" * 200


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([{"name": "a", "note": PADDED}, {"note": PADDED}], [{"name": "a"}, {}]),
        ({"rows": [{"name": "a", "note": PADDED}], "total": 1}, {"rows": [{"name": "a"}]}),
        ([1, {"name": {}, "note": PADDED}], [1, {"name": {}}]),
        ([{"error": "disk full", "code": PADDED}], None),
        ({"rows": [{"error": "disk full", "code": PADDED}]}, None),
        ([[1, 2, {"a": PADDED}], [PADDED]], None),
        ([PADDED, PADDED], None),
        (PADDED, None),
    ],
)
def test_a_result_with_none_of_the_named_fields_stays(given: Any, kept: Any) -> None:
    text = json.dumps(given)
    made = assembled(body(text), shrink=[{"kind": "project_tool_results", "fields": ["name"]}])
    sent = made.request["messages"][2]["content"]
    assert json.loads(sent) == (given if kept is None else kept)
    assert (sent == text) is (kept is None)


@pytest.mark.parametrize("number", ["1e400", "-1e999", "NaN", "Infinity"])
def test_numbers_that_json_cannot_hold_are_never_written(number: str) -> None:
    records = ", ".join(f'{{"name": {number}, "note": "{PADDED}"}}' for _ in range(30))
    for text in (f'{{"name": {number}, "note": "{PADDED}"}}', f"[{records}]"):
        settings = {"kind": "project_tool_results", "fields": ["name"], "max_tokens": 300}
        sent = assembled(body(text), shrink=[settings]).request["messages"][2]["content"]
        assert sent == text or sent.startswith(text[:100])
