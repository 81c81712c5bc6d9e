"""One chain of a Claude Code session: lines become messages, messages become calls.

A reply is written one line a block, with the results of its first tool calls between them; what was sent is one
assistant message and one user message with all results. So lines are gathered in *groups*, one a message, and groups
are linked by their lines' parents. A group has two parents: what happened before it, and what was in the window,
which a compaction cuts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from ..transcript import ROOT, Fidelity, Usage
from ..wire import Wire, dump
from ..wording import counted
from .builder import Placed, TranscriptBuilder
from .checks import MessageChecks
from .claude_lines import Line
from .figures import checked
from .problems import Report
from .responses import anthropic_usage
from .times import parse_time

SYNTHETIC = "<synthetic>"
"""The model of messages that Claude Code wrote itself."""


@dataclass(eq=False, slots=True)
class Group:
    """One message, gathered from its lines."""

    role: str
    place: str
    order: float
    before: Link
    content: str | list[Any]
    at: datetime | None = None
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    is_call: bool = False
    is_summary: bool = False
    is_root: bool = False
    """Its first line names no parent."""
    results: Group | None = None
    """The message that holds the results of this one's tool calls."""
    happened: int = ROOT
    sent: int = ROOT

    @property
    def wire(self) -> Wire:
        """The message as the provider takes it: results stand before what else was said."""
        content = self.content
        if self.role == "user" and isinstance(content, list):
            content = sorted(content, key=lambda block: not _is_result(block))
        return {"role": self.role, "content": content}


class Link(NamedTuple):
    """What stands before a record: in what happened, and in what was sent."""

    happened: Group | None = None
    sent: Group | None = None


class Thread:
    """The main chain of a session, or one side chain."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.groups: list[Group] = []
        self.cleared = False
        """Old tool results were cleared in place, by which rule is not recorded."""
        self.session = ""
        self.started: datetime | None = None
        self._prompt = ""
        self._first_text = ""
        self._links: dict[str, Link] = {}
        self._by_id: dict[tuple[str, str], Group] = {}
        self._callers: dict[str, Group] = {}
        self._last: Group | None = None
        self._linked = False

    def add(self, line: Line) -> None:
        """Take in a line of a message."""
        at = parse_time(line.value.get("timestamp"))
        self.started = self.started or at
        self.session = line.text("sessionId") or self.session
        group = self._reply(line, at) if line.kind == "assistant" else self._user(line, at)
        self._last = group
        if line.uuid:
            self._links[line.uuid] = Link(group, group)

    def link(self, line: Line) -> None:
        """Take in a record that is no message but may stand between two."""
        self._links[line.uuid] = self._before(line) if line.parent else Link(self._last, self._last)

    def compact(self, line: Line) -> None:
        """Take in a compaction: what follows was sent without what stands before."""
        before = self._links.get(line.text("logicalParentUuid"), Link(self._last))
        self._links[line.uuid] = Link(before.happened, None)

    def _before(self, line: Line) -> Link:
        """Return what a line follows; where its parent is not in the file, the line before it."""
        if line.parent in self._links:
            self._linked = True
            return self._links[line.parent]
        if line.parent is None and line.text("logicalParentUuid"):
            return Link(self._links.get(line.text("logicalParentUuid"), Link(self._last)).happened, None)
        starts = line.parent is None and line.kind == "user" and not line.is_summary
        return Link() if starts else Link(self._last, self._last)

    def _reply(self, line: Line, at: datetime | None) -> Group:
        key = (str(line.message.get("id") or line.uuid or line.place), line.model)
        group = self._by_id.get(key)
        blocks = _as_blocks(line.content)
        if group is None:
            group = self._new("assistant", line, at, self._before(line), [])
            group.model, group.is_call = line.model, line.model != SYNTHETIC
            self._by_id[key] = group
        else:
            self._linked = self._linked or line.parent in self._links
        if isinstance(group.content, list):
            group.content.extend(_new_blocks(group.content, blocks))
        if isinstance(line.message.get("usage"), Mapping):
            group.usage = anthropic_usage(line.message["usage"])
        self._callers.update({str(block.get("id")): group for block in line.blocks if block.get("type") == "tool_use"})
        return group

    def _user(self, line: Line, at: datetime | None) -> Group:
        answered = (self._callers.get(str(block.get("tool_use_id"))) for block in line.blocks if _is_result(block))
        caller = next((group for group in answered if group is not None), None)
        if caller is None:
            return self._plain(line, at)
        self._linked = self._linked or line.parent in self._links
        blocks = _as_blocks(line.content)
        if caller.results is None:
            caller.results = self._new("user", line, at, Link(caller, caller), blocks)
            caller.results.order = caller.order + 0.5
        elif isinstance(caller.results.content, list):
            caller.results.content.extend(_new_blocks(caller.results.content, blocks))
        return caller.results

    def _plain(self, line: Line, at: datetime | None) -> Group:
        assert line.content is not None
        before = self._before(line)
        if line.is_summary:
            before = Link(before.happened, None)
        group = self._new("user", line, at, before, line.content)
        group.is_summary = line.is_summary
        self._first_text = self._first_text or line.typed
        if line.is_typed:
            self._prompt = self._prompt or line.typed
        return group

    def _new(self, role: str, line: Line, at: datetime | None, before: Link, content: str | list[Any]) -> Group:
        group = Group(role, line.place, len(self.groups), before, content, at)
        group.is_root = line.parent is None and before == Link()
        self.groups.append(group)
        return group

    def build(self) -> tuple[TranscriptBuilder, list[str], str]:
        """Return a builder that holds the messages and calls, the notes, and the text that the user began with."""
        builder = TranscriptBuilder("anthropic")
        checks = MessageChecks(builder.dialect)
        compacted: list[int] = []
        ordered = sorted(self.groups, key=lambda group: group.order)
        for number, group in enumerate(ordered):
            before = self._parents(group, ordered[number - 1] if number else None)
            happened = before.happened.happened if before.happened else ROOT
            sent = before.sent.sent if before.sent else ROOT
            wire = group.wire
            if group.is_summary:
                compacted.append(len(builder.calls))
            if group.is_call:
                self._call(builder, group, happened, sent, wire)
            group.sent = builder.add(sent, wire)
            group.happened = (
                happened if group.is_summary else group.sent if happened == sent else builder.add(happened, wire)
            )
            for problem, expected in checks.problems(wire):
                self.report.add(problem, expected, place=group.place, warning=True)
        return builder, self._notes(builder, compacted), self._prompt or self._first_text

    def _parents(self, group: Group, previous: Group | None) -> Link:
        """What follows a reply follows its results too. A file that links no lines is read in their order."""
        before = group.before
        if group.is_root and not self._linked:
            before = Link(previous, previous)
        return Link(*(_after_results(parent, group) for parent in before))

    def _call(self, builder: TranscriptBuilder, group: Group, happened: int, sent: int, wire: Wire) -> None:
        head = builder.head({"model": group.model, "messages": []} if group.model else {"messages": []})
        builder.call(
            Placed(head, sent),
            history=happened,
            response=wire,
            usage=checked(group.usage, self.report, group.place),
            model=group.model or None,
            at=group.at,
            fidelity=Fidelity.PARTIAL,
        )

    def _notes(self, builder: TranscriptBuilder, compacted: Sequence[int]) -> list[str]:
        notes = ["system prompt not recorded", "tool definitions not recorded"]
        places = (
            f"before call {call + 1}" if call < len(builder.calls) else "after the last call" for call in compacted
        )
        notes += [f"the conversation was compacted {place}" for place in dict.fromkeys(places)]
        if self.cleared:
            notes.append("old tool results were cleared in place at a point that the prompts here do not show")
        live = set(builder.path(self._last.happened)) if self._last else set()
        left = sum(call.history not in live and call.history != ROOT for call in builder.calls)
        if left:
            notes.append(f"{counted(left, 'call', 'stands', 'stand')} on branches that were given up")
        return notes


def _after_results(parent: Group | None, group: Group) -> Group | None:
    if parent is not None and parent.results is not None and parent.results is not group:
        return parent.results
    return parent


def _is_result(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") == "tool_result"


def _as_blocks(content: str | list[Any] | None) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content or [])


def _new_blocks(there: list[Any], blocks: list[Any]) -> list[Any]:
    """Return the blocks that a message does not hold yet: a message that is logged again repeats them."""
    known = {dump(block) for block in there}
    return [block for block in blocks if dump(block) not in known]
