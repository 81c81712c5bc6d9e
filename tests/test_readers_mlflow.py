"""MLflow traces of versions 2 and 3."""

import json
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity, Usage
from tests.recordings import ANSWERED, ASKED, REPLY, check, usages

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
SYSTEM, USER = ASKED["messages"]


def attributes(kind: str, **told: Any) -> dict[str, str]:
    return {"mlflow.spanType": json.dumps(kind), **{f"mlflow.{key}": json.dumps(value) for key, value in told.items()}}


def second(number: int, told: Any, parent: str | None = None) -> dict[str, Any]:
    context = {"trace_id": "0xt", "span_id": f"0x{number}"}
    start = (1730371250 + number) * 10**9
    return {
        "name": f"span {number}",
        "context": context,
        "parent_id": parent,
        "start_time": start,
        "attributes": told,
        "events": [],
    }


def third(number: int, told: Any, parent: str | None = None) -> dict[str, Any]:
    start = (1730371250 + number) * 10**9
    return {
        "name": f"span {number}",
        "trace_id": "AAAA",
        "span_id": f"0x{number}",
        "parent_span_id": parent,
        "start_time_unix_nano": start,
        "attributes": told,
    }


def trace(*spans: Any, **info: Any) -> dict[str, Any]:
    return {"info": {"trace_id": "tr-1", "state": "OK", **info}, "data": {"spans": list(spans)}}


CALLED = attributes("CHAT_MODEL", spanInputs={**ASKED, "tools": [TOOL]}, spanOutputs=ANSWERED)


@pytest.mark.parametrize("span", [second, third])
@pytest.mark.parametrize(
    "write",
    [
        json.dumps,
        lambda one: json.dumps([one]),
        lambda one: json.dumps({"traces": [one]}),
        lambda one: json.dumps(
            {"trace_id": "tr-1", "request": "{}", "response": "{}", "spans": json.dumps(one["data"]["spans"])}
        ),
    ],
)
def test_each_version_in_each_file(span: Any, write: Any) -> None:
    found = read(write(trace(span(1, attributes("CHAIN")), span(2, CALLED, "0x1"))))
    (transcript,) = found.transcripts
    (call,) = transcript.calls
    assert (found.format, found.counts.read, found.counts.used, found.counts.ignored) == ("mlflow", 2, 1, 1)
    assert transcript.captured(0) == {**ASKED, "tools": [TOOL]}
    assert (call.response, call.usage, call.fidelity) == (REPLY, Usage(20, 8, None, 5), Fidelity.CAPTURED)
    assert (transcript.session, str(transcript.started)) == ("tr-1", "2024-10-31 10:40:52+00:00")
    check(found)


def test_a_chat_whose_messages_stand_in_one_list() -> None:
    told = attributes(
        "CHAT_MODEL",
        **{
            "chat.messages": [SYSTEM, USER, REPLY],
            "chat.tools": [TOOL],
            "chat.tokenUsage": {"input_tokens": 20, "output_tokens": 5, "total_tokens": 25},
        },
    )
    (transcript,) = read(json.dumps(trace(third(1, told)))).transcripts
    assert transcript.captured(0) == {"messages": [SYSTEM, USER], "tools": [TOOL]}
    assert (transcript.calls[0].response, transcript.calls[0].usage) == (REPLY, Usage(20, output=5))


def test_sessions_and_agents() -> None:
    info = {"trace_metadata": {"mlflow.trace.session": "s"}}
    first = trace(third(1, attributes("AGENT")), third(2, CALLED, "0x1"), **info)
    longer = {**ASKED, "messages": [*ASKED["messages"], {"role": "assistant", "content": "a"}, USER]}
    other = trace(third(3, attributes("LLM", spanInputs=longer, spanOutputs="b")), trace_id="tr-2", **info)
    (transcript,) = read("\n".join(map(json.dumps, [first, other]))).transcripts
    assert (transcript.session, len(transcript.calls), transcript.meta["agent"]) == ("s", 2, "span 1")
    assert transcript.calls[1].response == {"role": "assistant", "content": "b"}


def test_a_text_model() -> None:
    told = attributes(
        "LLM",
        spanInputs={"prompt": "question", "model": "m"},
        spanOutputs="answer",
        **{"chat.tokenUsage": {"input_tokens": 3}},
    )
    found = read(json.dumps(trace(third(1, told))))
    assert found.transcripts[0].captured(0)["messages"] == [{"role": "user", "content": "question"}]
    assert usages(found) == [(3, None, None, None, None)]


def test_what_is_no_trace_and_a_trace_without_calls() -> None:
    found = read("\n".join(map(json.dumps, [trace(third(1, CALLED)), {"info": {}}])))
    assert (found.counts.read, found.counts.used, found.counts.broken) == (2, 1, 1)
    found = read(json.dumps(trace(third(1, attributes("TOOL")))))
    assert "no call to a language model is among 1 span" in str(found.problems[0])
