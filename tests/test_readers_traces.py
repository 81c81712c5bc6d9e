"""What all recordings of platforms share: messages of any kind, the tree of spans, and whose call it was."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.readers.chat_wire import assistant, call, decoded, paired, result
from core.readers.items import Item
from core.readers.links import linked
from core.readers.open_traces import MOST_OPEN, OpenTraces
from core.readers.prompts import chosen, evidence, prompt_of, spoken
from core.readers.recorded_replies import reply_of
from core.readers.responses import ResponseFacts
from core.readers.tool_definitions import tools_of
from core.readers.trace_calls import Recorded, items_of
from core.readers.trace_tree import Node, Tree, Weight
from core.transcript import Transcript, Usage

USER = {"role": "user", "content": "q"}
PARAMETERS = {"type": "object", "properties": {"a": {"type": "integer"}}}
CHAT_TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": PARAMETERS}}


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("q", [USER]),
        ('"q"', [USER]),
        ([USER], [USER]),
        ([[USER]], [USER]),
        (["q"], ["q"]),
        ({"messages": [USER], "model": "m"}, [USER]),
        ({"messages": '[{"role": "user", "content": "q"}]'}, [USER]),
        ({"kwargs": {"messages": [USER]}}, [USER]),
        ({"args": [], "kwargs": {"input": "q"}}, [USER]),
        ({"prompts": ["q"]}, ["q"]),
        (USER, [USER]),
        ({"contents": "q"}, [{"role": "user", "parts": [{"text": "q"}]}]),
        ({"odd": 1}, None),
        ("", None),
        (None, None),
        (7, None),
        ([], None),
        ([7, None], None),
        ({"input": {"input": {"input": {"input": {"input": {"input": "too deep"}}}}}}, None),
    ],
)
def test_what_an_input_holds(value: Any, messages: Any) -> None:
    loose = prompt_of(value)
    assert (None if loose is None else list(loose.messages)) == messages


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("a", [{"role": "assistant", "content": "a"}]),
        ({"role": "assistant", "content": "a"}, [{"role": "assistant", "content": "a"}]),
        ({"content": "a", "usage": {}}, [{"role": "assistant", "content": "a"}]),
        ({"generations": [[{"text": "a"}]]}, [{"role": "assistant", "content": "a"}]),
        ({"messages": [USER, {"role": "assistant", "content": "a"}]}, [{"role": "assistant", "content": "a"}]),
        ({"output": {"content": "a"}}, [{"role": "assistant", "content": "a"}]),
        ({"choices": [{"message": {"content": "a"}}]}, [{"role": "assistant", "content": "a"}]),
        ({"candidates": [], "usageMetadata": {}}, None),
        ({"odd": 1}, None),
        (None, None),
    ],
)
def test_what_an_output_holds(value: Any, messages: Any) -> None:
    loose = reply_of(value)
    assert (None if loose is None else list(loose.messages)) == messages


@pytest.mark.parametrize(
    ("message", "dialect"),
    [
        (USER, set()),
        ({"role": "tool", "content": "r", "tool_call_id": "c"}, {"openai_chat"}),
        ({"role": "assistant", "tool_calls": []}, {"openai_chat"}),
        ({"role": "assistant", "content": [{"type": "tool_use", "id": "t"}]}, {"anthropic"}),
        ({"role": "user", "content": [{"type": "text", "text": "q"}]}, set()),
        ({"role": "model", "parts": [{"text": "a"}]}, {"gemini"}),
        ({"role": "user", "parts": [{"type": "text", "content": "q"}]}, {"openai_chat"}),
        ({"type": "function_call", "call_id": "c", "name": "f"}, {"openai_responses"}),
        ({"type": "human", "content": "q"}, {"openai_chat"}),
        ({"human": "q"}, {"openai_chat"}),
    ],
)
def test_what_a_message_says_of_its_dialect(message: Any, dialect: set[str]) -> None:
    assert evidence([message]) == dialect


@pytest.mark.parametrize(
    ("found", "name"),
    [
        (set(), "openai_chat"),
        ({"gemini"}, "gemini"),
        ({"anthropic", "openai_chat"}, "openai_chat"),
        ({"anthropic", "openai_responses"}, "openai_responses"),
    ],
)
def test_which_dialect_is_chosen(found: set[str], name: str) -> None:
    assert chosen(found) == name


def test_a_system_message_is_apart_where_the_dialect_has_it_so() -> None:
    said = spoken([{"role": "system", "content": "s"}, USER], "anthropic")
    assert (said.messages, said.system) == ([USER], ["s"])
    assert spoken([{"role": "system", "content": "s"}, USER], "openai_chat").messages[0]["role"] == "system"


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ('{"a": 1}', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ("plain", "plain"),
        ('{"cut', '{"cut'),
        ("7", "7"),
        (None, None),
    ],
)
def test_json_in_texts(value: Any, plain: Any) -> None:
    assert decoded(value) == plain


def test_calls_without_ids_get_them_by_their_place() -> None:
    messages = [
        assistant(None, [call("f", {}), call("g", {}), call("f", {}, "own")]),
        result("of g", name="g"),
        result("of f"),
        result("of own", "own"),
        assistant(None, [call("f", {})]),
        result("last"),
        result("too many"),
    ]
    found = paired(messages)
    assert [one["id"] for one in found[0]["tool_calls"]] == ["call_0", "call_1", "own"]
    assert [one.get("tool_call_id") for one in found if one["role"] == "tool"] == [
        "call_1",
        "call_0",
        "own",
        "call_2",
        None,
    ]
    assert paired(messages[:4]) == found[:4]


@pytest.mark.parametrize(
    "tool",
    [
        CHAT_TOOL,
        {"type": "function", **CHAT_TOOL["function"]},
        {"name": "f", "description": "d", "input_schema": PARAMETERS},
        {"name": "f", "description": "d", "inputSchema": {"jsonSchema": PARAMETERS}},
        {"name": "f", "description": "d", "parameters_json_schema": PARAMETERS, "outer_typed_dict_key": None},
        '{"type": "function", "name": "f", "description": "d", "parameters": '
        '{"type": "object", "properties": {"a": {"type": "integer"}}}}',
    ],
)
def test_tools_of_each_kind(tool: Any) -> None:
    assert tools_of([tool], "openai_chat") == [CHAT_TOOL]
    assert tools_of([tool], "anthropic")[0]["name" if "input_schema" in tool else "input_schema"]


@pytest.mark.parametrize(
    ("value", "found"), [(None, []), ("x", []), ([None, 7], []), ({"type": "web_search"}, [{"type": "web_search"}])]
)
def test_what_are_no_tools(value: Any, found: Any) -> None:
    assert tools_of(value, "openai_chat") == found


def node(name: str, parent: str = "", weight: Weight = Weight.NONE, agent: str = "") -> Node:
    return Node(name, parent, name, weight, agent)


def test_calls_are_the_innermost_spans() -> None:
    tree = Tree(
        [
            node("root", agent="main"),
            node("outer", "root", Weight.CALL),
            node("inner", "outer", Weight.CALL),
            node("agent", "root", Weight.SUMMARY, "helper"),
            node("other", "agent", Weight.CALL),
        ]
    )
    assert [one.id for one in tree.calls()] == ["inner", "other"]
    assert [tree.agent(one) for one in tree.calls()] == ["main", "helper"]


def test_summaries_count_where_there_are_no_calls() -> None:
    tree = Tree([node("outer", "", Weight.SUMMARY), node("inner", "outer", Weight.SUMMARY)])
    assert [one.id for one in tree.calls()] == ["inner"]


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), max_size=6))
def test_a_trace_that_bites_its_tail_ends(links: list[tuple[str, str]]) -> None:
    tree = Tree(node(own, parent, Weight.CALL) for own, parent in links)
    for one in tree.nodes:
        assert len(tree.above(one)) <= 4
    tree.calls()


def test_few_traces_are_held() -> None:
    traces: OpenTraces[int] = OpenTraces()
    complete = [spans for number in range(MOST_OPEN + 1) for spans in traces.add(str(number), number)]
    assert complete == [[number] for number in range(MOST_OPEN // 2)]
    assert traces.add(str(MOST_OPEN), 7) == []
    assert traces.rest()[-1] == [MOST_OPEN, 7]


def recorded(second: int, prompt: Any, reply: Any, **fields: Any) -> Recorded:
    at = datetime(2025, 1, 1, 0, 0, second, tzinfo=UTC)
    return Recorded(f"span {second}", prompt_of(prompt), reply_of(reply), at=at, session="s", **fields)


def test_a_plain_question_is_in_the_dialect_of_what_follows() -> None:
    block = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    calls = [recorded(1, USER, "a"), recorded(2, [USER], {"role": "assistant", "content": [block]})]
    assert [item.dialect for item in items_of(calls)] == ["anthropic", "anthropic"]
    assert [item.dialect for item in items_of(calls[:1])] == ["openai_chat"]


@pytest.mark.parametrize(
    ("usage", "characters", "given_"),
    [
        (Usage(5), 1000, None),
        (Usage(5, cache_read=900), 1000, 5),
        (Usage(250), 1000, 250),
        (Usage(), 1000, None),
        (Usage(5), 20, 5),
    ],
)
def test_an_input_that_cannot_be_is_unknown(usage: Usage, characters: int, given_: int | None) -> None:
    (item,) = items_of([recorded(1, "q" * characters, "a", usage=usage)])
    assert item.facts is not None
    assert item.facts.usage.input == given_
    assert any("leaves out cached tokens" in note for note in item.notes) is (given_ is None and usage != Usage())


def transcript(length: int) -> Transcript:
    from core.readers.builder import TranscriptBuilder

    builder = TranscriptBuilder("openai_chat")
    placed = builder.body({"messages": [{"role": "user", "content": str(n)} for n in range(length)]})
    builder.call(placed)
    return builder.build(title="t", session="s")


def test_the_longest_conversation_of_a_session_is_the_main_one() -> None:
    found = linked(
        [transcript(1), transcript(3), transcript(2), transcript(1)], [("s", "a"), ("s", "b"), ("s", "c"), ("", "")]
    )
    assert [one.session for one in found] == ["s/2", "s", "s/3", "s"]
    assert [dict(one.meta) for one in found] == [
        {"parent_session": "s", "agent": "a"},
        {},
        {"parent_session": "s", "agent": "c"},
        {},
    ]


def test_an_item_names_the_model_that_answered() -> None:
    item = Item("", "gemini", {"contents": []}, ResponseFacts(model=None), asked="gemini-x")
    assert item.model == "gemini-x"
