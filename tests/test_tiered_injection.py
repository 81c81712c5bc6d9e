from __future__ import annotations

import re
from typing import Any

import pytest

from core import marks
from core.plan import Action, Status
from core.runtime import ContextRuntime, Hints, Result
from core.strategies.tiers import heading, retrieval_limit
from tests.by_character import tiered
from tests.cases import case_file

CASES = case_file("tiered_injection_cases.json")


def ids(name: str) -> Any:
    return lambda case: str(case.get(name)) if isinstance(case, dict) else str(case)


def history(count: int, characters: int, core: int = 0) -> dict[str, Any]:
    """A walk of `count` messages, user and assistant in turn, each with its id in front."""
    system = [{"role": "system", "content": "c" * core}] if core else []
    messages = [
        {"role": ("user", "assistant")[at % 2], "content": f"m{at:02}".ljust(characters, ".")} for at in range(count)
    ]
    return {"messages": [*system, *messages]}


def summary_of(result: Result) -> str:
    texts = [message["content"] for message in result.request["messages"] if message["role"] == "system"]
    return next((text for text in texts if text.startswith(marks.ROLLING_SUMMARY)), "")


WALK = CASES["compression_walk"]


@pytest.mark.parametrize("count", range(1, WALK["messages"] + 1))
def test_compression_walk(count: int) -> None:
    body = history(count, WALK["message_chars"], WALK["core"])
    result = tiered(body, WALK["available"])
    published = WALK["published"][count - 1]
    if count <= 3:
        assert result.status is Status.FITS
        assert result.tokens_after + 500 == published["estimate"]
        return
    text = summary_of(result)
    assert text.count(marks.ROLLING_SUMMARY) == (count > 4)
    assert len(text) <= 800
    sent = sum(len(message["content"]) for message in result.request["messages"])
    assert sent == result.tokens_after
    assert result.excess == max(0, sent + 500 - WALK["available"])
    assert (result.status is Status.OVER_BUDGET) == (result.excess > 0)
    kept = [message["content"][:3] for message in result.request["messages"] if message["role"] != "system"]
    assert kept == [f"m{at:02}" for at in range(count - len(kept), count)]
    if text:
        newest_folded = f"m{count - len(kept) - 1:02}"
        assert newest_folded in text


def test_compression_keeps_the_newest_of_the_old() -> None:
    case = CASES["compression_first"]
    triggered = case["published"]["triggered_after_messages"]
    assert tiered(history(triggered - 1, case["message_chars"]), case["available"]).status is Status.FITS
    result = tiered(history(triggered, case["message_chars"]), case["available"])
    assert result.status is Status.TRIMMED
    text = summary_of(result)
    kept = sum(message["role"] != "system" for message in result.request["messages"])
    newest = triggered - kept - 1
    assert f"m{newest:02}" in text
    told = re.findall(r"m\d\d", text)
    assert told == [f"m{at:02}" for at in range(newest - len(told) + 1, newest + 1)]
    assert text.splitlines()[0] == heading(newest + 1 - len(told))
    assert len(text) <= case["published"]["summary_chars"]


@pytest.mark.parametrize("case", CASES["compression_guards"], ids=ids("messages"))
def test_compression_guards(case: dict[str, Any]) -> None:
    result = tiered(history(case["messages"], case["size"]), case["available"])
    assert result.status is Status.OVER_BUDGET
    assert result.excess == result.tokens_after + 500 - case["available"]
    assert result.blockers
    if case["messages"] == 1:
        assert result.excess == 3500
        assert result.request == history(1, case["size"])


def test_the_build_is_checked() -> None:
    case = CASES["build_not_checked"]
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": ""}}
    tool = {"type": "function", "function": {"name": "t"}}
    tool["function"]["description"] = "d" * (case["tool_description"] - len(str(tool).replace(" ", "")) - 17)
    body = {
        "messages": [
            {"role": "system", "content": "c" * case["core"]},
            {"role": "user", "content": "h" * case["history"][0]},
            {"role": "assistant", "content": "h" * (case["history"][1] - 4), "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "r" * case["retrieval_item"]},
            {"role": "user", "content": "q" * case["query"]},
        ],
        "tools": [tool],
    }
    result = tiered(body, case["available"], keep_turns=4, rules=[RETRIEVED])
    assert result.tokens_before + case["overhead"] == case["right_total_without_headers"]
    assert result.status is Status.OVER_BUDGET
    actions = {made.span_id: made.action for made in result.decisions}
    assert actions["m2.0"] is Action.STUB
    assert actions["m3.0"] is actions["s0.0"] is Action.KEEP


RETRIEVED = {"match": {"kind": "tool_result"}, "tier": "contextual"}
SIZES = (300, 300, 300, 60)


def searched(sizes: tuple[int, ...]) -> dict[str, Any]:
    """One search a turn; the result of each is `sizes` characters long."""
    messages: list[dict[str, Any]] = []
    for at, size in enumerate(sizes):
        call = {"id": f"c{at}", "type": "function", "function": {"name": "find", "arguments": "{}"}}
        messages.append({"role": "user", "content": f"q{at}"})
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{at}", "content": "r" * size})
    messages.append({"role": "user", "content": "thanks"})
    return {"messages": messages}


@pytest.mark.parametrize(
    ("sizes", "budget", "shown"),
    [
        ((1000, 1000, 1000), 7600, [0, 1, 2]),
        ((1000, 1000, 1000), 6900, [1, 2]),
        ((1000, 1000, 1000), 4000, [2]),
        ((1000, 1000, 300), 3300, [1, 2]),
        ((1000, 3000, 300), 3500, [0, 2]),
        ((1000, 1000, 1000), 2000, []),
    ],
)
def test_retrieval_is_capped_newest_first(sizes: tuple[int, ...], budget: int, shown: list[int]) -> None:
    body = searched(sizes)
    result = tiered(body, budget, rules=[RETRIEVED], keep_turns=9, overhead=0)
    contents = [message["content"] for message in result.request["messages"] if message["role"] == "tool"]
    assert [at for at, text in enumerate(contents) if text.startswith("r")] == shown
    for at, text in enumerate(contents):
        if at not in shown:
            assert text.startswith(f"{marks.STUB} m{3 * at + 2}.0, {sizes[at]} tokens of find")
            runtime = ContextRuntime.load({"strategy": {"kind": "full_history"}})
            assert runtime.restore(f"m{3 * at + 2}.0", body) == "r" * sizes[at]
    saved = sum(len(text) for at, text in enumerate(contents) if at in shown)
    assert saved <= retrieval_limit(budget) + sum(map(len, contents)) - saved
    assert result.plan.actions().get(Action.STUB, 0) == len(sizes) - len(shown)


def test_the_open_unit_and_the_newest_user_message_keep_their_results() -> None:
    body = searched((1000, 1000))
    body["messages"].pop()
    result = tiered(body, 1500, rules=[RETRIEVED], keep_turns=9, overhead=0)
    contents = [message["content"] for message in result.request["messages"] if message["role"] == "tool"]
    assert [text[0] for text in contents] == ["[", "r"]
    attached = {"messages": [{"role": "user", "content": "docs: " + "d" * 900}]}
    rules = [{"match": {"kind": "user"}, "tier": "knowledge"}]
    assert tiered(attached, 500, rules=rules, overhead=0).request == attached


def test_a_hint_marks_what_was_retrieved() -> None:
    body = searched((1000, 1000, 1000))
    hinted = tiered(body, 2000, Hints(retrieval=("c0", "m5.0")), keep_turns=9, overhead=0, trigger=None)
    stubbed = [made.span_id for made in hinted.decisions if made.action is Action.STUB]
    assert stubbed == ["m2.0", "m5.0"]
    assert tiered(body, 3600, keep_turns=9, overhead=0).request == body


def tools(*names: str) -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {"q": {"type": "string", "description": "what to look for " * 8}}}
    return [{"type": "function", "function": {"name": name, "parameters": schema}} for name in names]


GROUPED = [
    {"name": "docs", "keywords": ["文档", "manual"], "tools": ["search_*"]},
    {"name": "code", "keywords": ["脚本"], "tools": ["run_*"]},
]


@pytest.mark.parametrize(
    ("text", "loaded"),
    [
        ("你好", ["ping"]),
        ("翻一下接口文档", ["search_docs", "search_web", "ping"]),
        ("先运行脚本", ["run_python", "ping"]),
        ("Python, please", ["run_python", "ping"]),  # a part of the tool's name
        ("翻文档，再运行脚本", ["search_docs", "search_web", "run_python", "ping"]),
    ],
)
def test_tools_are_loaded_when_a_keyword_is_said(text: str, loaded: list[str]) -> None:
    body = {"messages": [{"role": "user", "content": text}]}
    body["tools"] = tools("search_docs", "search_web", "run_python", "ping")
    result = tiered(body, None, groups=GROUPED)
    assert [tool["function"]["name"] for tool in result.request["tools"]] == loaded
    deferred = 4 - len(loaded)
    assert result.plan.actions().get(Action.DEFER, 0) == deferred
    menus = [m["content"] for m in result.request["messages"] if str(m["content"]).startswith(marks.TOOL_MENU)]
    assert len(menus) == (deferred > 0)
    listed = [group["name"] for group in GROUPED if any(f"- {group['name']}: " in text for text in menus)]
    assert (set(listed) == {"docs", "code"}) == (deferred == 3)


def test_no_message_about_tools_without_tools() -> None:
    body = {"messages": [{"role": "user", "content": "hi"}]}
    assert tiered(body, None, groups=GROUPED).request == body


@pytest.mark.parametrize("mark", [marks.STUB, marks.SUMMARY, marks.CONTEXT, marks.ROLLING_SUMMARY, marks.TOOL_MENU])
def test_what_a_strategy_put_in_has_no_line_in_the_summary(mark: str) -> None:
    """Older messages before it are told all the same; it is counted among those without a line."""
    body = history(8, 300)
    for at in (1, 2, 4):
        body["messages"][at]["content"] = f"{mark} an earlier text]"
    tool = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    masked = {"role": "tool", "tool_call_id": "c", "content": f"{mark} an earlier text]"}
    body["messages"][5:5] = [{"role": "assistant", "content": None, "tool_calls": [tool]}, masked]
    lines = summary_of(tiered(body, 2000, keep_messages=2)).split("\n")
    assert lines[0] == "[Earlier conversation] (4 older left out)"
    assert [line[:19] for line in lines[1:]] == [
        "[user]: m00........",
        "[assistant]: m03...",
        "[assistant]: used l",
        "[assistant]: m05...",
    ]


def test_only_stand_ins_make_no_summary() -> None:
    body = history(4, 900)
    body["messages"][0]["content"] = f"{marks.STUB} {'m' * 900}]"
    body["messages"][1]["content"] = f"{marks.SUMMARY} {'m' * 900}"
    result = tiered(body, 2400, keep_messages=2)
    assert [made.span_id for made in result.decisions if made.action is Action.SUMMARISE] == []
    assert [message["content"][:3] for message in result.request["messages"]] == ["m02", "m03"]


@pytest.mark.parametrize(
    ("roles", "keep", "setting"),
    [
        ("uaaaaaaa", {"keep_turns": 2}, "strategy.keep_turns (as steps: too few turns)"),
        ("uauauaua", {"keep_turns": 2}, "strategy.keep_turns"),
        ("uaaaaaaa", {"keep_steps": 2}, "strategy.keep_steps"),
        ("uaaaaaaa", {}, "strategy.keep_messages"),
    ],
)
def test_the_setting_says_where_steps_were_counted(roles: str, keep: dict[str, int], setting: str) -> None:
    names = {"u": "user", "a": "assistant"}
    messages = [{"role": names[role], "content": f"m{at:02}".ljust(400, ".")} for at, role in enumerate(roles)]
    result = tiered({"messages": messages}, 2500, **keep)
    assert result.status is Status.TRIMMED
    decided = {made.span_id: made for made in result.decisions}
    assert (decided["m7.0"].reason, decided["m7.0"].setting) == ("in the kept part", setting)


def test_a_called_tool_and_a_hinted_one_stay() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "run_python", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ]
    body = {"messages": messages, "tools": tools("search_docs", "run_python")}
    result = tiered(body, None, groups=GROUPED)
    assert [tool["function"]["name"] for tool in result.request["tools"]] == ["run_python"]
    assert tiered(body, None, Hints(active_tools=("search_docs",)), groups=GROUPED).request == body
    assert (
        tiered({**body, "tool_choice": choice("search_docs")}, None, groups=GROUPED).request["tools"] == body["tools"]
    )


@pytest.mark.parametrize(
    ("hints", "reason"),
    [
        (None, "inferred from what users said and what was called"),
        (Hints(active_tools=("ping", "nope")), "inferred from what users said and what was called"),
        (Hints(active_tools=("run_python",)), "from hints: code; inferred: the others"),
    ],
)
def test_a_menu_says_how_it_is_known_which_tools_are_needed(hints: Hints | None, reason: str) -> None:
    body = {"messages": [{"role": "user", "content": "go"}], "tools": tools("search_docs", "run_python", "ping")}
    decided = {made.span_id: made for made in tiered(body, None, hints, groups=GROUPED).decisions}
    assert decided["menu"].reason == reason
    assert decided["t0"].action is Action.DEFER
    assert decided["t0"].reason == "inferred: no keyword of docs was said"


def choice(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


def test_the_last_tool_takes_its_choice_with_it() -> None:
    body = {"messages": [{"role": "user", "content": "hi"}], "tools": tools("run_python"), "tool_choice": "auto"}
    result = tiered(body, None, groups=GROUPED)
    assert set(result.request) == {"messages"}
    assert [message["role"] for message in result.request["messages"]] == ["system", "user"]


def test_rules_group_tools_too() -> None:
    rules = [{"match": {"kind": "tool_definition", "tool": "search_*"}, "keywords": ["manual"]}]
    body = {"messages": [{"role": "user", "content": "hi"}], "tools": tools("search_docs", "ping")}
    assert len(tiered(body, None, rules=rules).request["tools"]) == 1
    body["messages"][0]["content"] = "see the manual"
    assert tiered(body, None, rules=rules).request == body


def test_a_menu_that_costs_more_than_the_tools_is_not_used() -> None:
    body = {"messages": [{"role": "user", "content": "hi"}]}
    body["tools"] = [{"type": "function", "function": {"name": "run_x"}}]
    assert tiered(body, None, groups=GROUPED).request == body


@pytest.mark.parametrize("trigger", [1.0, 0.6, 0.3])
def test_trigger_is_a_share_of_the_budget(trigger: float) -> None:
    body = history(20, 300)
    for budget in (6000, int(6000 / trigger), int(6000 / trigger) + 2):
        result = tiered(body, budget, trigger=trigger, overhead=0)
        assert (result.status is Status.FITS) == (int(budget * trigger) >= 6000)


def test_trigger_zero_and_never() -> None:
    body = history(20, 300)
    assert tiered(body, None, trigger=0, overhead=0).status is Status.TRIMMED
    assert tiered(body, 10**6, trigger=0, overhead=0).status is Status.TRIMMED
    never = tiered(body, 3000, trigger=None, overhead=0)
    assert (never.status, never.request) == (Status.OVER_BUDGET, body)


@pytest.mark.parametrize("preset", [p for p in CASES["presets"] if p["summarise"]], ids=ids("name"))
def test_presets_are_settings(preset: dict[str, Any]) -> None:
    settings = {name: preset[name] for name in ("trigger", "keep_messages", "summary_chars")}
    result = tiered(history(60, 300), 8000, overhead=0, **settings)
    assert len(summary_of(result)) <= preset["summary_chars"]
    kept = [m for m in result.request["messages"] if m["role"] != "system"]
    assert preset["keep_messages"] <= len(kept) <= preset["keep_messages"] + 1


def test_presets_keep_in_the_order_of_their_purpose() -> None:
    def verbatim(name: str) -> int:
        preset = next(p for p in CASES["presets"] if p["name"] == name)
        settings = {n: preset[n] for n in ("trigger", "keep_messages", "summary_chars") if n in preset}
        result = tiered(history(60, 300), 8000, overhead=0, **settings)
        return sum(m["role"] != "system" for m in result.request["messages"])

    assert verbatim("writing") >= verbatim("support") >= verbatim("chit_chat")


def test_caps_in_characters_and_in_tokens() -> None:
    body = history(40, 300)
    for characters, tokens in ((800, 800), (500, 800), (800, 300), (0, 800), (800, 0)):
        text = summary_of(tiered(body, 5000, overhead=0, summary_chars=characters, summary_tokens=tokens))
        assert len(text) <= min(characters, tokens)
        assert bool(text) == (min(characters, tokens) > 250)


def test_no_summary_without_gain() -> None:
    """Four short messages: a summary would be longer than what it stands for (X6)."""
    body = history(4, 5)
    result = tiered(body, 9, overhead=0, keep_messages=1)
    assert (result.request, result.status) == (body, Status.OVER_BUDGET)
    without = tiered(body, 10, overhead=0, keep_messages=1)
    assert (without.request["messages"], without.status) == (body["messages"][2:], Status.TRIMMED)


def test_too_short_to_touch() -> None:
    body = history(20, 300)
    assert tiered(body, 3000, min_turns=10, min_steps=10).status is Status.SKIPPED_SHORT
    assert tiered(body, 3000, min_turns=10, min_steps=9).status is Status.TRIMMED
    assert tiered(body, 10**6, min_turns=10, min_steps=10).status is Status.FITS


def test_a_summary_stands_at_the_end_of_the_system_part() -> None:
    result = tiered(history(40, 300, core=50), 5000, overhead=0)
    roles = [message["role"] for message in result.request["messages"]]
    assert roles[:3] == ["system", "system", "user"]
    assert result.request["messages"][1]["content"] == summary_of(result)
    anthropic = {"system": "core", "messages": history(40, 300)["messages"]}
    sent = tiered(anthropic, 5000, overhead=0).request
    assert [block["text"][:6] for block in sent["system"]] == ["core", marks.ROLLING_SUMMARY[:6]]
