"""The presets against the rule book's table, and the order in which they keep verbatim text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decisions import Action
from core.errors import ConfigError
from core.presets import PRESETS, preset
from core.replay import replay
from core.transcript import Transcript
from tests.cases import case_file
from tests.runs import result, run, says, user, uses

CASES = {case["name"]: case for case in case_file("tiered_injection_cases.json")["presets"]}


@pytest.mark.parametrize("name", ["support", "chit_chat", "writing"])
def test_the_numbers_are_those_of_the_rule_book(name: str) -> None:
    strategy = preset(name).config().strategy
    settings = {key: getattr(strategy, key) for key in ("trigger", "keep_messages", "summary_chars")}
    assert settings == {key: CASES[name][key] for key in settings}
    assert strategy.kind == "tiered_injection"


def test_the_coding_agent_masks_in_deep_steps() -> None:
    strategy = preset("coding_agent").config().strategy
    assert (strategy.kind, strategy.keep, strategy.step) == ("mask_tool_results", 10, 10_000)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_loads_and_replays(name: str) -> None:
    transcript = run([user("Hello."), says("Hi.")], system="Be brief.")
    made = replay(transcript, preset(name).config())
    assert preset(name).config().name == preset(name).title
    assert made.calls["status"] == ["fits"]


def test_an_unknown_preset_is_a_sentence() -> None:
    with pytest.raises(ConfigError, match="Use one of support, chit_chat, writing, coding_agent"):
        preset("chat")


texts = st.integers(0, 120).map(lambda words: "word " * words + "end.")
turns = st.lists(st.tuples(texts, texts), min_size=1, max_size=24)


def verbatim(transcript: Transcript, name: str, budget: int) -> int:
    """Tokens of the conversation sent as they are, over all calls."""
    said: dict[str, Any] = {**preset(name).said, "budget": {"soft_limit": budget}}
    made = replay(transcript, said)
    decisions = (one for call in range(len(transcript.calls)) for one in made.plan(call).decisions)
    return sum(one.tokens_after for one in decisions if one.action is Action.KEEP and one.span_id.startswith("m"))


@given(turns, st.integers(0, 4000))
def test_writing_keeps_as_much_as_support_and_support_as_much_as_chit_chat(
    said: list[tuple[str, str]], budget: int
) -> None:
    transcript = run([message for asked, answered in said for message in (user(asked), says(answered))])
    kept = [verbatim(transcript, name, budget) for name in ("writing", "support", "chit_chat")]
    assert kept == sorted(kept, reverse=True)


def test_the_order_is_strict_on_a_long_conversation() -> None:
    said = [message for n in range(30) for message in (user(f"{n} " + "word " * 60), says(f"{n} " + "reply " * 60))]
    kept = [verbatim(run(said), name, 2000) for name in ("writing", "support", "chit_chat")]
    assert kept[0] > kept[1] > kept[2] > 0


def test_the_coding_agent_keeps_its_prefix_for_many_calls() -> None:
    steps = [
        message
        for n in range(40)
        for message in (uses(f"c{n}", "read", path=f"{n}.py"), result(f"c{n}", f"{n} " + "line of code\n" * 400))
    ]
    transcript = run([user("Go."), *steps, says("Done.")])
    said = preset("coding_agent").said

    def moves(strategy: dict[str, Any]) -> int:
        made = replay(transcript, {**said, "strategy": strategy})
        return len({made.plan(call).tokens_after - made.plan(call).tokens_before for call in range(41)}) - 1

    assert moves(said["strategy"]) == 4  # thirty results of 1,200 tokens are masked, 10,000 tokens at a time
    assert moves({**said["strategy"], "step": 0}) == 30
