"""What stands for an object has as many tokens as the object, however many keys it holds."""

from __future__ import annotations

import json
from itertools import product
from string import ascii_lowercase
from typing import Any

import pytest

from core import dropped_values
from core.dialects import dialect
from core.dropped_content import ContentDropper
from core.dropped_values import anonymous, filler, fitted
from core.tokens import TiktokenCounter
from core.wire import Wire, dump

COUNTER = TiktokenCounter("o200k_base")
COUNT = COUNTER.count
DROPPER = ContentDropper(b"k" * 32)
MANY = [1, 26, 27, 52, 53, 60, 100, 300, 1000, 3000]


def files(number: int) -> dict[str, Any]:
    return {f"file_{index}.py": "ok" for index in range(number)}


def one_token_names(number: int) -> list[str]:
    pairs = ("".join(pair) for pair in product(ascii_lowercase, repeat=2))
    return [name for name in (*pairs, *map(str, range(1000))) if COUNT(name) == 1][:number]


def chat_call(value: Any) -> Wire:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": json.dumps(value)}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def gemini_result(value: Any) -> Wire:
    return {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": value}}]}


def claude_call(value: Any) -> Wire:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": value}]}


WIRES = [("openai_chat", chat_call), ("gemini", gemini_result), ("anthropic", claude_call)]


@pytest.mark.parametrize("number", MANY)
@pytest.mark.parametrize(("name", "wire_of"), WIRES)
def test_objects_of_any_number_of_keys_keep_their_tokens(name: str, wire_of: Any, number: int) -> None:
    spoken, wire = dialect(name), wire_of(files(number))
    made = DROPPER.message(spoken, wire)
    before, after = ([COUNT(part.text) for part in spoken.message(told).parts] for told in (wire, made))
    assert after == before
    assert ".py" not in dump(made)


@pytest.mark.parametrize("number", MANY)
@pytest.mark.parametrize("value", [7, None, True, "", [], "ok"])
def test_keys_stay_apart_and_as_long_without_a_filler_that_could_make_up_for_them(value: Any, number: int) -> None:
    told = dict.fromkeys(files(number), value)
    made = anonymous(told)
    assert len(made) == number
    assert [COUNT(key) for key in made] == [COUNT(key) for key in told]
    assert COUNT(dump(made)) - COUNT(dump(told)) == COUNT(dump(list(made.values()))) - COUNT(dump(list(told.values())))


@pytest.mark.parametrize("number", [26, 27, 100, 1000, 1052])
def test_keys_of_one_token_stay_so(number: int) -> None:
    made = anonymous(dict.fromkeys(one_token_names(number), "ok"))
    assert [COUNT(key) for key in made] == [1] * number


def test_more_keys_than_words_of_one_token_take_two_and_stay_apart_from_those_that_had_two() -> None:
    names = one_token_names(1500)
    told = dict.fromkeys([*names, *(f"{name} x" for name in names)], "fine then")
    made = anonymous(told)
    assert len(made) == len(told) == 3000
    assert sum(map(COUNT, made)) - sum(map(COUNT, told)) == 1500 - 1052
    assert COUNT(dump(fitted(made, dump(told)))) == COUNT(dump(told))


@pytest.mark.parametrize(
    ("sizes", "wanted", "left"),
    [
        ([3, 1, 4], [3, 1, 4], [3, 1, 4]),
        ([3, 1, 4], [9, 1, 4], [3, 1, 10]),
        ([3, 1, 4], [1, 1, 3], [3, 1, 1]),
        ([3, 1, 4], [1, 1, 2], [2, 1, 1]),
        ([3, 1, 4], [1, 1, 1], [1, 1, 1]),
        ([2, 2, 2], [1, 1, 2], [1, 1, 2]),
    ],
)
def test_what_is_too_much_is_taken_from_several_fillers(sizes: list[int], wanted: list[int], left: list[int]) -> None:
    made = {"a": [filler(size) for size in sizes], "b": None, "c": 7}
    text = dump({"a": [filler(size) for size in wanted], "b": None, "c": 7})
    assert fitted(made, text) == {**made, "a": [filler(size) for size in left]}


def test_what_cannot_be_made_up_for_leaves_fillers_of_one_token() -> None:
    assert fitted(["a a", "b b b", "said it"], "") == ["a", "b", "said it"]


def test_ten_times_the_keys_are_ten_times_the_text_to_count(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0

    class Reading:
        def count(self, text: str) -> int:
            nonlocal read
            read += len(text)
            return COUNT(text)

    monkeypatch.setattr(dropped_values, "_counter", Reading())
    costs = []
    for number in (300, 3000):
        read = 0
        fitted(anonymous(files(number)), dump(files(number)))
        costs.append(read)
    assert costs[1] < 11 * costs[0]
