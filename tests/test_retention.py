"""Which called tools and which instruction rules the prompts of a replay were without."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decisions import Action
from core.dialects import dialect
from core.replay import Replay, replay
from core.retention import Retention, RetentionMeter, retention, rules_of
from core.shrinkers import shrink_fixed
from core.shrinkers.base import Shrunk, UnitShrinker
from core.shrunk_plan import shrunk_plan
from core.spans import FixedPart
from core.tokens import Counter, counter_for_model
from core.units import Unit
from tests.runs import result, run, says, tool, user, uses

LONG = "It has many options that nobody needs to know. " * 20
TOOLS = [tool("run_python", LONG, code="string"), tool("search_docs", LONG, q="string")]
GROUPS = [
    {"name": "code", "keywords": ["python"], "tools": ["run_*"]},
    {"name": "docs", "keywords": ["manual"], "tools": ["search_*"]},
]
TIERED = {"kind": "tiered_injection", "groups": GROUPS}
SYSTEM = (
    "# Rules\n1. Always answer in full sentences.\n2. Never name a price.\n\n# Style\n- Never name a price.\n- ok\n"
)


def measured(config: dict[str, Any], messages: list[Any], system: str = "", tools: Any = ()) -> Retention:
    return retention(replay(run(messages, system=system, tools=tools), config))


def test_a_called_tool_that_was_put_aside_is_missing() -> None:
    messages = [
        user("Look into the manual."),
        uses("c1", "search_docs", q="x"),
        result("c1", "y"),
        uses("c2", "run_python", code="1"),
        result("c2", "1"),
        says("Done."),
    ]
    found = measured({"strategy": TIERED}, messages, tools=TOOLS)
    assert [(call.called, call.missing_tools) for call in found.calls] == [
        (("search_docs",), ()),
        (("run_python",), ("run_python",)),
        ((), ()),
    ]
    assert (found.called, found.missing_tools, found.activation_recall) == (2, 1, 0.5)


def parallel(*named: tuple[str, int], then: str = "1") -> list[Any]:
    """Return a reply with several calls, and their results."""
    replies = [uses(f"c{n}", name, **{"q": f"{value}"}) for n, (name, value) in enumerate(named)]
    calls = [call for reply in replies for call in reply["tool_calls"]]
    return [{**replies[0], "tool_calls": calls}, *(result(call["id"], then) for call in calls)]


def test_calls_are_counted_and_not_names() -> None:
    """Three calls of one tool in one response are three calls, and so are those whose definition was put aside."""
    messages = [
        user("Look into the manual."),
        *parallel(("search_docs", 1), ("search_docs", 2), ("search_docs", 1)),
        *parallel(("run_python", 1), ("search_docs", 1), ("run_python", 2), ("unknown_tool", 1)),
        says("Done."),
    ]
    found = measured({"strategy": TIERED}, messages, tools=TOOLS)
    assert [(call.called, call.missing_tools) for call in found.calls] == [
        (("search_docs",) * 3, ()),
        (("run_python", "search_docs", "run_python"), ("run_python",) * 2),
        ((), ()),
    ]
    assert (found.called, found.missing_tools, found.activation_recall) == (6, 2, 1 - 2 / 6)


CALLED = st.lists(
    st.lists(st.tuples(st.sampled_from(["run_python", "search_docs", "unknown_tool"]), st.integers(0, 2)), max_size=4),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize("spoken", ["openai_chat", "openai_responses", "anthropic", "gemini"])
@given(CALLED, st.sampled_from(["python", "manual", "nothing"]))
def test_what_is_counted_is_what_the_bodies_show(spoken: str, steps: list[Any], word: str) -> None:
    said = [m for calls in steps for m in (parallel(*calls) if calls else [says("Hm."), user(f"More of {word}.")])]
    config = {"strategy": TIERED, "model": {"dialect": spoken}}
    made = replay(run([user("Go on."), *said, says("Done.")], system=SYSTEM, tools=TOOLS), config)
    speaks, found = dialect(spoken), retention(made)
    for call, recorded in enumerate(made.transcript.calls):
        before, after = ({tool.name for tool in speaks.tools(speaks.split(body)[0])} for body in bodies(made, call))
        names = [part.name for part in speaks.message(recorded.response or {}).calls]
        assert list(found.calls[call].called) == [name for name in names if name in before]
        assert list(found.calls[call].missing_tools) == [name for name in names if name in before - after]
    again = retention(replay(made.transcript, config))  # warm, from what the first strategy read
    assert again.calls == found.calls


def bodies(made: Replay, call: int) -> tuple[dict[str, Any], dict[str, Any]]:
    return made.prompt(call), made.request(call)


def test_a_head_is_read_once_for_all_strategies() -> None:
    transcript = run([user("Hi."), says("Hello."), user("Bye."), says("Bye.")], system=SYSTEM, tools=TOOLS)
    for strategy in ({"kind": "full_history"}, TIERED, {"kind": "keep_last", "keep_messages": 1}):
        made = replay(transcript, {"strategy": strategy})
        known = dict(transcript.memo.get("rules", {}))
        retention(made)
        if known:
            assert transcript.memo["rules"].keys() == known.keys()
            assert all(transcript.memo["rules"][key] is value for key, value in known.items())
    assert transcript.memo["rules"]


def test_without_calls_of_defined_tools_nothing_is_known() -> None:
    found = measured({"strategy": TIERED}, [user("Hi."), uses("c1", "unknown_tool"), result("c1", "x"), says("Hm.")])
    assert found.activation_recall is None
    assert found.totals()["tools_called"] == 0


def test_rules_are_lines_of_instructions() -> None:
    assert list(rules_of(SYSTEM)) == [
        "Always answer in full sentences.",
        "Never name a price.",
        "Never name a price.",
    ]


def test_a_repeated_rule_may_go_and_no_rule_is_missing() -> None:
    config = {"strategy": {"kind": "full_history"}, "shrink": [{"kind": "dedupe_instructions"}]}
    found = measured(config, [user("Hi."), says("Hello.")], system=SYSTEM)
    assert [(call.rules, call.missing_rules) for call in found.calls] == [(2, ())]


class DropRules(UnitShrinker):
    """Takes out the first rule: no shrinker of the product would."""

    def unit(self, unit: Unit, counter: Counter) -> dict[str, Shrunk]:
        return {}

    def fixed(self, fixed: FixedPart, said: frozenset[str], counter: Counter) -> dict[str, Shrunk]:
        return {"s0.1": Shrunk("", Action.DROP, "test", "test")}


def test_a_rule_that_is_said_nowhere_else_is_missing() -> None:
    plan = replay(run([user("Hi."), says("Hello.")], system=SYSTEM), {"strategy": {"kind": "full_history"}}).plan(0)
    shrinkers = [DropRules()]
    fixed = shrink_fixed(plan.fixed, shrinkers, frozenset(), dialect("openai_chat"), counter_for_model("gpt-4o"))
    found = RetentionMeter().call(shrunk_plan(replace(plan, fixed=fixed), 0), ())
    assert (found.rules, found.missing_rules) == (2, ("Always answer in full sentences.",))


def test_a_strategy_leaves_the_rules_alone() -> None:
    config = {"strategy": {"kind": "keep_last", "keep_messages": 1}, "budget": {"soft_limit": 1}}
    found = measured(config, [user("Hi."), says("Hello."), user("Bye."), says("Bye.")], system=SYSTEM)
    assert found.missing_rules == ()
    totals = found.totals()
    assert (totals["rules"], totals["rules_missing"]) == (2, 0)
    assert json.loads(json.dumps(totals)) == totals
