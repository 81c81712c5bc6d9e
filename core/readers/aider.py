"""aider's chat history: one Markdown file with all sessions of a project, written for people to read.

Lines of the user begin with `####`, those of the program with `>`, all else is the model's. Both kinds end with two
spaces, which tells them from headings and quotes in an answer; a message of the program of several lines has its mark
on the first and the spaces on the last. System prompt, files and the map of the repository were sent and are not in
the file. Sessions without a question to a model are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..transcript import Transcript
from .aider_session import read_session
from .formats import Format, Reading

HEADER = re.compile(r"^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[^\S\n]*\n?", re.MULTILINE)


def sniff(values: Sequence[Any]) -> float:
    """Return 0: the history is no JSON."""
    return 0.0


def sniff_text(start: str) -> float:
    """Return how likely a text is a history of aider."""
    return 0.97 if HEADER.search(start) else 0.0


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield a transcript for each session in which a model was asked."""
    line = 1
    for started, header, text in _sessions(reading.records.source.texts()):
        if header:
            reading.report.counts.read += 1
            reading.report.used()
            line += 1
        yield from read_session(reading, started, text, line)
        line += text.count("\n")


def _sessions(texts: Iterator[str]) -> Iterator[tuple[str, bool, str]]:
    """Yield when each session began, whether a header says so, and its text."""
    started, header, parts = "", False, list[str]()
    for text in _whole_lines(texts):
        place = 0
        for found in HEADER.finditer(text):
            parts.append(text[place : found.start()])
            yield started, header, "".join(parts)
            started, header, parts, place = found.group(1), True, [], found.end()
        parts.append(text[place:])
    yield started, header, "".join(parts)


def _whole_lines(texts: Iterator[str]) -> Iterator[str]:
    """Yield pieces that end with a line feed, all but the last one."""
    rest: list[str] = []
    for text in texts:
        whole = text.rfind("\n") + 1
        if whole:
            yield "".join([*rest, text[:whole]]).replace("\r\n", "\n")
            rest = []
        rest.append(text[whole:])
    yield "".join(rest)


FORMAT = Format("aider", "chat histories of aider", sniff, read, sniff_text)
