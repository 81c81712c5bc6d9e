"""What a conversion loses is counted, whatever it is, and told in one sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.conversion import converted
from core.conversion_losses import conversion_told
from core.dropped_content import ContentDropper
from core.readers import read
from core.replay import replay
from core.transcript import Transcript

Wire = dict[str, Any]
MARK = {"cache_control": {"type": "ephemeral"}}
ASKED = {"role": "user", "content": "q"}
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aa"}}


def recorded(request: Wire, response: Wire | None = None) -> Transcript:
    made: Transcript = read(json.dumps({"request": request, "response": response})).transcripts[0]
    return made


def dropped(request: Wire, target: str, response: Wire | None = None) -> tuple[str, ...]:
    return converted(recorded(request, response), target).dropped


def claude(*messages: Wire, **more: Any) -> Wire:
    return {"model": "claude-sonnet-4-5", "system": "S", "messages": [ASKED, *messages], **more}


def gpt(**more: Any) -> Wire:
    return {"model": "gpt-4o", "messages": [ASKED], **more}


def function(name: str, **more: Any) -> Wire:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}, **more}}


THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "x"}
REPLY = {"role": "assistant", "content": [THOUGHT, {"type": "text", "text": "a"}]}
FAILED = {"type": "tool_result", "tool_use_id": "t", "is_error": True, "content": [PICTURE]}
CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {}}]}
SERVED = [
    {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
    {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
    {"type": "text", "text": "a", "citations": [{"type": "x"}]},
]


@pytest.mark.parametrize(
    ("request_body", "target", "lost"),
    [
        (claude(REPLY, ASKED, REPLY, ASKED), "openai_chat", ["2 thinking parts"]),
        (claude(CALL, {"role": "user", "content": [FAILED]}), "gemini", ["1 image", "1 error flag"]),
        (
            claude({"role": "assistant", "content": SERVED}, ASKED),
            "openai_responses",
            ["1 list of citations", "the form of 1 tool call and 1 tool result, which become text"],
        ),
        (
            claude(
                {"role": "user", "content": [{"type": "text", "text": "b", **MARK}]},
                system=[{"type": "text", "text": "S", **MARK}],
                tools=[{"name": "t", "input_schema": {}, **MARK}],
            ),
            "openai_chat",
            ["3 cache marks"],
        ),
        (gpt(temperature=0), "anthropic", ["the setting temperature"]),
        (gpt(temperature=0, top_p=1), "anthropic", ["the settings temperature, top_p"]),
        (
            gpt(**{f"setting_{number}": 1 for number in range(7)}),
            "gemini",
            ["the settings setting_0, setting_1, setting_2, setting_3, setting_4 and 2 more"],
        ),
        (
            gpt(tools=[function("f", strict=True), function("g", strict=True), function("h", strict=False)]),
            "anthropic",
            ["the setting strict of 2 tools"],
        ),
        (
            gpt(tools=[function("f"), {"type": "custom", "custom": {"name": "g", "format": {"type": "grammar"}}}]),
            "openai_responses",
            ["the kind of 1 tool (g), which becomes a function without parameters"],
        ),
        (
            claude(tools=[{"type": f"{name}_20250305", "name": name} for name in ("web_search", "bash")]),
            "gemini",
            ["the kind of 2 tools (web_search, bash), which become functions without parameters"],
        ),
        (
            {
                "contents": [{"role": "user", "parts": [{"text": "q"}]}],
                "tools": [{"googleSearch": {}}, {"functionDeclarations": [{"name": "f", "description": "d"}]}],
            },
            "openai_chat",
            ["the kind of 1 tool (googleSearch), which becomes a function without parameters"],
        ),
        (
            {
                "model": "gpt-5",
                "input": [{"role": "developer", "content": [{"type": "input_file", "file_id": "f"}]}, ASKED],
            },
            "anthropic",
            ["1 file in the system part"],
        ),
        (
            {
                "systemInstruction": {"parts": [{"text": "S"}, {"inlineData": {"mimeType": "image/png", "data": "a"}}]},
                "contents": [{"role": "user", "parts": [{"text": "q"}]}],
            },
            "openai_responses",
            ["1 image in the system part"],
        ),
        (gpt(tools=[function("f")]), "gemini", []),
    ],
)
def test_all_that_is_lost_is_counted(request_body: Wire, target: str, lost: list[str]) -> None:
    assert list(dropped(request_body, target)) == lost


def test_a_reply_that_is_recorded_twice_loses_once() -> None:
    """A response is also a message of the next request; the last one is a message of none."""
    first = {"request": claude(), "response": {"type": "message", **REPLY}}
    second = {"request": claude(REPLY, ASKED), "response": {"type": "message", **REPLY}}
    lines = "\n".join(map(json.dumps, (first, second)))
    (transcript,) = read(lines).transcripts
    assert len(transcript.calls) == 2
    assert converted(transcript, "openai_chat").dropped == ("2 thinking parts",)


def test_requests_that_repeat_a_setting_lose_it_once() -> None:
    bodies = [gpt(temperature=0), gpt(temperature=1)]
    lines = "\n".join(json.dumps({"request": body, "response": None}) for body in bodies)
    for transcript in read(lines).transcripts:
        assert converted(transcript, "anthropic").dropped == ("the setting temperature",)


@pytest.mark.parametrize("target", ["openai_chat", "gemini"])
def test_what_tells_dropped_contents_apart_is_no_loss(target: str) -> None:
    transcript = recorded(claude({"role": "assistant", "content": "a"}, ASKED))
    assert converted(ContentDropper(bytes(32)).transcript(transcript), target).dropped == ()


def test_the_loss_is_told_in_a_sentence() -> None:
    transcript = recorded(gpt(temperature=0, tools=[function("f", strict=True)]))
    config = {"strategy": {"kind": "full_history"}}
    told = [
        conversion_told(replay(transcript, {**config, "model": {"dialect": name}}))
        for name in ("anthropic", "openai_chat", None)
    ]
    lost = "Converted from openai_chat to anthropic. Lost by it: the setting temperature; the setting strict of 1 tool."
    assert told == [lost, "", ""]
    plain = replay(recorded(gpt()), {**config, "model": {"dialect": "gemini"}})
    assert conversion_told(plain) == "Converted from openai_chat to gemini; nothing is lost by it."
