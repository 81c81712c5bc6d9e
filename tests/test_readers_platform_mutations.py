"""Recordings of platforms and of HTTP traffic damaged in seeded ways: reading never raises, and ends soon."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from tests import otel_samples as otel
from tests import recordings as told
from tests import test_readers_har as har
from tests import test_readers_http_log as http_log
from tests import test_readers_langchain as langchain
from tests import test_readers_langfuse as langfuse
from tests import test_readers_langgraph as langgraph
from tests import test_readers_langsmith as langsmith
from tests import test_readers_litellm as litellm
from tests import test_readers_managed_agents as managed_agents
from tests import test_readers_mlflow as mlflow
from tests import test_readers_vercel_ai as vercel_ai
from tests.test_readers_mutations import MUTATIONS, flipped, nested, shuffled, swapped, truncated, use
from tests.work import read_in_bounds

CHAT, CLAUDE = har.CHAT, http_log.MESSAGES


def of_har() -> list[Any]:
    entries = [
        har.entry(CHAT, told.ASKED, told.ANSWERED, 1),
        har.entry(CHAT, told.ASKED_NEXT, told.sse(*told.chunks()), 2),
        har.entry(CLAUDE, told.CLAUDE_ASKED, told.sse(*http_log.CLAUDE_EVENTS), 3),
        har.entry("https://x/models/g:generateContent", told.GEMINI_ASKED, told.GEMINI_ANSWERED, 4),
        har.entry("https://x/v1/responses", told.RESPONSES_ASKED, told.RESPONSES_ANSWERED, 5),
        har.entry(
            "https://x/.api/completions/stream", {"messages": [{"speaker": "human", "text": "q"}]}, "data: {}\n\n", 6
        ),
    ]
    return [json.loads(har.har(har.PAGE, *entries))]


def of_vcr() -> list[Any]:
    pairs = [(CHAT, told.ASKED, told.ANSWERED), (CLAUDE, told.CLAUDE_ASKED, told.CLAUDE_ANSWERED)]
    listed = [
        {
            "request": {"method": "POST", "uri": uri, "body": json.dumps(asked)},
            "response": {"body": {"string": json.dumps(answered)}},
        }
        for uri, asked, answered in pairs
    ]
    nock = {
        "scope": "https://x",
        "method": "POST",
        "path": "/v1/chat/completions",
        "status": 200,
        "response": told.ANSWERED,
    }
    return [{"interactions": listed, "version": 1}, [nock, nock]]


def of_http_log() -> list[Any]:
    return [
        http_log.pair(told.CLAUDE_ASKED, {"status_code": 200, "body_raw": told.sse(*http_log.CLAUDE_EVENTS)}),
        http_log.pair(told.ASKED, {"body": told.ANSWERED}, CHAT),
        {
            "request_body": told.ASKED_NEXT,
            "response_body": told.ANSWERED,
            "request_properties": {"Helicone-Session-Id": "a"},
        },
    ]


def of_langfuse() -> list[Any]:
    agent = langfuse.observation(0, "AGENT", input={"prompt": "q", "system": "s"})
    blocks = langfuse.claude(5, {"role": "user", "content": "q"}, told.CLAUDE_REPLY, 4)
    unknown = langfuse.claude(7, {"content": "role"}, [{"type": "text", "text": "done"}], 5)
    tool = langfuse.observation(
        6, "TOOL", parent="o0", input={"input": {"a": 1}}, output="r", endTime="2025-01-01T00:00:06Z"
    )
    return [
        langfuse.trace(agent, langfuse.FIRST, langfuse.SECOND),
        langfuse.trace(blocks, tool, unknown),
        langfuse.FIRST,
    ]


def of_langsmith() -> list[Any]:
    ended = {"id": "r2", "trace_id": "t1", "outputs": told.ANSWERED}
    started = langsmith.run(2, parent="r0", inputs=told.ASKED)
    answered = {"generations": [[{"text": "", "message": langsmith.LC_ANSWER}]]}
    asked = {"invocation_params": {"tools": [langsmith.TOOL]}, "metadata": {"thread_id": "th"}}
    return [
        {"post": [langsmith.run(0, "chain", inputs={}), started], "patch": [ended]},
        langsmith.run(3, inputs={"messages": [[langsmith.LC_QUESTION]]}, outputs=answered, extra=asked),
        [langsmith.OPENAI],
    ]


def of_litellm() -> list[Any]:
    row = litellm.payload(messages=json.dumps(told.ASKED["messages"]), response=json.dumps(told.ANSWERED))
    raw = litellm.completion(raw_messages=told.ASKED["messages"], raw_response=told.ANSWERED)
    return [
        litellm.payload(session_id="a"),
        row,
        litellm.completion(),
        raw,
        litellm.payload(proxy_server_request=told.ASKED),
    ]


def of_otel() -> list[Any]:
    spans = [
        otel.otlp_span(told_, number, trace=f"t{number}") for number, told_ in enumerate(otel.CONVENTIONS.values())
    ]
    return [
        otel.otlp(*spans, otel.otlp_span(otel.USED, 9, events=otel.EVENTS)),
        otel.log_records(),
        otel.jaeger(otel.GENAI),
        otel.printed(otel.VERCEL),
        otel.OPENINFERENCE,
    ]


def of_monocle() -> list[Any]:
    said = [json.dumps({"system": "s"}), json.dumps({"human": "q"}), json.dumps({"ai": '[{"name": "f", "args": {}}]'})]
    events = [
        ("data.input", {"input": said}),
        ("data.output", {"response": '{"ai": "done"}'}),
        ("metadata", {"prompt_tokens": 3}),
    ]
    spans = [
        otel.monocle(1, "agentic.invocation", helper="agent.x"),
        otel.monocle(2, "inference", events, "s1", m="model.llm.m"),
    ]
    return [spans, spans[1]]


def of_mlflow() -> list[Any]:
    chat = mlflow.attributes(
        "CHAT_MODEL", **{"chat.messages": told.ASKED["messages"], "chat.tokenUsage": {"input_tokens": 2}}
    )
    return [
        mlflow.trace(mlflow.second(1, mlflow.CALLED)),
        mlflow.trace(mlflow.third(1, chat)),
        [mlflow.trace(mlflow.third(2, mlflow.CALLED))],
    ]


def of_langchain() -> list[Any]:
    listed = [[form(kind, fields) for kind, fields in langchain.PLAIN] for form in langchain.FORMS]
    turns = [{"caller": "main", "output": langchain.as_dict("ai", langchain.AI)}]
    return [*listed, {"prompt": "q", "turns": turns}, *listed[1]]


def of_langgraph() -> list[Any]:
    grown = [langgraph.Q, langgraph.A, langgraph.Q2, langgraph.A2]
    return [[langgraph.state(n, grown[:n]) for n in range(4, 0, -1)], langgraph.stored(5, grown)]


def of_vercel_ai() -> list[Any]:
    return [{"id": "c", "messages": vercel_ai.SHOWN}, vercel_ai.OLDER, vercel_ai.GIVEN, *vercel_ai.SHOWN]


def of_managed_agents() -> list[Any]:
    return [{"data": managed_agents.EVENTS}, [managed_agents.EVENTS[1], *managed_agents.EVENTS[3:7]]]


WRITERS: tuple[Callable[[], list[Any]], ...] = (
    of_har,
    of_vcr,
    of_http_log,
    of_langfuse,
    of_langsmith,
    of_litellm,
    of_otel,
    of_monocle,
    of_mlflow,
    of_langchain,
    of_langgraph,
    of_vercel_ai,
    of_managed_agents,
)


def looked_at(text: bytes, name: str | None = None) -> None:
    use(read_in_bounds(text, name))


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_undamaged_recordings_are_read_in_full(write: Callable[[], list[Any]]) -> None:
    for value in write():
        found = read(json.dumps(value))
        assert (found.format or "").startswith(write.__name__.removeprefix("of_").replace("monocle", "otel"))
        assert (found.counts.broken, bool(found.transcripts)) == (0, True)
        use(found)


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_damaged_recordings_are_read_as_far_as_they_go(write: Callable[[], list[Any]], mutate: Any) -> None:
    name = write.__name__.removeprefix("of_").replace("monocle", "otel")
    text = "\n".join(map(json.dumps, write())).encode()
    for seed in range(60 if mutate is swapped else 12):
        damaged = mutate(text, random.Random(seed))
        looked_at(damaged)
        looked_at(damaged, name)


@pytest.mark.parametrize("mutate", (truncated, flipped, shuffled), ids=lambda mutate: mutate.__name__)
def test_damaged_yaml(transcripts_folder: Path, mutate: Any) -> None:
    text = (
        transcripts_folder / "vcr-cassette" / "pydantic-ai-tool-search-anthropic-openai-anthropic.yaml"
    ).read_bytes()
    for seed in range(8):
        looked_at(mutate(text, random.Random(seed)))


REAL = (
    "langfuse/claude-agent-2025-12-22.trace.json",
    "langsmith/py-wrap-openai-stream.json",
    "langsmith/js-anthropic-managed-mcp-reject.jsonl",
    "litellm/standard-logging-payload.json",
    "otel-genai/openinference-otel-genai-client-span.json",
    "langchain-messages/deerflow-replay-ultra.json",
    "vcr-cassette/zen-gpt5-continuation.json",
)


@pytest.mark.parametrize("name", REAL)
def test_real_recordings_damaged(transcripts_folder: Path, name: str) -> None:
    text = (transcripts_folder / name).read_bytes().strip()
    one_line = text if name.endswith(".jsonl") else json.dumps(json.loads(text)).encode()
    for mutate in (truncated, flipped, shuffled, swapped, nested):
        damaged = one_line if mutate in (swapped, nested) else text
        if mutate is nested and b': "' not in damaged:
            continue
        for seed in range(6):
            looked_at(mutate(damaged, random.Random(seed)))
