"""Conversations recorded in turns: each is calibrated by its own reports, as if the others were not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.calibration import CalibratedCall, Calibration
from core.findings import findings
from core.readers.builder import Placed, TranscriptBuilder
from core.replay import replay
from core.scorecard import scorecard
from core.tokens import Exactness
from core.transcript import ROOT, Call, Transcript, Usage
from tests.runs import says, tool, user

FULL = {"strategy": {"kind": "full_history"}}


class Asked(NamedTuple):
    """A call of a conversation: how many of its messages it goes back over, what it adds, and what was reported."""

    back: int
    new: int
    counted: int
    reported: int | None
    model: str = "m"
    head: int = 0
    mark: Exactness = Exactness.EXACT


ASKED = st.builds(
    Asked,
    back=st.sampled_from((0, 0, 0, 0, 1, 3, 99)),
    new=st.integers(1, 2),
    counted=st.integers(1, 400),
    reported=st.none() | st.integers(1, 4).map(lambda number: 200 * number),
    model=st.sampled_from("aab"),
    head=st.sampled_from((0, 0, 0, 1)),
    mark=st.sampled_from((Exactness.EXACT, Exactness.ESTIMATE)),
)
TALKS = st.lists(st.lists(ASKED, min_size=1, max_size=8), min_size=1, max_size=4)


def calibrated(talks: Sequence[Sequence[Asked]], turns: Sequence[int], together: bool) -> Calibration:
    """Return the calibration of conversations whose calls come in some order; `turns` names the conversation of each.

    They have no message in common, or a first one.
    """
    parents, calls, asked = [ROOT] if together else [], [], []
    begun = len(parents) - 1
    branches: list[list[int]] = [[begun] for _ in talks]
    ahead = [iter(talk) for talk in talks]
    for place in turns:
        one, branch = next(ahead[place]), branches[place]
        del branch[max(1, len(branch) - one.back) :]
        for _ in range(one.new):
            parents.append(branch[-1])
            branch.append(len(parents) - 1)
        calls.append(Call(one.head, branch[-1], branch[-1], None, Usage(input=one.reported), one.model))
        asked.append(one)
    heads = ({"messages": []}, {"messages": [], "tools": [tool("read")]})
    wires = tuple(user(str(at)) for at in range(len(parents)))
    made = Transcript("openai_chat", wires, tuple(parents), heads, tuple(calls))
    return Calibration(made, [one.counted for one in asked], [one.mark for one in asked])


def rows_of(made: Calibration, turns: Sequence[int], place: int) -> list[CalibratedCall]:
    """Return the rows of one conversation, `before` as the number of a call of it."""
    calls = [call for call, turn in enumerate(turns) if turn == place]
    numbers = {-1: -1, **{call: number for number, call in enumerate(calls)}}
    return [replace(made.calls[call], before=numbers[made.calls[call].before]) for call in calls]


@given(TALKS, st.data(), st.booleans())
def test_each_conversation_is_calibrated_as_if_it_were_alone(
    talks: list[list[Asked]], data: st.DataObject, together: bool
) -> None:
    turns = data.draw(st.permutations([place for place, talk in enumerate(talks) for _ in talk]))
    made = calibrated(talks, turns, together)
    for place, talk in enumerate(talks):
        alone = [0] * len(talk)
        assert rows_of(made, turns, place) == calibrated([talk], alone, together).calls


def test_what_a_surcharge_confirms_is_the_next_call_of_its_own_conversation() -> None:
    reports = (110, 120, 630, 140), (1010, 1020, 1030, None)
    talks = [[Asked(0, 1, 10 * (at + 1), tokens) for at, tokens in enumerate(talk)] for talk in reports]
    made = calibrated(talks, (0, 1) * 4, together=False)
    assert [row.surcharge for row in made.calls] == [False] * 4 + [True] + [False] * 3
    assert [row.not_recorded for row in made.calls] == [100, 1000, 100, 1000, 600, 1000, 100, 1000]


def test_a_difference_that_grows_in_one_of_two_conversations_is_told() -> None:
    grows = [Asked(0, 1, 1000 + 100 * at, tokens) for at, tokens in enumerate((1098, 1223, 1350))]
    stays = [Asked(0, 1, 1000 + 100 * at, 9000 + 100 * at) for at in range(3)]
    for turns in ((0, 0, 0, 1, 1, 1), (0, 1) * 3, (1, 0, 0, 1, 1, 0)):
        made = calibrated([grows, stays], turns, together=False)
        assert made.growth == 52
        assert made.problem is not None
        assert "98 tokens at first, 150 at the end" in made.problem


def recorded(turns: Sequence[int], hidden: Sequence[Sequence[int | None]]) -> Transcript:
    """Return conversations whose calls come in some order, reported with so many tokens beyond those counted."""
    builder = TranscriptBuilder("openai_chat")
    head, usages = builder.head({"model": "gpt-4o", "messages": []}), [iter(one) for one in hidden]
    lasts, ahead, beyond = [ROOT] * len(hidden), Counter[int](), []
    for place in turns:
        asked = builder.add(lasts[place], user(f"{place} {ahead[place]} " + "word " * 60))
        builder.call(Placed(head, asked), response=says("Yes."), model="gpt-4o")
        lasts[place] = builder.add(asked, says("Yes."))
        ahead[place] += 1
        beyond.append(next(usages[place]))
    made = builder.build()
    counted = replay(made, FULL).calls["before"]
    usage = [Usage(more and tokens + more, output=1) for tokens, more in zip(counted, beyond, strict=True)]
    calls = tuple(replace(call, usage=one) for call, one in zip(made.calls, usage, strict=True))
    return replace(made, calls=calls)


def test_totals_are_those_of_the_conversations() -> None:
    hidden = [(500, 500, None) * 3, (2000, 2000, None) * 3]
    cards = [scorecard(replay(recorded(turns, hidden), FULL)) for turns in ((0,) * 9 + (1,) * 9, (0, 1) * 9)]
    apart, in_turns = cards
    assert apart.not_recorded_tokens == in_turns.not_recorded_tokens == 9 * 2500
    assert apart.not_recorded_unknown_calls == in_turns.not_recorded_unknown_calls == 0
    assert apart.sent_known_as == in_turns.sent_known_as == {"reported": 12, "calibrated": 6}
    assert (apart.sent_tokens, apart.cached_tokens) == (in_turns.sent_tokens, in_turns.cached_tokens)
    assert apart.cost_usd == pytest.approx(in_turns.cost_usd)
    assert apart.drift.keys() == in_turns.drift.keys() == {"gpt-4o"}


@pytest.mark.parametrize("turns", [(0,) * 5 + (1,) * 5, (1,) * 5 + (0,) * 5, (0, 1) * 5])
def test_the_finding_names_a_call_of_the_conversation_that_was_not_sent_so(turns: tuple[int, ...]) -> None:
    made = replay(recorded(turns, [(2000,) * 5, tuple(range(500, 750, 50))]), FULL)
    found = next(one for one in findings(made) if one.name == "not_what_was_sent")
    assert found.call == max(call for call, turn in enumerate(turns) if turn == 1)
    assert found.figures == {"growth": 200}


class Looked(tuple[Any, ...]):
    """Values that count how often one of them is looked up."""

    times = 0

    def __getitem__(self, place: Any) -> Any:
        Looked.times += 1
        return super().__getitem__(place)


class Ordered(int):
    """A number that counts how often two are compared in order."""

    times = 0

    def __sub__(self, other: int) -> Ordered:
        return Ordered(int(self) - other)

    def __lt__(self, other: int) -> bool:
        Ordered.times += 1
        return int(self) < int(other)


def steps(rounds: int) -> int:
    """Return what a calibration looks up and compares for a long conversation in turns with one that never grows."""
    calls = [call for at in range(1, rounds + 1) for call in (at, 0)]
    usages = [Usage(Ordered(100_000 + 2 * at + (at % 7) ** 3)) for at in range(len(calls))]
    made = tuple(Call(0, last, last, None, usage, "m") for last, usage in zip(calls, usages, strict=True))
    parents = Looked((ROOT, ROOT, *range(1, rounds)))
    wires = tuple(user(str(at)) for at in range(rounds + 1))
    transcript = Transcript("openai_chat", wires, parents, ({"messages": []},), made)
    Looked.times = Ordered.times = 0
    Calibration(transcript, range(len(calls)), [Exactness.EXACT] * len(calls))
    return Looked.times + Ordered.times


def test_a_call_costs_the_same_however_long_the_conversations_are() -> None:
    few, many = steps(200), steps(1600)
    assert few > 200 and many < 8 * 1.5 * few
