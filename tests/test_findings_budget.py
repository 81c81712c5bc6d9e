"""Findings about calls over the budget: what nothing can help is told apart from what came too late."""

from __future__ import annotations

from typing import Any

import pytest

from core.config import BudgetConfig
from core.finding import Level
from core.replay import replay
from core.runtime import ContextRuntime
from core.summaries import Range
from core.transcript import Transcript
from tests.runs import result, run, says, user, uses
from tests.test_advice_sizes import reported
from tests.test_findings import agent, chat, found, played


def test_a_strategy_that_fires_too_late() -> None:
    late = played(chat(20), 1500, "keep_last", keep_turns=2, min_turns=15, min_steps=15)
    finding = found(late)["fires_too_late"]
    excess = late.calls["excess"]
    first = next(call for call in range(20) if excess[call] > 0)
    assert (finding.call, finding.figures) == (first, {"calls": 15 - first, "first_change": 15})
    assert finding.sentence.endswith("before call 16: min_turns 15, min_steps 15 hold it back.")
    assert "fires_too_late" not in found(played(chat(20), 1500, "keep_last", keep_turns=2))


def test_a_judged_replay_is_held_back_by_the_settings_it_was_planned_with() -> None:
    """The wider budget has room for all that is recorded: planned for it, the strategy would take nothing."""
    transcript, holds = reported(agent(12, lines=75), 2_000), "min_turns 7, min_steps 7 hold it back."
    made = played(transcript, 600, "keep_last", keep_messages=2, min_turns=7, min_steps=7)
    judged = made.judged_by(BudgetConfig(soft_limit=2_600))
    told, own = found(judged), found(made)["fires_too_late"]
    assert own.sentence.endswith(holds)
    assert told["fires_too_late"].sentence.endswith(holds)
    assert told["fires_too_late"].figures["first_change"] == own.figures["first_change"]
    assert "cannot_help" not in told
    assert judged.planned is made.config is made.planned


def begins_huge() -> Transcript:
    """The first prompts are one question that is over the budget alone; later there is something to take away."""
    said = [user("word " * 900), *(m for n in range(8) for m in (uses(f"c{n}", "look"), result(f"c{n}", "x y " * 60)))]
    return run([*said, says("Done."), *chat_wires(12)])


def chat_wires(turns: int) -> list[dict[str, Any]]:
    return [m for n in range(turns) for m in (user(f"{n} " + "word " * 60), says(f"{n} " + "reply " * 60))]


HELD = [
    ("keep_last", {"keep_turns": 2, "min_turns": 6, "min_steps": 6}),
    ("tiered_injection", {"keep_messages": 2, "trigger": 1.6}),
    ("summarize_and_keep", {"keep_turns": 2}),
    ("mask_tool_results", {"keep": 5}),
    ("mask_tool_results", {"keep": 0, "min_cleared": 400}),
    ("span_triage", {"min_turns": 4, "min_steps": 4}),
    ("required_reserve", {}),
]
"""Strategies with settings that may hold them back, and one without."""


@pytest.mark.parametrize("budget", [200, 700, 1_000, 1_600])
@pytest.mark.parametrize("transcript", [begins_huge(), chat(20), agent(20)], ids=["huge", "chat", "agent"])
@pytest.mark.parametrize(("kind", "settings"), HELD)
def test_too_late_and_beyond_help_are_told_apart(
    kind: str, settings: dict[str, Any], transcript: Transcript, budget: int
) -> None:
    """Against plans of the least that is ever sent, and of the strategy with nothing that holds it back."""
    made = played(transcript, budget, kind, **settings)
    told, calls = found(made), range(len(transcript.calls))
    over = [call for call in calls if made.calls["excess"][call] > 0]
    least = played(transcript, 0, "keep_last", keep_messages=0).calls["in_window"]
    hopeless = [call for call in over if least[call] > budget]
    free = {name: value for name, value in settings.items() if name.startswith("keep_")}
    opened = {"keep": 0, "trigger": 0} if kind == "mask_tool_results" else {"trigger": 0} if "tiered" in kind else {}
    opened |= {"min_turns": 0, "min_steps": 0}
    freed = played(transcript, budget, kind, **free, **opened).calls["in_window"]
    first = next((call for call in calls if made.plan(call).changed), 0)
    late = [call for call in over if call < first and freed[call] < made.calls["in_window"][call]]
    assert ("fires_too_late" in told) is bool(late)
    assert not late or (told["fires_too_late"].call, told["fires_too_late"].figures["calls"]) == (late[0], len(late))
    helpless = told.get("cannot_help")
    if hopeless:
        assert helpless is not None and helpless.level is Level.ERROR
        assert (helpless.call, helpless.figures["calls"]) == (hopeless[0], len(hopeless))
        assert helpless.figures["floor"] == least[hopeless[0]]
    elif helpless is not None:
        assert helpless.call is not None and helpless.level is Level.WARNING
        assert freed[helpless.call] == made.calls["before"][helpless.call]


def test_a_prompt_of_which_nothing_may_go_is_no_fault_of_the_strategy() -> None:
    told = found(played(begins_huge(), 700, "keep_last", keep_turns=2))
    assert "fires_too_late" not in told
    assert (told["cannot_help"].call, told["cannot_help"].span_ids[0]) == (0, "m0.0")


def test_what_one_strategy_may_not_take_another_may() -> None:
    made = played(chat(20), 1_500, "mask_tool_results")
    finding = found(made)["cannot_help"]
    assert "mask_tool_results finds nothing that it may take" in finding.sentence
    over = [call for call in range(20) if made.calls["excess"][call] > 0]
    assert (finding.call, finding.level, finding.figures["calls"]) == (over[0], Level.WARNING, len(over))


def test_a_floor_over_the_budget_cannot_be_helped() -> None:
    transcript = chat(4, system="Rule: " + "x y z " * 200)
    made = played(transcript, 300, "keep_last")
    floor = played(transcript, 0, "keep_last", keep_messages=0).calls["in_window"][0]
    finding = found(made)["cannot_help"]
    assert (finding.call, finding.level, finding.span_ids[0]) == (0, Level.ERROR, "s0.0")
    assert finding.figures == {"calls": 4, "floor": floor, "budget": 300}
    assert floor == made.calls["before"][0] > made.plan(0).fixed.tokens
    assert "cannot_help" not in found(played(transcript, floor, "keep_last"))


@pytest.mark.parametrize(("budget", "calls", "said"), [(100, 4, "any of these"), (600, 1, "it")])
def test_what_cannot_be_helped_is_said_of_its_calls_alone(budget: int, calls: int, said: str) -> None:
    """Others over the budget may be helped: the sentence does not speak of them."""
    long = [user("long " * n) for n in (200, 200, 200, 800)]
    transcript = run([message for one in long for message in (one, says("Yes."))])
    made = played(transcript, budget, "full_history")
    finding = found(made)["cannot_help"]
    assert finding.figures["calls"] == calls and finding.sentence.endswith(f"that cuts history can help {said}.")
    assert sum(excess > 0 for excess in made.calls["sent_excess"]) == max(calls, 2)


def test_a_pinned_message_counts_as_floor() -> None:
    rules = [{"match": {"kind": "user", "pattern": "^0 "}, "evict": "pinned"}]
    said = {"budget": {"soft_limit": 100}, "rules": rules, "strategy": {"kind": "keep_last"}}
    assert found(replay(chat(4), said))["cannot_help"].call == 1


def test_whether_a_strategy_was_held_back_is_tried_with_the_summaries_that_are_sent() -> None:
    """With extracts in their place, nothing would have been gained by an earlier start, and the sentence is another."""
    words = [(40, 10), (0, 40), (10, 40), (1, 40), (10, 10), (10, 10)]
    said = [
        m for n, (asked, told) in enumerate(words) for m in (user(f"{n} " + "word " * asked), says("reply " * told))
    ]
    strategy = {"kind": "tiered_injection", "summary": "model", "keep_messages": 2}
    transcript, budget = run(said), {"soft_limit": 45}
    known: dict[str, str] = {}

    def write(asked: Range) -> str:
        return known.setdefault(asked.hash, "Short.")

    for trigger in (0, 3.0):
        config = {"budget": budget, "strategy": {**strategy, "trigger": trigger}, "model": {"dialect": "openai_chat"}}
        runtime = ContextRuntime.load(config, summarizer=write)
        for call in range(len(transcript.calls)):
            runtime.assemble(transcript.history(call))
    told = found(replay(transcript, config, known))
    assert (told["fires_too_late"].call, told["fires_too_late"].figures) == (2, {"calls": 1, "first_change": 3})
    assert "fires_too_late" not in found(replay(transcript, config))
