"""The loss of a call, measured along stretches of a plan, is that of a look at every span one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.branch import Branch
from core.loss_meter import Row, measured
from core.normal_text import normal
from core.replay import Replay, replay
from core.transcript import Call, Transcript
from core.uses import Uses, uses_of
from core.watched_texts import Use, stands_in, watch_word
from core.wire import Wire
from tests.exchange_trees import CONFIGURATIONS, transcripts
from tests.runs import result, run, says, user, uses

LOST, TOLD, SENT = "lost", "told", "sent"


def looked_up(made: Replay, uses: Uses) -> Iterator[Row]:
    """Yield the row of each call by asking its plan for every span that holds a use."""
    branch = Branch(made.transcript)
    for call, found in enumerate(uses.calls):
        branch.to(made.last_message(call))
        fates = {use: fate(made, uses, branch, call, use) for use in (*found.used, *found.copied)}
        yield Row(
            len(found.used),
            sum(fates[use] == TOLD for use in found.used),
            tuple(use for use in found.used if fates[use] == LOST),
            len(found.copied),
            tuple(use for use in found.copied if fates[use] == LOST),
        )


def fate(made: Replay, uses: Uses, branch: Branch, call: int, use: Use) -> str:
    plan, head = made.plan(call), made.transcript.calls[call].head
    spans = [(message, f"m{message}.{part}") for message, part in branch.newest_first(uses.places(use))]
    spans += [(-1, span_id) for span_id in uses.head_spans(head, use)]
    texts = [plan.remains(*span) for span in spans]
    if not texts or None in texts:
        return SENT
    told = any(stands_in(use, watch_word(use), normal(text or "")) for text in (*texts, *plan.inserted))
    return TOLD if told else LOST


@given(transcripts(), st.sampled_from(CONFIGURATIONS))
def test_stretches_tell_what_single_spans_do(transcript: Transcript, config: dict[str, Any]) -> None:
    made, uses = replay(transcript, config), uses_of(transcript)
    assert measured(made, uses) == list(looked_up(made, uses))


LONG = "Nothing of note here. " * 40
MASK = {"strategy": {"kind": "mask_tool_results", "keep": 1, "trigger": 0}}


def read_file(call_id: str, said: str, found: str = LONG) -> list[Wire]:
    return [uses(call_id, "read_file", said, path=f"{call_id}.py"), result(call_id, found + LONG)]


def lost(transcript: Transcript, config: dict[str, Any]) -> list[list[str]]:
    return [[use.form for use in row.lost] for row in measured(replay(transcript, config), uses_of(transcript))]


def test_a_branch_keeps_what_only_its_own_messages_say() -> None:
    """Both branches are masked as far; what was found out along the first says nothing of the second."""
    one = [user("Go."), *read_file("a1", "Hm."), *read_file("a2", "Hm."), *read_file("a3", "See a1.py.")]
    other = [*read_file("b1", "It is the_rare_name."), *read_file("b2", "Hm."), *read_file("b3", "So the_rare_name.")]
    parents = (*range(-1, 6), 0, *range(7, 12))
    ends = (0, 2, 4, 0, 8, 10)
    replies = (1, 3, 5, 7, 9, 11)
    messages = (*one, *other)
    calls = tuple(Call(0, end, end, messages[reply]) for end, reply in zip(ends, replies, strict=True))
    transcript = Transcript("openai_chat", messages, parents, ({"messages": []},), calls)
    assert uses_of(transcript).calls[5].used and lost(transcript, MASK) == [[]] * 6


def test_what_stands_before_the_replaced_messages_is_sent_too() -> None:
    said = [user("See the_rare_name. " + LONG), *read_file("c1", "Hm.", "the_rare_name = 1\n"), *read_file("c2", "Hm.")]
    transcript = run([*said, *read_file("c3", "Hm."), says("It is the_rare_name.")])
    assert uses_of(transcript).calls[3].used and lost(transcript, MASK) == [[]] * 4
