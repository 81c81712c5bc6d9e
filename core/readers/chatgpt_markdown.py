"""Chats saved as Markdown: headings that name the speaker in turn, all between them is what he said.

Savers write `## chatgpt` and the user's name, `## Prompt:` and `## Response:`, `**You:**` and `**ChatGPT:**`, or
`#### You said:`. A heading with the name of a model or of its role tells the kind of the headings; the other speaker is
a known name for the user, else the one whose heading comes just before the model's most often. A heading of any other
text, or one in a code block, belongs to what is said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ..transcript import Transcript
from .event_log import EventLog
from .formats import Format, Reading

MODELS = frozenset(
    """
    chatgpt gpt gpt-3.5 gpt-4 gpt-4o gpt-5 assistant ai bot response answer claude gemini copilot model llm アシスタント
    助手 回答
    """.split()  # noqa: SIM905
)
NAMED = frozenset("chatgpt gpt-3.5 gpt-4 gpt-4o gpt-5 claude gemini copilot".split())  # noqa: SIM905
"""Names that few documents have as a heading by chance."""
USERS = frozenset("user you human me prompt question usuario utilisateur ユーザー あなた 用户 提问".split())  # noqa: SIM905
LONGEST = 60
"""Characters of a speaker's heading."""
_HEADING = re.compile(
    rf"^(#{{1,6}} |\*\*|__)([^\n#*_`|<>]{{1,{LONGEST}}})(?:\*\*|__)?:?(?:\*\*|__)?[ \t]*$", re.MULTILINE
)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_SAID = re.compile(r"(?: said| says| asked| wrote)?:?\s*$", re.IGNORECASE)


class Heading(NamedTuple):
    """A line that may name a speaker: its kind, the name in lower case, and where it stands in the text."""

    kind: str
    name: str
    start: int
    end: int


def sniff(values: Sequence[Any]) -> float:
    """Return 0: the chat is no JSON."""
    return 0.0


def sniff_text(start: str) -> float:
    """Return how likely a text is a chat saved as Markdown."""
    roles = [role for role, _ in turns(start)]
    changes = sum(first != second for first, second in pairwise(roles))
    named = any(heading.name in NAMED for heading in _headings(start))
    return 0.7 if changes >= (1 if named else 3) and "user" in roles else 0.0


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the chat."""
    text = "".join(reading.records.source.texts()).replace("\r\n", "\n")
    log = EventLog("openai_chat", reading)
    log.may_have_tools = False
    lines = sum(map(bool, map(str.strip, text.split("\n"))))
    used = 0
    for role, said in turns(text):
        used += 1 + sum(map(bool, map(str.strip, said.split("\n"))))
        wire = {"role": role, "content": said}
        if role == "assistant":
            log.reply([wire])
        elif said:
            log.say(wire)
    counts = reading.report.counts
    counts.read, counts.used, counts.ignored = lines, used, lines - used
    if log.builder.messages:
        yield log.transcript(session=reading.stem)
    else:
        counts.used, counts.ignored, counts.broken = 0, 0, lines
        expected = "Headings that name the speakers in turn were expected, as `## user` and `## chatgpt`."
        reading.report.add("no speakers were found in it", expected)


def turns(text: str) -> list[tuple[str, str]]:
    """Return what was said in turn: the role and the text."""
    headings = _headings(text)
    named = Counter(heading.kind for heading in headings if heading.name in MODELS)
    if not named:
        return []
    kind = named.most_common(1)[0][0]
    headings = [heading for heading in headings if heading.kind == kind]
    user = _user(headings)
    marks = [heading for heading in headings if heading.name in MODELS or heading.name == user]
    found = []
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        said = text[mark.end : following.start if following else len(text)].strip()
        found.append(("assistant" if mark.name in MODELS else "user", said))
    return found


def _user(headings: Sequence[Heading]) -> str:
    """Return the name of the other speaker; empty if there is none."""
    known = Counter(heading.name for heading in headings if heading.name in USERS)
    before = Counter(
        first.name for first, second in pairwise(headings) if second.name in MODELS and first.name not in MODELS
    )
    best = (known or before).most_common(1)
    return best[0][0] if best else ""


def _headings(text: str) -> list[Heading]:
    fenced = _fenced(text)
    found, at = [], 0
    for match in _HEADING.finditer(text):
        while at < len(fenced) and fenced[at][1] <= match.start():
            at += 1
        if at < len(fenced) and fenced[at][0] <= match.start():
            continue
        name = _SAID.sub("", match[2].strip()).strip().lower()
        found.append(Heading(match[1].strip(), name, match.start(), match.end()))
    return found


def _fenced(text: str) -> list[tuple[int, int]]:
    """Return where code blocks stand."""
    blocks: list[tuple[int, int]] = []
    opened: tuple[int, str] | None = None
    for match in _FENCE.finditer(text):
        if opened is None:
            opened = (match.start(), match[1])
        elif match[1].startswith(opened[1]):
            blocks.append((opened[0], match.end()))
            opened = None
    return blocks


FORMAT = Format("chatgpt_markdown", "chats saved as Markdown", sniff, read, sniff_text)
