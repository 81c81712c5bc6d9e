"""The response beside a recorded request is read the same, whole or streamed, whatever way the stream was recorded."""

import base64
import json
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

import storage
from core.dialects import dialect
from core.readers import read
from core.readers.streams import body_value, join_stream
from core.transcript import Call, Usage
from storage import capture
from tests.chats import only
from tests.test_readers_streams import CHAT, CLAUDE, DONE, RESPONSES, gemini, sse

GEMINI = [
    gemini({"text": "a"}),
    gemini({"text": "b"}, {"functionCall": {"name": "f", "args": {}}}, promptTokenCount=5, candidatesTokenCount=2),
]
SAID = [{"role": "user", "content": "hi"}]
REQUESTS: dict[str, dict[str, Any]] = {
    "openai_chat": {"model": "gpt-x", "stream": True, "messages": SAID},
    "anthropic": {"model": "claude-x", "max_tokens": 5, "stream": True, "messages": SAID},
    "openai_responses": {"model": "gpt-5", "stream": True, "input": "hi"},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
}
STREAMS: dict[str, list[Any]] = {
    "openai_chat": CHAT,
    "anthropic": CLAUDE,
    "openai_responses": [*RESPONSES, DONE],
    "gemini": GEMINI,
}
USAGES = {
    "openai_chat": Usage(input=7, output=3),
    "anthropic": Usage(input=5, output=9),
    "openai_responses": Usage(input=3),
    "gemini": Usage(input=5, output=2),
}
FORMS: dict[str, Any] = {
    "text of events": lambda events: sse(*events) + "data: [DONE]\n\n",
    "JSON Lines": lambda events: "\n".join(map(json.dumps, events)),
    "list": lambda events: events,
    "JSON of a list": json.dumps,
    "list with its end": lambda events: [*events, "[DONE]"],
    "HTTP answer with text": lambda events: {"status_code": 200, "body": sse(*events)},
    "HTTP answer with list": lambda events: {"status_code": 200, "body": events},
}


def told(call: Call, spoken: str) -> list[tuple[str, str]]:
    assert call.response is not None
    return [(part.kind.value, part.text) for part in dialect(spoken).message(call.response).parts]


PARTS = {
    "openai_chat": [("text", "hello"), ("tool_call", '{"a": 1}'), ("tool_call", "{}")],
    "anthropic": [("thinking", "hm"), ("text", "ab"), ("tool_call", '{"a":1}')],
    "openai_responses": [("thinking", ""), ("text", "hi")],
    "gemini": [("text", "ab"), ("tool_call", "{}")],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("spoken", REQUESTS)
def test_a_streamed_response_beside_its_request(spoken: str, form: str) -> None:
    found = read(json.dumps({"request": REQUESTS[spoken], "response": FORMS[form](STREAMS[spoken])}))
    assert found.problems == []
    [transcript] = found.transcripts
    [call] = transcript.calls
    assert (transcript.dialect, told(call, spoken), call.usage) == (spoken, PARTS[spoken], USAGES[spoken])


@pytest.fixture
def client(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PROMPT_INSPECTOR_DB", f"sqlite:///{tmp_path / 'store.db'}")
    with TestClient(Starlette(routes=capture.routes())) as client:
        yield client


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("spoken", REQUESTS)
def test_a_streamed_response_that_is_captured(spoken: str, form: str, client: TestClient) -> None:
    body = {"request": REQUESTS[spoken], "response": FORMS[form](STREAMS[spoken])}
    answer = client.post("/api/capture", json=body)
    assert (answer.status_code, answer.json()["remarks"]) == (201, [])
    transcript = storage.library().get(answer.json()["transcript"])
    [call] = transcript.calls
    [imported] = only(body).calls
    assert (call.response, call.usage, call.model) == (imported.response, imported.usage, imported.model)
    assert (transcript.notes, told(call, spoken)) == ((), PARTS[spoken])


def test_a_secret_that_a_stream_cuts_is_masked(client: TestClient, tmp_path: Any) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
    halves = [{**CHAT[1], "choices": [{"index": 0, "delta": {"content": half}}]} for half in (secret[:9], secret[9:])]
    answer = client.post("/api/capture", json={"request": REQUESTS["openai_chat"], "response": sse(*halves)})
    assert answer.json()["masked"] == {"github-token": 1}
    [call] = storage.library().get(answer.json()["transcript"]).calls
    assert call.response is not None
    assert secret[9:] not in call.response["content"]


ERROR_TEXT = '{"error": {"code": "not_found"}}'
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "no"}}


@pytest.mark.parametrize("form", ["text of events", "JSON Lines", "list", "JSON of a list", "HTTP answer with text"])
def test_an_error_in_the_place_of_a_stream_is_a_failed_call(form: str, client: TestClient) -> None:
    body = {"request": REQUESTS["anthropic"], "response": FORMS[form]([OVERLOADED])}
    found = read(json.dumps(body))
    [call] = found.transcripts[0].calls
    assert call.response is None
    assert [problem.problem for problem in found.problems] == ["the call failed, so there is no response"]
    answer = client.post("/api/capture", json=body)
    stored = storage.library().get(answer.json()["transcript"])
    assert stored.calls[0].response is None
    assert stored.notes == (f"call 1 failed: {json.dumps(OVERLOADED, separators=(',', ':'))}",)


@pytest.mark.parametrize("told", [{"status_code": 404, "body": ERROR_TEXT}, json.loads(ERROR_TEXT)])
def test_an_error_is_one_where_its_wrapper_says_so(told: Any) -> None:
    found = read(json.dumps({"request": REQUESTS["openai_chat"], "response": told}))
    assert [problem.problem for problem in found.problems] == ["the call failed, so there is no response"]
    assert found.transcripts[0].calls[0].response is None


@pytest.mark.parametrize("form", ["text of events", "JSON Lines"])
@pytest.mark.parametrize("spoken", REQUESTS)
def test_a_stream_cut_off_anywhere_in_its_last_line_is_joined(spoken: str, form: str) -> None:
    *before, last = STREAMS[spoken]
    begun = FORMS[form]([*before, ""]).replace('data: ""\n\ndata: [DONE]\n\n', "").removesuffix('""')
    line = f"{'data: ' * (form == 'text of events')}{json.dumps(last)}"
    joined = {json.dumps(body_value(begun + line[:cut]), sort_keys=True) for cut in range(len(line))}
    assert joined == {json.dumps(join_stream(before), sort_keys=True)}


def test_what_a_captured_response_lacks_of_its_stream_is_told(client: TestClient) -> None:
    unknown = {"type": "response.sign_language.delta", "output_index": 1, "delta": "x"}
    body = {"request": REQUESTS["openai_responses"], "response": [*RESPONSES, unknown]}
    assert client.post("/api/capture", json=body).json()["remarks"] == [
        "The stream has deltas of a kind that is not known here (response.sign_language.delta)."
        " The response may lack what they say."
    ]


TEXTS = [
    "the plain answer",
    "42",
    '{"answer": 5}',
    "data: no event\n\n",
    '["a", "b"]',
    "null and void",
    ERROR_TEXT,
    f"[{ERROR_TEXT}]",
    *[f"A stream looks so:\n\n{sse(*events)}" for events in STREAMS.values()],
    *[f"{sse(*events)}data: [DONE]\n\nEach event ends with an empty line." for events in STREAMS.values()],
    *[f"It sends\n{json.dumps(events[0])}\none after the other." for events in STREAMS.values()],
    *[f"{json.dumps(events[0])}\n{json.dumps(events[1])}\n[1, 2]" for events in STREAMS.values()],
    f"An error is sent so:\n\ndata: {ERROR_TEXT}\n\n",
    'It sends {"bytes":"' + base64.b64encode(json.dumps(CLAUDE[0]).encode()).decode() + '"} in frames.',
]
"""What a model may have written, also of streams and errors."""


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("spoken", REQUESTS)
def test_the_text_of_an_answer_is_a_message_of_the_dialect(spoken: str, text: str) -> None:
    found = read(json.dumps({"request": REQUESTS[spoken], "response": text}))
    assert found.problems == []
    [call] = found.transcripts[0].calls
    assert call.response == dialect(spoken).text_message("assistant", text)
    assert told(call, spoken) == [("text", text)]


@pytest.mark.parametrize("spoken", REQUESTS)
def test_a_message_of_the_assistant_as_the_response(spoken: str) -> None:
    own = dialect(spoken).text_message("assistant", "so")
    for answer in (own, {"role": "assistant", "content": "so"}):
        [call] = only({"request": REQUESTS[spoken], "response": answer}).calls
        assert told(call, spoken) == [("text", "so")]


@pytest.mark.parametrize("answer", [{"role": "assistant", "content": [{"type": "text", "text": "so"}]}, {"a": 1}, [1]])
def test_an_answer_that_the_dialect_cannot_read_is_told(answer: Any) -> None:
    found = read(json.dumps({"request": REQUESTS["gemini"], "response": answer}))
    assert [problem.problem for problem in found.problems] == ["the response is of no known shape"]
    assert found.transcripts[0].calls[0].response is None
