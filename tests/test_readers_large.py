"""Large transcripts: bounded memory, progress, speed, and documents that are read as their bytes come."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from core.readers import large_documents, read, read_stream, runs
from tests import large_files as large
from tests.test_readers_bundles import zipped

BASE = 90
"""Megabytes that reading a small file takes, with room for other machines."""
SIZE = 24
"""Megabytes of a file in an ordinary run: enough for a document to be read as its bytes come."""


def test_a_file_of_many_conversations_takes_little_memory(tmp_path: Path) -> None:
    path = large.write_lines(tmp_path / "chats.jsonl", large.chats, SIZE)
    found = large.measured(path, "stream")
    assert found["problems"] == []
    assert (found["transcripts"], found["calls"]) == (lines := len(path.read_text().splitlines()), 10 * lines)
    assert found["megabytes"] < BASE
    times, last = found["progress"]
    assert times >= SIZE - 2
    assert last == [path.stat().st_size] * 2


def test_one_conversation_takes_less_than_three_times_its_size(tmp_path: Path) -> None:
    for path in (
        large.write_document(tmp_path / "one.json", SIZE),
        large.write_document(tmp_path / "pretty.json", SIZE, indent=1),
        large.write_lines(tmp_path / "session.jsonl", large.claude_code, SIZE),
    ):
        found = large.measured(path, "read")
        assert (found["problems"], found["transcripts"]) == ([], 1)
        assert found["megabytes"] < BASE + 3 * SIZE


def test_runs_that_rest_are_closed_by_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    def asks(session: str, *texts: str) -> str:
        messages = [{"role": "user", "content": text} for text in texts]
        return json.dumps({"model": "m", "messages": messages, "metadata": {"session_id": session}})

    lines = [asks("a", "x" * 600), asks("b", "y" * 600), asks("a", "x" * 600, "more"), asks("c", "z" * 600)]
    assert [len(made.calls) for made in read("\n".join(lines)).transcripts] == [2, 1, 1]
    monkeypatch.setattr(runs, "OPEN_CHARACTERS", 1_000)
    assert [made.session for made in read_stream("\n".join(lines))] == ["a", "b", "a", "c"]


BIG = 20 << 20


def in_a_node(text: str) -> dict[str, Any]:
    message = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [text]}}
    return {"id": "c", "mapping": {"n": {"parent": None, "children": [], "message": message}}, "current_node": "n"}


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [{"role": "user", "content": "x" * BIG}, {"role": "assistant", "content": "✓"}]},
        {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "é" * (BIG // 2)}},
        {"conversations": [{"from": "human", "value": "✓" * (BIG // 3)}, {"from": "gpt", "value": "y"}]},
        in_a_node("{" * BIG),
    ],
    ids=["openai_chat", "claude_code", "sharegpt", "chatgpt_export"],
)
def test_a_message_of_twenty_megabytes(tmp_path: Path, value: Any) -> None:
    path = tmp_path / "big.json"
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    found = read(path)
    assert (len(found.transcripts), found.problems) == (1, [])
    assert len(json.dumps(found.transcripts[0].messages[0], ensure_ascii=False).encode()) > BIG - 10


def test_a_history_of_aider_with_long_lines(tmp_path: Path) -> None:
    path = tmp_path / "history.md"
    body = "> " + "a  " * 200_000 + "\n" + "> x\n" * 20_000 + "#### " + "  " * 200_000 + "\n" + "word " * 400_000
    path.write_text(f"# aider chat started at 2024-08-05 19:33:02\n\n#### hi  \n\n{body}\n", encoding="utf-8")
    assert len(read(path).transcripts[0].calls) == 2


CHAT: Any = {"messages": [{"role": "user", "content": "hi é ✓"}, {"role": "assistant", "content": 'a "b"\n'}]}
PRETTY = json.dumps(CHAT, indent=1)


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every document for a large one."""
    pytest.importorskip("ijson")
    monkeypatch.setattr(large_documents, "LARGE", 0)
    monkeypatch.setattr(large_documents, "LONGEST_FIRST_LINE", 60)


@pytest.mark.usefixtures("streams")
@pytest.mark.parametrize(
    "text",
    [
        PRETTY,
        json.dumps(CHAT),
        "\ufeff" + PRETTY,
        PRETTY + "\n\n" + PRETTY,
        PRETTY.replace("\n", "\r\n"),
        PRETTY + "\n\x00\x00",
        json.dumps({**CHAT, "x": float("nan")}, indent=1),
        json.dumps({**CHAT, "x": 10**40}, indent=1),
        PRETTY.replace("hi", "tab\there"),
        PRETTY[:-20],
        json.dumps(CHAT) + "\n" + json.dumps(CHAT),
        json.dumps({"messages": [CHAT["messages"][0]]})[:59] + "}]}",
        "[" * 300 + "]" * 300,
        "not json",
    ],
)
def test_documents_are_read_alike_as_their_bytes_come(tmp_path: Path, text: str) -> None:
    path = tmp_path / "one.json"
    for content in (text.encode(), gzip.compress(text.encode())):
        path.write_bytes(content)
        streamed, held = read(path), read(text)
        assert [made.messages for made in streamed.transcripts] == [made.messages for made in held.transcripts]
        assert [problem.problem for problem in streamed.problems] == [problem.problem for problem in held.problems]
        assert streamed.counts == held.counts


@pytest.mark.usefixtures("streams")
def test_a_second_document_that_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(PRETTY + '\n{"messages": [oops', encoding="utf-8")
    found = read(path)
    assert len(found.transcripts) == 1
    assert (found.counts.read, found.counts.broken) == (2, 1)
    assert str(found.problems[0]).startswith("one.json, document 2: this is not JSON (lexical error")


@pytest.mark.usefixtures("streams")
def test_a_large_file_in_an_archive_is_streamed_too() -> None:
    assert len(read(zipped({"a.json": PRETTY})).transcripts) == 1


@pytest.mark.usefixtures("streams")
def test_without_the_library_the_text_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ijson", None)
    path = tmp_path / "one.json"
    path.write_text(PRETTY, encoding="utf-8")
    assert len(read(path).transcripts) == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", [large.chats, large.requests, large.sharegpt], ids=lambda kind: kind.__name__)
def test_six_hundred_megabytes_of_conversations(tmp_path: Path, kind: Any) -> None:
    path = large.write_lines(tmp_path / "many.jsonl", kind, 600)
    found = large.measured(path, "stream")
    print(kind.__name__, found)
    assert (found["problems"], found["transcripts"] > 1_000) == ([], True)
    assert found["megabytes"] < 300
    assert found["progress"][0] >= 570
    assert 600 / found["seconds"] > 20


@pytest.mark.slow
@pytest.mark.parametrize("form", ["document", "pretty", "session"])
def test_one_conversation_of_585_megabytes(tmp_path: Path, form: str) -> None:
    path = tmp_path / "one.json"
    if form == "session":
        large.write_lines(path, large.claude_code, 585)
    else:
        large.write_document(path, 585, indent=1 if form == "pretty" else None)
    found = large.measured(path, "read")
    print(form, found)
    assert (found["problems"], found["transcripts"]) == ([], 1)
    assert found["megabytes"] < 3 * 585
    assert 585 / found["seconds"] > 20
