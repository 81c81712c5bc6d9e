from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from core.dialects import dialect as dialect_named
from core.runtime import ContextRuntime
from core.spans import fixed_part
from core.tokens import CjkEstimate, TiktokenCounter
from core.units import units

COUNTER = TiktokenCounter("o200k_base")
T = COUNTER.count
CLAUDE = dialect_named("anthropic")


def tokens(*messages: dict[str, Any]) -> int:
    """Tokens of messages that are one unit."""
    (unit,) = units(messages, CLAUDE, COUNTER)
    return unit.tokens


def use(call_id: str, name: str, given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def found(call_id: str, content: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "user", "content": "hello world"}, 2 + 2),
        ({"role": "user", "content": ""}, 2),
        ({"role": "user", "content": [{"type": "text", "text": "hel"}, {"type": "text", "text": "lo world"}]}, 2 + 2),
        ({"role": "assistant", "content": [{"type": "thinking", "thinking": "hello world", "signature": "s"}]}, 2 + 2),
        ({"role": "user", "content": [{"type": "image", "source": {}}]}, 2 + 1600),
        ({"role": "assistant", "content": [use("a", "ls", {})]}, 2 + 46 + T("ls")),
        (
            {"role": "assistant", "content": [use("a", "grep", {"pattern": "a b", "max": 5})]},
            2 + 46 + 2 * 14 + T("grep") + T("pattern") + T("a b") + T("max") + T("5"),
        ),
        (
            {"role": "assistant", "content": [use("a", "run", {"code": 'print("x")\n', "env": {"A": [1, None]}})]},
            2 + 46 + 2 * 14 + T("run") + T("code") + T('print("x")\n') + T("env") + T('{"A":[1,null]}'),
        ),
        (
            {"role": "assistant", "content": [use("a", "ls", {}), use("b", "ls", {})]},
            2 + 2 * (46 + T("ls")),
        ),
        ({"role": "user", "content": [found("a", "hello world")]}, 2 + 2),
        ({"role": "user", "content": [found("a", None), {"type": "text", "text": "hello world"}]}, 2 + 2),
    ],
)
def test_messages(message: dict[str, Any], expected: int) -> None:
    assert tokens(message) == expected


def test_a_reply_with_its_results_is_the_sum_of_both() -> None:
    reply = {"role": "assistant", "content": [{"type": "text", "text": "I look"}, use("a", "ls", {"p": "/"})]}
    results = {"role": "user", "content": [found("a", "x y z")]}
    assert tokens(reply, results) == tokens(reply) + tokens(results)


TOOL = {"name": "ls", "description": "List files", "input_schema": {"type": "object", "properties": {"p": {}}}}


@pytest.mark.parametrize("count", [1, 3])
def test_tools(count: int) -> None:
    fixed = fixed_part({"messages": [], "tools": [TOOL] * count}, CLAUDE, COUNTER, None)
    schema = json.dumps(TOOL["input_schema"], separators=(",", ":"))
    assert [tool.tokens for tool in fixed.tools] == [T("ls") + T("List files") + T(schema)] * count
    assert fixed.overhead == 5 + 346 + 57 * count


def test_a_deferred_tool_costs_nothing_until_it_is_found() -> None:
    search = {"type": "tool_search_tool_bm25", "name": "search"}
    given = ([search], [search, {**TOOL, "defer_loading": True}], [search, TOOL])
    alone, deferred, loaded = (fixed_part({"tools": tools}, CLAUDE, COUNTER, None) for tools in given)
    assert [span.tokens for span in deferred.tools] == [T("search"), 0]
    assert deferred.tokens == alone.tokens < loaded.tokens
    kept = fixed_part({"tools": [search, {**TOOL, "defer_loading": False}]}, CLAUDE, COUNTER, None)
    assert kept.tokens == loaded.tokens


def test_no_tools_cost_nothing() -> None:
    assert fixed_part({"messages": []}, CLAUDE, COUNTER, None).tokens == 5
    assert fixed_part({"messages": [], "tools": []}, CLAUDE, COUNTER, None).tokens == 5


@pytest.mark.parametrize("system", ["be brief", [{"type": "text", "text": "be "}, {"type": "text", "text": "brief"}]])
def test_the_system_prompt_has_no_frame(system: Any) -> None:
    fixed = fixed_part({"messages": [], "system": system}, CLAUDE, COUNTER, None)
    texts = [system] if isinstance(system, str) else [block["text"] for block in system]
    assert fixed.tokens == 5 + sum(map(T, texts))


def test_without_frames_a_message_costs_what_the_estimate_says() -> None:
    reply = {"role": "assistant", "content": [use("a", "disk_usage", {"path": "/srv"})]}
    (unit,) = units([reply], CLAUDE, CjkEstimate())
    assert unit.tokens == 3 + 4 + 4


def test_recorded_requests_are_never_counted_too_low(transcripts_folder: Path) -> None:
    """The tokenizer is not public: o200k times 1.2 is up to a twelfth too high for whole requests."""
    runtime = ContextRuntime.load({"strategy": {"kind": "full_history"}})
    lines = (transcripts_folder.parent / "cases" / "usage_truth.jsonl").read_text(encoding="utf-8").splitlines()
    name = "claude-trace-http/claude-trace-part1.jsonl.gz"
    reported = {call["call"]: call["reported_input"] for call in map(json.loads, lines) if call["file"] == name}
    with gzip.open(transcripts_folder / name) as file:
        bodies = [json.loads(line)["request"].get("body") for line in file]
    ratios = [runtime.assemble(bodies[at]).tokens_before / tokens for at, tokens in reported.items()]
    assert len(ratios) == 40
    assert min(ratios) >= 1.0
    assert max(ratios) < 1.084
