from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.dialects import dialect as dialect_named
from core.dialects.openai_tokens import compact, priming
from core.dialects.typescript import namespace_text, tool_text
from core.runtime import ContextRuntime
from core.spans import fixed_part
from core.tokens import TiktokenCounter
from core.units import units

COUNTER = TiktokenCounter("o200k_base")
T = COUNTER.count
CHAT = dialect_named("openai_chat")


def tokens(*messages: dict[str, Any]) -> int:
    """Tokens of messages that are one unit."""
    (unit,) = units(messages, CHAT, COUNTER)
    return unit.tokens


def request_tokens(body: dict[str, Any]) -> int:
    return ContextRuntime.load({"strategy": {"kind": "full_history"}}).assemble(body).tokens_before


PICTURE = {"type": "image_url", "image_url": {"url": "data:,"}}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "user", "content": "hello world"}, 4 + 2),
        ({"role": "user", "content": ""}, 4),
        ({"role": "user", "content": None}, 4),
        ({"role": "assistant", "content": "hello world"}, 4 + 2),
        ({"role": "system", "content": "hello world"}, 4 + 2),
        ({"role": "user", "content": [{"type": "text", "text": "hel"}, {"type": "text", "text": "lo world"}]}, 4 + 2),
        ({"role": "user", "content": "hello world", "name": "ann"}, 4 + 2 + T("ann") + 1),
        ({"role": "user", "content": [{"type": "text", "text": "hello"}, PICTURE]}, 4 + 1 + 765),
    ],
)
def test_plain_messages(message: dict[str, Any], expected: int) -> None:
    assert tokens(message) == expected


def calling(*calls: tuple[str, str, str], text: str | None = None) -> dict[str, Any]:
    made = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
    return {"role": "assistant", "content": text, "tool_calls": made}


def result(call_id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


@pytest.mark.parametrize(
    "spelling", ['{"path":"/srv","deep":{"a":[1,2]}}', '{ "path": "/srv",\n "deep": {"a": [1, 2]} }']
)
def test_one_call_and_its_result(spelling: str) -> None:
    expected = (
        12 + T("disk_usage") + T("functions.disk_usage") + T('{"path":"/srv","deep":{"a":[1,2]}}') + T("85% used")
    )
    assert tokens(calling(("c1", "disk_usage", spelling)), result("c1", "85% used")) == expected


def test_one_call_and_its_result_are_shared_out() -> None:
    (unit,) = units([calling(("c1", "ls", "{}")), result("c1", "a b")], CHAT, COUNTER)
    call, found = unit.spans
    assert (call.tokens, found.tokens) == (T("ls") + T("{}"), T("a b"))
    assert unit.overhead == 7 + 5 + T("functions.ls")


def test_arguments_that_are_no_json_count_as_they_are() -> None:
    broken = '{"path": "/srv'
    assert tokens(calling(("c", "ls", broken))) == 7 + T("ls") + T(broken)


def test_a_text_beside_a_call_has_its_own_frame() -> None:
    assert tokens(calling(("c", "ls", "{}"), text="I look")) == tokens(calling(("c", "ls", "{}"))) + 4 + T("I look")


def test_parallel_calls_are_one_group() -> None:
    calls = (("a", "ls", '{"p": 1}'), ("b", "cat", '{"f": "名 😀"}'))
    uses = ",".join(
        f'{{"recipient_name":"functions.{name}","parameters":{compact(arguments)}}}' for _, name, arguments in calls
    )
    answers = json.dumps([{"ok": True}, "😀 plain"])
    expected = 20 + T('{"tool_uses":[' + uses + "]}") + T(answers)
    assert tokens(calling(*calls), result("a", '{"ok":true}'), result("b", "😀 plain")) == expected
    assert "\\ud83d" in answers, "an emoji costs its escapes"


def test_parallel_results_may_come_in_any_order() -> None:
    calls = calling(("a", "ls", "{}"), ("b", "cat", "{}"))
    assert tokens(calls, result("b", "x"), result("a", "x")) == tokens(calls, result("a", "x"), result("b", "x"))


def test_parallel_calls_without_results() -> None:
    uses = '{"tool_uses":[' + ",".join(['{"recipient_name":"functions.ls","parameters":{}}'] * 2) + "]}"
    assert tokens(calling(("a", "ls", "{}"), ("b", "ls", "{}"))) == 20 + T(uses)


def test_a_result_that_answers_nothing_costs_the_same_anywhere() -> None:
    alone = tokens(result("x", "lost"))
    assert alone == 5 + T("functions.") + T("lost")
    reply = (calling(("c", "ls", "{}")), result("c", "found"))
    assert tokens(*reply, result("x", "lost")) == tokens(*reply) + alone
    assert tokens(*reply, result("c", "lost")) == tokens(*reply) + alone
    group = (calling(("a", "ls", "{}"), ("b", "ls", "{}")), result("a", "1"), result("b", "2"))
    assert tokens(*group, result("x", "lost")) == tokens(*group) + alone


def test_replies_that_one_late_result_joins_count_one_by_one() -> None:
    early, late = calling(("a", "ls", "{}")), result("a", "late")
    inner = (calling(("b", "cat", "{}")), result("b", "x"))
    wait = {"role": "user", "content": "wait"}
    assert tokens(early, wait, *inner, late) == tokens(early, late) + tokens(wait) + tokens(*inner)


HARMONY = TiktokenCounter("o200k_harmony")


def harmony_tokens(*messages: dict[str, Any]) -> int:
    (unit,) = units(messages, CHAT, HARMONY)
    return unit.tokens


@pytest.mark.parametrize(
    ("name", "frame"),  # name and frames of a call and its result: 19 for `read`, as GPT-5.2 reported
    [("read", 19), ("webfetch", 21), ("skill", 19), ("todowrite", 25), ("todoread", 23), ("shell", 19)],
)
def test_a_call_in_the_harmony_form(name: str, frame: int) -> None:
    spaced = '{ "path": "/srv" }'
    assert harmony_tokens(calling(("c", name, spaced)), result("c", "a b")) == frame + T(spaced) + T("a b")


def test_a_text_beside_a_call_in_the_harmony_form() -> None:
    call = ("c", "read", "{}")
    assert harmony_tokens(calling(call, text="I look")) == harmony_tokens(calling(call)) + 6 + T("I look")
    assert harmony_tokens({"role": "assistant", "content": "I look"}) == 4 + T("I look")


def test_a_text_item_before_a_call_item_in_the_harmony_form() -> None:
    responses = dialect_named("openai_responses")
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look"}]}
    call = {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}
    found = {"type": "function_call_output", "call_id": "c", "output": "x"}
    with_text, without = (
        sum(unit.tokens for unit in units(items, responses, HARMONY)) for items in ([said, call, found], [call, found])
    )
    assert with_text - without == 6 + T("I look")


def test_parallel_calls_in_the_harmony_form_are_calls_one_by_one() -> None:
    first, second = ("a", "read", "{}"), ("b", "skill", "{}")
    together = harmony_tokens(calling(first, second), result("a", "x"), result("b", "y"))
    alone = harmony_tokens(calling(first), result("a", "x")) + harmony_tokens(calling(second), result("b", "y"))
    assert together == alone


def test_models_of_the_harmony_form() -> None:
    body = {"messages": [{"role": "user", "content": "go"}, calling(("c", "read", "{}")), result("c", "x")]}
    older, newer = (request_tokens({**body, "model": model}) for model in ("gpt-4.1", "gpt-5.2-codex"))
    assert newer - older == 4 - (priming("gpt-4.1") - priming("gpt-5.2-codex"))


@pytest.mark.parametrize(
    ("model", "tokens"),
    [(None, 3), ("gpt-4o", 3), ("o1-mini", 3), ("gpt-5", 2), ("gpt-5-mini", 2), ("o3-pro", 2), ("o3", 3)],
)
def test_priming(model: str | None, tokens: int) -> None:
    assert priming(model) == tokens


FUNCTION = {
    "name": "find",
    "description": "Find things.\n    Indented line.\n",
    "parameters": {
        "title": "FindArgs",
        "type": "object",
        "properties": {
            "query": {"type": "string", "title": "Query", "description": "what to look for"},
            "limit": {"type": "integer", "default": 5},
            "kind": {"enum": ["a", "b"]},
            "place": {"$ref": "#/$defs/Place"},
            "many": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            "free": {"type": "object"},
            "any": {},
        },
        "required": ["query"],
        "additionalProperties": False,
        "$defs": {"Place": {"type": "object", "properties": {"x": {"type": "number"}}}},
    },
    "strict": True,
}
RENDERED = """// Find things.
Indented line.
type find = (_: // FindArgs
{
// Query
//
// what to look for
query: string,
limit?: number // default: 5,
kind?: "a" | "b",
place?: {
x?: number,
},
many?: string | null[],
free?: object,
any?: any,
}) => any;"""


def test_how_a_tool_is_rendered() -> None:
    assert tool_text(FUNCTION) == RENDERED
    assert tool_text({"name": "ping"}) == tool_text({"name": "ping", "parameters": {"type": "object"}})
    assert tool_text({"name": "ping"}) == "type ping = () => any;"
    both = namespace_text([{"name": "a"}, {"name": "b"}])
    expected = ["namespace functions {", "type a = () => any;", "type b = () => any;", "} // namespace functions"]
    assert both == "\n\n".join(expected)


def test_a_schema_that_refers_to_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    schema = {"type": "object", "properties": {"root": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    assert tool_text({"name": "f", "parameters": schema}).count("next?") < 12


def test_tools_add_up_to_their_rendering() -> None:
    tools = [{"type": "function", "function": FUNCTION}, {"type": "function", "function": {"name": "ping"}}]
    fixed = fixed_part({"messages": [], "tools": tools}, CHAT, COUNTER, None)
    assert fixed.tokens == T(namespace_text([FUNCTION, {"name": "ping"}])) + 8 + 3
    assert [tool.tokens for tool in fixed.tools] == [T(RENDERED), T("type ping = () => any;")]
    legacy = fixed_part({"messages": [], "functions": [FUNCTION]}, CHAT, COUNTER, None)
    assert legacy.tokens == T(namespace_text([FUNCTION])) + 8 + 3


def test_of_a_deferred_tool_name_and_description_are_sent() -> None:
    responses = dialect_named("openai_responses")
    flat = {"type": "function", **FUNCTION}
    short = {key: value for key, value in flat.items() if key != "parameters"}
    given = ({**flat, "defer_loading": True}, short, flat, {**flat, "defer_loading": False})
    deferred, named, whole, kept = (
        fixed_part({"tools": [tool]}, responses, COUNTER, "gpt-5.4").tokens for tool in given
    )
    assert deferred == named < whole == kept


def test_no_tools_cost_nothing() -> None:
    assert fixed_part({"messages": [], "tools": []}, CHAT, COUNTER, None).tokens == 3


def _reported(folder: Path, file: str) -> dict[int, int]:
    lines = (folder.parent / "cases" / "usage_truth.jsonl").read_text(encoding="utf-8").splitlines()
    calls = [call for call in map(json.loads, lines) if call["file"] == file]
    return {call["call"]: call["reported_input"] for call in calls}


def _cassette(folder: Path, file: str) -> Iterator[tuple[dict[str, Any], int]]:
    for at, interaction in enumerate(yaml.safe_load((folder / file).read_text(encoding="utf-8"))["interactions"]):
        request = interaction["request"]
        body = request.get("parsed_body") or request["content"]
        yield body, _reported(folder, file)[at]


def _langsmith(folder: Path, file: str) -> Iterator[tuple[dict[str, Any], int]]:
    run = json.loads((folder / file).read_text(encoding="utf-8"))
    yield run["post"][0]["inputs"], run["patch"][0]["outputs"]["usage_metadata"]["input_tokens"]


TEXT_ONLY = [
    (_cassette, "vcr-cassette/pydantic-ai-multi-agent-openai.yaml"),
    (_cassette, "vcr-cassette/zen-gpt5-continuation.json"),
    (_langsmith, "langsmith/py-wrap-openai-reasoning.json"),
    (_langsmith, "langsmith/py-wrap-openai-stream.json"),
]


@pytest.mark.parametrize(("recording", "file"), TEXT_ONLY, ids=lambda value: value if isinstance(value, str) else "")
def test_text_requests_count_what_the_provider_reported(recording: Any, file: str, transcripts_folder: Path) -> None:
    calls = list(recording(transcripts_folder, file))
    plain = [(body, reported) for body, reported in calls if not body.get("tools")]
    assert plain
    assert [request_tokens(body) for body, _ in plain] == [reported for _, reported in plain]


def test_tool_definitions_come_near_what_the_provider_reported(transcripts_folder: Path) -> None:
    calls = list(_cassette(transcripts_folder, "vcr-cassette/pydantic-ai-multi-agent-openai.yaml"))
    differences = [request_tokens(body) - reported for body, reported in calls if body.get("tools")]
    assert differences == [3, 3, 3], "the same three tokens of the definitions in each call"


class Side:
    """What one of the two models of a simulation has seen: its own messages are the assistant's."""

    def __init__(self, own: str) -> None:
        self.own = own
        self.messages: list[dict[str, Any]] = []
        self.reported: list[tuple[int, int]] = []

    def hear(self, message: dict[str, Any]) -> None:
        if message["role"] == "tool":
            if message["requestor"] == self.own:
                self.messages.append(result(message["id"], message["content"] or ""))
        elif message["role"] == self.own:
            if (message.get("usage") or {}).get("prompt_tokens"):
                self.reported.append((message["usage"]["prompt_tokens"], len(self.messages)))
            calls = [(c["id"], c["name"], json.dumps(c["arguments"])) for c in message["tool_calls"] or ()]
            self.messages.append(
                calling(*calls, text=message["content"]) if calls else self._said(message, "assistant")
            )
        elif not message["tool_calls"]:
            self.messages.append(self._said(message, "user"))

    def _said(self, message: dict[str, Any], role: str) -> dict[str, Any]:
        return {"role": role, "content": message["content"]}

    def differences(self) -> list[int]:
        """The reported tokens over the counted ones of each call: the fixed part, which the recording lacks."""
        sizes = {unit.stop: unit.tokens for unit in units(self.messages, CHAT, COUNTER)}
        sums, total = {0: 0}, 0
        for stop, size in sizes.items():
            total += size
            sums[stop] = total
        return [reported - sums[stop] for reported, stop in self.reported if stop in sums]


def test_the_growth_of_a_prompt_is_what_the_provider_reported(transcripts_folder: Path) -> None:
    """Calls and results cost exactly what was measured; 17 of 1,429 calls bear a surcharge of the provider's own."""
    with gzip.open(transcripts_folder / "tau2-bench" / "gpt-4.1-telecom-1trial.json.gz") as file:
        simulations = json.load(file)["simulations"]
    found: Counter[int] = Counter()
    for simulation in simulations:
        for own in ("assistant", "user"):
            side = Side(own)
            for message in simulation["messages"]:
                side.hear(message)
            floor, *later = side.differences()
            found.update(difference - floor for difference in later)
    assert found.pop(0) == 1412
    assert found.total() == 17
    assert all(222 <= surcharge <= 382 for surcharge in found)
