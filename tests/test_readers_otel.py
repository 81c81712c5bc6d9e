"""OpenTelemetry spans in the words of each convention."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity, Usage
from tests.otel_samples import (
    BODY,
    CONVENTIONS,
    EVENTS,
    GENAI,
    PARTS,
    RESULT,
    SYSTEM,
    TOOL,
    USED,
    USER,
    VERCEL,
    jaeger,
    log_records,
    monocle,
    otlp,
    otlp_span,
    printed,
)
from tests.recordings import CALL, REPLY, check, prompt_sizes, usages


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize(
    "write",
    [
        lambda told: json.dumps(otlp(otlp_span(told))),
        lambda told: json.dumps([otlp(otlp_span(told))]),
        lambda told: json.dumps([printed(told)], indent=2),
        lambda told: (
            json.dumps(printed(told), indent=4)
            + "\n"
            + json.dumps({**printed({}), "context": {"span_id": "2"}}, indent=4)
        ),
        lambda told: json.dumps(jaeger(told)),
        lambda told: json.dumps(told),
        lambda told: json.dumps({"scopeName": "x", "spanName": "chat", "attributes": told}),
    ],
    ids=["otlp", "otlp list", "printed list", "printed one by one", "jaeger", "attributes", "wrapped"],
)
def test_each_convention_in_each_file(convention: str, write: Any) -> None:
    found = read(write(CONVENTIONS[convention]))
    (transcript,) = found.transcripts
    (call,) = transcript.calls
    body = transcript.captured(0)
    assert found.format == "otel"
    messages = [{key: one[key] for key in one if key != "name"} for one in body["messages"]]
    if convention == "vercel":
        assert messages[1]["content"] == [{"type": "text", "text": "question"}]
        messages[1] = USER
    assert messages == BODY["messages"]
    assert (body["model"], body["tools"]) == ("gpt-4o", [TOOL])
    assert (call.response, call.usage) == ({"role": "assistant", "content": "done"}, Usage(20, 8, None, 5))
    assert (call.fidelity, transcript.notes, found.problems) == (Fidelity.RECONSTRUCTED, (), [])
    check(found)


def test_messages_in_events() -> None:
    found = read(json.dumps(otlp(otlp_span(USED, events=EVENTS))))
    (transcript,) = found.transcripts
    assert transcript.captured(0) == {"model": "gpt-4o", "messages": BODY["messages"]}
    assert transcript.calls[0].response == {"role": "assistant", "content": "done"}
    assert transcript.notes == ("tool definitions not recorded",)


def test_events_that_an_attribute_lists() -> None:
    listed = [
        {"event.name": "gen_ai.system.message", "content": "s", "gen_ai.message.index": 0},
        {"event.name": "gen_ai.user.message", "content": "question", "role": "user"},
        {"event.name": "gen_ai.assistant.message", "tool_calls": [CALL]},
        {"event.name": "gen_ai.tool.message", "id": "c1", "content": "r"},
        {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "content": "done"}},
    ]
    (transcript,) = read(json.dumps(otlp(otlp_span({**USED, "events": json.dumps(listed)})))).transcripts
    assert transcript.captured(0)["messages"] == BODY["messages"]
    assert transcript.calls[0].response == {"role": "assistant", "content": "done"}


def test_attributes_that_are_objects_within_objects() -> None:
    function = {"name": "f", "arguments": '{"a": 1}'}
    given = [
        {"message": {"role": "system", "content": "s"}},
        {"message": {"role": "user", "contents": [{"message_content": {"type": "text", "text": "question"}}]}},
        {"message": {"role": "assistant", "tool_calls": [{"tool_call": {"id": "c1", "function": function}}]}},
        {"message": {"role": "tool", "tool_call_id": "c1", "content": "r"}},
    ]
    answered = [{"message": {"role": "assistant", "content": "done"}}]
    model = {
        "model_name": "gpt-4o",
        "input_messages": given,
        "output_messages": answered,
        "token_count": {"prompt": 20},
    }
    span = {**printed({"openinference": {"span": {"kind": "LLM"}}, "llm": model}), "span_kind": "LLM"}
    flat = {"llm.model_name": "gpt-4o", "llm.token_count.prompt": 20, "openinference.span.kind": "LLM"}
    row = {f"attributes.{key}": told for key, told in flat.items()}
    row |= {
        "attributes.llm.input_messages": [{f"message.{k}": v for k, v in one["message"].items()} for one in given[:1]]
    }
    row |= {"attributes.llm.output_messages": answered, "context.span_id": "s", "context.trace_id": "t", "name": "chat"}
    for written, messages in ((span, BODY["messages"]), (row, BODY["messages"][:1])):
        (transcript,) = read(json.dumps(written)).transcripts
        assert transcript.captured(0) == {"model": "gpt-4o", "messages": messages}
        assert transcript.calls[0].response == {"role": "assistant", "content": "done"}
        assert transcript.calls[0].usage == Usage(20)


def test_messages_in_log_records() -> None:
    found = read("\n".join(map(json.dumps, [otlp(otlp_span(USED)), log_records()])))
    (transcript,) = found.transcripts
    assert transcript.captured(0) == {"model": "gpt-4o", "messages": BODY["messages"]}
    assert (transcript.calls[0].usage, transcript.calls[0].response) == (
        Usage(20),
        {"role": "assistant", "content": "done"},
    )


def test_log_records_without_their_spans() -> None:
    (transcript,) = read(json.dumps(log_records("elsewhere"))).transcripts
    assert transcript.captured(0)["messages"] == BODY["messages"]


def test_the_content_of_an_event_with_all_details() -> None:
    told = {key: GENAI[key] for key in GENAI if "messages" in key}
    span = otlp_span(USED, events=[("gen_ai.client.inference.operation.details", told)])
    (transcript,) = read(json.dumps(otlp(span))).transcripts
    assert transcript.captured(0)["messages"] == BODY["messages"][1:]


def test_a_call_without_content_has_its_usage() -> None:
    found = read(json.dumps(otlp(otlp_span(USED))))
    (transcript,) = found.transcripts
    assert (usages(found), transcript.notes) == ([(20, None, None, None, None)], ("prompt not recorded",))
    assert transcript.calls[0].fidelity is Fidelity.PARTIAL


def test_wrappers_are_not_counted_again() -> None:
    agent = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "helper",
        "gen_ai.usage.input_tokens": 44,
        "gen_ai.request.model": "m",
    }
    outer = {"ai.operationId": "ai.streamText", "ai.prompt": '{"prompt": "question"}', "ai.usage.inputTokens": 14}
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}
    spans = [
        otlp_span(agent, 1),
        otlp_span(outer, 2, "s1"),
        otlp_span(VERCEL, 3, "s2"),
        otlp_span(tool, 4, "s1"),
        otlp_span(USED, 5, "s1"),
    ]
    found = read(json.dumps(otlp(*spans)))
    assert (found.counts.read, found.counts.used, found.counts.ignored) == (5, 2, 3)
    assert sorted(row[0] or 0 for row in usages(found)) == [20, 20]
    assert {transcript.meta["agent"] for transcript in found.transcripts} == {"helper"}


def test_a_summary_stands_where_there_is_nothing_else() -> None:
    outer = {
        "ai.operationId": "ai.generateText",
        "ai.model.id": "m",
        "ai.prompt": '{"system": "s", "prompt": "question"}',
        "ai.usage.inputTokens": 14,
    }
    found = read(json.dumps(otlp(otlp_span(outer))))
    assert usages(found) == [(14, None, None, None, None)]


def test_an_attribute_that_was_cut_off() -> None:
    cut = {**GENAI, "gen_ai.input.messages": GENAI["gen_ai.input.messages"][:-60]}
    (transcript,) = read(json.dumps(otlp(otlp_span(cut)))).transcripts
    assert "recorded prompt already truncated" in transcript.notes
    assert transcript.captured(0)["messages"] == BODY["messages"][:3]


def test_conversations_over_several_traces() -> None:
    first = {**GENAI, "gen_ai.conversation.id": "conv", "gen_ai.input.messages": json.dumps(PARTS[:1])}
    second = {**GENAI, "gen_ai.conversation.id": "conv"}
    found = read(json.dumps(otlp(otlp_span(second, 2, trace="t2"), otlp_span(first, 1))))
    (transcript,) = found.transcripts
    assert (transcript.session, [len(transcript.captured(n)["messages"]) for n in range(2)]) == ("conv", [2, 4])


def test_spans_of_the_agent_development_kit() -> None:
    asked = {
        "model": "g",
        "config": {"system_instruction": "s"},
        "contents": [{"parts": [{"text": "q"}], "role": "user"}],
    }
    told = {
        "gen_ai.system": "gcp.vertex.agent",
        "gen_ai.request.model": "g",
        "gcp.vertex.agent.llm_request": json.dumps(asked),
        "gcp.vertex.agent.llm_response": json.dumps({"content": {"parts": [{"text": "a"}], "role": "model"}}),
        "gen_ai.usage.input_tokens": 9,
    }
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "hello"}
    (transcript,) = read(json.dumps(otlp(otlp_span(agent, 1), otlp_span(told, 2, "s1")))).transcripts
    assert transcript.captured(0) == {"model": "g", "system_instruction": "s", "contents": asked["contents"]}
    assert transcript.calls[0].response == {"parts": [{"text": "a"}], "role": "model"}
    assert (transcript.meta["agent"], transcript.calls[0].usage) == ("hello", Usage(9))


def test_what_the_agent_around_was_given() -> None:
    agent = {key: GENAI[key] for key in ("gen_ai.system_instructions", "gen_ai.tool.definitions")}
    agent |= {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"}
    call = {key: GENAI[key] for key in GENAI if key not in agent or key == "gen_ai.operation.name"}
    (transcript,) = read(json.dumps(otlp(otlp_span(agent, 1), otlp_span(call, 2, "s1")))).transcripts
    assert transcript.captured(0) == BODY
    assert transcript.notes == ()


def test_gemini_contents_stay_gemini() -> None:
    contents = [{"role": "user", "parts": [{"text": "q"}]}]
    answered = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    told = {
        "gen_ai.operation.name": "generate_content",
        "gen_ai.input.messages": json.dumps(contents),
        "gen_ai.output.messages": json.dumps(answered),
    }
    (transcript,) = read(json.dumps(otlp(otlp_span(told)))).transcripts
    assert (transcript.dialect, transcript.captured(0)["contents"]) == ("gemini", contents)
    assert transcript.calls[0].response == answered


@pytest.mark.parametrize(
    ("parts", "wires"),
    [
        (
            [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": "a"}],
            [{"role": "assistant", "content": "a", "reasoning_content": "hm"}],
        ),
        ([{"type": "odd", "x": 1}], [{"role": "assistant", "content": [{"type": "odd", "x": 1}]}]),
        (
            [{"type": "blob", "modality": "image", "mime_type": "image/png", "content": "QUJD"}],
            [
                {
                    "role": "assistant",
                    "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}],
                }
            ],
        ),
        ([], [{"role": "assistant", "content": ""}]),
    ],
)
def test_parts_of_each_kind(parts: Any, wires: Any) -> None:
    given = json.dumps([PARTS[0], {"role": "assistant", "parts": parts}, PARTS[0]])
    told = {**GENAI, "gen_ai.input.messages": given, "gen_ai.system_instructions": "s"}
    (transcript,) = read(json.dumps(otlp(otlp_span(told)))).transcripts
    assert transcript.captured(0)["messages"][2:-1] == wires


def test_monocle() -> None:
    said = [
        json.dumps({"system": "s"}),
        json.dumps({"human": "question"}),
        json.dumps({"ai": json.dumps([{"name": "f", "args": {"a": 1}, "id": "c1", "type": "tool_call"}])}),
        json.dumps({"tool": "r"}),
    ]
    events = [
        ("data.input", {"input": said}),
        ("data.output", {"response": json.dumps({"ai": "done"})}),
        ("metadata", {"prompt_tokens": 20, "completion_tokens": 5}),
    ]
    spans = [
        monocle(1, "agentic.invocation", helper="agent.langgraph"),
        monocle(2, "inference.framework", events, "s1", host="inference.openai", **{"gpt-4o": "model.llm.gpt-4o"}),
        monocle(3, "inference.modelapi", (), "s2"),
    ]
    found = read(json.dumps(spans))
    (transcript,) = found.transcripts
    (call,) = transcript.calls
    assert (found.counts.used, found.counts.ignored) == (1, 2)
    assert transcript.captured(0)["messages"] == [
        SYSTEM,
        USER,
        {**REPLY, "tool_calls": [{**CALL, "function": {"name": "f", "arguments": '{"a":1}'}}]},
        RESULT,
    ]
    assert (call.response, call.usage, call.model) == (
        {"role": "assistant", "content": "done"},
        Usage(20, output=5),
        "gpt-4o",
    )
    assert (transcript.session, transcript.meta["agent"]) == ("session", "helper")


def test_spans_without_models_are_refused() -> None:
    found = read(
        json.dumps(
            otlp(
                otlp_span({"http.method": "GET"}),
                otlp_span({"gen_ai.operation.name": "embeddings", "gen_ai.usage.input_tokens": 3}, 2),
            )
        )
    )
    assert found.transcripts == []
    assert "no call to a language model is among 2 spans" in str(found.problems[0])


def test_many_traces_are_read_with_few_in_hand() -> None:
    text = "\n".join(json.dumps(otlp(otlp_span(GENAI, 1, trace=f"t{number}"))) for number in range(1000))
    found = read(text)
    assert (len(found.transcripts), found.counts.read, found.counts.used) == (1000, 1000, 1000)


@pytest.mark.parametrize(
    ("file", "spans", "calls", "sizes", "inputs"),
    [
        ("otel-genai/deerflow-monocle-ev-battery.json", 17, [4], [2, 4, 8, 11], [9808, 10459, 10853, 11138]),
        ("otel-genai/langwatch-opencode-doStream.json", 1, [1], [2], [12632]),
        ("otel-genai/openinference-otel-genai-client-span.json", 1, [1], [3], [97]),
        ("openinference/client-span-tool-calls.json", 1, [1], [3], [97]),
    ],
)
def test_real_spans(transcripts_folder: Path, file: str, spans: int, calls: Any, sizes: Any, inputs: Any) -> None:
    found = read(transcripts_folder / file)
    assert (found.counts.read, found.counts.used, found.problems) == (spans, sum(calls), [])
    assert [len(transcript.calls) for transcript in found.transcripts] == calls
    assert prompt_sizes(found) == sizes
    assert [row[0] for row in usages(found)] == inputs
    check(found)


def test_a_real_trace_of_several_agents(transcripts_folder: Path) -> None:
    found = read(transcripts_folder / "otel-genai" / "monocle-langgraph-multi-agent.json")
    assert (found.counts.read, found.counts.used) == (43, 10)
    agents = {transcript.meta["agent"]: len(transcript.calls) for transcript in found.transcripts}
    assert agents == {"supervisor": 6, "flight_assistant": 2, "hotel_assistant": 2}
    assert sum(row[0] or 0 for row in usages(found)) == 4233
    assert {transcript.meta.get("parent_session") for transcript in found.transcripts} == {
        None,
        found.transcripts[0].session,
    }
    check(found, surprises=7)


def test_a_real_trace_without_models_is_refused(transcripts_folder: Path) -> None:
    found = read(transcripts_folder / "otel-genai" / "dazzaji-otlp-test-traces.json")
    assert (found.transcripts, found.counts.read, found.counts.ignored) == ([], 2, 2)
    assert "no call to a language model is among 2 spans" in str(found.problems[0])
