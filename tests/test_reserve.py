"""The required reserve on plain sections, against the rule book's cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.strategies.reserve import CHARACTERS, Inclusion, Section, fill, trimmed

DATA = json.loads((Path(__file__).parent / "data" / "required_reserve_cases.json").read_text(encoding="utf-8"))
LABELS, CAPS, REQUIRED = DATA["labels"], DATA["caps"], frozenset(DATA["required"])


def distinct(items: list[str] | None) -> list[str]:
    return list(dict.fromkeys(item.strip() for item in items or [] if item.strip()))


def goal_of(said: dict[str, Any]) -> tuple[str, str]:
    asked = (said.get("session_goal") or "").strip()
    remembered = (said["memory"].get("goal") or "").strip()
    if asked:
        differs = remembered and remembered != asked
        return asked, "session_goal_overrides_memory_goal" if differs else "session_goal"
    return (remembered, "memory_goal_fallback") if remembered else ("未提供目标", "goal_unavailable")


def sections(said: dict[str, Any]) -> list[Section]:
    memory, (goal, reason) = said["memory"], goal_of(said)
    resume = said["resume_id"] if said["resume_id"] is not None else "未绑定"
    bases = ", ".join(str(base) for base in dict.fromkeys(said["knowledge_base_ids"]))
    texts = {
        "latest_user_message": ((said["latest_user_message"] or "").strip(), "latest_user_message"),
        "goal": (goal, reason),
        "memory_state": (
            f"phase={memory.get('phase') or 'unknown'}; nextFocus={memory.get('focus') or '暂无'}",
            "memory_snapshot",
        ),
        "confirmed_facts": (" | ".join(distinct(memory.get("facts"))), "memory_confirmed_facts"),
        "resource_bindings": (f"resumeId={resume}; knowledgeBaseIds=[{bases}]", "session_bindings"),
        "used_tools": (", ".join(distinct(memory.get("tools"))), "memory_used_tools"),
    }
    return [Section(key, LABELS[key], text, key in REQUIRED, CAPS[key], why) for key, (text, why) in texts.items()]


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: case["id"])
def test_the_right_result_of_every_case(case: dict[str, Any]) -> None:
    right = case["right"]
    made = fill(sections(case["input"]), max(DATA["min_total"], case["input"]["total"]), CHARACTERS)
    told = [
        {"key": p.key, "status": p.status.value, "reason": p.reason, "original": p.original, "included": p.included}
        for p in made.sections
    ]
    assert told == right["sections"]
    assert {
        "total": made.total,
        "used": made.used,
        "remaining": made.remaining,
        "overshoot": made.overshoot,
    } == right["budget"]
    shown = [p for p in made.sections if p.status is not Inclusion.OMITTED and p.key not in DATA["not_rendered"]]
    summary = "\n".join(f"- {LABELS[p.key]}: {p.text}" for p in shown)
    assert (summary, len(summary)) == (right["summary"], right["summary_length"])


@pytest.mark.parametrize("case", DATA["trim_cases"], ids=lambda case: str(case["max"]))
def test_trim(case: dict[str, Any]) -> None:
    assert trimmed(case["text"], case["max"], len) == case["out"]


@pytest.mark.parametrize("case", DATA["cost_cases"], ids=lambda case: case["label"])
def test_cost(case: dict[str, Any]) -> None:
    assert case["content_length"] + CHARACTERS.before(case["label"], case["first"]) == case["cost"]


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: case["id"])
def test_a_lower_total_never_uses_more(case: dict[str, Any]) -> None:
    used = [fill(sections(case["input"]), total, CHARACTERS).used for total in range(24, 1000, 7)]
    assert used == sorted(used)


def test_a_list_is_cut_between_items_with_the_count_left_out() -> None:
    items = ("alpha-one", "beta-two", "gamma-three", "delta-four")
    section = Section("facts", "Facts", " | ".join(items), False, 38, items=items)
    made = fill([section], 500, CHARACTERS).sections[0]
    assert (made.status, made.reason) == (Inclusion.OMITTED, "budget_exhausted")
    wide = Section("facts", "Facts", " | ".join(items), True, 38, items=items)
    assert fill([wide], 500, CHARACTERS).sections[0].text == "alpha-one | beta-two (+2 more)"


def published(known: list[Section], asked: int) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The published rules A-P2 to A-P12: the reserve is ignored where it does not suffice, and the total is raised."""
    total, used, told = max(24, asked), 0, []
    for place, section in enumerate(known):
        row = {"key": section.key, "status": "OMITTED", "reason": "source_empty", "original": 0, "included": 0}
        told.append(row)
        if not section.text.strip():
            continue
        row["original"] = len(section.text)
        before = len(section.label) + 4 + (1 if used else 0)
        cap = 10**9 if section.cap is None else section.cap
        later = [other for other in known[place + 1 :] if other.required and other.text.strip()]
        reserve = sum(len(other.label) + 5 + min(len(other.text), other.cap or 10**9, 24) for other in later)
        limit = max(0, min(cap, total - used - reserve - before))
        if not section.required and limit < 40:
            row["reason"] = "budget_exhausted"
            continue
        if section.required and limit < 24:
            limit = min(cap, max(24, total - used - before))
        text = trimmed(section.text, limit, len)
        cut = len(section.text) > limit
        row |= {
            "status": "TRUNCATED" if cut else "INCLUDED",
            "reason": "truncated_to_budget" if cut else section.reason,
            "included": len(text),
        }
        used += len(text) + before
    raised = max(total, used)
    return told, {"total": raised, "used": used, "remaining": raised - used}


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: case["id"])
def test_the_published_result_is_what_the_case_says(case: dict[str, Any]) -> None:
    told, budget = published(sections(case["input"]), case["input"]["total"])
    assert told == case["published"]["sections"]
    assert budget == {key: case["published"]["budget"][key] for key in budget}
