"""Which tools are sent: whatever is put aside, a call that is sent keeps the definition of its tool."""

from __future__ import annotations

from typing import Any

import pytest

from core import marks
from core.dialects import dialect as dialect_named
from core.runtime import Result
from tests.talks import DIALECTS, Event, Wire, body, call_ids, long, run, said, sent, step, user

EVERY = pytest.mark.parametrize("dialect", DIALECTS)
LOOKING = ["look", *(f"look_{way}" for way in ("at", "up", "into", "behind", "below", "around", "through", "away"))]
GROUPS = [{"name": "looking", "tools": ["look*"], "keywords": ["binoculars"]}]


def talk(dialect: str, *events: Event) -> Wire:
    return body(dialect, *events, tools=[*LOOKING, "ping"])


def tiered(made: Wire, dialect: str, budget: int | None, **config: Any) -> Result:
    return run(made, dialect, "tiered_injection", budget, strategy={"groups": GROUPS}, **config)


def tools_of(result: Result, dialect: str) -> list[str]:
    spoken = dialect_named(dialect)
    return [tool.name for tool in spoken.tools(spoken.split(result.request)[0])]


@EVERY
@pytest.mark.parametrize(
    ("rules", "stays"),
    [
        ([], False),
        ([{"match": {"pattern": "KEEP"}, "evict": "pinned"}], True),
        ([{"match": {"kind": "tool_call", "tool": "look"}, "required": True}], True),
        ([{"match": {"pattern": "aside"}, "evict": "pinned"}], False),
    ],
    ids=["nothing", "a pinned reply", "a required call", "another message"],
)
def test_the_tool_of_a_call_that_always_stays_is_sent(rules: list[Wire], stays: bool, dialect: str) -> None:
    events = (user(long("u0")), step("A", text="KEEP"), user("q"), said("aside"), user(long("u1")), said("a1"))
    result = tiered(talk(dialect, *events, user("u2")), dialect, 200, rules=rules)
    assert call_ids(sent(result, dialect), dialect)[0] == (["A"] if stays else [])
    assert tools_of(result, dialect) == ([*LOOKING, "ping"] if stays else ["ping"])


@pytest.mark.parametrize(("said_while_waiting", "left"), [(True, [*LOOKING, "ping"]), (False, ["ping"])])
def test_the_tool_of_a_call_that_goes_with_the_newest_user_message_is_sent(
    said_while_waiting: bool, left: list[str]
) -> None:
    """The user spoke while a result was on its way, so call, words and result are one unit, which stays."""
    wait = [{"role": "user", "content": "wait"}] if said_while_waiting else []
    made = talk("openai_chat", user(long("u0")), step("A"), step("B", name="ping"))
    made["messages"] = [*made["messages"][:2], *wait, *made["messages"][2:]]
    result = tiered(made, "openai_chat", 150, keep={"keep_steps": 1})
    assert call_ids(sent(result, "openai_chat"), "openai_chat")[0] == (["A", "B"] if wait else ["B"])
    assert tools_of(result, "openai_chat") == left


@pytest.mark.parametrize("mark", [marks.STUB, marks.SUMMARY, marks.CONTEXT, marks.ROLLING_SUMMARY, marks.TOOL_MENU])
def test_a_text_that_a_strategy_put_in_says_no_keyword(mark: str) -> None:
    for text, left in ((f"{mark} binoculars", ["ping"]), ("binoculars", [*LOOKING, "ping"])):
        made = talk("openai_chat", user(text), said("a0"), user("u1"))
        assert tools_of(tiered(made, "openai_chat", None), "openai_chat") == left


def named(name: str) -> Wire:
    return {"type": "function", "name": name}


@pytest.mark.parametrize(
    ("dialect", "key", "choice", "sent_tools"),
    [
        ("openai_chat", "tool_choice", "auto", ["ping"]),
        ("openai_chat", "tool_choice", {"type": "function", "function": {"name": "look"}}, ["look", "ping"]),
        (
            "openai_chat",
            "tool_choice",
            {"type": "allowed_tools", "allowed_tools": {"tools": [{"type": "function", "function": {"name": "look"}}]}},
            ["look", "ping"],
        ),
        ("openai_responses", "tool_choice", {"type": "allowed_tools", "tools": [named("look")]}, ["look", "ping"]),
        ("openai_responses", "tool_choice", {"type": "look"}, ["look", "ping"]),
        ("anthropic", "tool_choice", {"type": "tool", "name": "look"}, ["look", "ping"]),
        ("gemini", "toolConfig", {"functionCallingConfig": {"mode": "ANY"}}, ["ping"]),
        (
            "gemini",
            "toolConfig",
            {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["look", "look_up"]}},
            ["look", "look_up", "ping"],
        ),
        (
            "gemini",
            "tool_config",
            {"function_calling_config": {"allowed_function_names": ["look_at"]}},
            ["look_at", "ping"],
        ),
    ],
)
def test_a_tool_that_the_request_insists_on_is_sent(dialect: str, key: str, choice: Any, sent_tools: list[str]) -> None:
    made = {**talk(dialect, user("u1")), key: choice}
    assert tools_of(tiered(made, dialect, None), dialect) == sent_tools
