"""Writes large transcripts, and reads one in a process of its own that says how much memory it took.

`python -m tests.large_files stream|read PATH` prints one JSON object: transcripts, calls, problems, seconds (of the
processor), megabytes (at the largest), progress (how often it was told, and the last it said).
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def texts(seed: int = 1) -> Callable[[int], str]:
    """Return a source of texts of about 800 characters, each another."""
    chance = random.Random(seed)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10))) for _ in range(4000)]
    pieces = [" ".join(chance.choices(words, k=60)) for _ in range(200)]
    return lambda number: f"{number} {chance.choice(pieces)} {chance.choice(pieces)}"


def chats(said: Callable[[int], str]) -> Iterator[Any]:
    number = 0
    while True:
        turns = [{"role": "system", "content": "be kind"}]
        for turn in range(10):
            turns += [
                {"role": "user", "content": said(number * 10 + turn)},
                {"role": "assistant", "content": said(number) + " résumé ✓"},
            ]
        yield {"messages": turns}
        number += 1


def requests(said: Callable[[int], str]) -> Iterator[Any]:
    """Yield the growing requests of one agent run after another."""
    number = 0
    while True:
        turns: list[Any] = [{"role": "user", "content": said(number)}]
        for turn in range(10):
            yield {"model": "gpt-4o", "messages": list(turns), "metadata": {"session_id": f"s{number}"}}
            call = {"id": f"c{number}_{turn}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            turns += [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": call["id"], "content": said(turn) * 3},
            ]
        number += 1


def sharegpt(said: Callable[[int], str]) -> Iterator[Any]:
    number = 0
    while True:
        turns = [{"from": who, "value": said(number)} for _ in range(10) for who in ("human", "gpt")]
        yield {"id": str(number), "conversations": turns}
        number += 1


def claude_code(said: Callable[[int], str]) -> Iterator[Any]:
    number, parent = 0, None
    while True:
        use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": said(number)}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": said(number) * 4}
        for role, content in (("assistant", [use]), ("user", [result])):
            message = {"id": f"m{number}", "role": role, "content": content, "model": "claude-x", "usage": {}}
            uuid = f"{role}{number}"
            yield {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": message}
            parent = uuid
        number += 1


def write_lines(path: Path, kind: Callable[[Callable[[int], str]], Iterator[Any]], megabytes: float) -> Path:
    """Write JSON Lines until the file has the size."""
    left = megabytes * 1e6
    with path.open("w", encoding="utf-8") as file:
        for value in kind(texts()):
            line = json.dumps(value, ensure_ascii=False)
            left -= file.write(line + "\n")
            if left <= 0:
                break
    return path


def write_document(path: Path, megabytes: float, indent: int | None = None) -> Path:
    """Write one conversation as one JSON document."""
    left, said, number = megabytes * 1e6, texts(), 0
    with path.open("w", encoding="utf-8") as file:
        file.write('{"model": "gpt-4o", "messages": [{"role": "system", "content": "be kind"}')
        while left > 0:
            for role in ("user", "assistant"):
                told = json.dumps({"role": role, "content": said(number)}, indent=indent)
                left -= file.write(",\n" + told)
            number += 1
        file.write("]}\n")
    return path


def measured(path: Path, how: str) -> dict[str, Any]:
    """Read a file in another process; return what it says."""
    command = [sys.executable, "-m", "tests.large_files", how, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def peak() -> float:
    """Return the megabytes that this process held at its largest, without what its parent held when it began."""
    status = Path("/proc/self/status")
    if status.exists():
        told = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(told.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(how: str, path: Path) -> None:
    from core.readers import Report, read, read_stream

    report, told = Report(), list[tuple[int, int]]()
    started = time.process_time()
    if how == "stream":
        for _ in read_stream(path, report=report, progress=lambda done, size: told.append((done, size))):
            pass
        transcripts, calls, problems = report.transcripts, report.calls, report.problems
    else:
        found = read(path)
        transcripts, problems = len(found.transcripts), found.problems
        calls = sum(len(made.calls) for made in found.transcripts)
    seconds = time.process_time() - started
    megabytes = peak()
    last = told[-1] if told else None
    print(
        json.dumps(
            {
                "transcripts": transcripts,
                "calls": calls,
                "problems": [str(problem) for problem in problems],
                "seconds": seconds,
                "megabytes": megabytes,
                "progress": [len(told), last],
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
