"""A damaged field of a stream costs what it said: the rest of the stream, the file and the capture are read."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

from core.readers import read
from core.readers.answers import whole_response
from core.readers.stream_parts import Listed, Text, grow, settled
from core.readers.streams import body_value, join_stream
from storage import capture
from tests.test_readers_answers import REQUESTS, STREAMS
from tests.test_readers_stream_deltas import CREATED, MESSAGE, SHELL, added, delta, piece
from tests.test_readers_streams import chunk, gemini, sse

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 20_000)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
CHAT_WHOLE = {"index": 0, "message": {"role": "assistant", "content": "a", "tool_calls": [{"index": 0, "id": "c"}]}}
CALL = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{"}, "custom": {"input": "a"}}
CITATION = {"type": "citations_delta", "citation": {"url": "u"}}
MORE: dict[str, list[Any]] = {
    "openai_chat": [
        {"choices": [{**CHAT_WHOLE, "delta": {"content": "b", "tool_calls": [CALL]}}]},
        chunk({"tool_calls": [CALL], "reasoning_details": [{"text": "a"}], "audio": {"data": "a"}}),
        chunk({"reasoning_details": [{"text": "b"}], "audio": {"data": "b"}}),
    ],
    "anthropic": [
        {"type": "content_block_start", "index": 7, "content_block": {"type": "text", "text": "", "citations": []}},
        {"type": "content_block_delta", "index": 7, "delta": CITATION},
        {"type": "content_block_delta", "index": 7, "delta": {"type": "text_delta", "text": "a"}},
        {"type": "error", "error": {"type": "overloaded_error", "message": "no"}},
    ],
    "openai_responses": [
        added(MESSAGE, 1),
        delta("output_text", "a", content_index=0),
        {"type": "response.output_text.annotation.added", "output_index": 1, "annotation": {"url": "u"}},
        {"type": "response.output_text.annotation.added", "output_index": 1, "annotation": {"url": "v"}},
        added(SHELL, 2),
        {**delta("shell_call_command", "ls", command_index=0), "output_index": 2},
    ],
    "gemini": [
        gemini(piece({"jsonPath": "$.a[0].b", "stringValue": "x", "willContinue": True}, name="f")),
        gemini(piece({"jsonPath": "$.a[0].b", "stringValue": "y"}, {"jsonPath": "$.a[1]", "numberValue": 1})),
    ],
}
SPOKEN = {name: [*STREAMS[name][:-1], *MORE[name], *STREAMS[name][-1:]] for name in STREAMS}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*path, key)
        yield from places(inner, (*path, key))


def put(value: Any, path: tuple[Any, ...], damage: Any) -> Any:
    if not path:
        return damage
    copy = value.copy()
    copy[path[0]] = put(value[path[0]], path[1:], damage)
    return copy


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, list[Any]]:
    spoken = draw(st.sampled_from(sorted(SPOKEN)))
    events: list[Any] = SPOKEN[spoken]
    for _ in range(draw(st.integers(1, 3))):
        events = put(events, draw(st.sampled_from(list(places(events)))), draw(JSON))
    return spoken, events


BAD_MESSAGE = ("openai_chat", [{"choices": [{"message": "x", "delta": {"content": "a"}}]}])
BAD_CITATIONS = (
    "anthropic",
    [
        {"type": "content_block_start", "content_block": {"type": "text", "citations": 5}},
        {"type": "content_block_delta", "delta": CITATION},
    ],
)


@settings(deadline=None, max_examples=400)
@example(BAD_MESSAGE)
@example(BAD_CITATIONS)
@given(damaged())
def test_a_damaged_stream_is_joined_or_left_as_it_is(stream: tuple[str, list[Any]]) -> None:
    spoken, events = stream
    before = json.dumps(events)
    assert body_value(events) is not None
    assert body_value(sse(*events)) is not None
    assert json.dumps(events) == before
    found = read(json.dumps({"request": REQUESTS[spoken], "response": events}))
    assert len(found.transcripts[0].calls) == 1
    assert [problem for problem in found.problems if "failed (" in problem.problem] == []


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROMPT_INSPECTOR_DB", f"sqlite:///{tmp_path_factory.mktemp('damage') / 'store.db'}")
        with TestClient(Starlette(routes=capture.routes()), raise_server_exceptions=False) as client:
            yield client


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@example(BAD_MESSAGE)
@example(BAD_CITATIONS)
@given(damaged())
def test_a_captured_damaged_stream_is_stored_or_refused(client: TestClient, stream: tuple[str, list[Any]]) -> None:
    spoken, events = stream
    for response in (events, sse(*events)):
        answer = client.post("/api/capture", json={"request": REQUESTS[spoken], "response": response})
        assert answer.status_code in (201, 400)
        assert answer.status_code == 201 or answer.json()["error"].endswith(".")


def test_what_is_no_message_or_no_list_gives_way() -> None:
    [choice] = whole_response(BAD_MESSAGE[1])["choices"]
    assert choice == {"message": {"role": "assistant", "content": "a"}}
    assert whole_response(BAD_CITATIONS[1])["content"] == [{"type": "text", "citations": [{"url": "u"}]}]


def test_a_whole_message_is_gone_on_from_and_stays_as_it_was_recorded() -> None:
    events = [{"choices": [{**CHAT_WHOLE, "delta": {"content": "b", "tool_calls": [CALL]}}]}]
    joined = join_stream(events)
    assert joined is not None
    [choice] = joined["choices"]
    call = {"index": 0, "id": "c", "function": CALL["function"], "custom": CALL["custom"]}
    assert choice["message"] == {"role": "assistant", "content": "ab", "tool_calls": [call]}
    assert CHAT_WHOLE["message"] == {"role": "assistant", "content": "a", "tool_calls": [{"index": 0, "id": "c"}]}


def test_a_list_that_grows_is_copied_once() -> None:
    given_list = [1]
    owner: dict[str, Any] = {"a": given_list}
    grow(owner, {"a": [2]})
    grown = owner["a"]
    assert isinstance(grown, Listed)
    for number in range(3, 50):
        grow(owner, {"a": [number]})
        assert owner["a"] is grown
    assert given_list == [1]
    assert (settled(owner), type(settled(owner)["a"])) == ({"a": list(range(1, 50))}, list)


@pytest.mark.parametrize(("made", "times"), [(Listed, 2), (Text, 1)])
def test_each_list_and_text_of_a_stream_is_begun_once(
    made: type[list[Any]], times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many deltas follow: the two lists are `reasoning_details` and `citations`, the text is `content`."""
    begun: list[None] = []

    def count(self: Any, *values: Any) -> None:
        begun.append(None)
        list.__init__(self, *values)

    monkeypatch.setattr(made, "__init__", count, raising=False)
    said = {"content": "x", "reasoning_details": [{"text": "a"}]}
    cited = [{"type": "content_block_delta", "index": 0, "delta": CITATION}] * 500
    assert body_value([chunk(said)] * 500) is not None
    joined = body_value([{"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}, *cited])
    assert joined["content"][0]["citations"] == [{"url": "u"}] * 500
    assert len(begun) == times


def test_the_annotations_of_a_text_are_in_order() -> None:
    note = {"type": "response.output_text.annotation.added", "output_index": 0, "content_index": 0}
    joined = join_stream([CREATED, added(MESSAGE), *[{**note, "annotation": {"n": n}} for n in range(3)]])
    assert joined is not None
    assert joined["output"][0]["content"][0]["annotations"] == [{"n": 0}, {"n": 1}, {"n": 2}]
