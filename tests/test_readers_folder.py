"""All real transcripts: each is read, or refused with a sentence that says what to do; damaged ones never raise."""

import gzip
import json
import random
import resource
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.readers import ReadResult, read
from core.replay import replay
from core.validity import validate
from tests.test_readers_mutations import flipped, nested, shuffled, swapped, truncated, use
from tests.work import A_BYTE, ANY, counted_work

FILES = 120
KEEP_LAST = {"strategy": {"kind": "keep_last"}, "budget": {"soft_limit": 5000}}
AS_CAPTURED = {"strategy": {"kind": "as_captured"}, "budget": {"soft_limit": 5000}}
FEW = 3
"""Transcripts of a file that are replayed, and calls of each that are looked at, unless all are asked for."""

FORMATS = {
    "anthropic-messages": "anthropic",
    "claude-trace-http": "http_log",
    "copilot": "copilot_cli",
    "gemini-contents": "gemini",
    "iflow-qwen": "iflow",
    "langchain-messages": "langchain",
    "langgraph-thread": "langgraph",
    "openinference": "otel",
    "otel-genai": "otel",
    "vcr-cassette": "vcr",
    "broken/agentsview-claude-truncated.jsonl": "claude_code",
    "broken/specstory-musecode-malformed.jsonl": "muse_code",
    "cline-roo/agentlogs-cline-crud_metadata.json": "cline_ui",
    "cline-roo/roo-heavy-uncondensed.ui_messages.json": "cline_ui",
    "codex/exec-json-stream-5.jsonl": "codex_exec",
    "gemini-cli/context-compress.responses": "gemini_recordings",
    "langsmith/js-anthropic-managed-mcp-reject.jsonl": "managed_agents",
    "openai-chat/metagpt-zh-en-prompt-cache.json.gz": "prompt_map",
    "toolbench/tooleval-G3-cot-results.json": "toolbench_eval",
}
"""The format of a file, or of all others in a folder, where it is not called like the folder."""

REFUSED = {
    "cline-roo/agentlogs-cline-crud_metadata.json": "this is the metadata of a task, without messages",
    "har/webarena-verified-107.har.gz": "no call to a language model is among 359 recorded requests",
    "lmsys-arena/mt-bench-gpt4-reference.jsonl": "the answer stands without its question",
    "otel-genai/dazzaji-otlp-test-traces.json": "no call to a language model is among 2 spans",
    "tau2-bench/voice-49b22f0c.json": "this is a voice simulation whose ticks hold no text",
}
"""Files without a conversation, and how the sentence begins that says so."""


def format_of(name: str) -> str:
    folder = name.partition("/")[0]
    return FORMATS.get(name) or FORMATS.get(folder) or folder.replace("-", "_")


@pytest.fixture(scope="module")
def every_file(transcripts_folder: Path) -> dict[str, ReadResult]:
    paths = sorted(path for path in transcripts_folder.rglob("*") if path.is_file() and path.name != "INDEX.md")
    return {path.relative_to(transcripts_folder).as_posix(): read(path) for path in paths}


def row(name: str, found: ReadResult) -> str:
    calls = sum(len(made.calls) for made in found.transcripts)
    messages = sum(len(made.messages) for made in found.transcripts)
    wrong = sum(not problem.warning for problem in found.problems)
    told = f"{wrong:4}" + (f" + {len(found.problems) - wrong} remarks" if len(found.problems) > wrong else "")
    return f"{name:78} {found.format or '-':20} {len(found.transcripts):6,} {calls:7,} {messages:9,} {told}"


def test_the_table(every_file: dict[str, ReadResult], capsys: pytest.CaptureFixture[str]) -> None:
    head = f"{'file':78} {'format':20} {'transc':>6} {'calls':>7} {'messages':>9} {'prob':>4}"
    refused = [f"refused: {found.problems[0]}" for found in every_file.values() if not found.transcripts]
    with capsys.disabled():
        print("", head, *(row(name, found) for name, found in every_file.items()), *refused, sep="\n")
    assert len(every_file) == FILES
    assert {name: found.format for name, found in every_file.items()} == {name: format_of(name) for name in every_file}


def test_each_file_is_read_or_refused_with_a_sentence(every_file: dict[str, ReadResult]) -> None:
    assert {name for name, found in every_file.items() if not found.transcripts} == set(REFUSED)
    for name, beginning in REFUSED.items():
        problem = every_file[name].problems[0]
        assert problem.problem.startswith(beginning)
        assert problem.expected.endswith(".") and not problem.warning


def test_nothing_is_lost_in_silence(every_file: dict[str, ReadResult]) -> None:
    for name, found in every_file.items():
        counts = found.counts
        assert counts.read == counts.used + counts.ignored + counts.broken > 0, name
        assert counts.broken == 0 or found.problems, name
        assert not any("failed (" in problem.problem for problem in found.problems), name
        assert all(str(problem).endswith(".") and "\n" not in str(problem) for problem in found.problems), name


def test_every_call_says_what_is_known_of_it(every_file: dict[str, ReadResult]) -> None:
    for name, found in every_file.items():
        for made in found.transcripts:
            assert made.title and made.title.isprintable(), name
            assert (made.format, made.source) == (found.format, name.rpartition("/")[2]), name
            for call in made.calls:
                parts = (call.usage.cache_read or 0) + (call.usage.cache_write or 0)
                assert call.usage.input is None or parts <= call.usage.input, name
                if call.fidelity == "captured":
                    assert "system prompt not recorded" not in made.notes, name


def recorded(folder: Path) -> dict[str, Counter[tuple[int, int]]]:
    """Return how often each input and cached input was reported in each file."""
    found: dict[str, Counter[tuple[int, int]]] = {}
    for line in (folder.parent / "cases" / "usage_truth.jsonl").read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        usage = (told["reported_input"], told["reported_cached"] or 0)
        found.setdefault(told["file"], Counter())[usage] += 1
    return found


def test_usage_is_what_was_reported(transcripts_folder: Path, every_file: dict[str, ReadResult]) -> None:
    truth = recorded(transcripts_folder)
    assert sum(map(len, truth.values())) > 1_000
    for name, usages in truth.items():
        ours = Counter(
            (call.usage.input, call.usage.cache_read or 0)
            for made in every_file[name].transcripts
            for call in made.calls
            if call.usage.input is not None
        )
        assert usages <= ours, (name, list((usages - ours).items())[:3])


def looked_at(found: ReadResult, few: int | None) -> None:
    """Replay transcripts, and hold recorded prompts against the rules of their dialects."""
    for made in found.transcripts[:few]:
        for config in (KEEP_LAST, AS_CAPTURED):
            replayed = replay(made, config)
            assert len(replayed.calls["in_window"]) == len(made.calls)
            for call in range(len(made.calls))[:few]:
                replayed.request(call)
        for call in range(len(made.calls))[:few]:
            validate(made.captured(call), made.dialect)


def test_transcripts_replay(every_file: dict[str, ReadResult]) -> None:
    for found in every_file.values():
        looked_at(found, FEW)


@pytest.mark.slow
def test_all_transcripts_replay(every_file: dict[str, ReadResult]) -> None:
    for found in every_file.values():
        looked_at(found, None)


MEGABYTES = 1_024
MUTATIONS, ORDINARY = 2_000, 240
"""How often a file is damaged, and how many times of these in an ordinary run."""
LINES = 400
"""Lines of a long file of which a mutation takes a part, so that values of other types can be put in each time."""


def content_of(path: Path) -> bytes:
    content = path.read_bytes()
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content


def on_one_line(text: bytes, chance: random.Random) -> bytes:
    """Return a JSON text as lines that hold a whole value each; a part of many."""
    try:
        return json.dumps(json.loads(text)).encode()
    except ValueError:
        lines = [line for line in text.split(b"\n") if is_json(line)]
        return b"\n".join(chance.sample(lines, LINES) if len(lines) > LINES else lines)


def is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def deleted(text: bytes, chance: random.Random) -> bytes:
    """Leave lines out, and pieces of a text of one line."""
    if text.count(b"\n") > 2:
        return shuffled(text, chance)
    start = chance.randrange(len(text))
    return text[:start] + text[start + chance.randrange(1, 2_000) :]


def damaged(paths: list[Path], number: int) -> Iterator[bytes]:
    """Yield one damaged file; nothing where a mutation does not fit it."""
    chance = random.Random(number)
    path, mutate = chance.choice(paths), chance.choice(KINDS)
    text = content_of(path).strip()
    if mutate in (swapped, nested):
        text = on_one_line(text, chance)
    if (mutate is nested and b': "' not in text) or not text:
        return
    changed = mutate(text, chance)
    yield gzip.compress(changed, 1) if chance.random() < 0.1 else changed


KINDS: tuple[Callable[[bytes, random.Random], bytes], ...] = (truncated, flipped, deleted, swapped, nested)


def size_of(content: bytes) -> int:
    return len(gzip.decompress(content)) if content[:2] == b"\x1f\x8b" else len(content)


def bear(folder: Path, numbers: range) -> int:
    """Read files damaged by these seeds, each within bounds of work; return how many there were."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "INDEX.md")
    borne = 0
    for number in numbers:
        for content in damaged(paths, number):
            with counted_work(ANY + A_BYTE * size_of(content)):
                found = read(content)
            use(found)
            borne += 1
    return borne


def peak() -> int:
    """Return the megabytes that this process held at its largest."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def test_damaged_files_are_borne(transcripts_folder: Path) -> None:
    before = peak()
    assert bear(transcripts_folder, range(ORDINARY)) > 0.9 * ORDINARY
    assert peak() - before < MEGABYTES


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_many_damaged_files_are_borne(transcripts_folder: Path, part: int) -> None:
    before = peak()
    numbers = range(ORDINARY + part, MUTATIONS, 4)
    assert bear(transcripts_folder, numbers) > 0.9 * len(numbers)
    assert peak() - before < MEGABYTES
