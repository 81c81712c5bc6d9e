"""A session that was written event by event, put together message by message.

Two prompts grow side by side: all that happened, and what was in the window, which a compaction begins anew. Leading
system messages are the head's. A place in the session can be taken up again, so that a log with branches is read in
its own order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from ..transcript import ROOT, Fidelity, Transcript, Usage
from ..wire import Wire
from ..wording import agreeing, counted
from .builder import Placed, TranscriptBuilder
from .checks import MessageChecks
from .figures import checked
from .formats import Reading
from .replies import reply_of
from .shapes import LISTS
from .titles import shortened, title_of


class Position(NamedTuple):
    """A place in a session: the last message of all that happened, the last one in the window, and the head's lead."""

    happened: int = ROOT
    sent: int = ROOT
    lead: tuple[Wire, ...] = ()


class EventLog:
    """One session. `settings` are what each request held beside its conversation: model, system prompt, tools."""

    def __init__(self, dialect_name: str, reading: Reading, settings: Wire | None = None) -> None:
        self.builder = TranscriptBuilder(dialect_name)
        self.reading = reading
        self.settings: dict[str, Any] = dict(settings or {})
        self.at = Position()
        self.notes: list[str] = []
        self.started: datetime | None = None
        self.may_have_tools = True
        """False for a format whose agents call no tools but write their actions as text."""
        self.is_whole = False
        """True for a format that holds whole prompts: a system prompt or tools that are not there were not sent."""
        self._list = LISTS[dialect_name]
        self._checks = MessageChecks(self.builder.dialect)
        self._rewritten: list[tuple[str, int]] = []

    @property
    def calls(self) -> int:
        """How many calls there are so far."""
        return len(self.builder.calls)

    def say(self, wire: Wire, place: str = "") -> None:
        """Add a message to what happened and to the window."""
        self._check(wire, place)
        happened, sent, lead = self.at
        if sent == ROOT and self._is_lead(wire):
            self.at = self.at._replace(lead=(*lead, wire))
            return
        node = self.builder.add(sent, wire)
        self.at = Position(node if happened == sent else self.builder.add(happened, wire), node, lead)

    def reply(
        self,
        wires: Sequence[Wire],
        place: str = "",
        *,
        usage: Usage | None = None,
        model: str = "",
        at: datetime | None = None,
        fidelity: Fidelity = Fidelity.PARTIAL,
        kept: Sequence[Wire] | None = None,
    ) -> int:
        """Add a call that the prompt so far was sent with and these messages answer; return its index.

        `kept` is what later prompts hold of the reply, where they do not hold all of it.
        """
        happened, sent, lead = self.at
        settings = {**({"model": model} if model else {}), **self.settings, self._list: list(lead)}
        call = self.builder.call(
            Placed(self.builder.head(settings), sent),
            history=happened,
            response=reply_of(wires),
            usage=checked(usage or Usage(), self.reading.report, place),
            model=model or None,
            at=at,
            fidelity=fidelity,
        )
        for wire in wires if kept is None else kept:
            self.say(wire, place)
        return call

    def with_usage(self, call: int, usage: Usage) -> None:
        """Give a call the usage that became known after its reply."""
        known = checked(usage, self.reading.report, f"call {call + 1}")
        self.builder.calls[call] = replace(self.builder.calls[call], usage=known)

    def compact(self, wires: Sequence[Wire]) -> None:
        """Begin the window anew with these messages; what happened stays."""
        head, conversation = self.builder.dialect.split({self._list: list(wires)})
        self._rewritten.append(("the conversation was compacted", self.calls))
        sent = self.builder.extend(ROOT, conversation)
        self.at = Position(self.at.happened, sent, tuple(head[self._list] or ()) or self.at.lead)

    def lead(self, *wires: Wire) -> None:
        """Put system messages before the conversation, in the place of those that are there."""
        self.at = self.at._replace(lead=wires)

    def rewrite(self, wires: Sequence[Wire], what: str) -> None:
        """Go on with these messages in the window; `what` says what happened to it, for the notes."""
        self._rewritten.append((what, self.calls))
        self.at = self.at._replace(sent=self.builder.extend(ROOT, wires))

    def window(self) -> list[Wire]:
        """Return the messages in the window, without the head's lead."""
        return [self.builder.messages[node] for node in self.builder.path(self.at.sent)]

    def transcript(
        self, *, title: str = "", session: str = "", prompt: str = "", meta: Mapping[str, Any] | None = None
    ) -> Transcript:
        """Return the session; its title is the given one, else the beginning of the user's first prompt."""
        spoken, reading = self.builder.dialect, self.reading
        otherwise = shortened(prompt) or title_of(spoken, self.builder.messages, reading.stem or "session")
        return self.builder.build(
            title=shortened(title) or otherwise,
            format=reading.report.format or "",
            source=reading.name,
            session=session,
            notes=[*self.notes, *self._notes()],
            started=self.started,
            meta=meta,
        )

    def _notes(self) -> list[str]:
        builder = self.builder
        heads = [builder.heads[call.head] for call in builder.calls] or [{**self.settings, self._list: []}]
        notes = []
        if not self.is_whole and not any(builder.dialect.system_texts(head) for head in heads):
            notes.append("system prompt not recorded")
        if not self.is_whole and self.may_have_tools and not any(builder.dialect.tools(head) for head in heads):
            notes.append("tool definitions not recorded")
        for what, call in dict.fromkeys(self._rewritten):
            notes.append(f"{what} before call {call + 1}" if call < self.calls else f"{what} after the last call")
        live = {*builder.path(self.at.happened), ROOT}
        left = sum(call.history not in live for call in builder.calls)
        if left:
            notes.append(f"{counted(left, 'call', 'stands', 'stand')} on branches that were given up")
        return notes

    def _is_lead(self, wire: Wire) -> bool:
        return self._list != "contents" and self.builder.dialect.message(wire).role == "system"

    def _check(self, wire: Wire, place: str) -> None:
        for problem, expected in self._checks.problems(wire):
            self.reading.report.add(problem, expected, place=place, warning=True)


class Ignored:
    """Records that are no messages by design, counted by kind; kinds that nobody knows are told of once."""

    def __init__(self, reading: Reading, known: frozenset[str]) -> None:
        self.reading = reading
        self.known = known
        self.kinds: Counter[str] = Counter()
        self._places: dict[str, str] = {}

    def add(self, kind: str, place: str = "", *, counted: bool = True) -> None:
        """Count a record of a kind. `counted`: it is a whole record of the file."""
        self.kinds[kind] += 1
        self._places.setdefault(kind, place)
        if counted:
            self.reading.report.ignored()

    def tell(self) -> dict[str, int]:
        """Note the kinds that are not known, and return how many records there were of each kind."""
        for kind, number in self.kinds.items():
            if kind.partition("/")[0] not in self.known and kind not in self.known:
                lost, they = agreeing(number, "was", "were"), agreeing(number, "It", "They")
                self.reading.report.add(
                    f"{counted(number, 'record')} of the unknown type {kind[:60]!r} {lost} left out",
                    f"{they} may hold messages of a newer version of the format.",
                    place=self._places[kind],
                    warning=True,
                )
        return dict(self.kinds)
