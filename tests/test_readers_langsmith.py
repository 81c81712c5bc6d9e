"""LangSmith runs: merged from their parts, innermost calls, usage from where it is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity, Usage
from tests.recordings import (
    ANSWERED,
    ASKED,
    CLAUDE_ANSWERED,
    CLAUDE_ASKED,
    REPLY,
    check,
    reported_inputs,
    usages,
)

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
LC_QUESTION = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain", "schema", "messages", "HumanMessage"],
    "kwargs": {"content": "q"},
}
LC_ANSWER = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain", "schema", "messages", "AIMessage"],
    "kwargs": {
        "content": "",
        "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c1", "type": "tool_call"}],
        "response_metadata": {"model_name": "gpt-4o-x"},
        "usage_metadata": {"input_tokens": 20, "output_tokens": 5, "input_token_details": {"cache_read": 8}},
    },
}


def run(number: int, kind: str = "llm", parent: str = "", **fields: Any) -> dict[str, Any]:
    return {
        "id": f"r{number}",
        "trace_id": "t1",
        "parent_run_id": parent or None,
        "dotted_order": f"2025010100000{number}Zr{number}",
        "name": f"run {number}",
        "run_type": kind,
        "start_time": f"2025-01-01T00:00:0{number}+00:00",
        **fields,
    }


OPENAI = run(1, inputs={**ASKED, "extra_headers": None}, outputs=ANSWERED)


@pytest.mark.parametrize(
    "write",
    [
        lambda one: json.dumps(one),
        lambda one: json.dumps([one]),
        lambda one: json.dumps({"runs": [one]}),
        lambda one: json.dumps({"post": [one]}),
        lambda one: json.dumps(run(0, "chain", inputs={}, child_runs=[one])),
    ],
)
def test_each_form_of_an_export(write: Any) -> None:
    found = read(write(OPENAI))
    (transcript,) = found.transcripts
    (call,) = transcript.calls
    assert (found.format, transcript.session, found.counts.used) == ("langsmith", "t1", 1)
    assert transcript.captured(0) == ASKED
    assert (call.response, call.usage, call.model) == (REPLY, Usage(20, 8, None, 5), "gpt-4o-2024-08-06")
    assert call.fidelity is Fidelity.PARTIAL
    assert transcript.notes == ("tool definitions not recorded",)
    check(found)


def test_a_run_is_sent_when_it_starts_and_when_it_ends() -> None:
    started = run(1, inputs={**ASKED, "tools": [TOOL]}, outputs={})
    ended = {"id": "r1", "trace_id": "t1", "outputs": ANSWERED, "inputs": {}, "end_time": "2025-01-01T00:00:09+00:00"}
    for text in (json.dumps({"post": [started], "patch": [ended]}), "\n".join(map(json.dumps, [started, ended]))):
        found = read(text)
        (transcript,) = found.transcripts
        assert (found.counts.read, found.counts.used) == (2, 2)
        assert transcript.captured(0) == {**ASKED, "tools": [TOOL]}
        assert (transcript.calls[0].response, transcript.calls[0].fidelity) == (REPLY, Fidelity.CAPTURED)
        assert transcript.notes == ()


def test_langchain_runs() -> None:
    asked = {
        "invocation_params": {"model": "gpt-4o", "tools": [TOOL]},
        "metadata": {"thread_id": "th", "ls_model_name": "gpt-4o"},
    }
    answered = {
        "generations": [[{"text": "", "message": LC_ANSWER}]],
        "llm_output": {"token_usage": {"prompt_tokens": 1}},
    }
    chain = run(0, "chain", inputs={"messages": [LC_QUESTION]}, outputs={})
    model = run(1, parent="r0", inputs={"messages": [[LC_QUESTION]]}, outputs=answered, extra=asked)
    found = read(json.dumps([chain, model]))
    (transcript,) = found.transcripts
    assert (found.counts.read, found.counts.used, found.counts.ignored) == (2, 1, 1)
    assert transcript.captured(0) == {
        "model": "gpt-4o-x",
        "messages": [{"role": "user", "content": "q"}],
        "tools": [TOOL],
    }
    assert transcript.calls[0].usage == Usage(20, 8, None, 5)
    assert transcript.session == "th"
    assert transcript.notes == ("system prompt not recorded",)
    check(found)


@pytest.mark.parametrize(
    ("outputs", "fields", "usage"),
    [
        ({"content": "a", "usage_metadata": {"input_tokens": 9, "output_tokens": 2}}, {}, Usage(9, output=2)),
        ({"content": "a"}, {"prompt_tokens": 9, "completion_tokens": 2}, Usage(9, output=2)),
        (
            {
                "generations": [[{"text": "a"}]],
                "llm_output": {"token_usage": {"prompt_tokens": 9, "completion_tokens": 2}},
            },
            {},
            Usage(9, output=2),
        ),
        ({"content": "a"}, {"extra": {"metadata": {"usage_metadata": {"input_tokens": 9}}}}, Usage(9)),
        ({"content": "a"}, {}, Usage()),
    ],
)
def test_usage_is_found_where_it_is_told(outputs: Any, fields: Any, usage: Usage) -> None:
    (transcript,) = read(json.dumps(run(1, inputs=ASKED, outputs=outputs, **fields))).transcripts
    assert (transcript.calls[0].usage, transcript.calls[0].response) == (usage, {"role": "assistant", "content": "a"})


def test_a_run_of_anthropic() -> None:
    found = read(json.dumps(run(1, inputs=CLAUDE_ASKED, outputs=CLAUDE_ANSWERED)))
    (transcript,) = found.transcripts
    assert transcript.dialect == "anthropic"
    assert transcript.captured(0) == CLAUDE_ASKED
    assert usages(found) == [(15, 10, 2, 4, None)]
    check(found)


def test_a_tree_of_runs_has_one_transcript_an_agent() -> None:
    def named(agent: str) -> dict[str, Any]:
        return {"metadata": {"lc_agent_name": agent}}

    def asked(system: str) -> dict[str, Any]:
        return {"messages": [{"role": "system", "content": system}, {"role": "user", "content": "q"}]}

    runs = [
        run(0, "chain", inputs={}, extra=named("main")),
        run(1, parent="r0", inputs=asked("plan"), outputs="a"),
        run(2, "chain", parent="r0", inputs={}, extra=named("helper")),
        run(3, parent="r2", inputs=asked("help"), outputs="b"),
    ]
    found = read(json.dumps(runs))
    assert [(t.session, t.meta["agent"]) for t in found.transcripts] == [("t1", "main"), ("t1/2", "helper")]


def test_what_is_no_run() -> None:
    found = read("\n".join(map(json.dumps, [OPENAI, {"odd": 1}, [7]])))
    assert (found.counts.read, found.counts.used, found.counts.broken) == (3, 1, 2)
    found = read(json.dumps(run(1, "tool", inputs={"x": 1}, outputs={"y": 2})))
    assert "no call to a language model is among 1 span" in str(found.problems[0])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("py-wrap-openai-reasoning", ("o1-mini-2024-09-12", Usage(43, 0, None, 2497, 1408))),
        ("py-wrap-openai-stream", ("gpt-4o-mini-2024-07-18", Usage(9, 0, None, 9, 0))),
    ],
)
def test_real_batches(transcripts_folder: Path, name: str, expected: Any) -> None:
    file = f"langsmith/{name}.json"
    found = read(transcripts_folder / file)
    (transcript,) = found.transcripts
    (call,) = transcript.calls
    assert (found.counts.read, found.counts.used, found.problems) == (2, 2, [])
    assert (call.model, call.usage, call.fidelity) == (*expected, Fidelity.CAPTURED)
    assert [row[0] for row in usages(found)] == reported_inputs(transcripts_folder, file)
    check(found)
