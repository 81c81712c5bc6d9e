from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.readers import read, read_stream, runs
from core.transcript import Fidelity, Transcript
from core.wire import dump
from tests.chats import SYSTEM, body, calling, lines, only, prompts, responses, result, said, user


def run_of(*bodies: Any) -> Transcript:
    found = read(lines(bodies))
    assert len(found.transcripts) == 1
    transcript = found.transcripts[0]
    assert [dump(transcript.captured(i)) for i in range(len(transcript.calls))] == [dump(one) for one in bodies]
    assert {call.fidelity for call in transcript.calls} == {Fidelity.CAPTURED}
    return transcript


def test_the_answer_of_a_call_stands_in_the_next_request() -> None:
    transcript = run_of(
        body(SYSTEM, user("a")),
        body(SYSTEM, user("a"), calling("1"), result("1")),
        body(SYSTEM, user("a"), calling("1"), result("1"), said("b"), user("c")),
    )
    assert responses(transcript) == [calling("1"), said("b"), None]
    assert len(transcript.messages) == 5


def test_a_system_prompt_that_changes_is_the_same_run() -> None:
    late = {"role": "system", "content": "be brief; it is noon"}
    transcript = run_of(body(SYSTEM, user("a")), body(late, user("a"), said("b"), user("c")))
    assert (len(transcript.heads), responses(transcript)) == (2, [said("b"), None])


def test_a_request_that_was_sent_again() -> None:
    transcript = run_of(body(user("a")), body(user("a")), body(user("a"), said("b"), user("c")))
    assert responses(transcript) == [None, said("b"), None]
    assert [call.captured for call in transcript.calls] == [0, 0, 2]


def test_another_spelling_and_moved_marks_extend_the_run() -> None:
    def parts(text: str, **more: Any) -> dict[str, Any]:
        return {"role": "user", "content": [{"type": "text", "text": text, **more}]}

    mark = {"cache_control": {"type": "ephemeral"}}
    transcript = run_of(body(parts("a", **mark)), body(user("a"), said("b"), parts("c", **mark)))
    assert (len(transcript.messages), responses(transcript), transcript.notes) == (3, [said("b"), None], ())


def test_a_rewritten_prompt_keeps_its_history() -> None:
    before = [user("a"), said("b"), user("c"), said("d"), user("e")]
    after = [user("a"), user("summary of b and c"), said("d"), user("e"), said("f"), user("g")]
    transcript = run_of(body(*before), body(*after), body(*after, said("h"), user("i")))
    assert transcript.notes == ("the prompt was rewritten before call 2",)
    assert transcript.history(1)["messages"] == [*before, said("f"), user("g")]
    assert transcript.history(2)["messages"] == [*before, said("f"), user("g"), said("h"), user("i")]
    assert responses(transcript) == [said("f"), said("h"), None]


def test_an_edited_message_starts_a_branch_without_the_old_one() -> None:
    transcript = run_of(body(user("a"), said("b"), user("c")), body(user("a"), said("b"), user("C")))
    assert transcript.history(1)["messages"] == [user("a"), said("b"), user("C")]
    assert transcript.notes == ("the prompt was rewritten before call 2",)


def asked(answer: str, *messages: Any) -> dict[str, Any]:
    """A request and its answer."""
    return {"request": body(*messages), "response": {"choices": [{"message": said(answer)}]}}


def histories(*pairs: dict[str, Any]) -> list[list[Any]]:
    (transcript,) = read(lines(pairs)).transcripts
    assert prompts(transcript) == [pair["request"]["messages"] for pair in pairs]
    return [transcript.history(i)["messages"] for i in range(len(pairs))]


def test_a_prompt_goes_on_from_the_call_whose_answer_it_holds() -> None:
    """Another call shares more of it, and shares its last question."""
    file, other = user("a file"), user("another file")
    pairs = [
        asked("one", file, user("wrapped: explain")),
        asked("two", file, other, user("go on")),
        asked("three", file, user("explain"), said("one"), user("go on")),
    ]
    assert histories(*pairs)[2] == [file, user("wrapped: explain"), said("one"), user("go on")]


def test_a_prompt_that_lacks_the_newest_question_has_a_history_of_its_own() -> None:
    first = [user("a file"), said("ok"), user("listing"), said("fine"), user("question")]
    second = [user("a file"), said("ok"), user("b file"), said("fine"), user("other question")]
    assert histories(asked("x", *first), asked("y", *second))[1] == second


def test_a_prompt_that_holds_more_than_it_lacks_has_a_history_of_its_own() -> None:
    """What was put in is no summary of what was taken out, and must not get lost."""
    first = [user("a file"), user("wrapped: explain")]
    second = [user("a file"), user("a long new file " * 20), user("explain"), said("x"), user("go on")]
    assert histories(asked("x", *first), asked("y", *second))[1] == second


def test_masked_results_keep_what_really_happened() -> None:
    first = [user("a"), calling("1"), result("1", "long"), calling("2"), result("2")]
    masked = [user("a"), calling("1"), result("1", "[cleared]"), calling("2"), result("2"), said("b"), user("c")]
    transcript = run_of(body(*first), body(*masked))
    assert transcript.history(1)["messages"] == [*first, said("b"), user("c")]
    assert responses(transcript) == [said("b"), None]


def test_two_conversations_that_take_turns() -> None:
    a = [body(user("a")), body(user("a"), said("1"), user("x"))]
    b = [body(user("b")), body(user("b"), said("2"), user("y"))]
    found = read(lines([a[0], b[0], a[1], b[1]]))
    assert [prompts(transcript) for transcript in found.transcripts] == [
        [one["messages"] for one in a],
        [one["messages"] for one in b],
    ]


@pytest.mark.parametrize("key", ["session_id", "instance_id", "conversation_id"])
def test_sessions_keep_equal_conversations_apart(key: str) -> None:
    bodies = [body(user("a"), metadata={key: name}) for name in ("s", "t", "s")]
    found = read(lines(bodies))
    assert [(transcript.session, len(transcript.calls)) for transcript in found.transcripts] == [("s", 2), ("t", 1)]


def test_a_session_holds_what_extends_nothing() -> None:
    transcript = run_of(
        body(user("a"), metadata={"session_id": "s"}), body(user("title?"), metadata={"session_id": "s"})
    )
    assert transcript.notes == ("another conversation of the same session begins with call 2",)


def test_claude_codes_user_id_names_the_session() -> None:
    request = {"model": "claude-sonnet-4", "max_tokens": 9, "system": "s", "messages": [user("a")]}
    transcript = only({**request, "metadata": {"user_id": "user_1_account__session_42-a"}})
    assert (transcript.session, transcript.dialect) == ("42-a", "anthropic")


def test_whole_conversations_that_grow_are_one_run() -> None:
    bodies = [{"messages": [user("a"), said("b")]}, {"messages": [user("a"), said("b"), user("c"), said("d")]}]
    transcript = run_of(*bodies)
    assert transcript.notes == ("system prompt not recorded", "each recorded request ends with an assistant message")


def test_runs_that_rest_are_given_out_and_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "OPEN_RUNS", 3)
    rows = [{"messages": [user(f"{n}"), said("x")]} for n in range(20)]
    given = []

    def watched() -> str:
        return lines(rows)

    for transcript in read_stream(watched()):
        given.append(transcript.title)
    assert given == [f"{n}" for n in range(20)]


_text = st.text(max_size=3)
_message = st.one_of(
    st.builds(user, _text),
    st.builds(said, _text),
    st.builds(lambda id: calling(id), st.sampled_from("12")),
    st.builds(lambda id: result(id), st.sampled_from("123")),
)


@given(st.lists(st.lists(_message, min_size=1, max_size=5), min_size=1, max_size=6))
def test_every_line_comes_back_as_one_call_of_a_log(conversations: list[list[Any]]) -> None:
    pairs = [{"request": body(*messages), "response": None} for messages in conversations]
    found = read(lines(pairs))
    sent = sorted(
        dump(transcript.captured(i)) for transcript in found.transcripts for i in range(len(transcript.calls))
    )
    assert sent == sorted(dump(pair["request"]) for pair in pairs)
    assert all(
        len(transcript.history(i)["messages"]) >= 1
        for transcript in found.transcripts
        for i in range(len(transcript.calls))
    )
