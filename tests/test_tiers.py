from __future__ import annotations

from typing import Any

import pytest

from core import marks
from core.errors import ConfigError
from core.runtime import ContextRuntime
from core.strategies.tiers import (
    GROUPS_FROM,
    available,
    core_level,
    core_limit,
    heading,
    is_said,
    menu,
    retrieval_limit,
    select_within,
    summary_line,
    with_core_block,
)
from tests.cases import case_file

CASES = case_file("tiered_injection_cases.json")


def ids(name: str) -> Any:
    return lambda case: str(case.get(name)) if isinstance(case, dict) else str(case)


@pytest.mark.parametrize("case", CASES["available"], ids=ids("available"))
def test_the_budget_that_a_window_leaves(case: dict[str, Any]) -> None:
    settings = (case["max"], case["reserve"], case["completion"])
    if case["right"] == "ok":
        assert available(*settings) == case["available"]
        assert core_limit(case["available"]) == case["core_limit"]
        assert retrieval_limit(case["available"]) == case["retrieval_limit"]
    else:
        with pytest.raises(ConfigError, match=f"{case['available']:,}") as caught:
            available(*settings)
        assert caught.value.key == "budget"


@pytest.mark.parametrize("case", CASES["core"], ids=ids("blocks"))
def test_core_blocks(case: dict[str, Any]) -> None:
    kept: tuple[int, ...] = ()
    raised = False
    for block in case["blocks"]:
        try:
            kept = with_core_block(kept, block, case["available"])
        except ConfigError:
            raised = True
    assert raised == case["right"].startswith("raises")
    assert sum(kept) == {(601,): 0, (400, 201): 400, (33332,): 0}.get(tuple(case["blocks"]), sum(case["blocks"]))


@pytest.mark.parametrize("case", CASES["core_length_profiles"], ids=lambda case: f"{case['core']}-{case['profile']}")
def test_core_levels(case: dict[str, Any]) -> None:
    assert core_level(case["core"], case["profile"]) == case["level"]


@pytest.mark.parametrize("case", CASES["retrieval"], ids=ids("result_tokens"))
def test_results_within_a_limit(case: dict[str, Any]) -> None:
    shown = [place + 1 for place in select_within(case["result_tokens"], case["limit"])]
    assert shown == case["right_shown"]
    assert [n + 1 for n in range(len(case["result_tokens"])) if n + 1 not in shown] == case["right_omitted"]
    assert bool(shown) == case["right_emits_message"]


GROUPS = CASES["keyword_activation"]["groups"]


@pytest.mark.parametrize("case", CASES["keyword_activation"]["cases"], ids=ids("text"))
def test_keywords(case: dict[str, Any]) -> None:
    """A group's tools are sent where a user said one of its keywords, and only its line in the menu otherwise."""
    long = {"description": "What it does. " * 20, "parameters": {}}
    tools = [{"type": "function", "function": {"name": f"t{at}", **long}} for at in range(len(GROUPS))]
    groups = [{**group, "tools": [f"t{at}"]} for at, group in enumerate(GROUPS)]
    config = {"model": {"dialect": "openai_chat"}, "strategy": {"kind": "tiered_injection", "groups": groups}}
    body = {"messages": [{"role": "user", "content": case["text"]}], "tools": tools}
    sent = ContextRuntime.load(config).assemble(body).request.get("tools", [])
    assert [GROUPS[int(tool["function"]["name"][1:])]["name"] for tool in sent] == case["active"]


@pytest.mark.parametrize(
    ("keyword", "text", "said"),
    [
        ("python", "run python", True),
        ("python", "pythonic", False),
        ("Python", "python3", False),
        ("python", "用python写", True),
        ("c++", "in c++ please", True),
        ("文档", "接口文档", True),
        ("git", "git-hub", True),
        ("git", "my_git", False),
    ],
)
def test_ascii_keywords_are_whole_words(keyword: str, text: str, said: bool) -> None:
    assert is_said(keyword, text) == said


def test_menu() -> None:
    assert menu([]) == ""
    assert menu(["- docs: a", "- code: b"]).splitlines()[1:] == ["- docs: a", "- code: b"]
    assert marks.is_injected(menu(["- docs: a"]))


def test_the_share_saved_by_a_menu() -> None:
    case = CASES["progressive_disclosure"]
    all_at_once = case["tools"] * case["tokens_per_tool"]
    lines = case["groups"] * case["tokens_per_menu_line"]
    expanded = lines + case["expanded_group_tools"] * case["tokens_per_tool"]
    assert (all_at_once, lines, expanded) == (case["all_at_once"], case["menu"], case["menu_plus_one_group"])
    assert round(100 * (all_at_once - expanded) / all_at_once, 1) == case["saved_percent"]
    assert case["tools"] == GROUPS_FROM


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("short", "[user]: short"),
        ("a  b\nc", "[user]: a b c"),
        ("x" * 200, "[user]: " + "x" * 200),
        ("x" * 201, "[user]: " + "x" * 200 + "..."),
        ("", "[user]: "),
    ],
)
def test_summary_lines(text: str, line: str) -> None:
    assert summary_line("user", text) == line


def test_headings_say_what_is_left_out() -> None:
    assert heading(0) == marks.ROLLING_SUMMARY
    assert heading(7) == f"{marks.ROLLING_SUMMARY} (7 older left out)"
