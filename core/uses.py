"""What each recorded response used of its prompt, and where in the transcript it stands.

Nothing here depends on a strategy, so it is found out once for a transcript: references and lines of the responses
first, then one look through each distinct text for the words of all of them, then a search in the texts that have the
words. Where something stands is a list of places in order, so that "is it still sent" is a look at the newest first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from typing import NamedTuple

from .branch import Branch, Place
from .copied_lines import lines_of
from .dialects import dialect
from .dialects.base import Dialect, Message, Part, PartKind
from .normal_text import arguments_text, normal
from .reference_chunks import last_name
from .reference_classes import Reference, ReferenceClass
from .reference_dates import day_alone
from .reference_names import tool_names
from .references import references_of
from .sections import sections
from .transcript import ROOT, Transcript
from .watched_texts import LINE, Use, WatchedTexts
from .wire import Wire

USES = "uses"


@dataclass(frozen=True, slots=True)
class CallUses:
    """What one response named, and what of it stood in its prompt."""

    extracted: int
    used: tuple[Use, ...]
    copied: tuple[Use, ...]
    names: frozenset[str]
    """Names of the tools that it called."""


class Uses:
    """The uses of all calls of a transcript; `places` and `head_spans` say where a use stands."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        spoken = dialect(transcript.dialect)
        messages = [spoken.message(wire) for wire in transcript.messages]
        replies = [spoken.message(call.response or {}) for call in transcript.calls]
        tools = [tool for head in transcript.heads for tool in spoken.tools(head)]
        self._names = tool_names(tools, chain(messages, replies))
        self._texts = _Texts()
        self._arguments: dict[str, str] = {}
        self._normal: dict[str, str] = {}
        self._nodes = [[self._texts.add(self._text_of(part)) for part in message.parts] for message in messages]
        self._sections: dict[str, list[int]] = {}
        self._heads = [self._read_head(head, spoken) for head in transcript.heads]
        self._in_heads = [frozenset(text for _, text in head) for head in self._heads]
        self._places: dict[Use, list[Place]] = {}
        self._head_spans: dict[tuple[int, Use], tuple[str, ...]] = {}
        self.calls = self._measured([self._read_response(reply) for reply in replies])
        """What each call's response used."""
        self._texts.forget()
        self._arguments.clear()
        self._normal.clear()

    def _measured(self, responses: Sequence[_Response]) -> list[CallUses]:
        wholes = dict.fromkeys(Use(made.kind, made.forms[0]) for found in responses for made in found.references)
        self._texts.look_through(wholes, {line for found in responses for line in found.lines})
        branch, found = Branch(self.transcript), []
        for call, response in zip(self.transcript.calls, responses, strict=True):
            branch.to(call.captured)
            found.append(self._used(branch, call.head, response))
        return found

    def places(self, use: Use) -> list[Place]:
        """Return where in the transcript's messages a use stands, in order."""
        if use not in self._places:
            where = [self._where[text] for text in self._texts.holding(use)]
            self._places[use] = where[0] if len(where) == 1 else sorted(chain.from_iterable(where))
        return self._places[use]

    def all_places(self) -> Iterator[tuple[Use, list[Place]]]:
        """Yield every use with its places."""
        for use in dict.fromkeys(use for call in self.calls for use in chain(call.used, call.copied)):
            yield use, self.places(use)

    def head_spans(self, head: int, use: Use) -> tuple[str, ...]:
        """Return the ids of the spans of a head in which a use stands."""
        key = (head, use)
        if key not in self._head_spans:
            held = self._in_heads[head].intersection(self._texts.holding(use))
            self._head_spans[key] = tuple(span for span, text in self._heads[head] if text in held) if held else ()
        return self._head_spans[key]

    @cached_property
    def _where(self) -> list[list[Place]]:
        where: list[list[Place]] = [[] for _ in range(len(self._texts))]
        for node, texts in enumerate(self._nodes):
            for part, text in enumerate(texts):
                where[text].append(Place(node, part))
        return where

    @cached_property
    def _firsts(self) -> list[int]:
        """Return for each text the first message that holds it; those of the fixed part alone stand in none."""
        return [where[0].node if where else len(self._nodes) for where in self._where]

    def _used(self, branch: Branch, head: int, response: _Response) -> CallUses:
        used = [self._standing(branch, head, reference) for reference in response.references]
        lines = [line for line in response.lines if self._reached(branch, head, self._texts.with_line(line))]
        copied = [use for line in lines if self._stands(branch, head, use := Use(LINE, line))]
        return CallUses(len(response.references), _each_once(used), tuple(copied), response.names)

    def _standing(self, branch: Branch, head: int, reference: Reference) -> Use | None:
        """Return the first form of a reference that stands in a prompt."""
        for form in reference.forms:
            use = Use(reference.kind, form)
            if self._stands(branch, head, use):
                return use
        return None

    def _stands(self, branch: Branch, head: int, use: Use) -> bool:
        """Whether a use stands in a prompt; what a response is the first to say does not, and need not be searched."""
        possible = self._texts.possible(use)
        if not self._reached(branch, head, possible):
            return False
        texts = self._texts.holding(use, possible)
        if texts is not possible and not self._reached(branch, head, texts):
            return False
        if not self.transcript.forks or self._begins(branch, texts) or not self._in_heads[head].isdisjoint(texts):
            return True
        return next(branch.newest_first(self.places(use)), None) is not None

    def _begins(self, branch: Branch, texts: Collection[int]) -> bool:
        """Whether the first message with one of some texts is on a branch, as it mostly is."""
        firsts, path, depths = self._firsts, branch.path, self.transcript.depths
        last = path[-1] if path else ROOT
        for text in texts:
            first = firsts[text]
            if first <= last and path[min(depths[first], len(path) - 1)] == first:
                return True
        return False

    def _reached(self, branch: Branch, head: int, texts: Collection[int]) -> bool:
        """Whether one of some texts may stand in a prompt: it is no later than its end, or in its fixed part."""
        firsts, last = self._firsts, branch.path[-1] if branch.path else ROOT
        for text in texts:
            if firsts[text] <= last:
                return True
        return not self._in_heads[head].isdisjoint(texts)

    def _read_head(self, head: Wire, spoken: Dialect) -> list[tuple[str, int]]:
        read = [
            (f"s{index}.{place}", number)
            for index, text in enumerate(spoken.system_texts(head))
            for place, number in enumerate(self._section_numbers(text))
        ]
        return read + [(f"t{tool.place}", self._texts.add(normal(tool.text))) for tool in spoken.tools(head)]

    def _section_numbers(self, text: str) -> list[int]:
        if text not in self._sections:
            self._sections[text] = [self._texts.add(normal(section.text)) for section in sections(text)]
        return self._sections[text]

    def _read_response(self, message: Message) -> _Response:
        references: dict[Reference, None] = {}
        lines: dict[str, None] = {}
        for part in message.parts:
            text = self._text_of(part)
            references |= dict.fromkeys(references_of(text, part.kind is PartKind.TOOL_CALL))
            lines |= dict.fromkeys(lines_of(text))
        own = [reference for reference in references if self._is_own(reference)]
        return _Response(own, list(lines), frozenset(part.name for part in message.calls))

    def _text_of(self, part: Part) -> str:
        """Return the normal text of a part; most are read twice, as a response and as a message."""
        if part.kind is PartKind.TOOL_CALL:
            return _remembered(self._arguments, arguments_text, part.text)
        return _remembered(self._normal, normal, part.text) if part.kind in _READ else ""

    def _is_own(self, reference: Reference) -> bool:
        """Whether a reference belongs to the task and not to the tools."""
        return reference.kind is not ReferenceClass.IDENTIFIER or reference.forms[0] not in self._names


def uses_of(transcript: Transcript) -> Uses:
    """Return the uses of a transcript, found out when first asked for."""
    if USES not in transcript.analyses:
        transcript.analyses[USES] = Uses(transcript)
    found: Uses = transcript.analyses[USES]
    return found


class _Texts(WatchedTexts):
    """The texts of a transcript, asked first where a use may stand: of most, that is all that has to be known."""

    def __init__(self) -> None:
        super().__init__()
        self._found_wide: dict[str, list[int]] = {}

    def with_line(self, line: str) -> Collection[int]:
        """Return the numbers of texts that have a line."""
        return self._lines.get(line, ())

    def _wide(self, form: str) -> list[int]:
        """Search all texts that are not ASCII at once; no form has a line's end."""
        if form not in self._found_wide:
            self._found_wide[form] = list(self._searched_wide(form))
        return self._found_wide[form]

    def _searched_wide(self, form: str) -> Iterator[int]:
        joined, starts = self._joined
        at = joined.find(form)
        while at >= 0:
            place = bisect_right(starts, at)
            yield self._not_ascii[place - 1][0]
            at = joined.find(form, starts[place]) if place < len(starts) else -1

    @cached_property
    def _joined(self) -> tuple[str, list[int]]:
        lines = [line for _, line in self._not_ascii]
        return "\n".join(lines), [0, *accumulate(len(line) + 1 for line in lines[:-1])]

    def forget(self) -> None:
        """Let go of the texts."""
        super().forget()
        self.__dict__.pop("_joined", None)
        self._found_wide.clear()


class _Response(NamedTuple):
    references: list[Reference]
    lines: list[str]
    names: frozenset[str]


def _remembered(known: dict[str, str], spelled: Callable[[str], str], text: str) -> str:
    if text not in known:
        known[text] = spelled(text)
    return known[text]


_READ = frozenset({PartKind.TEXT, PartKind.THINKING, PartKind.TOOL_RESULT})


def _each_once(uses: Iterable[Use | None]) -> tuple[Use, ...]:
    """Return the uses without what others of them say as well."""
    found = dict.fromkeys(use for use in uses if use is not None)
    names = {use.form for use in found if use.kind is ReferenceClass.IDENTIFIER}
    days = {day_alone(use.form) for use in found if use.kind is ReferenceClass.DATE}
    return tuple(use for use in found if not _is_said_by(use, names, days))


def _is_said_by(use: Use, names: Collection[str], days: Collection[str | None]) -> bool:
    """Whether `manager.ast_from_file` stands beside `ast_from_file`, or `10 March` beside `10 March 2026`."""
    if use.kind is ReferenceClass.IDENTIFIER:
        last = last_name(use.form)
        return last != use.form and last in names
    return use.kind is ReferenceClass.DATE and use.form in days
