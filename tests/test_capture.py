"""The routes store what they are given before they answer, and say in a sentence what they cannot take."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

import storage
from core.transcript import Usage
from storage import capture
from tests.stores import openai_body, openai_response

SECRET = "sk-ant-" + "a1B2c3D4e5F6g7H8i9J0" * 3


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """The routes alone, on a database of their own."""
    monkeypatch.setenv("PROMPT_INSPECTOR_DB", f"sqlite:///{tmp_path / 'store.db'}")
    with TestClient(Starlette(routes=capture.routes())) as client:
        yield client


def pair(call: int = 0, **more: Any) -> dict[str, Any]:
    return {"request": openai_body(call + 1), "response": openai_response(call), **more}


def test_a_capture_is_stored_before_it_is_answered(client: TestClient) -> None:
    before = storage.library().count()
    for call in range(3):
        at = f"2026-03-01T09:3{call}:00+01:00"
        answer = client.post("/api/capture", json=pair(call, session="s", hints={"goal": "x"}, at=at))
        assert answer.status_code == 201
        stored_as = {"transcript": answer.json()["transcript"], "call": call}
        assert answer.json() == {**stored_as, "masked": {}, "remarks": []}
        stored = storage.library().get(answer.json()["transcript"])
        assert stored.captured(call) == openai_body(call + 1)
        assert stored.calls[call].hints == {"goal": "x"}
        assert str(stored.calls[call].at) == f"2026-03-01 08:3{call}:00+00:00"
    assert storage.library().count() == before + 1


def test_an_anthropic_pair_is_known_by_its_request(client: TestClient) -> None:
    request = {"model": "claude-x", "max_tokens": 9, "system": "s", "messages": [{"role": "user", "content": "hi"}]}
    answer = client.post("/api/capture", json={"request": request, "response": None})
    stored = storage.library().get(answer.json()["transcript"])
    assert (stored.dialect, stored.captured(0), stored.calls[0].response) == ("anthropic", request, None)


@pytest.mark.parametrize("figure", [str(10**25), str(2**63), str(2**31), "-5", "NaN", "Infinity", "1e400"])
def test_an_absurd_figure_is_stored_as_none_and_told(client: TestClient, figure: str) -> None:
    body = json.dumps(pair()).replace('"prompt_tokens": 100', f'"prompt_tokens": {figure}')
    assert figure in body
    answer = client.post("/api/capture", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 201
    [remark] = answer.json()["remarks"]
    assert remark.startswith("The usage has ")
    assert remark.endswith("(input). A whole number from 0 to 2,147,483,647 was expected; the figure was ignored.")
    [call] = storage.library().get(answer.json()["transcript"]).calls
    assert (call.usage.input, call.usage.output) == (None, 7)


UNKNOWN: list[dict[str, Any]] = [
    {"usage": {"prompt_tokens": -5}},
    {"choices": [], "usage": {"prompt_tokens": -5}},
    {"error": {"message": "overloaded"}, "usage": {"prompt_tokens": -5}},
]


@pytest.mark.parametrize("response", UNKNOWN)
def test_no_figure_is_taken_from_what_is_no_known_response(client: TestClient, response: dict[str, Any]) -> None:
    """How it begins is kept in the notes, so that what it says of tokens is not lost without a word."""
    answer = client.post("/api/capture", json={**pair(), "response": response})
    assert (answer.status_code, answer.json()["remarks"]) == (201, [])
    stored = storage.library().get(answer.json()["transcript"])
    assert stored.notes == (f"call 1 failed: {json.dumps(response, separators=(',', ':'))}",)
    assert (stored.calls[0].response, stored.calls[0].usage) == (None, Usage())


ASKED = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
EMPTY: list[dict[str, Any]] = [
    {**pair(), "response": {"object": "chat.completion", "choices": [], "usage": {"prompt_tokens": -5}}},
    {"request": ASKED, "response": {"candidates": [], "usageMetadata": {"promptTokenCount": -5}}},
]


@pytest.mark.parametrize("body", EMPTY)
def test_figures_of_a_response_without_a_message_are_looked_at(client: TestClient, body: dict[str, Any]) -> None:
    answer = client.post("/api/capture", json=body)
    [remark] = answer.json()["remarks"]
    assert remark.startswith("The usage has -5, which is no number of tokens (input).")
    [note] = storage.library().get(answer.json()["transcript"]).notes
    assert note.startswith("call 1 failed: ")


def test_cached_tokens_above_the_input_are_told(client: TestClient) -> None:
    body = pair()
    body["response"]["usage"] = {"prompt_tokens": 320, "prompt_tokens_details": {"cached_tokens": 9999}}
    answer = client.post("/api/capture", json=body)
    assert answer.json()["remarks"] == [
        "The usage contradicts itself: 9,999 tokens read from the cache, of an input of 320 tokens."
        " Cached tokens are a part of the input, so this figure was ignored."
    ]
    [call] = storage.library().get(answer.json()["transcript"]).calls
    assert (call.usage.input, call.usage.cache_read) == (320, None)


def test_secrets_are_masked_and_counted(client: TestClient, tmp_path: Path) -> None:
    body = pair(hints={"goal": SECRET})
    body["request"]["messages"][0]["content"] = f"{SECRET} and Bearer {SECRET[7:]}"
    answer = client.post("/api/capture", json=body)
    assert answer.json()["masked"] == {"anthropic-key": 2, "bearer-token": 1}
    assert not [path.name for path in tmp_path.iterdir() if SECRET.encode() in path.read_bytes()]


def test_lone_surrogates_and_key_order_survive(client: TestClient) -> None:
    text = '{"request":{"messages":[{"content":"\\ud83d \\u0000 weiß","role":"user"}],"model":"m","a":1.0,"n":1e400}}'
    answer = client.post("/api/capture", content=text.encode(), headers={"content-type": "application/json"})
    assert answer.status_code == 201
    stored = storage.library().get(answer.json()["transcript"]).captured(0)
    assert json.dumps(stored) == json.dumps(json.loads(text)["request"])


JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("content", "headers", "status", "said"),
    [
        (b"", JSON, 400, "The body is not JSON: Expecting value"),
        (b"{", JSON, 400, "The body is not JSON"),
        (b"\xff\xfe{", JSON, 400, "The body is not"),
        (b'"\xe4"', JSON, 400, "The body is not UTF-8"),
        (b'{"request":{"messages":[' + b"[" * 990 + b"]" * 990 + b"]}}", JSON, 400, "The JSON is nested too deeply"),
        (b"[" * 100_000, JSON, 400, "The JSON is nested too deeply"),
        (b"[]", JSON, 400, "The body is a list; an object was expected"),
        (b"null", JSON, 400, "The body is null; an object was expected"),
        (b'"x"', JSON, 400, "The body is a text; an object was expected"),
        (b"1", JSON, 400, "The body is a number; an object was expected"),
        (b"{}", JSON, 400, "The field 'request' is missing"),
        (b'{"request": null}', JSON, 400, "The field 'request' is null; an object was expected"),
        (b'{"request": []}', JSON, 400, "The field 'request' is a list"),
        (b'{"request": {}}', JSON, 400, "This is not a request body"),
        (b'{"request": {"prompt": "x"}}', JSON, 400, "This is not a request body"),
        (b'{"request": {"messages": 1}}', JSON, 400, "This is not a request body"),
        (b'{"request": {"messages": []}, "response": "x"}', JSON, 400, "The field 'response' is a text"),
        (b'{"request": {"messages": []}, "respnse": {}}', JSON, 400, "There is no field 'respnse'; known are request"),
        (b'{"request": {"messages": []}, "session": 7}', JSON, 400, "The field 'session' must be a text"),
        (b'{"request": {"messages": []}, "hints": []}', JSON, 400, "The field 'hints' is a list"),
        (b'{"request": {"messages": []}, "hints": {"gaol": "x"}}', JSON, 400, "Hints have no 'gaol'; known are goal"),
        (b'{"request": {"messages": []}, "at": "noon"}', JSON, 400, "The field 'at' is no time: 'noon'"),
        (b"{}", {"content-type": "text/plain"}, 415, "The content type is text/plain; send application/json."),
        (b"{}", {}, 415, "The content type is missing; send application/json."),
        (b"a=1", {"content-type": "application/x-www-form-urlencoded"}, 415, "The content type is application/x-www"),
        (gzip.compress(b"{}", mtime=0), {**JSON, "content-encoding": "gzip"}, 415, "The body is compressed"),
    ],
)
def test_what_cannot_be_taken_is_a_sentence_and_leaves_nothing(
    content: bytes, headers: dict[str, str], status: int, said: str, client: TestClient
) -> None:
    before = storage.library().count()
    answer = client.post("/api/capture", content=content, headers=headers)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]
    assert answer.json()["error"].startswith(said)
    assert answer.json()["error"].endswith((".", "}"))
    assert storage.library().count() == before


def test_a_session_name_of_any_length_is_not_taken(client: TestClient) -> None:
    assert client.post("/api/capture", json=pair(session="x" * 500)).status_code == 201
    assert client.post("/api/capture", json=pair(session="x" * 501)).status_code == 400


def test_a_body_that_is_too_large_is_refused_before_it_is_read(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROMPT_INSPECTOR_CAPTURE_MB", "0.002")
    assert client.post("/api/capture", json=pair()).status_code == 201
    large = json.dumps(pair(session="x" * 2000)).encode()
    answer = client.post("/api/capture", content=large, headers=JSON)
    said = "The body is larger than 0.002 MB. Set PROMPT_INSPECTOR_CAPTURE_MB on the server to take larger ones."
    assert (answer.status_code, answer.json()) == (413, {"error": said})
    in_pieces = client.post("/api/capture", content=iter([large[:1500], large[1500:]]), headers=JSON)
    assert "content-length" not in in_pieces.request.headers
    assert (in_pieces.status_code, in_pieces.json()) == (413, {"error": said})


@pytest.mark.parametrize(
    ("path", "method", "allowed"),
    [
        *(("/api/capture", method, "POST") for method in ("GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")),
        *(("/healthz", method, "GET, HEAD") for method in ("POST", "PUT", "DELETE")),
    ],
)
def test_another_method_is_told_which_one_is_taken(path: str, method: str, allowed: str, client: TestClient) -> None:
    answer = client.request(method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
    if method != "HEAD":
        assert answer.json() == {"error": f"{path} does not take {method}, only {allowed}."}


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ["/api", "/api/", "/api/captures", "/api/capture/", "/api/a/b", "/v1/traces"])
def test_a_route_that_does_not_exist_is_said_in_json(path: str, method: str, client: TestClient) -> None:
    answer = client.request(method, path, follow_redirects=False)
    assert (answer.status_code, list(answer.json())) == (404, ["error"])
    assert f"There is no route {path}." in answer.json()["error"]


def test_health_looks_at_the_store(client: TestClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "version": "1.0.0", "transcripts": storage.library().count()}
    (tmp_path / "no.db").write_text("no database at all" * 100)
    monkeypatch.setenv("PROMPT_INSPECTOR_DB", f"sqlite:///{tmp_path / 'no.db'}")
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["status"] == "failing"
    assert "is not a SQLite database" in answer.json()["error"]


def test_a_store_that_fails_is_said_and_nothing_is_promised(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "no.db").write_text("no database at all" * 100)
    monkeypatch.setenv("PROMPT_INSPECTOR_DB", f"sqlite:///{tmp_path / 'no.db'}")
    answer = client.post("/api/capture", json=pair())
    assert answer.status_code == 503
    assert "is not a SQLite database" in answer.json()["error"]


def test_captures_of_one_session_at_once_are_all_stored(client: TestClient) -> None:
    barrier, answers = threading.Barrier(6), []

    def work(worker: int) -> None:
        barrier.wait()
        for call in range(5):
            answers.append(
                client.post("/api/capture", json=pair(call, session="s", hints={"goal": f"{worker} {call}"}))
            )

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.status_code for answer in answers} == {201}
    assert sorted(answer.json()["call"] for answer in answers) == list(range(30))
    (transcript,) = {answer.json()["transcript"] for answer in answers}
    stored = storage.library().get(transcript)
    for answer in answers:
        goal = json.loads(answer.request.content)["hints"]["goal"]
        hints = stored.calls[answer.json()["call"]].hints
        assert hints == {"goal": goal}
    assert len(stored.messages) == 9
