"""Conversations recorded in turns: each finding is that of the conversations, and none comes of the turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from core.finding import Finding, calls_before
from core.findings import findings
from core.readers.builder import Placed, TranscriptBuilder
from core.replay import Replay, replay
from core.transcript import ROOT, Transcript
from tests.runs import result, says, tool, user, uses
from tests.talks import CUTTING
from tests.work import counted_work

ALONE, IN_TURNS = (1, 2)


def found(made: Replay) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings(made)}


def talks(
    number: int, sizes: Sequence[int], heads: Sequence[Sequence[dict[str, Any]]] = (({},),), together: bool = False
) -> Transcript:
    """Return conversations whose calls take turns, a question of each of `sizes` words a call.

    The calls of a conversation have `heads` in turn. They begin apart, or `together` with one question.
    """
    builder = TranscriptBuilder("openai_chat")
    begun = builder.extend(ROOT, [user("Begin."), says("Yes.")]) if together else ROOT
    lasts = [begun] * number
    for at, size in enumerate(sizes):
        for place in range(number):
            asked = builder.add(lasts[place], user(f"{place} {at} " + "word " * size))
            own = heads[place % len(heads)]
            head = builder.head({"model": "gpt-4o", "messages": [], **own[at % len(own)]})
            builder.call(Placed(head, asked), response=says("Yes."))
            lasts[place] = builder.add(asked, says("Yes."))
    return builder.build()


CUT = {"budget": {"soft_limit": 700}, "strategy": {"kind": "keep_last", "keep_turns": 2}}
ROLLING = {
    "budget": {"soft_limit": 700},
    "strategy": {"kind": "tiered_injection", "keep_messages": 2, "step": 300},
}
FULL = {"strategy": {"kind": "full_history"}}
CLOCK = [[{"messages": [{"role": "system", "content": f"It is 12:{minute}0."}]} for minute in range(6)]]
TOOLS = [[{"tools": [tool("read"), tool("write")]}, {"tools": [tool("read")]}]]


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize(
    ("name", "figure", "config", "heads"),
    [
        ("prefix_broken", "breaks", CUT, [[{}]]),
        ("not_steady", "falls", ROLLING, [[{}]]),
        ("fixed_part_changes", "changes", FULL, CLOCK),
        ("flickers", "", FULL, TOOLS),
    ],
)
def test_what_one_conversation_shows_two_in_turns_show_twice(
    name: str, figure: str, config: dict[str, Any], heads: Any, together: bool
) -> None:
    sizes = [100] * 16
    one, two = (found(replay(talks(number, sizes, heads, together), config))[name] for number in (ALONE, IN_TURNS))
    if figure:
        assert isinstance(one.figures[figure], int) and one.figures[figure] >= 3
        assert two.figures[figure] == 2 * one.figures[figure]
    assert two.level is one.level and one.call is not None and two.call is not None
    assert two.call // 2 == one.call


def test_a_cut_that_goes_back_and_forth_in_each() -> None:
    """Every other question is asked anew, now huge and now small, beside an answer that has room with the small one."""
    returns = []
    for number in (ALONE, IN_TURNS):
        builder = TranscriptBuilder("openai_chat")
        head = builder.head({"model": "gpt-4o", "messages": []})
        lasts = [builder.extend(ROOT, [user(f"Begin {at}."), says("word " * 300)]) for at in range(number)]
        for call in range(8):
            for last in lasts:
                asked = builder.add(last, user(f"{call} " + "word " * (600 if call % 2 else 5)))
                builder.call(Placed(head, asked), response=says("Yes."))
        made = replay(
            builder.build(), {"budget": {"soft_limit": 700}, "strategy": {"kind": "keep_last", "keep_turns": 1}}
        )
        returns.append(found(made)["thrash"].figures["returns"])
    assert returns == [3, 6]


@pytest.mark.parametrize("together", [False, True])
def test_turns_alone_are_nothing_to_find(together: bool) -> None:
    """A long conversation and a short one, each with tools and rules of its own that never change."""
    heads = [
        [{"messages": [{"role": "system", "content": text}], "tools": [tool(name)]}]
        for text, name in (("Be brief.", "read"), ("Be kind.", "write"))
    ]
    builder = TranscriptBuilder("openai_chat")
    begun = builder.extend(ROOT, [user("Begin."), says("Yes.")]) if together else ROOT
    lasts = [begun, begun]
    for at in range(12):
        for place, size in enumerate((200, 5)):
            asked = builder.add(lasts[place], user(f"{place} {at} " + "word " * size))
            head = builder.head({"model": "gpt-4o", **heads[place][0]})
            builder.call(Placed(head, asked), response=says("Yes."))
            lasts[place] = builder.add(asked, says("Yes."))
    names = found(replay(builder.build(), FULL))
    assert not names.keys() & {"not_steady", "thrash", "prefix_broken", "fixed_part_changes"}
    assert together or "flickers" not in names


def test_a_tool_that_one_lost_does_not_come_back_with_the_other() -> None:
    first, other = [{"tools": [tool("read"), tool("write")]}], [{"tools": [tool("read")]}]
    heads = [[*first, *other * 5], [*other, *first * 5]]
    finding = found(replay(talks(2, [5] * 6, heads), FULL))["flickers"]
    assert finding.sentence == "The tool 'write' is in call 1 and missing in call 3."
    assert (finding.call, finding.figures) == (0, {"vanished": 1, "returned": 0})


def test_the_largest_fall_names_both_calls() -> None:
    made = replay(talks(2, [100] * 16), ROLLING)
    finding, sent = found(made)["not_steady"], made.calls["in_window"]
    assert finding.call is not None
    high, low = sent[finding.call - 2], sent[finding.call]
    assert f"most from call {finding.call - 1} to call {finding.call + 1}: {high:,} to {low:,}." in finding.sentence
    assert finding.figures["largest_fall"] == high - low


def test_calls_go_on_from_their_own_conversation() -> None:
    assert calls_before(replay(talks(2, [5] * 4), FULL)) == [-1, -1, 0, 1, 2, 3, 4, 5]
    assert calls_before(replay(talks(2, [5] * 3, together=True), FULL)) == [-1, 0, 0, 1, 2, 3]


def agents(calls: int) -> Transcript:
    """Return two agents whose calls take turns, and whose prompts outgrow the budget."""
    builder = TranscriptBuilder("openai_chat")
    head = builder.head({"model": "gpt-4o", "messages": []})
    lasts = [builder.add(ROOT, user(f"Begin {place}.")) for place in (0, 1)]
    for call in range(calls):
        asked = uses(f"c{call}", "read")
        builder.call(Placed(head, lasts[call % 2]), response=asked)
        lasts[call % 2] = builder.extend(lasts[call % 2], [asked, result(f"c{call}", f"{call} " + "word " * 20)])
    return builder.build()


@pytest.mark.parametrize("kind", ["full_history", *CUTTING])
def test_finding_costs_the_same_for_each_call(kind: str) -> None:
    """What the measures cost that findings read is their own."""
    work = []
    for calls in (100, 400):
        made = replay(
            agents(calls), {"budget": {"soft_limit": 900}, "strategy": {"kind": kind, **CUTTING.get(kind, {})}}
        )
        assert made.loss.used and made.cost.calls and made.calls["sent"]
        with counted_work() as counted:
            names = found(made).keys()
        assert ("prefix_broken" in names) == (kind not in {"full_history", "mask_tool_results"})
        work.append(counted.calls)
    assert work[1] < 1.1 * 4 * work[0]
