"""Hints in another dialect: what they name is what it was, whatever became of its message."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from core.conversion import converted
from core.hint_notes import CallNotes
from core.readers import read
from core.replay import replay
from core.transcript import ROOT, Call, Transcript
from tests.talks import DIALECTS

Wire = dict[str, Any]


def blocks(role: str, *content: Wire) -> Wire:
    return {"role": role, "content": list(content)}


def text(value: str) -> Wire:
    return {"type": "text", "text": value}


def use(call_id: str) -> Wire:
    return {"type": "tool_use", "id": call_id, "name": "look", "input": {}}


def result(call_id: str, value: str) -> Wire:
    return {"type": "tool_result", "tool_use_id": call_id, "content": value}


PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aa"}}
CALLED = [use("t1"), use("t2")]
TALK = [
    blocks("user", text("first"), PICTURE),
    blocks("assistant", text("I look"), *CALLED),
    blocks("user", result("t1", "found one"), result("t2", "found two"), text("and more")),
    blocks("assistant", text("to keep")),
    blocks("user", text("last")),
]


def recorded(request: Wire, **hints: Sequence[str]) -> Transcript:
    made: Transcript = read(json.dumps({"request": request, "response": None, "hints": hints})).transcripts[0]
    return made


def claude(**hints: Sequence[str]) -> Transcript:
    return recorded({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": TALK}, **hints)


def pinned(transcript: Transcript, target: str) -> list[str]:
    made = replay(transcript, {"strategy": {"kind": "keep_last"}, "model": {"dialect": target}})
    spans = [*made.plan(0).fixed.spans, *(span for unit in made.plan(0).log.units for span in unit.spans)]
    assert CallNotes(made)[0] == ()
    return [span.text for span in spans if span.rule.evict == "pinned"]


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize(
    ("named", "meant"),
    [
        ("m0.0", ["first"]),
        ("m1.0", ["I look"]),
        ("m1.2", ["{}"]),
        ("m2.1", ["found two"]),
        ("m2.2", ["and more"]),
        ("m3.0", ["to keep"]),
        ("m4.0", ["last"]),
        ("t2", ["{}", "found two"]),
    ],
)
def test_a_pin_holds_the_same_text(named: str, meant: list[str], target: str) -> None:
    assert pinned(claude(pins=[named]), target) == meant


@pytest.mark.parametrize("target", ["openai_chat", "openai_responses", "gemini"])
def test_a_pin_on_what_is_left_out_holds_nothing_else(target: str) -> None:
    made = converted(claude(pins=["m0.1", "m0.0"]), target)
    assert made.transcript.calls[0].hints == {"pins": ["m0.0"]}
    assert made.dropped == ("1 image", "the setting max_tokens", "1 hint for a part left out here")


def test_a_name_that_means_nothing_is_told_as_before() -> None:
    transcript = claude(pins=["nothing", "m77.0", "s0.0"])
    made = replay(transcript, {"strategy": {"kind": "keep_last"}, "model": {"dialect": "openai_chat"}})
    own = replay(transcript, {"strategy": {"kind": "keep_last"}})
    assert CallNotes(made)[0] == CallNotes(own)[0] != ()


def test_a_name_that_means_nothing_holds_nothing() -> None:
    """The other dialect has more messages, and one of them the number that named none."""
    made = converted(claude(pins=["m5.0", "m3.1"]), "openai_responses").transcript
    assert len(made.messages) > 5
    assert made.calls[0].hints == {"pins": []}


def asking(call_id: str) -> Wire:
    call = {"id": call_id, "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def answer(call_id: str, value: str) -> Wire:
    return {"role": "tool", "tool_call_id": call_id, "content": value}


def asked(value: str) -> Wire:
    return {"role": "user", "content": value}


def test_a_call_is_named_by_its_new_id() -> None:
    messages = [asked("q"), asking("call.0/a"), answer("call.0/a", "r0"), asking("b"), answer("b", "r1"), asked("last")]
    transcript = recorded({"model": "gpt-4o", "messages": messages}, pins=["call.0/a"], retrieval=["b"])
    (call,) = converted(transcript, "anthropic").transcript.calls
    assert call.hints == {"pins": ["call_1_0"], "retrieval": ["b"]}
    assert pinned(transcript, "anthropic") == ["{}", "r0"]


def test_an_id_that_several_calls_had_names_them_all() -> None:
    messages = [asked("q"), asking("1"), answer("1", "r0"), asking("1"), answer("1", "r1"), asked("last")]
    transcript = recorded({"model": "gpt-4o", "messages": messages}, pins=["1"])
    for target in ("openai_chat", "openai_responses", "gemini"):
        assert pinned(transcript, target) == ["{}", "r0", "{}", "r1"]


def test_a_call_that_becomes_text_is_named_by_its_span() -> None:
    served = {"type": "server_tool_use", "id": "s1", "name": "search", "input": {}}
    hits = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": "hits"}
    messages = [blocks("user", text("q")), blocks("assistant", served, hits, text("done")), blocks("user", text("x"))]
    transcript = recorded({"model": "claude-sonnet-4-5", "system": "S", "messages": messages}, pins=["s1"])
    made = converted(transcript, "openai_responses").transcript
    assert made.calls[0].hints == {"pins": ["m1.0", "m2.0"]}


@pytest.mark.parametrize("target", ["anthropic", "gemini"])
def test_a_system_message_is_named_by_its_sections(target: str) -> None:
    messages = [{"role": "system", "content": "S"}, asked("q"), {"role": "system", "content": "# A\na\n# B\nb"}]
    transcript = recorded({"model": "gpt-4o", "messages": [*messages, asked("x")]}, pins=["m1.0"])
    assert pinned(transcript, target) == ["# A\na\n", "# B\nb"]


def item(kind: str, call_id: str, **more: Any) -> Wire:
    return {"type": kind, "call_id": call_id, **more}


def items() -> Iterator[Wire]:
    yield asked("q")
    yield item("function_call", "a", name="look", arguments='{"n":1}')
    yield {"role": "assistant", "content": "said after it"}
    yield item("function_call", "b", name="look", arguments='{"n":2}')
    yield item("function_call_output", "a", output="r1")
    yield item("function_call_output", "b", output="r2")
    yield asked("last")


@pytest.mark.parametrize("target", ["openai_chat", "anthropic", "gemini"])
@pytest.mark.parametrize(
    ("named", "meant"), [("m1.0", '{"n":1}'), ("m2.0", "said after it"), ("m3.0", '{"n":2}'), ("m5.0", "r2")]
)
def test_items_that_become_one_message(named: str, meant: str, target: str) -> None:
    assert pinned(recorded({"model": "gpt-5", "input": [*items()]}, pins=[named]), target) == [meant]


def test_a_call_within_a_reply_has_the_places_of_its_own_prompt() -> None:
    """What a later item puts before a part does not count for a prompt that ends with the part."""
    messages = tuple(items())
    calls = tuple(Call(head=0, history=end, captured=end, hints={"pins": ["m1.0"]}) for end in (1, 6))
    transcript = Transcript("openai_responses", messages, tuple(range(ROOT, 6)), ({"input": []},), calls)
    made = converted(transcript, "openai_chat").transcript
    assert [call.hints for call in made.calls] == [{"pins": ["m1.0"]}, {"pins": ["m1.1"]}]


def test_hints_that_cannot_be_used_stay_as_they_are() -> None:
    call = Call(head=0, history=0, captured=0, hints={"pins": "m0.0", "goal": "g", "retrieval": [1]})
    transcript = Transcript("openai_chat", (asked("q"),), (ROOT,), ({"messages": []},), (call,))
    assert converted(transcript, "anthropic").transcript.calls[0].hints == call.hints
