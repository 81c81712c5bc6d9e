"""Data sets: ShareGPT and Alpaca rows, examples for fine-tuning, LMSYS and Arena, maps of prompts."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from core.dialects import dialect
from core.readers import read
from core.transcript import Fidelity
from tests import small_runs as small
from tests.small_runs import of, seen
from tests.test_readers_bundles import folder, table, zipped


def lines_of(*values: Any) -> str:
    return "\n".join(json.dumps(value) for value in values)


def test_a_row_of_sharegpt_calls_tools_by_order() -> None:
    found = of(small.SHAREGPT[0])
    assert (found.format, found.problems) == ("sharegpt", [])
    assert seen(found, 1) == [
        ("system", "be kind"),
        ("user", "will it rain?"),
        ("assistant", "rain()"),
        ("tool", "no"),
    ]
    call, result = found.transcripts[0].messages[1:3]
    assert call["tool_calls"][0]["function"]["arguments"] == '{"day":1}'
    assert call["tool_calls"][0]["id"] == result["tool_call_id"]
    head = found.transcripts[0].heads[0]
    assert [tool.name for tool in dialect("openai_chat").tools(head)] == ["rain"]
    assert {call.fidelity for call in found.transcripts[0].calls} == {Fidelity.RECONSTRUCTED}


@pytest.mark.parametrize(
    ("turns", "prompt", "notes"),
    [
        ([("human", "q"), ("gpt", "a")], [("user", "q")], ["system prompt not recorded"]),
        ([("system", "s"), ("USER", "q"), ("Assistant", "a")], [("system", "s"), ("user", "q")], []),
        ([("gpt", "hello")], [], ["system prompt not recorded"]),
        (
            [("human", "q"), ("function_call", "no json")],
            [("user", "q")],
            ["system prompt not recorded"],
        ),
    ],
)
def test_turns_of_sharegpt(turns: list[tuple[str, str]], prompt: list[tuple[str, str]], notes: list[str]) -> None:
    found = of({"conversations": [{"from": who, "value": text} for who, text in turns]})
    assert seen(found, 0) == prompt
    assert list(found.transcripts[0].notes) == notes


def test_several_calls_in_one_turn() -> None:
    calls = json.dumps([{"name": "f", "arguments": {}}, {"name": "g", "arguments": "{}"}])
    turns = [("human", "q"), ("function_call", calls), ("observation", "1"), ("observation", "2"), ("gpt", "a")]
    found = of({"conversations": [{"from": who, "value": text} for who, text in turns]})
    messages = found.transcripts[0].messages
    assert [call["function"]["name"] for call in messages[1]["tool_calls"]] == ["f", "g"]
    assert [message["tool_call_id"] for message in messages[2:4]] == [one["id"] for one in messages[1]["tool_calls"]]
    assert list(found.transcripts[0].notes) == ["system prompt not recorded", "tool definitions not recorded"]


def test_preferences_keep_the_rejected_answer_beside() -> None:
    turns = [{"from": "human", "value": "q"}]
    [made] = of({"conversations": turns, "chosen": {"from": "gpt", "value": "good"}, "rejected": "bad"}).transcripts
    assert [call.response for call in made.calls] == [{"role": "assistant", "content": "good"}]
    assert made.meta == {"rejected": "bad"}


def test_a_row_of_alpaca() -> None:
    found = of(small.SHAREGPT[1])
    assert seen(found, 1) == [("user", "hello"), ("assistant", "hi"), ("user", "add\n1 and 2")]
    assert found.transcripts[0].calls[1].response == {"role": "assistant", "content": "3"}


def test_turns_that_cannot_be_read_are_told() -> None:
    turns = [{"from": "human", "value": "q"}, {"from": "ghost", "value": "boo"}, {"from": "gpt", "value": "a"}, 7]
    found = of({"conversations": turns})
    assert [str(problem) for problem in found.problems] == [
        "the text: 2 turns could not be read. Turns from human, gpt, system, function_call or observation with a text"
        " were expected."
    ]
    assert len(found.transcripts[0].calls) == 1


def test_rows_with_one_fault_are_told_of_once() -> None:
    rows: list[Any] = [{"conversations": [{"from": "human", "value": "q"}]}] + [{"conversations": []}] * 7
    found = of(*rows)
    assert [str(problem) for problem in found.problems] == [
        "the text, line 2: nothing was found in it to read (also line 3, line 4, line 5, line 6, line 7 and 1 more)."
        " A row with `conversations`, a list of turns with `from` and `value`, was expected. It was left out."
    ]
    assert (found.counts.read, found.counts.used, found.counts.broken) == (8, 1, 7)


def test_a_list_of_rows_is_one_record() -> None:
    found = of([*small.SHAREGPT, {"conversations": []}, 5])
    assert (found.counts.read, found.counts.used, found.counts.broken) == (1, 1, 0)
    assert [problem.place for problem in found.problems] == ["item 3"]
    assert len(found.transcripts) == 2


def test_an_example_is_a_whole_prompt() -> None:
    found = of(*small.FINE_TUNING)
    assert (found.format, found.problems) == ("openai_finetune", [])
    assert [list(made.notes) for made in found.transcripts] == [[], []]
    assert {call.fidelity for made in found.transcripts for call in made.calls} == {Fidelity.RECONSTRUCTED}
    assert found.transcripts[0].meta == {"weights": [None, None, 0, None, 1]}
    assert seen(found, 1) == [("system", "s"), ("user", "q1"), ("assistant", "a1"), ("user", "q2")]
    assert found.transcripts[0].messages[1] == {"role": "assistant", "content": "a1"}


def test_typed_parts_of_an_example() -> None:
    [made] = of(small.FINE_TUNING[1]).transcripts
    call = {"id": "call_0", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
    assert list(made.messages) == [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "reasoning_content": "think", "tool_calls": [call]},
        {"role": "tool", "content": "r", "tool_call_id": "call_0"},
        {"role": "assistant", "content": "done"},
    ]
    assert made.heads[0]["tools"] == [{"type": "function", "function": {"name": "f", "parameters": {}}}]


def test_a_preference_pair() -> None:
    [made] = of(*small.PREFERENCE).transcripts
    assert [call.response for call in made.calls] == [{"role": "assistant", "content": "good"}]
    assert made.meta == {"rejected": [{"role": "assistant", "content": "bad"}]}
    assert made.heads[0] == {"parallel_tool_calls": True, "messages": []}


def test_a_prompt_with_its_completion() -> None:
    found = of({"prompt": "q", "completion": "a"}, {"prompt": "r", "completion": "b"})
    assert found.format == "openai_finetune"
    assert [seen(found, 0, at) for at in (0, 1)] == [[("user", "q")], [("user", "r")]]


def test_plain_rows_of_messages_stay_openai_chat_unless_named() -> None:
    row = {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}
    assert of(row, row).format == "openai_chat"
    assert len(of(row, row, format="openai-finetune").transcripts) == 2


def test_arena_rows() -> None:
    found = of(*small.ARENA)
    assert (found.format, found.problems) == ("lmsys_arena", [])
    answers = [(made.session, made.models, made.calls[0].response["content"]) for made in found.transcripts]  # type: ignore[index]
    assert answers == [
        ("c1", ("vicuna",), "a"),
        ("b", ("gpt-4",), "from a"),
        ("b", ("claude",), "from b"),
        ("u", ("m",), "a"),
    ]
    assert found.transcripts[1].meta == {"winner": "model_a", "opponent": "claude", "side": "a"}
    assert found.transcripts[2].meta == {"winner": "model_a", "opponent": "gpt-4", "side": "b"}
    assert found.transcripts[3].started is not None
    assert {call.fidelity for made in found.transcripts for call in made.calls} == {Fidelity.PARTIAL}


def test_answers_without_questions_are_refused() -> None:
    found = of(*small.MT_BENCH_ANSWER, *small.MT_BENCH_ANSWER)
    assert found.transcripts == []
    assert [str(problem) for problem in found.problems] == [
        "the text, line 1: the answer stands without its question, so no prompt can be shown (also line 2). Give a"
        " folder or a ZIP archive that holds question.jsonl of the benchmark and model_answer/ with this file."
    ]


def test_answers_with_questions_in_one_folder(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "mt/question.jsonl": lines_of(*small.MT_BENCH_QUESTION, {"x": 1}),
        "mt/model_answer/m.jsonl": lines_of(*small.MT_BENCH_ANSWER, {**small.MT_BENCH_ANSWER[0], "question_id": 9}),
        "mt/reference_answer/r.jsonl": lines_of({**small.MT_BENCH_ANSWER[0], "model_id": "gpt-4"}),
        "other.json": lines_of(*small.ARENA[:1]),
    }
    found = read(folder(tmp_path, files))
    assert sorted(table(found)) == [("mt", "lmsys_arena", 2, 2), ("other.json", "lmsys_arena", 1, 0)]
    assert [made.models for made in found.transcripts[:2]] == [("m",), ("gpt-4",)]
    assert seen(found, 1) == [("user", "q1"), ("assistant", "a1"), ("user", "q2")]
    assert [str(problem).partition(":")[0] for problem in found.problems] == [
        "mt, line 2",
        "mt/model_answer/m.jsonl, line 2",
    ]
    assert len(read(zipped(files)).transcripts) == 3


def test_a_map_of_prompts() -> None:
    long = "Write a poem about rain that has four lines and rhymes, and do not mention water. " * 2
    messages = json.dumps([{"role": "system", "content": "s" * 100}, {"role": "user", "content": "what is it?"}])
    found = of({long: "rain", messages: {"code": 1}, f"{long}!": "", "": "x", f"{long}?": None})
    assert found.format == "prompt_map"
    assert seen(found, 0) == [("user", long)]
    assert seen(found, 0, 1) == [("system", "s" * 100), ("user", "what is it?")]
    assert found.transcripts[1].calls[0].response == {"role": "assistant", "content": '{"code":1}'}
    assert [problem.place for problem in found.problems] == ["entry 4", "entry 5"]


@pytest.mark.parametrize("value", [{"name": "x", "size": "y"}, {"a long key of eighty characters " * 4: 5}, {}])
def test_other_objects_are_no_map_of_prompts(value: Any) -> None:
    assert of(value).transcripts == []


def rows(path: Path) -> list[Any]:
    content = path.read_bytes()
    text = (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode()
    return json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(
    ("name", "transcripts", "calls", "messages"),
    [
        ("sharegpt/fastchat-dummy.json", 500, 1000, 2000),
        ("sharegpt/glaive-toolcall-zh.json", 300, 940, 1880),
        ("openai-finetune/llamafactory-reason-tool-use.jsonl", 50, 112, 224),
        ("lmsys-arena/arena-hard-gpt-4-0613.jsonl.gz", 500, 500, 1000),
        ("openai-chat/metagpt-zh-en-prompt-cache.json.gz", 425, 425, 858),
    ],
)
def test_real_data_sets(transcripts_folder: Path, name: str, transcripts: int, calls: int, messages: int) -> None:
    found = read(transcripts_folder / name)
    assert [problem for problem in found.problems if not problem.warning] == []
    assert len(found.transcripts) == transcripts
    assert sum(len(made.calls) for made in found.transcripts) == calls
    assert sum(len(made.messages) for made in found.transcripts) == messages


TURNS = {"human": 722, "function_call": 216, "observation": 218, "gpt": 724}


def test_tool_turns_of_a_real_file(transcripts_folder: Path) -> None:
    path = transcripts_folder / "sharegpt/glaive-toolcall-zh.json"
    turns = Counter(turn["from"] for row in rows(path) for turn in row["conversations"])
    wires = [message for made in read(path).transcripts for message in made.messages]
    assert turns == TURNS
    assert sum(bool(wire.get("tool_calls")) for wire in wires) == turns["function_call"]
    assert sum(wire["role"] == "tool" for wire in wires) == turns["observation"]
    assert sum(wire["role"] == "assistant" for wire in wires) == turns["function_call"] + turns["gpt"]


def test_typed_parts_of_a_real_file(transcripts_folder: Path) -> None:
    path = transcripts_folder / "openai-finetune/llamafactory-reason-tool-use.jsonl"
    parts = Counter(part["type"] for row in rows(path) for turn in row["messages"] for part in turn["content"])
    made = read(path).transcripts
    wires = [message for one in made for message in one.messages]
    assert sum("reasoning_content" in wire for wire in wires) == parts["reasoning"] == 112
    assert sum(len(wire.get("tool_calls", ())) for wire in wires) == parts["tool_call"]
    tools = [len(json.loads(row["tools"])) for row in rows(path)]
    assert [len(one.heads[0].get("tools", ())) for one in made] == tools
