"""Langfuse traces: which observations are calls, what they were given, and what their usage means."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity, Usage
from tests.recordings import (
    CALL,
    CLAUDE_REPLY,
    REPLY,
    RESPONSES_ANSWERED,
    RESPONSES_ITEM,
    check,
    prompt_sizes,
    reported_inputs,
    usages,
)

SYSTEM, USER = {"role": "system", "content": "s"}, {"role": "user", "content": "q"}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "r"}
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}


def observation(number: int, kind: str = "GENERATION", parent: str = "", **fields: Any) -> dict[str, Any]:
    return {
        "id": f"o{number}",
        "traceId": "t1",
        "type": kind,
        "name": f"name {number}",
        "startTime": f"2025-01-01T00:00:{number:02}.000Z",
        "endTime": f"2025-01-01T00:00:{number:02}.500Z",
        "parentObservationId": parent or None,
        "model": "gpt-4o" if kind == "GENERATION" else None,
        **fields,
    }


def trace(*observations: Any, **fields: Any) -> dict[str, Any]:
    return {"trace": {"id": "t1", "name": "run", "sessionId": None, **fields}, "observations": list(observations)}


FIRST = observation(1, input=[SYSTEM, USER], output=REPLY, usageDetails={"input": 20, "output": 5, "total": 25})
SECOND = observation(2, input=[SYSTEM, USER, REPLY, RESULT], output={"role": "assistant", "content": "done"})


@pytest.mark.parametrize(
    "write",
    [
        json.dumps,
        lambda value: json.dumps([value]),
        lambda value: json.dumps({**value["trace"], "observations": value["observations"]}),
        lambda value: json.dumps(value["observations"]),
        lambda value: "\n".join(map(json.dumps, value["observations"])),
    ],
)
def test_each_form_of_an_export(write: Any) -> None:
    found = read(write(trace(SECOND, FIRST, observation(3, "SPAN"))))
    (transcript,) = found.transcripts
    assert (found.format, found.counts.read, found.counts.used, found.counts.ignored) == ("langfuse", 3, 2, 1)
    assert (transcript.session, transcript.dialect) == ("t1", "openai_chat")
    assert transcript.captured(1) == {"model": "gpt-4o", "messages": [SYSTEM, USER, REPLY, RESULT]}
    assert [call.response for call in transcript.calls] == [REPLY, {"role": "assistant", "content": "done"}]
    assert usages(found) == [(20, None, None, 5, None), (None,) * 5]
    assert transcript.notes == ("tool definitions not recorded",)
    check(found)


def twice(value: Any) -> str:
    return json.dumps(json.dumps(value))


@pytest.mark.parametrize("encode", [json.dumps, twice])
def test_values_may_be_json_in_texts(encode: Any) -> None:
    one = observation(1, input=encode({"messages": [SYSTEM, USER], "tools": [TOOL]}), output=encode(REPLY))
    (transcript,) = read(json.dumps(trace(one))).transcripts
    assert transcript.captured(0) == {"model": "gpt-4o", "messages": [SYSTEM, USER], "tools": [TOOL]}
    assert transcript.calls[0].response == REPLY
    assert transcript.notes == ()


@pytest.mark.parametrize(
    ("details", "usage"),
    [
        ({"input": 20, "output": 5, "total": 25}, Usage(20, output=5)),
        ({"input": 12, "output": 5, "input_cache_read": 8, "total": 25}, Usage(20, 8, None, 5)),
        ({"input": 20, "output": 5, "input_cached_tokens": 8, "total": 25}, Usage(20, 8, None, 5)),
        (
            {"input": 3, "output": 5, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 2, "total": 20},
            Usage(15, 10, 2, 5),
        ),
        ({"input": 3, "output": 5, "cache_read_input_tokens": 10}, Usage(13, 10, None, 5)),
        ({"input": 20, "output": 5, "cache_read_input_tokens": 10}, Usage(20, 10, None, 5)),
        ({"input": 6, "output": 951, "output_reasoning": 1104, "total": 2061}, Usage(6, None, None, 2055, 1104)),
        (
            {"input": 6, "output": 2055, "completion_details.reasoning": 1104, "total": 2061},
            Usage(6, None, None, 2055, 1104),
        ),
        ({}, Usage()),
    ],
)
def test_the_total_tells_what_the_input_leaves_out(details: Any, usage: Usage) -> None:
    one = observation(1, input=[SYSTEM, USER], output="a", usageDetails=details)
    assert read(json.dumps(trace(one))).transcripts[0].calls[0].usage == usage


def test_usage_of_older_exports() -> None:
    one = observation(1, input=[SYSTEM, USER], output="a", promptTokens=20, completionTokens=5)
    other = observation(2, input=[SYSTEM, USER], output="a", usage={"input": 21, "output": 6, "unit": "TOKENS"})
    found = read(json.dumps(trace(one, other)))
    assert [row[0] for row in usages(found)] == [20, 21]


def test_the_innermost_generation_is_the_call() -> None:
    outer = observation(1, input=[USER], output="a", usageDetails={"input": 99})
    inner = observation(2, parent="o1", input=[SYSTEM, USER], output="a", usageDetails={"input": 20})
    empty = observation(3, parent="o2", input=None, output=None)
    found = read(json.dumps(trace(outer, inner, empty)))
    assert usages(found) == [(20, None, None, None, None)]
    assert (found.counts.used, found.counts.ignored) == (1, 2)


def test_an_observation_that_was_exported_again_is_one() -> None:
    early = {**FIRST, "output": None, "usageDetails": {}}
    found = read("\n".join(map(json.dumps, [early, FIRST, {**FIRST, "usageDetails": {"input": 21}, "output": None}])))
    assert (usages(found), found.counts.used) == ([(21, None, None, None, None)], 3)
    assert found.transcripts[0].calls[0].response == REPLY


def test_agents_are_transcripts_of_their_own() -> None:
    agents = [observation(1, "AGENT"), observation(2, "AGENT", parent="o1")]
    calls = [
        observation(3, parent="o1", input=[SYSTEM, USER], output=REPLY),
        observation(4, parent="o2", input=[{**SYSTEM, "content": "judge"}, USER], output="good"),
        observation(5, parent="o1", input=[SYSTEM, USER, REPLY, RESULT], output="done"),
    ]
    main, judge = read(json.dumps(trace(*agents, *calls, sessionId="s"))).transcripts
    assert (main.session, len(main.calls), main.meta["agent"]) == ("s", 2, "name 1")
    assert (judge.session, len(judge.calls), judge.meta["agent"]) == ("s/2", 1, "name 2")
    assert judge.meta["parent_session"] == "s"


def test_traces_of_a_session_go_on() -> None:
    longer = [SYSTEM, USER, {"role": "assistant", "content": "a"}, {"role": "user", "content": "q2"}]
    first = trace(observation(1, input=[SYSTEM, USER], output="a"), sessionId="s")
    second = trace({**observation(2, input=longer, output="b"), "traceId": "t2"}, id="t2", sessionId="s")
    (transcript,) = read("\n".join(map(json.dumps, [first, second]))).transcripts
    assert (len(transcript.calls), transcript.session) == (2, "s")


def test_requests_of_libraries() -> None:
    config = {"systemInstruction": {"parts": [{"text": "be brief"}]}, "temperature": 0.5}
    google = observation(1, input={"model": "g", "contents": "q", "config": config}, output="a")
    (transcript,) = read(json.dumps(trace(google))).transcripts
    assert transcript.captured(0)["systemInstruction"] == config["systemInstruction"]
    assert transcript.captured(0)["contents"] == [{"role": "user", "parts": [{"text": "q"}]}]
    beside = observation(1, input={"system": "be brief", "prompt": "q"}, output="a")
    (transcript,) = read(json.dumps(trace(beside))).transcripts
    lead = {"role": "system", "content": "be brief"}
    assert transcript.captured(0) == {"model": "gpt-4o", "messages": [lead, {"role": "user", "content": "q"}]}


CALLED = [{"toolCallId": "c1", "toolName": "f", "input": '{"a": 1}'}]


@pytest.mark.parametrize(
    ("given", "answered", "messages", "response"),
    [
        # the Vercel AI SDK: calls without a message around them
        ([USER], CALLED, [USER], REPLY),
        # LangGraph for JavaScript: the tool's name as role
        (
            [SYSTEM, USER, REPLY, {"content": "r", "additional_kwargs": {}, "role": "f"}],
            "done",
            [SYSTEM, USER, REPLY, {**RESULT, "name": "f"}],
            {"role": "assistant", "content": "done"},
        ),
        # Logfire: events of an older convention
        (
            [
                {"event.name": "gen_ai.system.message", "gen_ai.message.index": 0, **SYSTEM},
                {"event.name": "gen_ai.user.message", "gen_ai.system": "openai", **USER},
                {"event.name": "gen_ai.assistant.message", **REPLY},
                {"event.name": "gen_ai.tool.message", "role": "tool", "id": "c1", "name": "f", "content": "r"},
            ],
            [{"index": 0, "message": {"role": "assistant", "content": "done"}, "event.name": "gen_ai.choice"}],
            [SYSTEM, USER, REPLY, {**RESULT, "name": "f"}],
            {"role": "assistant", "content": "done"},
        ),
        # OpenLIT: roles within a text
        (
            "system: s\nuser: q\nand more",
            "done",
            [SYSTEM, {**USER, "content": "q\nand more"}],
            {"role": "assistant", "content": "done"},
        ),
        ("a user: q", "done", [{**USER, "content": "a user: q"}], {"role": "assistant", "content": "done"}),
    ],
)
def test_ways_of_single_frameworks(given: Any, answered: Any, messages: Any, response: Any) -> None:
    one = observation(1, input=json.dumps(given), output=json.dumps(answered))
    found = read(json.dumps(trace(one)))
    (transcript,) = found.transcripts
    assert (transcript.captured(0)["messages"], transcript.calls[0].response) == (messages, response)
    check(found)


def test_googles_library_has_names_of_its_own() -> None:
    contents = [
        {"role": "user", "parts": [{"text": "q", "inline_data": None}]},
        {"role": "model", "parts": [{"function_call": {"args": {}, "name": "f"}}]},
        {"role": "user", "parts": [{"function_response": {"name": "f", "response": {"x": 1}}}]},
    ]
    config = {"system_instruction": "be brief", "tools": [{"function_declarations": [{"name": "f"}]}]}
    answered = {"content": {"parts": [{"text": "done"}], "role": "model"}, "usage_metadata": {"prompt_token_count": 39}}
    one = observation(1, input={"model": "g", "contents": contents, "config": config}, output=answered)
    found = read(json.dumps(trace(one)))
    (transcript,) = found.transcripts
    body = transcript.captured(0)
    assert (transcript.dialect, body["system_instruction"]) == ("gemini", "be brief")
    assert body["contents"][1:] == [
        {"role": "model", "parts": [{"functionCall": {"args": {}, "name": "f"}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"x": 1}}}]},
    ]
    assert transcript.calls[0].response == {"role": "model", "parts": [{"text": "done"}]}
    assert transcript.notes == ()
    check(found)


def test_tools_that_the_agent_around_was_given() -> None:
    defined = {"attributes": {"gen_ai.tool.definitions": json.dumps([TOOL])}}
    agent = observation(1, "AGENT", metadata=json.dumps(defined))
    one = observation(2, parent="o1", input=[SYSTEM, USER], output=REPLY)
    (transcript,) = read(json.dumps(trace(agent, one))).transcripts
    assert (transcript.captured(0)["tools"], transcript.notes) == ([TOOL], ())


def test_a_response_that_repeats_its_request() -> None:
    answered = {
        **RESPONSES_ANSWERED,
        "instructions": "be brief",
        "tools": [{"type": "function", "name": "f", "parameters": {}}],
    }
    one = observation(1, input=[{"role": "user", "content": "q"}], output=answered)
    (transcript,) = read(json.dumps(trace(one))).transcripts
    assert transcript.dialect == "openai_responses"
    assert transcript.captured(0) == {
        "model": "gpt-4o",
        "instructions": "be brief",
        "input": [{"role": "user", "content": "q"}],
        "tools": [{"type": "function", "name": "f", "parameters": {}}],
    }
    assert (transcript.calls[0].response, transcript.calls[0].usage) == (RESPONSES_ITEM, Usage(6))


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"attributes": {"gen_ai.tool.definitions": json.dumps([TOOL["function"] | {"type": "function"}])}}, [TOOL]),
        (
            {
                "attributes": {
                    "model_request_parameters": {
                        "function_tools": [
                            {"name": "f", "description": "d", "parameters_json_schema": {"type": "object"}}
                        ],
                        "output_tools": [],
                    }
                }
            },
            [TOOL],
        ),
        ({"tools": [TOOL]}, [TOOL]),
    ],
)
def test_tools_are_found_where_the_instrumentation_put_them(metadata: Any, expected: Any) -> None:
    one = observation(1, input=[SYSTEM, USER], output=REPLY, metadata=json.dumps(metadata))
    (transcript,) = read(json.dumps(trace(one))).transcripts
    assert transcript.captured(0)["tools"] == expected
    assert (transcript.notes, transcript.calls[0].fidelity) == ((), Fidelity.RECONSTRUCTED)


def test_tools_among_the_messages() -> None:
    one = observation(1, input=[SYSTEM, USER, {"role": "tool", "content": TOOL}], output=REPLY)
    (transcript,) = read(json.dumps(trace(one))).transcripts
    assert transcript.captured(0) == {"model": "gpt-4o", "messages": [SYSTEM, USER], "tools": [TOOL]}


def claude(number: int, given: Any, blocks: Any, tokens: int) -> dict[str, Any]:
    details = {"input": tokens, "output": 9, "total": tokens + 9}
    return observation(
        number, parent="o0", input=given, output={"role": "assistant", "content": blocks}, usageDetails=details
    )


def test_prompts_that_were_not_recorded_and_usage_without_cache() -> None:
    question = "a long question " * 30
    run = {
        "name": "f",
        "input": {"input": {"a": 1}},
        "output": {"content": [{"type": "text", "text": "r"}]},
    }
    found = read(
        json.dumps(
            trace(
                observation(0, "SPAN", input={"prompt": question, "system": "be kind"}),
                claude(1, {"role": "user", "content": question}, CLAUDE_REPLY, 4),
                {**observation(2, "TOOL", parent="o0"), **run},
                claude(3, {"content": "role"}, [{"type": "text", "text": "done"}], 5),
            )
        )
    )
    (transcript,) = found.transcripts
    assert transcript.dialect == "anthropic"
    assert transcript.captured(1)["system"] == "be kind"
    assert transcript.captured(1)["messages"] == [
        {"role": "user", "content": question},
        {"role": "assistant", "content": CLAUDE_REPLY},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "r"}]}],
        },
    ]
    assert [call.usage for call in transcript.calls] == [Usage(output=9)] * 2
    assert transcript.notes == (
        "tool definitions not recorded",
        "the reported input leaves out cached tokens and does not say how many, so it is unknown",
        "prompts that were not recorded were put together from what was said before",
    )
    check(found)


def test_calls_written_as_a_text() -> None:
    text = json.dumps([{"function": {"name": "f", "arguments": '{"a": 1}'}, "id": "c1", "type": "function"}])
    one = observation(
        1, input=[SYSTEM, USER], output=[{"role": "assistant", "content": text}, {"role": "assistant", "content": text}]
    )
    two = observation(
        2, input=[SYSTEM, USER, {"role": "tool", "content": text}, {"role": "tool", "content": "r"}], output="done"
    )
    (transcript,) = read(json.dumps(trace(one, two))).transcripts
    assert transcript.captured(1)["messages"] == [SYSTEM, USER, REPLY, RESULT]
    assert transcript.calls[0].response == {**REPLY, "tool_calls": [CALL, CALL]}


def test_a_file_without_calls_and_one_that_is_no_trace() -> None:
    found = read(json.dumps(trace(observation(1, "SPAN"))))
    assert str(found.problems[0]).startswith("the text: no call to a language model is among 1 span. Obs")
    found = read("\n".join(map(json.dumps, [trace(FIRST), {"odd": 1}, trace()])))
    assert (found.counts.read, found.counts.used, found.counts.ignored, found.counts.broken) == (3, 1, 1, 1)
    assert [problem.place for problem in found.problems] == ["line 2"]


REAL = {
    "beeai-2025-08-01": ([29], ["openai_chat"], [3], [3, 3, 3], 0),
    "langgraph-python-2025-08-22": ([9], ["openai_chat"], [2], [2, 4], 0),
    "openai-agents-2025-09-30": ([5], ["openai_responses"], [2], [1, 3], 0),
    "pydantic-ai-tools-2025-12-04": ([12], ["openai_chat", "openai_chat"], [3, 1], [2, 6, 8, 2], 0),
}


@pytest.mark.parametrize("name", REAL)
def test_real_traces(transcripts_folder: Path, name: str) -> None:
    (spans,), dialects, calls, sizes, surprises = REAL[name]
    file = f"langfuse/{name}.trace.json"
    found = read(transcripts_folder / file)
    assert [transcript.dialect for transcript in found.transcripts] == dialects
    assert [len(transcript.calls) for transcript in found.transcripts] == calls
    assert (found.counts.read, found.counts.used, found.problems) == (spans, sum(calls), [])
    assert sorted(row[0] or 0 for row in usages(found)) == sorted(reported_inputs(transcripts_folder, file))
    if name != "beeai-2025-08-01":
        assert prompt_sizes(found) == sizes
    check(found, surprises)


@pytest.mark.parametrize(
    ("name", "dialect", "inputs", "outputs"),
    [
        ("csharp-agent-with-gemini-2026-03-09", "openai_chat", [2546, 3004, 2497], [47, 167, 200]),
        ("google-gemini-2025-08-01", "gemini", [6], [2055]),
        ("koog-2025-08-26", "openai_chat", [47, 168], [106, 19]),
        ("claude-agent-2025-12-22", "anthropic", [None] * 4, [29, 53, 56, 94]),
    ],
)
def test_more_real_traces(transcripts_folder: Path, name: str, dialect: str, inputs: Any, outputs: Any) -> None:
    found = read(transcripts_folder / "langfuse" / f"{name}.trace.json")
    (transcript,) = found.transcripts
    assert transcript.dialect == dialect
    assert [call.usage.input for call in transcript.calls] == inputs
    assert [call.usage.output for call in transcript.calls] == outputs
    check(found, surprises=1)
