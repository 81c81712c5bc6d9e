"""A source as JSON records: one document, several one after another, or JSON Lines.

The name of a file tells nothing about which of these it is. What is broken is noted with its line and left out; a
document that breaks off is read as far as its last whole part.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Generator, Iterator
from itertools import accumulate, chain
from typing import Any, NamedTuple

from .half_pairs import half_pairs
from .json_text import CLOSERS, DEEPEST, Unreadable, decode, parse, salvage, too_deep
from .large_documents import NotStreamed, documents, first_line, may_be_large
from .source import Line, Source
from .yaml_text import NotYaml, is_yaml, read_yaml

MOST_AHEAD = 4 << 20
"""Characters of records that are held while a format is recognised."""

_START = re.compile(r"\n[{\[]")
_EVENT = re.compile(r"(event|data|id|retry)\s*:|:")
"""A line of a server-sent event stream; one that begins with a colon is a comment."""
_SPACE = re.compile(r"[\s,\x00]*")


class Record(NamedTuple):
    """One JSON value and where it stands ("line 3", "document 2"; empty if it is all there is)."""

    value: Any
    place: str = ""


class Records:
    """The records of a source, once through, with a look ahead. Each is counted as read."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.report = source.report
        self._records = self._told()

    def __iter__(self) -> Iterator[Record]:
        return self._records

    def peek(self, number: int) -> list[Record]:
        """Return the next records without taking them: at least one, fewer than asked for where they are large."""
        ahead: list[Record] = []
        while len(ahead) < number and (not ahead or self.source.passed < MOST_AHEAD):
            record = next(self._records, None)
            if record is None:
                break
            ahead.append(record)
        self._records = chain(ahead, self._records)
        return ahead

    def _told(self) -> Iterator[Record]:
        """Yield the records, and tell of texts in them that no encoding holds."""
        for record in self._all():
            if self.source.may_hold_halves:
                for problem, expected in half_pairs(record.value):
                    self.report.add(problem, expected, place=record.place, warning=True)
            yield record

    def _all(self) -> Iterator[Record]:
        if may_be_large(self.source) and self._is_document(first_line(self.source)):
            if (yield from self._streamed()):
                return
            self.source = self.source.again()
        lines = self.source.lines()
        first = next(lines, None)
        if first is None:
            if not self.report.problems:
                self._nothing()
            return
        if _EVENT.match(first.text):
            yield from self._by_event(chain([first], lines))
            return
        try:
            value = parse(first.text)
        except Unreadable:
            yield from self._by_document([first, *lines])
            return
        self.report.counts.read += 1
        second = next(lines, None)
        yield Record(value, "" if second is None else f"line {first.number}")
        if second is not None:
            yield from self._by_line(chain([second], lines))

    def _is_document(self, line: str | None) -> bool:
        """Tell whether a text that begins with this line is no JSON Lines. A line of None has no end."""
        return line is None or bool(line and not _is_json(line))

    def _streamed(self) -> Generator[Record, None, bool]:
        """Read documents as their bytes come; return false if nothing was read so."""
        number = 0
        try:
            for number, value in enumerate(documents(self.source), 1):
                self.report.counts.read += 1
                if too_deep(value):
                    reason = f"this is not JSON (it is nested more than {DEEPEST} levels deep)"
                    self.report.broken(reason, "JSON or JSON Lines was expected.", place=f"document {number}")
                else:
                    yield Record(value, f"document {number}" if number > 1 else "")
        except NotStreamed as error:
            if number:
                self.report.counts.read += 1
                expected = "What stands before it was read."
                self.report.broken(f"this is not JSON ({error})", expected, place=f"document {number + 1}")
        return number > 0

    def _by_line(self, lines: Iterator[Line]) -> Iterator[Record]:
        self.report.by_line = True
        line = next(lines, None)
        while line is not None:
            following = next(lines, None)
            self.report.counts.read += 1
            try:
                yield Record(parse(line.text), f"line {line.number}")
            except Unreadable as error:
                self._broken_line(line, error, last=following is None)
            line = following

    def _by_event(self, lines: Iterator[Line]) -> Iterator[Record]:
        """Read a server-sent event stream: its `data:` lines are the records; a value may go on over several."""
        data: list[str] = []
        start: Line | None = None
        for line in lines:
            name, _, text = line.text.partition(":")
            if name.strip() != "data":
                yield from self._event(data, start, whole=True)
                data = []
                if not _EVENT.match(line.text):
                    self.report.counts.read += 1
                    self.report.broken(
                        "this is no line of an event stream", "The line was left out.", place=f"line {line.number}"
                    )
                continue
            start = line if not data else start
            data.append(text)
            found = list(self._event(data, start, whole=False))
            data = [] if found else data
            yield from found
        yield from self._event(data, start, whole=True)
        if not self.report.counts.read:
            self.report.add("the event stream holds no data", "Lines that begin with `data:` were expected.")

    def _event(self, data: list[str], line: Line | None, whole: bool) -> Iterator[Record]:
        if not data or line is None:
            return
        text = "\n".join(data)
        try:
            value = "[DONE]" if text.strip() == "[DONE]" else parse(text)
        except Unreadable as error:
            if whole:
                self.report.counts.read += 1
                self.report.broken(
                    f"the data of the event is not JSON ({error})", "It was left out.", place=f"line {line.number}"
                )
            return
        self.report.counts.read += 1
        yield Record(value, f"line {line.number}")

    def _broken_line(self, line: Line, error: Unreadable, last: bool) -> None:
        place = f"line {line.number}"
        text = line.text.strip()
        if last and (not line.ended or (text[0] in CLOSERS and text[-1] not in "}]")):
            expected = "The lines before it were read; a file that is still being written ends like this."
            self.report.broken("the last line is cut off", expected, place=place, warning=True)
        else:
            self.report.broken(f"this is not JSON ({error})", "The line was left out.", place=place)

    def _by_document(self, lines: list[Line]) -> Iterator[Record]:
        text = "\n".join(line.text for line in lines)
        if is_yaml(text):
            yield from self._yaml(lines)
            return
        try:
            value = parse(text)
        except Unreadable:
            if _are_json_lines(lines):
                yield from self._by_line(iter(lines))
            else:
                yield from self._documents(text, lines)
        else:
            self.report.counts.read += 1
            yield Record(value)

    def _yaml(self, lines: list[Line]) -> Iterator[Record]:
        """Read one YAML document; the blank lines that were left out count in it."""
        self.report.counts.read += 1
        ends = [0, *(line.number for line in lines)]
        text = "".join(
            "\n" * (line.number - end - 1) + line.text + "\n" for end, line in zip(ends, lines, strict=False)
        )
        try:
            document = read_yaml(text)
        except NotYaml as error:
            self.report.broken(f"the YAML cannot be read ({error})", place=f"line {error.line}" if error.line else "")
            return
        for line, reason in document.broken:
            self.report.counts.read += 1
            self.report.broken(f"the entry is no YAML ({reason})", "It was left out.", place=f"line {line}")
        if too_deep(document.value):
            self.report.broken(f"it is nested more than {DEEPEST} levels deep")
        else:
            yield Record(document.value)

    def _documents(self, text: str, lines: list[Line]) -> Iterator[Record]:
        starts = list(accumulate((len(line.text) + 1 for line in lines), initial=0))
        position, number = _skip(text, 0), 0
        while position < len(text):
            self.report.counts.read += 1
            number += 1
            try:
                value, end = decode(text, position)
            except Unreadable as error:
                line = lines[bisect_right(starts, error.at, hi=len(lines)) - 1].number
                value = self._salvaged(text[position : error.at], line, str(error))
                hopeless = number == 1 and text[position] not in CLOSERS
                end = len(text) if hopeless else _next_document(text, error.at)
            if value is not None:
                alone = number == 1 and _skip(text, end) == len(text)
                yield Record(value, "" if alone else f"document {number}")
            position = _skip(text, end)
        if not number:
            self._nothing()

    def _nothing(self) -> None:
        self.report.add("there is nothing in it", "JSON or JSON Lines was expected.")

    def _salvaged(self, text: str, line: int, reason: str) -> Any:
        value = salvage(text)
        if value is None:
            self.report.broken(f"this is not JSON ({reason})", "JSON or JSON Lines was expected.", place=f"line {line}")
        else:
            self.report.add(
                f"the JSON breaks off here ({reason})", "What stands before it was read.", place=f"line {line}"
            )
        return value


def _is_json(text: str) -> bool:
    try:
        parse(text)
    except Unreadable:
        return False
    return True


def _are_json_lines(lines: list[Line]) -> bool:
    """Tell whether at least half of the first lines are whole objects (a broken first line hides JSON Lines)."""
    first = lines[:200]
    return len(lines) > 1 and 2 * sum(line.text.startswith("{") and _is_json(line.text) for line in first) >= len(first)


def _next_document(text: str, position: int) -> int:
    found = _START.search(text, position)
    return found.start() if found else len(text)


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position
