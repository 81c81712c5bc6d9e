"""The numbering of messages tells what follows what as a walk up the tree does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.intervals import intervals
from core.transcript import ROOT, Transcript


def tree(*parents: int) -> Transcript:
    return Transcript("openai_chat", ({},) * len(parents), parents, ({},), ())


def test_a_message_and_all_that_follows_it_are_one_stretch() -> None:
    found = intervals(tree(ROOT, 0, 0, 1, ROOT))
    assert found.starts == [0, 1, 3, 2, 4, -1]
    assert found.stops[:5] == [4, 3, 4, 3, 5]
    assert intervals(tree()).starts == [-1]


@given(st.data())
def test_a_branch_has_what_stands_on_it(data: st.DataObject) -> None:
    size = data.draw(st.integers(0, 12))
    made = tree(*(data.draw(st.integers(ROOT, at - 1)) for at in range(size)))
    found = intervals(made)
    for last in range(ROOT, size):
        assert [node for node in range(size) if found.holds(node, last)] == sorted(made.path(last))
    assert intervals(made) is found
