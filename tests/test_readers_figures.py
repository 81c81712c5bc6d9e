"""Token figures that cannot be true are left out and told of, whatever format and field they stand in."""

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import astuple
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.readers import ReadResult, read
from core.readers.figures import MOST_TOKENS, Doubtful, believed, count, doubts, figure
from core.transcript import Usage
from tests.test_readers_agent_mutations import WRITERS
from tests.test_readers_export_mutations import VALUES
from tests.test_readers_mutations import anthropic_run, claude_session, openai_run
from tests.test_readers_platform_mutations import WRITERS as PLATFORMS

ABSURD = (10**25, -5, float("nan"), float("inf"))
TOLD = ("no number of tokens", "contradicts itself")
SESSIONS = {"openai": openai_run, "anthropic": anthropic_run, "claude_code": claude_session, **WRITERS}
CODEX_EXEC = [
    {"type": "thread.started", "thread_id": "t"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "i2", "type": "agent_message", "text": "one file"}},
    {"type": "turn.completed", "usage": {"input_tokens": 30, "cached_input_tokens": 9, "output_tokens": 8}},
]
COPILOT_CHAT = {
    "version": 3,
    "sessionId": "s1",
    "requests": [
        {
            "requestId": "r1",
            "message": {"text": "list files"},
            "result": {
                "metadata": {"toolCallRounds": [{"response": "one"}]},
                "usage": {"promptTokens": 9, "completionTokens": 4},
            },
        }
    ],
}
VERCEL_AI = [
    {"id": "a", "role": "user", "parts": [{"type": "text", "text": "hi"}]},
    {
        "id": "b",
        "role": "assistant",
        "parts": [{"type": "step-start"}, {"type": "text", "text": "hello"}],
        "metadata": {"usage": {"inputTokens": 20, "outputTokens": 4, "cachedInputTokens": 9, "reasoningTokens": 1}},
    },
]
FILES: dict[str, Callable[[], list[list[Any]]]] = {
    **{name: lambda write=write: [write()] for name, write in SESSIONS.items()},
    **{write.__name__: lambda write=write: [[value] for value in write()] for write in PLATFORMS},
    **{name: lambda name=name: [[value] for value in VALUES[name]] for name in VALUES},
    "muse_code": lambda: [VALUES["muse_code"]],
    "codex_exec": lambda: [CODEX_EXEC],
    "copilot_chat": lambda: [[COPILOT_CHAT]],
    "of_vercel_ai": lambda: [[VERCEL_AI]],
}
"""The files of each format, each as the values of its lines."""
WITHOUT_USAGE = {
    *("sharegpt", "openai_finetune", "lmsys_arena", "tau_bench", "agentbench", "toolbench", "toolbench_eval"),
    *("swe_agent", "chatgpt_export", "claude_ai_export", "prompt_map", "kimi_context"),
}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((number, number) for number in (0, 1, MOST_TOKENS)),
        *((value, None) for value in (None, True, "85", [], {})),
        (3.0, 3),
    ],
)
def test_figures_that_may_be_true(value: Any, expected: int | None) -> None:
    assert (figure(value), count(value)) == (expected, expected)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (-1, "-1"),
        (1.5, "1.5"),
        (MOST_TOKENS + 1, "2147483648"),
        (10**25, "10000000000000000000000000"),
        (10**400, "10000000000000000000000000000…"),
        pytest.param(10**5000, "a number of thousands of digits", id="too long to write out"),
        (1e300, "1e+300"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_figures_that_cannot_be_true(value: Any, said: str) -> None:
    found = figure(value)
    assert isinstance(found, Doubtful)
    assert count(value) is None
    for summed in (found + 3, 3 + found, found - 3, 3 - found, sum([1, found]), figure(found)):
        assert isinstance(summed, Doubtful)
        assert summed.said == said
    assert list(doubts(Usage(output=value))) == [
        (
            f"the usage has {said}, which is no number of tokens (output)",
            "A whole number from 0 to 2,147,483,647 was expected; the figure was ignored.",
        )
    ]


@pytest.mark.parametrize(
    ("usage", "sound", "told"),
    [
        (Usage(320, 320, 0), Usage(320, 320, 0), ""),
        (Usage(320, 9999, 10), Usage(320, None, 10), "9,999 tokens read from the cache, of an input of 320 tokens"),
        (Usage(320, 10, 321), Usage(320, 10), "321 tokens written to the cache, of an input of 320 tokens"),
        (
            Usage(320, 200, 121, 7),
            Usage(320, output=7),
            "200 tokens read from the cache and 121 tokens written to the cache, of an input of 320 tokens",
        ),
        (Usage(None, 9999), Usage(None, 9999), ""),
    ],
)
def test_cached_tokens_above_the_input_are_not_believed(usage: Usage, sound: Usage, told: str) -> None:
    assert believed(usage) == sound
    assert [problem for problem, _ in doubts(usage)] == ([f"the usage contradicts itself: {told}"] if told else [])


@given(st.lists(st.one_of(st.none(), st.integers(), st.floats()), min_size=5, max_size=5))
def test_what_is_believed_is_always_sound_and_silent(values: list[Any]) -> None:
    sound = believed(Usage(*values))
    assert all(value is None or (type(value) is int and 0 <= value <= MOST_TOKENS) for value in astuple(sound))
    assert list(doubts(sound)) == []
    assert believed(sound) == sound
    assert (sound == Usage(*values)) <= (not list(doubts(Usage(*values))))


@pytest.mark.parametrize("name", FILES)
def test_an_absurd_figure_anywhere_is_told_and_everything_else_is_read(name: str) -> None:
    found_any = False
    for values in FILES[name]():
        whole = read_lines(values)
        for path, number in numbers(values):
            spelt = type(number)
            if not is_figure(whole, read_lines(changed(values, path, spelt(int(number) + 1)))):
                continue
            found_any = True
            for absurd in ABSURD if spelt is int else (str(10**25), "-5"):
                found = read_lines(changed(values, path, absurd))
                assert shape(found) == shape(whole), (path, absurd)
                assert all(value is None or 0 <= value <= MOST_TOKENS for usage in usages(found) for value in usage)
                assert any(sign in problem.problem for problem in found.problems for sign in TOLD), (path, absurd)
                assert all(problem.warning for problem in found.problems if problem not in whole.problems)
    assert found_any == (name not in WITHOUT_USAGE)


def numbers(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], int | str]]:
    """Yield the whole numbers in a value, also those that are spelt as texts, with their paths."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(inner, (*path, key))
    elif type(value) is int or (isinstance(value, str) and value.isascii() and value.isdigit()):
        yield path, value
    elif isinstance(value, str) and value.startswith("{") and value.endswith("}"):
        with suppress(ValueError):
            yield from numbers(json.loads(value), (*path, json))


def changed(value: Any, path: tuple[Any, ...], number: Any) -> Any:
    """Return a value with another number at the end of a path, which may go through JSON in a text."""
    if not path:
        return number
    key, *rest = path
    if key is json:
        return json.dumps(changed(json.loads(value), tuple(rest), number))
    copied = copy.copy(value)
    copied[key] = changed(value[key], tuple(rest), number)
    return copied


def is_figure(whole: ReadResult, more: ReadResult) -> bool:
    """Tell whether one more of a number is one token more in calls, and nothing else."""
    before, after = ([value for usage in usages(found) for value in usage] for found in (whole, more))
    steps = [None if a is None or b is None else abs(a - b) for a, b in zip(before, after, strict=False) if a != b]
    return shape(whole) == shape(more) and set(steps) == {1}


def read_lines(values: list[Any]) -> ReadResult:
    return read("\n".join(map(json.dumps, values)))


def usages(found: ReadResult) -> list[tuple[int | None, ...]]:
    return [astuple(call.usage) for transcript in found.transcripts for call in transcript.calls]


def shape(found: ReadResult) -> list[tuple[str, int, int]]:
    """Return what a reading holds beside usage: the same with an absurd figure as without."""
    return [(found.format or "", len(each.calls), len(each.messages)) for each in found.transcripts]
