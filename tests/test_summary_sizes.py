"""What a summary stands for and what it costs add up to what a prompt became smaller by, frames included."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decisions import Fate
from core.dialects import dialect
from core.findings import findings
from core.replay import Replay, replay
from core.summary_sizes import Swap, swaps
from core.transcript import Transcript
from tests.runs import result, run, says, user, uses

WORDS = st.integers(1, 40).map("word ".__mul__)
DIALECTS = ("openai_chat", "openai_responses", "anthropic", "gemini")


@st.composite
def talks(draw: st.DrawFn) -> Transcript:
    """Return a run of short turns, some with a tool call: many frames and few words."""
    said: list[dict[str, Any]] = []
    for turn in range(draw(st.integers(4, 10))):
        said += [user(f"{turn} {draw(WORDS)}")]
        if draw(st.booleans()):
            said += [uses(f"c{turn}", "look", at=turn), result(f"c{turn}", draw(WORDS))]
        said += [says(draw(WORDS))]
    return run(said, system=draw(st.sampled_from(["", "Be brief."])))


def played(transcript: Transcript, spoken: str, budget: int | None, **strategy: Any) -> Replay:
    said = {"budget": {"soft_limit": budget}, "model": {"dialect": spoken}, "strategy": strategy}
    return replay(transcript, said)


def swapped(made: Replay, call: int) -> list[Swap]:
    return [*swaps(made.plan(call), dialect(made.transcript.dialect), made.counter_of(call))]


@pytest.mark.parametrize("spoken", DIALECTS)
@given(transcript=talks(), share=st.sampled_from([2, 3, 5]), keep=st.integers(1, 5))
def test_a_rolling_summary_and_what_it_replaced(spoken: str, transcript: Transcript, share: int, keep: int) -> None:
    peak = max(replay(transcript, {"strategy": {"kind": "full_history"}}).calls["in_window"])
    made = played(transcript, spoken, peak // share, kind="tiered_injection", keep_messages=keep, summary_tokens=40)
    for call in range(len(made.transcript.calls)):
        plan = made.plan(call)
        for swap in swapped(made, call):
            assert swap.before - swap.after == plan.tokens_before - plan.tokens_after > 0
    assert not [one for one in findings(made) if one.name == "summary_larger"]


@pytest.mark.parametrize("spoken", DIALECTS)
@given(transcript=talks(), share=st.sampled_from([2, 3]))
def test_summaries_in_place_and_what_they_replaced(spoken: str, transcript: Transcript, share: int) -> None:
    peak = max(replay(transcript, {"strategy": {"kind": "full_history"}}).calls["in_window"])
    said: dict[str, Any] = {"kind": "summarize_and_keep", "keep_turns": 2, "min_turns": 0, "min_steps": 0}
    made = played(transcript, spoken, peak // share, **said)
    for call in range(len(made.transcript.calls)):
        plan, found = made.plan(call), swapped(made, call)
        dropped = sum(plan.log.units[index].tokens for index, fate, _ in plan.fates() if fate is Fate.DROP)
        saved = sum(swap.before - swap.after for swap in found)
        assert saved + dropped == plan.tokens_before - plan.tokens_after
        assert all(swap.after < swap.before for swap in found)


def test_a_published_summary_counts_its_own_frame_and_that_of_its_message() -> None:
    transcript = run([m for n in range(12) for m in (user("ok"), says("no"))])
    made = played(transcript, "openai_chat", None, kind="summarize_and_keep", mode="published")
    plan, found = made.plan(11), swapped(made, 11)
    assert sum(swap.after - swap.before for swap in found) == plan.tokens_after - plan.tokens_before > 0
    assert {swap.before for swap in found} == {5}  # one word and its frame
    (finding,) = (one for one in findings(made) if one.name == "summary_larger")
    worst = max(found, key=lambda swap: swap.after - swap.before)
    assert finding.figures == {"summaries": len(found), "before": worst.before, "after": worst.after}
    assert finding.sentence.endswith(f"{worst.after} tokens for 5, frames included.")


@pytest.mark.parametrize("shrinks", [False, True])
def test_a_summary_of_shrunk_results_is_weighed_against_the_results_as_they_were(shrinks: bool) -> None:
    said = [m for n in range(6) for m in (uses(f"c{n}", "look"), result(f"c{n}", "\n".join(map(str, range(400)))))]
    transcript = run([user("Go."), *said, says("Done.")])
    shrink = [{"kind": "project_tool_results", "max_tokens": 50}] if shrinks else []
    strategy = {"kind": "tiered_injection", "keep_steps": 1}
    made = replay(
        transcript, {"budget": {"soft_limit": 150 if shrinks else 400}, "shrink": shrink, "strategy": strategy}
    )
    (swap,) = swapped(made, 6)
    whole = replay(transcript, {"strategy": {"kind": "full_history"}})
    folded = [index for index, fate, _ in made.plan(6).fates() if fate is not Fate.KEEP]
    assert swap.before == sum(whole.plan(6).log.units[index].tokens for index in folded)
