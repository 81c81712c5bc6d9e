"""Real transcripts. The expected numbers were counted by small scripts that read the files without the readers."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from core.dialects import dialect
from core.readers import ReadResult, read, read_stream
from core.transcript import Transcript
from core.wire import dump


@pytest.fixture(scope="module")
def every_file(transcripts_folder: Path) -> dict[str, ReadResult]:
    paths = sorted(path for path in transcripts_folder.rglob("*") if path.is_file() and path.name != "INDEX.md")
    return {path.relative_to(transcripts_folder).as_posix(): read(path) for path in paths}


def raw_lines(path: Path) -> Iterator[Any]:
    content = path.read_bytes()
    content = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    for line in content.decode().splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def roles(transcript: Transcript, call: int) -> dict[str, int]:
    return dict(Counter(message["role"] for message in transcript.captured(call)["messages"]))


def sums(transcripts: list[Transcript]) -> tuple[int, int, int, int, int]:
    """Calls, input, cache reads, cache writes and output as the provider reported them."""
    usages = [call.usage for transcript in transcripts for call in transcript.calls]
    columns = ("input", "cache_read", "cache_write", "output")
    return (len(usages), *(sum(getattr(usage, name) or 0 for usage in usages) for name in columns))  # type: ignore[return-value]


def tools(transcript: Transcript) -> tuple[int, int]:
    """Tool calls, and how many of them have a result."""
    read_messages = [dialect(transcript.dialect).message(message) for message in transcript.messages]
    called = {call.call_id for message in read_messages for call in message.calls}
    return len(called), len(called & {result.call_id for message in read_messages for result in message.results})


def test_no_file_raises_and_each_says_what_is_in_it(every_file: dict[str, ReadResult]) -> None:
    assert len(every_file) == 120
    for name, found in every_file.items():
        counts = found.counts
        assert found.transcripts or any(not problem.warning for problem in found.problems), name
        assert counts.read == counts.used + counts.ignored + counts.broken, name
        assert not any("failed" in problem.problem for problem in found.problems), name
        assert all("\n" not in str(problem) for problem in found.problems), name


@pytest.mark.parametrize(
    ("name", "calls", "messages", "last", "answered"),
    [
        ("lmcache-openhands-requests.jsonl.gz", 35, 67, {"system": 1, "user": 36, "assistant": 31}, 31),
        ("swe-agent-requests.jsonl.gz", 31, 62, {"system": 1, "user": 31, "assistant": 31}, 30),
    ],
)
def test_growing_requests_are_one_run(
    transcripts_folder: Path, name: str, calls: int, messages: int, last: dict[str, int], answered: int
) -> None:
    path = transcripts_folder / "openai-chat" / name
    found = read(path)
    transcript = found.transcripts[0]
    assert len(found.transcripts) == 1
    assert (len(transcript.calls), len(transcript.messages)) == (calls, messages)
    assert roles(transcript, calls - 1) == last
    assert sum(call.response is not None for call in transcript.calls) == answered
    assert [dump(transcript.captured(i)) for i in range(calls)] == [dump(line) for line in raw_lines(path)]
    assert all(transcript.calls[i].history == transcript.calls[i].captured for i in range(calls))
    assert found.counts.used == calls


def test_calls_whose_answer_is_not_in_the_next_request(transcripts_folder: Path) -> None:
    transcript = read(transcripts_folder / "openai-chat/lmcache-openhands-requests.jsonl.gz").transcripts[0]
    assert [i for i, call in enumerate(transcript.calls) if call.response is None] == [0, 20, 29, 34]


def test_a_data_set_is_a_transcript_a_line(every_file: dict[str, ReadResult]) -> None:
    found = every_file["openai-chat/webdancer-react-200.jsonl.gz"]
    calls = [call for transcript in found.transcripts for call in transcript.calls]
    assert (len(found.transcripts), len(calls), found.problems) == (200, 422, [])
    assert all(call.response is not None for call in calls)
    assert sum(len(transcript.messages) for transcript in found.transcripts) == 844
    assert {tuple(transcript.notes) for transcript in found.transcripts} == {()}


@pytest.mark.parametrize(
    ("name", "format", "calls", "messages", "expected_tools"),
    [
        ("openai-chat/pydantic-parallel-tools.request.json", "openai_chat", 3, 6, (3, 3)),
        ("openai-chat/multimodal-parts.request.json", "openai_chat", 3, 5, (1, 1)),
        ("openai-chat/msaf-function-calling.request.json", "openai_chat", 1, 1, (0, 0)),
        ("anthropic-messages/pydantic-tool-search-handoff.request.json", "anthropic", 6, 11, (4, 4)),
        ("anthropic-messages/pydantic-image-tool-result.request.json", "anthropic", 2, 3, (1, 1)),
        ("anthropic-messages/pydantic-thinking-tool.request.json", "anthropic", 2, 3, (1, 1)),
        ("anthropic-messages/pydantic-cache-tools.request.json", "anthropic", 1, 1, (0, 0)),
    ],
)
def test_request_bodies(
    transcripts_folder: Path, name: str, format: str, calls: int, messages: int, expected_tools: tuple[int, int]
) -> None:
    found = read(transcripts_folder / name)
    transcript = found.transcripts[0]
    assert (found.format, found.problems, transcript.dialect) == (format, [], format)
    assert (len(transcript.calls), len(transcript.messages)) == (calls, messages)
    assert tools(transcript) == expected_tools
    recorded = json.loads((transcripts_folder / name).read_text())
    assert dump(transcript.captured(calls - 1)) == dump(recorded)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("openai-chat/msaf-function-calling.response.json", (1, 85, 0, 0, 18)),
        ("openai-chat/pydantic-multi-tool.response.json", (1, 129, 0, 0, 9)),
        ("anthropic-messages/vercel-pptx-skill.response.json", (1, 950648, 0, 0, 13856)),
    ],
)
def test_responses(every_file: dict[str, ReadResult], name: str, expected: tuple[int, ...]) -> None:
    found = every_file[name]
    assert sums(found.transcripts) == expected
    assert [transcript.notes for transcript in found.transcripts] == [("prompt not recorded",)]


@pytest.mark.parametrize(
    ("name", "everything", "main", "main_tools", "transcripts"),
    [
        (
            "entire-go-cli-long.jsonl.gz",
            (63, 4256460, 4040912, 215411, 581),
            (63, 4256460, 4040912, 215411, 581),
            (66, 66),
            1,
        ),
        (
            "d-kimuson-demo-v1.0.98.jsonl.gz",
            (170, 3786648, 3647854, 137976, 51933),
            (9, 168358, 161313, 6672, 2636),
            (11, 11),
            6,
        ),
        ("vct-v1.0.95.jsonl", (32, 1192671, 1093509, 99004, 3860), (32, 1192671, 1093509, 99004, 3860), (31, 31), 1),
        ("agentlogs-subagent.jsonl", (3, 44098, 20952, 23122, 276), (2, 31689, 20952, 10717, 159), (1, 1), 2),
        ("agentlogs-todos.jsonl", (6, 90038, 87863, 2151, 660), (6, 90038, 87863, 2151, 660), (5, 5), 1),
    ],
)
def test_claude_code_sessions(
    every_file: dict[str, ReadResult],
    name: str,
    everything: tuple[int, ...],
    main: tuple[int, ...],
    main_tools: tuple[int, int],
    transcripts: int,
) -> None:
    found = every_file[f"claude-code/{name}"]
    assert (found.format, len(found.transcripts), found.problems) == ("claude_code", transcripts, [])
    assert sums(found.transcripts) == everything
    assert sums(found.transcripts[:1]) == main
    assert tools(found.transcripts[0]) == main_tools


def test_side_chains_are_tied_to_the_calls_that_started_them(every_file: dict[str, ReadResult]) -> None:
    main, *sides = every_file["claude-code/d-kimuson-demo-v1.0.98.jsonl.gz"].transcripts
    started = {call.call_id for message in main.messages for call in dialect("anthropic").message(message).calls}
    assert [len(side.calls) for side in sides] == [9, 34, 40, 25, 53]
    assert all(side.meta["task"] in started and side.meta["parent_session"] == main.session for side in sides)


def test_results_follow_their_calls_at_once(every_file: dict[str, ReadResult]) -> None:
    """Every tool call of every prompt is answered in the very next message, as the provider demands."""
    spoken = dialect("anthropic")
    for name in ("entire-go-cli-long.jsonl.gz", "d-kimuson-demo-v1.0.98.jsonl.gz", "vct-v1.0.95.jsonl"):
        for transcript in every_file[f"claude-code/{name}"].transcripts:
            for i in range(len(transcript.calls)):
                messages = [spoken.message(message) for message in transcript.history(i)["messages"]]
                for message, following in pairwise(messages):
                    assert {call.call_id for call in message.calls} == {part.call_id for part in following.results}


def test_a_compaction_in_a_real_session(every_file: dict[str, ReadResult]) -> None:
    transcript = every_file["claude-code/agentlogs-compact.jsonl"].transcripts[0]
    assert transcript.notes[-1] == "the conversation was compacted after the last call"
    assert transcript.calls[0].captured == transcript.calls[0].history


def test_hand_made_edge_cases(every_file: dict[str, ReadResult]) -> None:
    found = every_file["claude-code/daaain-edge-cases.jsonl"]
    assert [problem.place for problem in found.problems] == [f"line {n}" for n in (10, 11, 13, 14, 15, 16)]
    assert (found.counts.read, found.counts.used, found.counts.broken) == (19, 13, 6)
    assert (len(found.transcripts[0].messages), len(found.transcripts[0].calls)) == (12, 4)


def test_a_file_cut_in_its_last_line(every_file: dict[str, ReadResult]) -> None:
    found = every_file["broken/agentsview-claude-truncated.jsonl"]
    assert (len(found.transcripts[0].messages), len(found.problems)) == (2, 1)
    assert str(found.problems[0]).startswith("agentsview-claude-truncated.jsonl, line 3: the last line is cut off.")


def test_usage_agrees_with_what_was_reported(transcripts_folder: Path, every_file: dict[str, ReadResult]) -> None:
    """One row a recorded call. The hand-made last call of one file reports nothing and is not among the rows."""
    reported: dict[str, Counter[Any]] = {}
    for row in raw_lines(transcripts_folder.parent / "cases" / "usage_truth.jsonl"):
        key = (row["model"], row["reported_input"], row["reported_cached"])
        reported.setdefault(row["file"], Counter())[key] += 1
    folders = ("claude-code/", "openai-chat/", "anthropic-messages/")
    names = [name for name in reported if name.startswith(folders)]
    assert len(names) == 7
    for name in names:
        calls = [call for transcript in every_file[name].transcripts for call in transcript.calls]
        known = [call for call in calls if call.usage.input is not None]
        assert Counter((call.model, call.usage.input, call.usage.cache_read) for call in known) == reported[name], name
    assert sum(reported[name].total() for name in names) == 275


def test_a_stream_gives_the_same(transcripts_folder: Path, every_file: dict[str, ReadResult]) -> None:
    for name in ("openai-chat/webdancer-react-200.jsonl.gz", "claude-code/d-kimuson-demo-v1.0.98.jsonl.gz"):
        assert list(read_stream(transcripts_folder / name)) == every_file[name].transcripts
