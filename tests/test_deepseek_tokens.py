"""DeepSeek's frames: what its published rendering of a whole prompt counts, shared out over messages and parts."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.deepseek_vocabulary import DEEPSEEK, has_deepseek
from core.dialects import dialect as dialect_named
from core.dialects.deepseek_tokens import PRIMING, TOOLS_FRAME
from core.dialects.openai_tokens import priming
from core.readers import read
from core.replay import replay
from core.runtime import ContextRuntime
from core.spans import fixed_part
from core.tokens import Exactness, TiktokenCounter
from core.units import units
from tests.test_openai_tokens import calling, result

pytestmark = pytest.mark.skipif(not has_deepseek(), reason="the extra 'deepseek' is not installed")
CHAT = dialect_named("openai_chat")
SAID = {"role": "user", "content": "wait"}
MARK = "\ue000"
"""Stands for any special token: one token, which parts the texts on both sides."""


def T(text: str) -> int:
    return TiktokenCounter(DEEPSEEK).count(text)


def rendered(messages: list[dict[str, Any]]) -> str:
    """Return a conversation as DeepSeek renders it."""
    text, before = "", ""
    for at, message in enumerate(messages):
        role, content = message["role"], message["content"] or ""
        after = messages[at + 1]["role"] if at + 1 < len(messages) else ""
        if role == "user":
            text += MARK + content + MARK + MARK
        elif role == "tool":
            text += "" if before == "tool" else "\n\n<function_results>"
            text += f"\n<result>{content}</result>"
            text += "" if after == "tool" else "\n</function_results>\n\n" + MARK
        else:
            text += content + _calls(message.get("tool_calls") or []) + MARK
        before = role
    return text


def _calls(calls: list[dict[str, Any]]) -> str:
    made = []
    for call in calls:
        values = json.loads(call["function"]["arguments"]).items()
        lines = [
            f'<{MARK}parameter name="{key}" string="{str(isinstance(value, str)).lower()}">'
            f"{value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}</{MARK}parameter>"
            for key, value in values
        ]
        made.append("\n".join([f'<{MARK}invoke name="{call["function"]["name"]}">', *lines, f"</{MARK}invoke>"]))
    return f"\n\n<{MARK}function_calls>\n" + "\n".join(made) + f"\n</{MARK}function_calls>" if made else ""


def expected(messages: list[dict[str, Any]]) -> int:
    pieces = rendered(messages).split(MARK)
    return sum(map(T, pieces)) + len(pieces) - 1


def counted(messages: list[dict[str, Any]]) -> int:
    return sum(unit.tokens for unit in units(messages, CHAT, TiktokenCounter(DEEPSEEK)))


words = st.lists(st.sampled_from(["word", " ", "\n", "x:", "中文", '"', "<", "/", "}", "7", "."]), max_size=9).map(
    "".join
)
values = st.one_of(words, st.integers(), st.lists(words, max_size=2), st.booleans())
arguments = st.dictionaries(st.sampled_from(["path", "text", "count"]), values, min_size=1).map(json.dumps)


@st.composite
def talks(draw: st.DrawFn) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = []
    for turn in range(draw(st.integers(1, 3))):
        said.append({"role": "user", "content": draw(words)})
        for step in range(draw(st.integers(0, 2))):
            calls = [(f"{turn}.{step}.{at}", "run", draw(arguments)) for at in range(draw(st.integers(1, 3)))]
            said.append(calling(*calls, text=draw(st.one_of(st.none(), words))))
            said += [result(call_id, draw(words)) for call_id, *_ in calls]
        said.append({"role": "assistant", "content": draw(words)})
    return said


@settings(max_examples=300)
@given(talks())
def test_a_conversation_counts_what_its_rendering_does(messages: list[dict[str, Any]]) -> None:
    assert counted(messages) == expected(messages)


@pytest.mark.parametrize(
    ("messages", "tokens"),
    [
        ([{"role": "user", "content": "hello world"}], 2 + 3),
        ([{"role": "user", "content": ""}], 3),
        ([{"role": "assistant", "content": "hello world"}], 2 + 1),
        ([calling(("c", "bash", '{"command": "ls"}'), text="I look."), result("c", "a b")], 57 + 3 + 1 + 2),
        ([calling(("c", "bash", '{"command": "ls"}')), result("c", "a b")], 58 + 1 + 2),
    ],
)
def test_messages(messages: list[dict[str, Any]], tokens: int) -> None:
    assert counted(messages) == expected(messages) == tokens


@pytest.mark.parametrize(
    ("messages", "lists"),
    [
        ([calling(("c", "ls", "{}"), ("d", "ls", "{}")), result("c", "a"), result("d", "b")], 1),
        ([calling(("c", "ls", "{}")), result("c", "a"), result("d", "b")], 2),
        ([result("c", "a"), result("d", "b")], 2),
        ([calling(("c", "ls", "{}"), ("d", "ls", "{}")), result("c", "a"), SAID, result("d", "b")], 2),
    ],
    ids=["one reply", "a stray behind it", "strays", "a late one"],
)
def test_results_of_no_call_count_the_same_wherever_they_stand(messages: list[dict[str, Any]], lists: int) -> None:
    without = [message for message in messages if message["role"] != "tool"]
    alone = sum(T(f"<result>{message['content']}</result>\n") for message in messages if message["role"] == "tool")
    frame = T("\n\n<function_results>\n") + T("</function_results>\n\n") + 1
    assert counted(messages) - counted(without) - alone == lists * frame


def test_parts_and_frames_add_up() -> None:
    (unit,) = units(
        [calling(("c", "bash", '{"n": 7}'), text="Now:"), result("c", "x")], CHAT, TiktokenCounter(DEEPSEEK)
    )
    text, call, found = unit.spans
    assert min(text.tokens, call.tokens, found.tokens) > 0
    assert text.tokens + call.tokens + found.tokens + unit.overhead == unit.tokens


def test_arguments_that_are_no_object_count_as_they_are() -> None:
    short, long = (counted([calling(("c", "run", text))]) for text in ('{"a', '{"a' + " word" * 50))
    assert long - short == 50


def test_system_and_tools() -> None:
    tool = {
        "type": "function",
        "function": {"name": "bash", "description": "Run it.", "parameters": {"type": "object"}},
    }
    body = {"model": "deepseek-chat", "messages": [{"role": "system", "content": "hello world"}], "tools": [tool]}
    fixed = fixed_part(body, CHAT, TiktokenCounter(DEEPSEEK), "deepseek-chat")
    assert fixed.overhead == PRIMING + TOOLS_FRAME
    assert fixed.tokens == 2 + T(json.dumps(tool["function"]) + "\n") + fixed.overhead
    assert priming("deepseek-chat") == PRIMING != priming("gpt-4o")


def test_an_exported_configuration_counts_so_without_the_name() -> None:
    counter = {"kind": "tiktoken", "encoding": DEEPSEEK}
    runtime = ContextRuntime.load({"counter": counter, "strategy": {"kind": "full_history"}})
    body = {"model": "deepseek-chat", "messages": [{"role": "user", "content": "hello world"}]}
    assert runtime.assemble(body).tokens_before == PRIMING + 3 + 2


@pytest.mark.parametrize(
    ("file", "calls", "steps_equal", "differences"),
    [
        ("mini-swe-agent/django-11797.traj.json.gz", 156, 155, {300}),  # a rendered tool, which is not recorded
        ("mini-swe-agent/astroid-1333-188calls.traj.json.gz", 188, 174, None),  # names were replaced in 13 steps
    ],
)
def test_recorded_prompts_grow_as_reported(
    file: str, calls: int, steps_equal: int, differences: set[int] | None, transcripts_folder: Path
) -> None:
    (transcript,) = read(transcripts_folder / file).transcripts
    rows = replay(transcript, {"strategy": {"kind": "as_captured"}}).calibration.calls
    found = [row.difference or 0 for row in rows]
    assert len(rows) == calls
    assert sum(after == before for before, after in pairwise(found)) == steps_equal
    assert differences is None or set(found) == differences
    first = found[0]
    assert all(
        abs(difference - first) <= 0.003 * (row.reported or 0) for difference, row in zip(found, rows, strict=True)
    )
    assert {row.exactness for row in rows} == {Exactness.REPORTED}
