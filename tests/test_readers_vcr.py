"""VCR cassettes of several libraries."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity
from tests.recordings import (
    ANSWERED,
    ASKED,
    ASKED_NEXT,
    CLAUDE_ANSWERED,
    CLAUDE_ASKED,
    REPLY,
    check,
    chunks,
    prompt_sizes,
    reported_inputs,
    sse,
    usages,
)

CHAT = "https://api.openai.com/v1/chat/completions"
TEXT = json.dumps(ANSWERED)


def cassette(request: Any, response: Any, key: str = "interactions") -> str:
    asked = {"method": "POST", "uri": CHAT, "headers": {"accept": ["x"]}, **request}
    return json.dumps({key: [{"request": asked, "response": {"status": {"code": 200}, **response}}], "version": 1})


@pytest.mark.parametrize(
    ("request_", "response"),
    [
        ({"body": json.dumps(ASKED)}, {"body": {"string": TEXT}}),
        ({"parsed_body": ASKED}, {"parsed_body": ANSWERED}),
        ({"body": {"encoding": "utf-8", "string": json.dumps(ASKED)}}, {"body": {"encoding": "utf-8", "string": TEXT}}),
        ({"content": ASKED}, {"content": {"data": base64.b64encode(TEXT.encode()).decode(), "encoding": "base64"}}),
        (
            {"body": json.dumps(ASKED)},
            {"body": {"base64_string": base64.b64encode(gzip.compress(TEXT.encode())).decode()}},
        ),
        ({"parsed_body": ASKED, "body": ""}, {"body": TEXT}),
    ],
)
@pytest.mark.parametrize("key", ["interactions", "http_interactions"])
def test_bodies_are_read_however_the_library_keeps_them(request_: Any, response: Any, key: str) -> None:
    found = read(cassette(request_, response, key))
    (transcript,) = found.transcripts
    assert (found.format, transcript.captured(0)) == ("vcr", ASKED)
    assert (transcript.calls[0].response, transcript.calls[0].model) == (REPLY, "gpt-4o-2024-08-06")
    assert usages(found) == [(20, 8, None, 5, None)]


def test_a_cassette_in_yaml() -> None:
    packed = base64.b64encode(gzip.compress(sse(*chunks()).encode())).decode()
    text = f"""\
interactions:
- request:
    body: '{json.dumps(ASKED)}'
    headers: &id001
      accept: ['*/*']
    method: POST
    uri: {CHAT}
  response:
    body:
      string: '{TEXT}'
    headers: *id001
    status: {{code: 200, message: OK}}
- request:
    parsed_body: {json.dumps(ASKED_NEXT)}
    method: POST
    uri: {CHAT}
  response:
    body:
      string: !!binary |
        {packed}
    status: {{code: 200, message: OK}}
- request: {{method: GET, uri: 'https://example.com/'}}
  response: {{status: {{code: 404}}}}
version: 1
"""
    found = read(text)
    (transcript,) = found.transcripts
    assert (found.counts.read, found.counts.used, found.counts.ignored) == (3, 2, 1)
    assert [call.response for call in transcript.calls] == [REPLY, {"role": "assistant", "content": "hello"}]
    assert transcript.captured(1) == ASKED_NEXT
    check(found)


def test_a_list_that_holds_answers_only() -> None:
    def one(path: str, response: Any, **more: Any) -> dict[str, Any]:
        return {"scope": "https://api.x", "method": "POST", "path": path, "status": 200, "response": response, **more}

    chunked = [part.hex() for part in (gzip.compress(TEXT.encode())[:50], gzip.compress(TEXT.encode())[50:])]
    found = read(
        json.dumps(
            [
                one("/v1/chat/completions", sse(*chunks())),
                one("/v1/chat/completions", chunked, responseIsBinary=True),
                one("/v1/chat/completions", ANSWERED, body=ASKED),
                one("/flags", {"flags": {}}),
            ]
        )
    )
    assert (found.counts.read, found.counts.used, found.counts.ignored) == (4, 3, 1)
    assert [t.calls[0].fidelity for t in found.transcripts] == [Fidelity.PARTIAL, Fidelity.PARTIAL, Fidelity.CAPTURED]
    assert [t.notes for t in found.transcripts] == [("prompt not recorded",), ("prompt not recorded",), ()]
    assert usages(found) == [(20, 8, None, 5, None)] * 3
    check(found, surprises=2)


def test_a_handover_between_providers_is_a_transcript_each() -> None:
    pairs = [(CHAT, ASKED, ANSWERED), ("https://api.anthropic.com/v1/messages", CLAUDE_ASKED, CLAUDE_ANSWERED)]
    listed = [
        {"request": {"method": "POST", "uri": uri, "parsed_body": asked}, "response": {"parsed_body": answered}}
        for uri, asked, answered in pairs
    ]
    found = read(json.dumps({"interactions": listed}))
    assert [transcript.dialect for transcript in found.transcripts] == ["openai_chat", "anthropic"]


def test_an_interaction_that_is_none() -> None:
    good = json.loads(cassette({"parsed_body": ASKED}, {"parsed_body": ANSWERED}))["interactions"]
    found = read(json.dumps({"interactions": [*good, {"request": 7}, None]}))
    assert (found.counts.read, found.counts.used, found.counts.broken) == (3, 1, 2)
    assert [problem.place for problem in found.problems] == ["interaction 2", "interaction 3"]


def test_a_cassette_without_calls_is_refused() -> None:
    found = read(cassette({"method": "GET", "uri": "https://example.com/"}, {"body": {"string": "<html>"}}))
    assert found.transcripts == []
    assert "no call to a language model is among 1 recorded request" in str(found.problems[0])
    assert read('{"interactions": [], "version": 1}', "vcr").problems


@pytest.mark.parametrize(
    ("name", "dialects", "sizes"),
    [
        ("pydantic-ai-multi-agent-openai.yaml", ["openai_chat", "openai_chat"], [1, 1, 4, 6]),
        ("zen-gpt5-continuation.json", ["openai_chat", "openai_chat"], [2, 2]),
    ],
)
def test_real_cassettes(transcripts_folder: Path, name: str, dialects: list[str], sizes: list[int]) -> None:
    found = read(transcripts_folder / "vcr-cassette" / name)
    assert [transcript.dialect for transcript in found.transcripts] == dialects
    assert prompt_sizes(found) == sizes
    assert [row[0] for row in usages(found)] == reported_inputs(transcripts_folder, f"vcr-cassette/{name}")
    assert found.problems == []
    check(found)


def test_a_real_cassette_of_two_providers(transcripts_folder: Path) -> None:
    name = "pydantic-ai-tool-search-anthropic-openai-anthropic.yaml"
    found = read(transcripts_folder / "vcr-cassette" / name)
    claude, gpt = found.transcripts
    inputs = reported_inputs(transcripts_folder, f"vcr-cassette/{name}")
    assert [call.usage.input for call in claude.calls] == [*inputs[:2], *inputs[4:]]
    assert [call.usage.input for call in gpt.calls] == inputs[2:4]
    assert [len(claude.captured(number)["messages"]) for number in range(4)] == [1, 3, 9, 11]
    assert [len(gpt.captured(number)["input"]) for number in range(2)] == [8, 10]
    check(found)


def test_a_real_cassette_of_answers(transcripts_folder: Path) -> None:
    found = read(transcripts_folder / "vcr-cassette" / "cline-subagents-recorded-http.json")
    assert (found.counts.read, found.counts.used, found.counts.ignored) == (19, 8, 11)
    rows = sorted((row[0], row[1], row[3]) for row in usages(found))
    expected = [
        (10194, 7318, 132),
        *[(5315, 0, 17)] * 3,
        (5445, 0, 66),
        (5445, 5312, 66),
        (5445, 5312, 66),
        (10799, 10191, 268),
    ]
    assert rows == sorted(expected)
    called = [len(t.calls[0].response.get("tool_calls") or []) for t in found.transcripts if t.calls[0].response]
    assert sorted(called) == [0, 0, 0, 1, 1, 1, 1, 1]
