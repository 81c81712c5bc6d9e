"""LiteLLM's payloads and rows, and the completion logs of OpenHands."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity, Usage
from tests.recordings import ANSWERED, ASKED, ASKED_NEXT, CALL, REPLY, check, prompt_sizes, reported_inputs, usages

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def payload(**fields: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "call_type": "acompletion",
        "status": "success",
        "startTime": 1730371250.5,
        "model": "gpt-4o",
        "messages": ASKED["messages"],
        "response": ANSWERED,
        "model_parameters": {"temperature": 0.5, "tools": [TOOL], "stream": None},
        "prompt_tokens": 20,
        "completion_tokens": 5,
        **fields,
    }


def test_a_standard_payload() -> None:
    found = read(json.dumps(payload()))
    (transcript,) = found.transcripts
    assert (found.format, usages(found)) == ("litellm", [(20, 8, None, 5, None)])
    assert transcript.captured(0) == {**ASKED, "temperature": 0.5, "tools": [TOOL]}
    assert (transcript.calls[0].response, transcript.calls[0].fidelity) == (REPLY, Fidelity.CAPTURED)
    assert str(transcript.started) == "2024-10-31 10:40:50.500000+00:00"
    check(found)


@pytest.mark.parametrize(
    "row",
    [
        {
            "request_id": "r",
            "messages": json.dumps(ASKED["messages"]),
            "response": json.dumps(ANSWERED),
            "metadata": "{}",
        },
        {"request_id": "r", "messages": "{}", "response": ANSWERED, "proxy_server_request": json.dumps(ASKED)},
        {"request_id": "r", "messages": None, "response": ANSWERED, "proxy_server_request": {"body": ASKED}},
    ],
)
def test_rows_of_the_spend_table(row: Any) -> None:
    found = read(json.dumps({**payload(), "model_parameters": None, **row}))
    (transcript,) = found.transcripts
    assert transcript.captured(0) == ASKED
    assert transcript.calls[0].response == REPLY


def test_a_row_without_prompts_has_its_usage() -> None:
    row = {**payload(messages="{}", response="{}", model_parameters=None), "proxy_server_request": "{}"}
    found = read(json.dumps(row))
    (transcript,) = found.transcripts
    assert usages(found) == [(20, None, None, 5, None)]
    assert (transcript.calls[0].response, transcript.notes) == (None, ("prompt not recorded",))


def test_sessions_and_failures() -> None:
    rows = [
        payload(session_id="a"),
        payload(session_id="a"),
        payload(id="2", session_id="b", response=None, status="failure", error_str="overloaded"),
        payload(id="3", session_id="a", messages=ASKED_NEXT["messages"]),
        payload(id="4", call_type="aembedding", messages="x", response={"object": "list"}),
    ]
    found = read("\n".join(map(json.dumps, rows)))
    assert [(transcript.session, len(transcript.calls)) for transcript in found.transcripts] == [("a", 2), ("b", 1)]
    assert (found.counts.used, found.counts.ignored) == (3, 2)
    assert [str(problem) for problem in found.problems] == [
        "the text, line 3: the call failed, so there is no response. The request was read."
    ]


def completion(**fields: Any) -> dict[str, Any]:
    kept = {"messages": ASKED["messages"], "tools": [TOOL], "kwargs": {"temperature": 0.0, "tools": [TOOL]}}
    return {
        **kept,
        "context_window": 200000,
        "response": ANSWERED,
        "cost": 0.1,
        "timestamp": 1730371251.5,
        "latency_sec": 1.0,
        **fields,
    }


def test_a_completion_log() -> None:
    (transcript,) = read(json.dumps(completion())).transcripts
    assert transcript.captured(0) == {
        "model": "gpt-4o-2024-08-06",
        "temperature": 0.0,
        "messages": ASKED["messages"],
        "tools": [TOOL],
    }
    assert transcript.calls[0].response == REPLY


def test_what_was_sent_is_messages_and_not_raw_messages() -> None:
    said = {"role": "assistant", "content": "<function=f>"}
    raw = {**ANSWERED, "choices": [{"message": said}], "usage": {"prompt_tokens": 20}}
    log = completion(raw_messages=[*ASKED["messages"], REPLY], raw_response=raw)
    (transcript,) = read(json.dumps(log)).transcripts
    assert transcript.captured(0)["messages"] == ASKED["messages"]
    assert (transcript.calls[0].response, transcript.calls[0].usage) == (said, Usage(20, 8, None, 5))


def test_logs_of_a_run_grow() -> None:
    found = read(
        json.dumps([completion(), completion(messages=ASKED_NEXT["messages"], timestamp=1730371259.0), {"odd": 1}])
    )
    (transcript,) = found.transcripts
    assert (len(transcript.calls), found.counts.read, found.counts.used, found.counts.broken) == (2, 3, 2, 1)
    assert [problem.place for problem in found.problems] == ["item 3"]
    assert CALL in transcript.messages[1]["tool_calls"]


@pytest.mark.parametrize(
    ("name", "size", "usage"),
    [
        ("openhands-completion-log-deepseek-turn4", 8, Usage(9204, 9024, None, 79)),
        ("openhands-completion-log-sonnet4-turn1", 2, Usage(4812, 0, 0, 146)),
        ("openhands-completion-log-sonnet4-turn6", 12, Usage(6729, 0, 0, 199)),
        ("standard-logging-payload", 1, Usage(10, output=20)),
    ],
)
def test_real_logs(transcripts_folder: Path, name: str, size: int, usage: Usage) -> None:
    file = f"litellm/{name}.json"
    found = read(transcripts_folder / file)
    (transcript,) = found.transcripts
    assert (prompt_sizes(found), transcript.calls[0].usage, found.problems) == ([size], usage, [])
    if name != "standard-logging-payload":
        assert [row[0] for row in usages(found)] == reported_inputs(transcripts_folder, file)
        assert len(transcript.captured(0)["tools"]) == 3
    check(found)


def test_a_model_that_knows_no_tools_answers_in_text(transcripts_folder: Path) -> None:
    found = read(transcripts_folder / "litellm" / "openhands-completion-log-deepseek-turn4.json")
    response = found.transcripts[0].calls[0].response
    assert response is not None
    assert response["content"].startswith("<function=finish>")
    assert not response.get("tool_calls")
