import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import RequestError
from core.readers.builder import TranscriptBuilder, without_marks
from core.transcript import ROOT
from core.wire import dump

MARK = {"type": "ephemeral"}


def user(text: str) -> dict:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict:
    return {"role": "assistant", "content": text}


def marked(text: str) -> dict:
    return {"role": "user", "content": [{"type": "text", "text": text, "cache_control": MARK}]}


def test_growing_bodies_share_their_messages() -> None:
    builder = TranscriptBuilder("openai_chat")
    system = {"role": "system", "content": "be brief"}
    first = {"model": "m", "messages": [system, user("a")]}
    second = {"model": "m", "messages": [system, user("a"), assistant("b"), user("c")]}
    placed = [builder.body(first), builder.body(second)]
    assert [(p.head, p.last, p.nodes, p.known, p.variants) for p in placed] == [
        (0, 0, (0,), 0, ()),
        (0, 2, (0, 1, 2), 1, ()),
    ]
    assert builder.messages == [user("a"), assistant("b"), user("c")]
    assert builder.parents == [ROOT, 0, 1]
    assert builder.heads == [{"model": "m", "messages": [system]}]


def test_an_edited_message_is_a_branch_beside_the_first() -> None:
    builder = TranscriptBuilder("anthropic")
    builder.body({"messages": [user("a"), assistant("b"), user("c")]})
    edited = builder.body({"messages": [user("a"), assistant("b"), user("C")]})
    assert (edited.last, builder.parents[edited.last]) == (3, 1)


def test_cache_marks_wander_without_copies() -> None:
    bodies = [
        {"messages": [marked("a")]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}, assistant("b"), marked("c")]},
    ]
    builder = TranscriptBuilder("anthropic")
    for body in bodies:
        builder.call(builder.body(body))
    transcript = builder.build()
    assert len(transcript.messages) == 3
    assert [call.variants for call in transcript.calls] == [((0, marked("a")),), ((2, marked("c")),)]
    assert [dump(transcript.captured(i)) for i in range(2)] == [dump(body) for body in bodies]


def test_texts_that_are_lists_only_while_they_are_marked_have_few_variants() -> None:
    texts = [user("a"), assistant("b"), user("c"), assistant("d"), user("e"), assistant("f"), user("g")]
    bodies = [{"messages": [*texts[:last], marked(texts[last]["content"])]} for last in (0, 2, 4, 6)]
    builder = TranscriptBuilder("anthropic")
    for body in bodies:
        builder.call(builder.body(body))
    transcript = builder.build()
    assert [[position for position, _ in call.variants] for call in transcript.calls] == [[0], [0, 2], [0, 4], [0, 6]]
    assert transcript.messages[1:] == tuple(texts[1:])
    assert [dump(transcript.captured(i)) for i in range(4)] == [dump(body) for body in bodies]


@pytest.mark.parametrize(
    "other",
    [
        {"content": "a", "role": "user"},
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        {"role": "user", "content": "a", "name": None},
        marked("a"),
    ],
    ids=["key order", "one-text list", "null key", "cache mark"],
)
def test_another_spelling_is_a_variant_of_the_same_message(other: dict) -> None:
    builder = TranscriptBuilder("openai_chat")
    first = builder.body({"messages": [user("a")]})
    builder.call(builder.body({"messages": [other]}))
    transcript = builder.build()
    assert (len(transcript.messages), transcript.calls[0].captured) == (1, first.last)
    assert dump(transcript.captured(0)) == dump({"messages": [other]})


def test_true_is_not_one() -> None:
    builder = TranscriptBuilder("openai_chat")
    one = builder.add(ROOT, {"role": "user", "content": [{"type": "x", "n": 1}]})
    true = builder.add(ROOT, {"role": "user", "content": [{"type": "x", "n": True}]})
    assert one != true


def test_history_and_a_late_answer() -> None:
    builder = TranscriptBuilder("openai_chat")
    everything = builder.extend(ROOT, [user("a"), assistant("b"), user("c")])
    index = builder.call(builder.body({"messages": [user("summary"), user("c")]}), history=everything)
    builder.answer(index, assistant("d"))
    transcript = builder.build(title="t", session="s", notes=["n"])
    assert transcript.calls[0].response == assistant("d")
    assert transcript.history(0)["messages"] == [user("a"), assistant("b"), user("c")]
    assert transcript.captured(0)["messages"] == [user("summary"), user("c")]
    assert (transcript.title, transcript.session, transcript.notes) == ("t", "s", ("n",))
    assert builder.path(everything) == [0, 1, 2]


def test_a_body_without_messages_is_refused() -> None:
    with pytest.raises(RequestError):
        TranscriptBuilder("openai_chat").body({"model": "m"})


def test_without_marks_leaves_an_unmarked_message_itself() -> None:
    plain = {"role": "user", "content": [{"type": "text", "text": "a"}]}
    assert without_marks(plain) is plain
    inner = {
        "type": "tool_result",
        "tool_use_id": "t",
        "content": [{"type": "text", "text": "x", "cache_control": MARK}],
    }
    message = {"role": "user", "content": [inner], "cache_control": MARK}
    before = copy.deepcopy(message)
    assert without_marks(message) == {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x"}]}],
    }
    assert message == before


def test_lone_surrogates_and_odd_numbers_are_kept() -> None:
    body = json.loads('{"messages":[{"role":"user","content":"\\ud83d","n":NaN}],"x":1e400}')
    builder = TranscriptBuilder("openai_chat")
    builder.call(builder.body(body))
    assert dump(builder.build().captured(0)) == dump(body)


_contents = st.one_of(
    st.text(max_size=3),
    st.none(),
    st.lists(
        st.fixed_dictionaries(
            {"type": st.just("text"), "text": st.sampled_from(["", "a", "b"])},
            optional={"cache_control": st.just(MARK)},
        ),
        max_size=2,
    ),
)
_messages = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant"]), "content": _contents},
        optional={"name": st.sampled_from(["x", None]), "cache_control": st.just(MARK)},
    ),
    max_size=5,
)


@given(
    st.sampled_from(["openai_chat", "anthropic"]),
    st.lists(st.fixed_dictionaries({"model": st.sampled_from(["m", "n"]), "messages": _messages}), max_size=5),
)
def test_every_body_comes_back_byte_for_byte(dialect_name: str, bodies: list[dict]) -> None:
    before = dump(bodies)
    builder = TranscriptBuilder(dialect_name)
    for body in bodies:
        builder.call(builder.body(body))
    transcript = builder.build()
    assert [dump(transcript.captured(i)) for i in range(len(bodies))] == [dump(body) for body in bodies]
    assert all(parent < node for node, parent in enumerate(transcript.parents))
    assert dump(bodies) == before
