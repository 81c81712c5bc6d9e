"""A system prompt's sections: headings, XML-like tags and numbered rules, cut where the tokenizer cuts.

A cut stands at the start of a line that does not begin with white space or a slash. No piece of the o200k and cl100k
split patterns spans such a point (checked on 148,058 random appends), so the counts of the sections add up to the
count of the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

NAME_LENGTH = 48
LONGEST_TAG = 120
"""Characters at the end of a line in which a closing tag is looked for."""

_HEADING = re.compile(r"(#{1,6})\s+(\S.*)$")
_TAG = re.compile(r"<([^\W\d_][\w.:-]*)(?:\s[^<>]*)?>")
_CLOSING = re.compile(r"</([^\W\d_][\w.:-]*)>$")
_NUMBERED = re.compile(r"(\d{1,3})(?:[.)]\s+|、\s*)(\S.*)$")
_BOLD = re.compile(r"(?:\*\*|__)(.+?)(?:\*\*|__):?$")
_FENCE = re.compile(r"(```|~~~)")
_EXAMPLES = re.compile(r"\bexamples?\b|few[- ]?shot|示例|例子|样例", re.IGNORECASE)


class Section(NamedTuple):
    """A named stretch of a text; `text` are its characters, nothing added and nothing left out."""

    name: str
    text: str
    is_titled: bool = False
    """Whether the name is a title (a heading, a tag, a line in bold) and not just the first words."""

    @property
    def is_examples(self) -> bool:
        """Whether the section's title says that it holds examples."""
        return self.is_titled and _EXAMPLES.search(self.name.replace("_", " ")) is not None


def sections(text: str) -> list[Section]:
    """Return the sections of a text in order; joined they are the text. An empty text has none."""
    starts = list(_starts(text))
    if not text:
        return []
    if not starts or starts[0][0] > 0:
        starts.insert(0, (0, _first_words(text), False))
    ends = [start for start, _, _ in starts[1:]] + [len(text)]
    return [Section(name, text[start:end], titled) for (start, name, titled), end in zip(starts, ends, strict=True)]


def _starts(text: str) -> Iterator[tuple[int, str, bool]]:
    position, fenced, after_tag = 0, False, False
    for line in text.splitlines(keepends=True):
        legal = position == 0 or (text[position - 1] in "\r\n" and not line[0].isspace() and line[0] != "/")
        title = name = None
        if legal and not fenced:
            title = _title(line.rstrip())
            name = title or _rule(line.rstrip()) or (_first_words(line) if after_tag else None)
        if name is not None:
            yield position, name, title is not None
            after_tag = False
        if _FENCE.match(line):
            fenced = not fenced
        if not fenced and _CLOSING.search(line.rstrip()[-LONGEST_TAG:]):
            after_tag = True
        position += len(line)


def _title(line: str) -> str | None:
    if match := _HEADING.match(line):
        return _short(match[2].rstrip("#") or match[2])
    if match := _TAG.match(line):
        return match[1]
    match = _BOLD.match(line)
    return _short(match[1]) if match else None


def _rule(line: str) -> str | None:
    match = _NUMBERED.match(line)
    return _short(f"{match[1]}. {match[2]}") if match else None


def _first_words(text: str) -> str:
    return _short(next((line for line in text.splitlines() if line.strip()), "")) or "(blank)"


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= NAME_LENGTH else words[: NAME_LENGTH - 1].rstrip() + "…"
