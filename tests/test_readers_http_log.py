"""Logs of proxies between an agent and its model."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity, Usage
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

MESSAGES = "https://api.anthropic.com/v1/messages?beta=true"


def pair(body: Any, response: Any, url: str = MESSAGES, at: float = 1748554704.5) -> dict[str, Any]:
    request = {"timestamp": at, "method": "POST", "url": url, "headers": {"accept": "x"}, "body": body}
    return {"request": request, "response": response, "logged_at": "2025-05-29T21:38:25Z"}


def lines(*records: Any) -> str:
    return "\n".join(map(json.dumps, records))


CLAUDE_EVENTS = [
    {
        "type": "message_start",
        "message": {**CLAUDE_ANSWERED, "content": [], "usage": {"input_tokens": 3, "output_tokens": 1}},
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hello"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}},
]


def test_pairs_with_parsed_and_with_streamed_answers() -> None:
    whole = pair(CLAUDE_ASKED, {"status_code": 200, "body": CLAUDE_ANSWERED})
    longer = {
        **CLAUDE_ASKED,
        "messages": [
            *CLAUDE_ASKED["messages"],
            {"role": "assistant", "content": "a"},
            {"role": "user", "content": "b"},
        ],
    }
    streamed = pair(longer, {"status_code": 200, "body_raw": sse(*CLAUDE_EVENTS)}, at=1748554705.5)
    waiting = pair({**CLAUDE_ASKED, "messages": [{"role": "user", "content": "x"}]}, None, at=1748554706.5)
    found = read(lines(whole, streamed, waiting))
    first, second = found.transcripts
    assert (found.format, found.counts.used, found.problems) == ("http_log", 3, [])
    assert [call.usage for call in first.calls] == [Usage(15, 10, 2, 4), Usage(3, output=4)]
    assert first.calls[1].response == {"role": "assistant", "content": [{"type": "text", "text": "hello"}]}
    assert (second.calls[0].response, second.calls[0].fidelity) == (None, Fidelity.CAPTURED)
    assert first.started is not None
    assert first.started.isoformat() == "2025-05-29T21:38:24.500000+00:00"


@pytest.mark.parametrize(
    "record",
    [
        pair(json.dumps(ASKED), {"status": 200, "body": json.dumps(ANSWERED)}, "https://x/v1/chat/completions"),
        {"request": {"uri": "/chat/completions", "json": ASKED}, "response": ANSWERED},
        {
            "request": {"path": "/v1/chat/completions", "content": json.dumps(ASKED)},
            "response": {"content": json.dumps(ANSWERED)},
        },
        {
            "request_body": ASKED,
            "response_body": ANSWERED,
            "response_status": 200,
            "request_created_at": "2025-01-01T00:00:00Z",
        },
        {
            "request_body": json.dumps(ASKED),
            "response_body": json.dumps(ANSWERED),
            "request_path": "/v1/chat/completions",
        },
    ],
)
def test_each_way_of_keeping_a_pair(record: Any) -> None:
    found = read(json.dumps(record))
    (transcript,) = found.transcripts
    assert (found.format, transcript.captured(0), transcript.calls[0].response) == ("http_log", ASKED, REPLY)
    assert usages(found) == [(20, 8, None, 5, None)]


def test_a_list_of_pairs() -> None:
    url = "https://x/v1/chat/completions"
    found = read(
        json.dumps(
            [
                pair(ASKED, {"body": ANSWERED}, url),
                {"odd": 1},
                pair(ASKED_NEXT, {"body": sse(*chunks())}, url, 1748554709.0),
            ]
        )
    )
    (transcript,) = found.transcripts
    assert (found.counts.read, found.counts.used, found.counts.broken) == (3, 2, 1)
    assert [problem.place for problem in found.problems] == ["item 2"]
    assert [call.response for call in transcript.calls] == [REPLY, {"role": "assistant", "content": "hello"}]


def test_a_gateway_names_its_sessions() -> None:
    def row(session: str, asked: Any) -> dict[str, Any]:
        return {
            "request_body": asked,
            "response_body": ANSWERED,
            "request_properties": {"Helicone-Session-Id": session},
        }

    other = {**ASKED, "messages": [*ASKED["messages"][:1], {"role": "user", "content": "question"}]}
    found = read(lines(row("a", ASKED), row("b", other), row("a", ASKED_NEXT)))
    assert [(transcript.session, len(transcript.calls)) for transcript in found.transcripts] == [("a", 2), ("b", 1)]


def test_what_is_no_exchange_is_counted() -> None:
    url = "https://x/v1/chat/completions"
    found = read(lines(pair(ASKED, {"body": ANSWERED}, url), {"event": "start"}, pair(None, None, "https://x/health")))
    assert (found.counts.read, found.counts.used, found.counts.ignored, found.counts.broken) == (3, 1, 1, 1)
    assert [problem.place for problem in found.problems] == ["line 2"]


def test_a_log_without_calls_is_refused() -> None:
    found = read(lines(pair({"a": 1}, {"body": {}}, "https://x/telemetry"), pair({}, {}, "https://x/health")))
    assert found.transcripts == []
    assert "no call to a language model is among 2 recorded requests" in str(found.problems[0])


def test_a_real_log(transcripts_folder: Path) -> None:
    name = "claude-trace-http/claude-trace-part1.jsonl.gz"
    found = read(transcripts_folder / name)
    assert (found.counts.read, found.counts.used, found.problems) == (40, 40, [])
    rows = usages(found)
    assert sorted(row[0] or 0 for row in rows) == sorted(reported_inputs(transcripts_folder, name))
    assert (len(rows), sum(row[0] or 0 for row in rows), sum(row[3] or 0 for row in rows)) == (40, 261_987, 7_938)
    assert sum(prompt_sizes(found)) == 222
    main = max(found.transcripts, key=lambda transcript: len(transcript.messages))
    assert len(main.captured(len(main.calls) - 1)["messages"]) >= 25
    check(found)


@pytest.mark.parametrize("start", [b"7064:9:websocket;0:~8:response;", b"1512:4:type;4:http;7:version;2:20#"])
def test_a_flow_file_of_mitmproxy_is_refused_with_what_to_do(start: bytes) -> None:
    found = read(start + bytes(range(256)) * 4)
    assert (found.format, found.transcripts) == ("mitmproxy", [])
    assert "this is a flow file of mitmproxy. Write it as HAR" in str(found.problems[-1])
