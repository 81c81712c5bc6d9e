"""Calls of a tool with the arguments of an earlier call: what was fetched again, and why that may have been.

Most repetitions are no forgetting: a test is run again after an edit. So a repetition is a re-read only where the
result came out the same and nothing was written in between. A call that stands twice in one response is a repetition
too, but no re-read: no result had been seen that could have been forgotten. Whether a strategy would bring more of
them about is not known from a recording; what is known is where the newest earlier result would have been gone.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from .dialects import dialect
from .dialects.base import Message, Part, PartKind
from .transcript import Transcript
from .wire import digest

if TYPE_CHECKING:
    from .replay import Replay

REFETCHES = "refetches"
FAR = 64
"""Messages looked at after a call for its result."""

_WRITES = re.compile(
    r"(?:^|[_.\-/]|(?<=[a-z])(?=[A-Z]))"
    r"(?i:write|edit|create|insert|replace|update|delete|remove|apply|patch|move|rename|save|upload|book|cancel|send|"
    r"add|set|put|post|commit|install)(?:$|[_.\-/]|(?=[A-Z]))"
)
_COMMAND = re.compile(
    r"(?<![0-9&<>-])>{1,2}(?!&|\s*/dev/null)|\bsed\s+(?:-\w+\s+)*-\w*i|\btee\b|<<"
    r"|(?:^|[;&|(]\s*|\n\s*)(?:sudo\s+)?(?:rm|mv|cp|mkdir|touch|patch|git\s+(?:add|commit|checkout|reset|apply|stash|pull|"
    r"merge|rebase|push|clone)|pip\s+install|npm\s+(?:i|install|ci)|apt(?:-get)?\s+install|make|cargo\s+build)\b"
)


@dataclass(frozen=True, slots=True)
class Refetch:
    """A tool call that repeats an earlier one of its branch, by name and canonical arguments.

    `call` made it, `earlier` the newest equal one before it (0-based; `call` itself where both stand in one response,
    -1 where no recorded call made it). `message` is the earlier result in the conversation, `span_id` its span; -1 and
    "" where there is none yet. `same_result` is None where the recording has no second result.
    """

    call: int
    tool: str
    arguments: str
    earlier: int
    message: int
    span_id: str
    same_result: bool | None
    written_between: bool
    is_write: bool

    @property
    def is_at_once(self) -> bool:
        """Whether both calls stand in one response."""
        return self.earlier == self.call

    @property
    def is_reread(self) -> bool:
        """Whether a result that had been seen was fetched again though nothing had changed it."""
        return self.same_result is True and not (self.is_at_once or self.written_between or self.is_write)


def refetches(transcript: Transcript) -> list[Refetch]:
    """Return all repeated tool calls of a recording, in order; found once for a transcript."""
    if REFETCHES not in transcript.analyses:
        transcript.analyses[REFETCHES] = list(_Recording(transcript).refetches())
    found: list[Refetch] = transcript.analyses[REFETCHES]
    return found


def made_likelier(replay: Replay) -> list[Refetch]:
    """Return the repeated calls before which the plan no longer sent the newest earlier result as it was."""
    found = []
    for refetch in refetches(replay.transcript):
        if refetch.is_at_once:
            continue
        if replay.plan(refetch.call).remains(refetch.message, refetch.span_id) is not None:
            found.append(refetch)
    return found


class _Result(NamedTuple):
    """A tool's result in the tree of messages."""

    node: int
    part: int
    digest: bytes


class _Made(NamedTuple):
    """A tool call in the tree of messages, and its result if there is one."""

    node: int
    result: _Result | None


class _Recording:
    def __init__(self, transcript: Transcript) -> None:
        spoken = dialect(transcript.dialect)
        self._transcript = transcript
        self._messages = [spoken.message(wire) for wire in transcript.messages]
        self._children: dict[int, list[int]] = {}
        for node, parent in enumerate(transcript.parents):
            self._children.setdefault(parent, []).append(node)
        self._responses = [spoken.message(call.response or {}) for call in transcript.calls]
        self._writes = [node for node, message in enumerate(self._messages) if any(map(_is_write, message.calls))]
        self._known: dict[tuple[str, str], list[_Made]] = {}
        for node, message in enumerate(self._messages):
            for place, part in enumerate(message.calls):
                self._known.setdefault(_key(part), []).append(_Made(node, self._result(node, place)))
        self._first_call = self._calls_by_response()

    def refetches(self) -> Iterator[Refetch]:
        """Yield the repetitions, call by call."""
        for call, response in enumerate(self._responses):
            last = self._transcript.calls[call].history
            keys = [_key(part) for part in response.calls]
            for place, key in enumerate(keys):
                earlier = self._earlier(key, last)
                if earlier is not None and earlier.result is not None:
                    yield self._again(call, place, earlier, last)
                elif key in keys[:place]:
                    yield self._at_once(call, place, keys, last)

    def _again(self, call: int, place: int, earlier: _Made, last: int) -> Refetch:
        made, written = self._responses[call].calls[place], self._written(earlier.node, last)
        results = earlier.result, self._result_of_response(call, place, last)
        return self._refetch(call, made, self._first_call.get(earlier.node, -1), results, written)

    def _at_once(self, call: int, place: int, keys: list[tuple[str, str]], last: int) -> Refetch:
        """Return the repetition of a call of the same response."""
        calls, before = self._responses[call].calls, keys.index(keys[place])
        results = (self._result_of_response(call, before, last), self._result_of_response(call, place, last))
        return self._refetch(call, calls[place], call, results, any(map(_is_write, calls[before + 1 : place])))

    def _refetch(
        self, call: int, made: Part, earlier: int, results: tuple[_Result | None, _Result | None], written: bool
    ) -> Refetch:
        first, again = results
        depth = -1 if first is None else self._transcript.depths[first.node]
        name, arguments = _key(made)
        return Refetch(
            call=call,
            tool=name,
            arguments=arguments,
            earlier=earlier,
            message=depth,
            span_id="" if first is None else f"m{depth}.{first.part}",
            same_result=None if first is None or again is None else first.digest == again.digest,
            written_between=written,
            is_write=_is_write(made),
        )

    def _earlier(self, key: tuple[str, str], last: int) -> _Made | None:
        """Return the newest equal call on the branch that ends with `last`."""
        made = self._known.get(key, [])
        for one in reversed(made[: bisect_left(made, last + 1, key=lambda one: one.node)]):
            if self._is_under(one.node, last):
                return one
        return None

    def _is_under(self, node: int, last: int) -> bool:
        """Whether a node is on the branch that ends with `last`."""
        parents = self._transcript.parents
        while last > node:
            last = parents[last]
        return last == node

    def _written(self, start: int, last: int) -> bool:
        writes = self._writes[bisect_left(self._writes, start + 1) : bisect_left(self._writes, last + 1)]
        return any(self._is_under(node, last) for node in writes)

    def _result_of_response(self, call: int, place: int, last: int) -> _Result | None:
        """Return the result of a response's call, as the message that holds the response has it."""
        keys = [_key(part) for part in self._responses[call].calls]
        for node in self._children.get(last, []):
            found = [at for at, made in enumerate(self._messages[node].calls) if _key(made) == keys[place]]
            if found:
                return self._result(node, found[min(keys[:place].count(keys[place]), len(found) - 1)])
        return None

    def _result(self, node: int, place: int) -> _Result | None:
        """Return the result of a message's call: by its id, else by its place among the calls."""
        call_id = self._messages[node].calls[place].call_id
        seen = 0
        for later in self._after(node):
            for index, made in enumerate(self._messages[later].parts):
                if made.kind is not PartKind.TOOL_RESULT:
                    continue
                if (made.call_id == call_id) if call_id else seen == place:
                    return _Result(later, index, digest(made.text))
                seen += 1
        return None

    def _after(self, node: int) -> Iterator[int]:
        """Yield the message itself, then those after it until the model speaks again or the branch forks."""
        yield node
        for _ in range(FAR):
            children = self._children.get(node, [])
            if len(children) != 1 or self._messages[children[0]].role == "assistant":
                return
            node = children[0]
            yield node

    def _calls_by_response(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for call, made in enumerate(self._transcript.calls):
            for node in self._children.get(made.history, []):
                if _same(self._messages[node], self._responses[call]):
                    found.setdefault(node, call)
        return found


def _same(one: Message, other: Message) -> bool:
    return one.role == other.role and [*map(_key, one.calls)] == [*map(_key, other.calls)]


def _key(part: Part) -> tuple[str, str]:
    """Return a call's name and canonical arguments: parsed, with sorted keys."""
    try:
        parsed = json.loads(part.text)
    except (ValueError, RecursionError):
        return part.name, part.text.strip()
    return part.name, json.dumps(parsed, sort_keys=True, ensure_ascii=False)


def _is_write(part: Part) -> bool:
    """Whether a call changes something, judged by the tool's name, else by the command that it runs."""
    return _WRITES.search(part.name) is not None or any(map(_COMMAND.search, _strings(part.text)))


def _strings(arguments: str) -> Sequence[str]:
    try:
        parsed = json.loads(arguments)
    except (ValueError, RecursionError):
        return [arguments]
    values = parsed.values() if isinstance(parsed, dict) else [parsed]
    return [value for value in values if isinstance(value, str)]
