"""Files damaged in seeded ways: reading never raises, no reader fails inside, and what was read can be used."""

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.dialects import dialect
from core.readers import ReadResult, read
from core.wire import dump

ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    float("nan"),
    "",
    "x",
    "\ud83d",
    [],
    {},
    [None],
    {"type": []},
    [["a"]],
    10**30,
)


def openai_run() -> list[Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    history: list[Any] = [{"role": "system", "content": "s"}, {"role": "user", "content": "question"}]
    lines = []
    for number in range(4):
        response = {"role": "assistant", "content": None, "tool_calls": [{**call, "id": f"c{number}"}]}
        usage = {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 3}}
        completion = {
            "object": "chat.completion",
            "created": 1730371250,
            "choices": [{"message": response}],
            "usage": usage,
        }
        request = {
            "model": "gpt-4o",
            "metadata": {"session_id": "s"},
            "messages": list(history),
            "tools": [{"type": "x"}],
        }
        lines.append({"request": request, "response": completion, "at": "2025-01-01T00:00:00Z"})
        history += [
            response,
            {"role": "tool", "tool_call_id": f"c{number}", "content": [{"type": "text", "text": "r"}]},
        ]
    return [*lines, history, {"messages": history}, lines[0]["response"]]


def anthropic_run() -> list[Any]:
    marked = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    use = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": [1]}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "r"}]}
    messages = [
        {"role": "user", "content": [marked]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "t"}, use]},
        {"role": "user", "content": [result]},
    ]
    body = {"model": "claude-x", "max_tokens": 9, "system": [marked], "tools": [{"name": "f", "input_schema": {}}]}
    usage = {"input_tokens": 3, "cache_creation": {"ephemeral_5m_input_tokens": 4}, "output_tokens": 5}
    response = {"type": "message", "role": "assistant", "content": [marked], "model": "claude-x", "usage": usage}
    return [
        {**body, "messages": messages[:1]},
        {"request": {**body, "messages": messages}, "response": response},
        response,
    ]


def claude_session() -> list[Any]:
    lines: list[Any] = []

    def line(type: str, content: Any = None, **fields: Any) -> None:
        uuid, parent = f"u{len(lines)}", f"u{len(lines) - 1}" if lines else None
        message = {
            "id": f"m{len(lines) // 3}",
            "role": type,
            "content": content,
            "model": "m",
            "usage": {"input_tokens": 1},
        }
        base = {"type": type, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": "2025-01-01T00:00:00Z"}
        lines.append({**base, "isSidechain": False, "message": message, **fields})

    line("user", "hi")
    line("assistant", [{"type": "text", "text": "a"}])
    line("assistant", [{"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "look"}}])
    line("user", "look", isSidechain=True, parentUuid=None, agentId="a1")
    line("assistant", [{"type": "text", "text": "found"}], isSidechain=True, agentId="a1")
    line("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "r"}], parentUuid="u2")
    line("system", subtype="compact_boundary", parentUuid=None, logicalParentUuid="u5")
    line("user", "summary", isCompactSummary=True)
    line("assistant", [{"type": "text", "text": "b"}])
    return [*lines, {"type": "summary", "summary": "S", "leafUuid": "u0"}]


def truncated(text: bytes, chance: random.Random) -> bytes:
    return text[: chance.randrange(len(text))]


def flipped(text: bytes, chance: random.Random) -> bytes:
    changed = bytearray(text)
    for _ in range(chance.randrange(1, 12)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def shuffled(text: bytes, chance: random.Random) -> bytes:
    lines = text.split(b"\n")
    kept = [line for line in lines if chance.random() < 0.7] + chance.sample(lines, min(2, len(lines)))
    chance.shuffle(kept)
    return b"\n".join(kept)


def swapped(text: bytes, chance: random.Random) -> bytes:
    """Put values of other types in the place of some, at any depth."""
    values = [json.loads(line) for line in text.split(b"\n")]
    for _ in range(chance.randrange(1, 5)):
        _swap(chance.choice(values), chance)
    return b"\n".join(json.dumps(value).encode() for value in values)


def _swap(value: Any, chance: random.Random) -> None:
    while isinstance(value, dict | list) and value:
        key = chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value))
        if not isinstance(value[key], dict | list) or chance.random() < 0.3:
            value[key] = copy.deepcopy(chance.choice(ODD))
            return
        value = value[key]


def nested(text: bytes, chance: random.Random) -> bytes:
    depth = chance.choice((150, 250, 900, 5_000, 100_000))
    deep = b'{"content":' * depth + b"1" + b"}" * depth if chance.random() < 0.5 else b"[" * depth + b"]" * depth
    places = [
        place for place in range(len(text)) if text[place : place + 1] == b'"' and text[place - 2 : place] == b": "
    ]
    place = chance.choice(places)
    end = text.index(b'"', place + 1) + 1
    return text[:place] + deep + text[end:]


MUTATIONS: tuple[Callable[[bytes, random.Random], bytes], ...] = (truncated, flipped, shuffled, swapped, nested)


def use(found: ReadResult) -> None:
    """Do with what was read what every page does."""
    counts = found.counts
    assert counts.read == counts.used + counts.ignored + counts.broken
    assert found.transcripts or found.problems
    assert all(str(problem).endswith(".") for problem in found.problems)
    assert [problem for problem in found.problems if "failed (" in problem.problem] == []
    for transcript in found.transcripts:
        for i in range(len(transcript.calls)):
            dump(transcript.captured(i))
            dump(transcript.history(i))
        for message in transcript.messages:
            dialect(transcript.dialect).message(message)
        assert transcript.title and transcript.title.isprintable()


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
@pytest.mark.parametrize("write", [openai_run, anthropic_run, claude_session])
def test_damaged_files_are_read_as_far_as_they_go(write: Callable[[], list[Any]], mutate: Any) -> None:
    for layout in (None, 1):
        text = "\n".join(json.dumps(value, indent=layout) for value in write()).encode()
        if layout and mutate is swapped:
            continue
        for seed in range(150 if mutate is swapped else 30):
            use(read(mutate(text, random.Random(seed))))


@pytest.mark.parametrize("write", [openai_run, anthropic_run, claude_session])
def test_the_undamaged_files_are_read_in_full(write: Callable[[], list[Any]]) -> None:
    values = write()
    found = read("\n".join(map(json.dumps, values)))
    assert (found.counts.read, found.counts.broken) == (len(values), 0)
    use(found)


def test_real_files_damaged(transcripts_folder: Path) -> None:
    names = ("claude-code/agentlogs-compact.jsonl", "claude-code/agent-sessions-newtypes-v2.1.80.jsonl")
    names += (
        "openai-chat/pydantic-parallel-tools.request.json",
        "anthropic-messages/pydantic-tool-search-handoff.request.json",
    )
    for name in names:
        text = (transcripts_folder / name).read_bytes().strip()
        for mutate in (truncated, flipped, shuffled, swapped):
            if mutate is swapped and not name.endswith(".jsonl"):
                continue
            for seed in range(10):
                use(read(mutate(text, random.Random(seed))))
