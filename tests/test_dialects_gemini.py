"""The fixed part of a Gemini request: only texts are edited, only declarations are left out, all else stays."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from core.config import load_config
from core.dialects import dialect
from core.runtime import ContextRuntime
from core.wire import dump

GEMINI = dialect("gemini")
PICTURE = {"inlineData": {"mimeType": "image/png", "data": "AA=="}}
ONE, TWO = {"text": "one", "x": 1}, {"text": "two"}
USER = {"role": "user", "parts": [{"text": "hi"}]}

SHAPES = [
    # the system instruction, its texts, its parts with one more text, its parts with the texts in capitals
    (None, [], [{"text": "new"}], None),
    ("", [], [{"text": "new"}], None),
    ("one", ["one"], [{"text": "one"}, {"text": "new"}], [{"text": "ONE"}]),
    ({"parts": []}, [], [{"text": "new"}], None),
    ({"role": "system"}, [], [{"text": "new"}], None),
    ({"parts": ONE}, ["one"], [ONE, {"text": "new"}], [{"text": "ONE", "x": 1}]),
    ({"parts": "one"}, ["one"], ["one", {"text": "new"}], ["ONE"]),
    ({"parts": ["one", TWO]}, ["one", "two"], ["one", TWO, {"text": "new"}], ["ONE", {"text": "TWO"}]),
    ([ONE, PICTURE], ["one"], [ONE, PICTURE, {"text": "new"}], [{"text": "ONE", "x": 1}, PICTURE]),
    ({"parts": [PICTURE]}, [], [PICTURE, {"text": "new"}], [PICTURE]),
    (
        {"parts": [ONE, PICTURE, {"text": ""}, TWO]},
        ["one", "two"],
        [ONE, PICTURE, {"text": ""}, TWO, {"text": "new"}],
        [{"text": "ONE", "x": 1}, PICTURE, {"text": ""}, {"text": "TWO"}],
    ),
    ({"parts": 7}, [], [7, {"text": "new"}], [7]),
    ({"parts": 1.5}, [], [1.5, {"text": "new"}], [1.5]),
    ({"parts": True}, [], [True, {"text": "new"}], [True]),
    ({"parts": [None, 7]}, [], [None, 7, {"text": "new"}], [None, 7]),
    ({"parts": [{"text": 7}]}, [], [{"text": 7}, {"text": "new"}], [{"text": 7}]),
    (7, [], [7, {"text": "new"}], [7]),
]


@pytest.mark.parametrize("key", ["systemInstruction", "system_instruction"])
@pytest.mark.parametrize(("system", "texts", "more", "changed"), SHAPES)
def test_system_texts(key: str, system: Any, texts: list[str], more: list[Any], changed: list[Any] | None) -> None:
    head = {key: system, "contents": []}
    before = copy.deepcopy(head)
    assert GEMINI.system_texts(head) == texts
    added = GEMINI.with_system_text(head, "new")
    written = "systemInstruction" if system is None else key
    assert added[written]["parts"] == more
    edited = GEMINI.with_system_texts(head, [text.upper() for text in texts])
    assert (edited[key]["parts"] if edited.get(key) else None) == changed
    assert head == before


def test_what_else_stands_in_the_system_instruction_stays() -> None:
    head = {"systemInstruction": {"role": "system", "parts": [ONE, PICTURE, TWO], "x": 2}, "contents": []}
    kept = {"role": "system", "parts": [PICTURE, TWO], "x": 2}
    assert GEMINI.with_system_texts(head, ["", "two"]) == {"systemInstruction": kept, "contents": []}
    head["systemInstruction"] = {"parts": [ONE]}
    assert GEMINI.with_system_texts(head, [""]) == {"contents": []}


@pytest.mark.parametrize("kind", ["required_reserve", "tiered_injection", "keep_last", "span_triage"])
@pytest.mark.parametrize("system", [shape[0] for shape in SHAPES])
def test_no_system_instruction_stops_the_engine(kind: str, system: Any) -> None:
    model = {"role": "model", "parts": [{"text": "words " * 80}]}
    body = {"systemInstruction": system, "contents": [USER, model, USER]}
    config = {"budget": {"soft_limit": 60}, "strategy": {"kind": kind}, "shrink": [{"kind": "dedupe_instructions"}]}
    before = dump(body)
    sent = ContextRuntime.load(config).assemble(body).request
    assert dump(body) == before
    assert dump(sent).count(dump(PICTURE)) == before.count(dump(PICTURE))


def declared(*names: str, **more: Any) -> dict[str, Any]:
    return {"functionDeclarations": [{"name": name} for name in names], **more}


SEARCH = {"googleSearch": {}}
CALLING = {"functionCallingConfig": {"mode": "ANY"}}
PLACE = {"retrievalConfig": {"languageCode": "en"}}


@pytest.mark.parametrize(
    ("tools", "names", "kept", "left"),
    [
        ([declared("a", "b", **SEARCH)], ["a", "b", "googleSearch"], [1, 2], [declared("b", **SEARCH)]),
        ([declared("a", "b", **SEARCH)], ["a", "b", "googleSearch"], [0], [declared("a")]),
        ([declared("a", **SEARCH)], ["a", "googleSearch"], [1], [SEARCH]),
        ([{**SEARCH, **declared("a")}], ["googleSearch", "a"], [0, 1], [{**SEARCH, **declared("a")}]),
        ([declared("a"), SEARCH, declared("b", "c")], ["a", "googleSearch", "b", "c"], [1, 3], [SEARCH, declared("c")]),
        ([{"codeExecution": {}, **SEARCH}], ["codeExecution", "googleSearch"], [1], [SEARCH]),
        (
            [{"function_declarations": [{"name": "a"}, {"name": "b"}]}],
            ["a", "b"],
            [1],
            [{"function_declarations": [{"name": "b"}]}],
        ),
        ([declared("a"), {}, 7], ["a"], [], [{}, 7]),
        ([declared(), declared("a")], ["a"], [], [declared()]),
    ],
)
def test_tools(tools: list[Any], names: list[str], kept: list[int], left: list[Any]) -> None:
    head = {"contents": [], "tools": tools}
    before = copy.deepcopy(head)
    assert [tool.name for tool in GEMINI.tools(head)] == names
    assert GEMINI.with_tools(head, kept) == {"contents": [], "tools": left}
    assert dump(GEMINI.with_tools(head, range(len(names)))) == dump(before)
    assert head == before


@pytest.mark.parametrize(
    ("tools", "settings", "kept", "left"),
    [
        ([declared("a", "b")], CALLING, [1], {"tools": [declared("b")], "toolConfig": CALLING}),
        ([declared("a")], CALLING, [], {}),
        ([declared("a")], {**CALLING, **PLACE}, [], {}),
        ([declared("a", **SEARCH)], {**CALLING, **PLACE}, [1], {"tools": [SEARCH], "toolConfig": PLACE}),
        ([declared("a", **SEARCH)], CALLING, [1], {"tools": [SEARCH]}),
        ([declared("a", **SEARCH)], 7, [1], {"tools": [SEARCH], "toolConfig": 7}),
    ],
)
def test_settings_of_tools(tools: list[Any], settings: Any, kept: list[int], left: dict[str, Any]) -> None:
    head = {"contents": [], "tools": tools, "toolConfig": settings}
    assert GEMINI.with_tools(head, kept) == {"contents": [], **left}


@pytest.mark.parametrize(
    ("body", "problem"),
    [({}, "contents"), ({"contents": 7}, "contents"), (None, "contents")],
)
def test_what_is_no_body(body: Any, problem: str) -> None:
    with pytest.raises(Exception, match=problem):
        GEMINI.split(body)


@pytest.mark.parametrize("after", ["text", 7, None, {"parts": 7}])
def test_a_new_text_before_what_is_no_content(after: Any) -> None:
    new = GEMINI.text_message("assistant", "stub")
    assert GEMINI.in_turn([new, after], [after]) == [new, after]


def test_a_changed_head_alone() -> None:
    head = {"systemInstruction": {"parts": [{"text": "Be brief always please.\n" * 2}]}, "contents": []}
    config = {"strategy": {"kind": "full_history"}, "shrink": [{"kind": "dedupe_instructions"}]}
    [part] = ContextRuntime.load(config).assemble(head).request["systemInstruction"]["parts"]
    assert part["text"].count("Be brief") == 1


SIGNED = {"thoughtSignature": "c2ln"}
CALL = {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}, "id": "c1"}, **SIGNED}]}
LONG_ANSWER = "Order A-1009 of alpha beta was paid on 2026-03-04, and its parcel left the house on the day after that."


def sent_before_a_call(parts: list[dict[str, Any]], *between: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """What is sent of an answer of the model's before a call, with what stands between them."""
    result = {"functionResponse": {"name": "look", "response": {"result": "ok"}, "id": "c1"}}
    contents = [USER, {"role": "model", "parts": parts}, *between, CALL, {"role": "user", "parts": [result]}, USER]
    config = {"model": {"dialect": "gemini"}, "strategy": {"kind": "as_captured"}, **settings}
    made = ContextRuntime(load_config(config)).assemble({"contents": contents})
    found: dict[str, Any] = made.request["contents"][1]
    return found


CUT = {"rules": [{"match": {"kind": "assistant"}, "max_tokens": 15}]}


@pytest.mark.parametrize(
    ("parts", "role"),
    [
        ([{"text": LONG_ANSWER}], "user"),
        ([{"text": "so far so good", "thought": True}, {"text": LONG_ANSWER}], "model"),
        ([{"text": LONG_ANSWER, **SIGNED}], "model"),
        ([PICTURE, {"text": LONG_ANSWER}], "model"),
    ],
    ids=["text alone", "thinking", "signature", "picture"],
)
def test_a_shortened_answer_before_a_call_keeps_the_thinking_that_led_to_it(
    parts: list[dict[str, Any]], role: str
) -> None:
    """What is text alone may not stand there as the model's; what holds more stood there in the given request."""
    sent = sent_before_a_call(parts, **CUT)
    assert sent["role"] == role and LONG_ANSWER not in dump(sent)
    assert [part for part in sent["parts"] if "text" not in part or "thought" in part] == [
        part for part in parts if "text" not in part or "thought" in part
    ]


def test_an_answer_that_comes_to_stand_before_a_call_is_no_models() -> None:
    """In the given request something stood between them, so nothing says that it may be the model's there."""
    critic = {"role": "critic", "parts": [{"text": "hm"}]}
    assert sent_before_a_call([PICTURE, {"text": LONG_ANSWER}], critic, **CUT)["role"] == "model"
    sent = [{"role": "model", "parts": [PICTURE, {"text": "cut"}]}, CALL]
    given = [{"role": "model", "parts": [PICTURE, {"text": LONG_ANSWER}]}, critic, CALL]
    assert [wire["role"] for wire in GEMINI.in_turn(sent, given)] == ["user", "model"]
    assert [wire["role"] for wire in GEMINI.in_turn(sent, [given[0], CALL])] == ["model", "model"]
