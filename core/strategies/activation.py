"""Which tool groups a conversation has activated, without a model (rule book 4.4).

A group is active once a user message says one of its keywords or a part of one of its tools' names, or while one of
its calls is in the kept part. A tool without keyword and group always stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from ..log import Log
from ..marks import is_injected
from ..spans import FixedPart, Span, SpanKind
from .inference import HINTED, INFERRED
from .tiers import ToolGroup, is_said

SHORTEST_NAME_PART = 4
CHOICES = ("tool_choice", "function_call", "toolConfig", "tool_config")
"""Where requests say which tools must or may be called."""

_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")


def groups_of(fixed: FixedPart, configured: Sequence[ToolGroup]) -> dict[str, list[Span]]:
    """Return the deferrable tools of a request by group name: configured groups first, then those that rules name.

    A tool that a rule pins or that the request insists on is not deferrable.
    """
    found: dict[str, list[Span]] = {}
    forced = {name for key in CHOICES for name in _forced(fixed.head.get(key))}
    for tool in fixed.tools:
        name = next((g.name for g in configured if any(fnmatchcase(tool.tool, glob) for glob in g.tools)), None)
        if name is None and (tool.rule.group or tool.rule.keywords):
            name = tool.rule.group or tool.tool
        if name is not None and not tool.rule.stays and tool.tool not in forced:
            found.setdefault(name, []).append(tool)
    return found


def _forced(choice: Any) -> Iterator[str]:
    """Yield what may be the names of tools that a request insists on: without them it would be refused.

    A tool of the provider's own is named by its type; Gemini lists bare names.
    """
    if isinstance(choice, Mapping):
        yield from (choice[key] for key in ("name", "type") if isinstance(choice.get(key), str))
        yield from (name for value in choice.values() for name in _forced(value))
    elif isinstance(choice, list):
        yield from (value for value in choice if isinstance(value, str))
        yield from (name for value in choice for name in _forced(value))


def keywords_of(name: str, tools: Sequence[Span], configured: Sequence[ToolGroup]) -> tuple[str, ...]:
    """Return what activates a group: its keywords, those that rules give its tools, and parts of the tools' names."""
    said = [word for group in configured if group.name == name for word in group.keywords]
    said += [word for tool in tools for word in tool.rule.keywords or ()]
    said += [part.lower() for tool in tools for part in _PARTS.findall(tool.tool) if len(part) >= SHORTEST_NAME_PART]
    return tuple(dict.fromkeys(said))


class Activation:
    """Follows a log and remembers which groups it activated and where each tool was last called."""

    def __init__(self, log: Log, fixed: FixedPart, configured: Sequence[ToolGroup], hinted: Sequence[str] = ()) -> None:
        self.tools = groups_of(fixed, configured)
        self.keywords = {name: keywords_of(name, tools, configured) for name, tools in self.tools.items()}
        self._group_of = {tool.tool: name for name, tools in self.tools.items() for tool in tools}
        self.reasons = {name: f"{INFERRED}: no keyword of {name} was said" for name in self.tools}
        """Why the tools of an inactive group are put aside, by its name."""
        self.hint(hinted)
        self._log = log
        self._seen = 0
        self._last_said: dict[str, int] = {}
        self._last_called: dict[str, int] = {}
        self._called_in: dict[int, set[str]] = {}
        self._always_called: set[str] = set()

    def hint(self, tools: Sequence[str]) -> None:
        """Take the tools that hints say are active, instead of those that earlier hints said."""
        self._hinted = {self._group_of[tool] for tool in tools if tool in self._group_of}
        self.source = f"{INFERRED} from what users said and what was called"
        """Where it is known from which groups are active."""
        if self._hinted:
            self.source = f"{HINTED}: {', '.join(sorted(self._hinted))}; {INFERRED}: the others"

    def catch_up(self) -> None:
        """Read the units that were added to the log."""
        for index in range(self._seen, len(self._log.units)):
            for span in self._log.units[index].spans:
                if span.kind is SpanKind.TOOL_CALL and span.tool in self._group_of:
                    self._remember(self._group_of[span.tool], index)
                elif span.kind is SpanKind.USER and not is_injected(span.text):
                    self._last_said.update(dict.fromkeys(self._said(span.text), index))
        self._seen = len(self._log.units)

    def _remember(self, name: str, index: int) -> None:
        """Remember that a tool of a group was called in a unit."""
        self._last_called[name] = index
        self._called_in.setdefault(index, set()).add(name)
        if self._log.units[index].stays:
            self._always_called.add(name)

    def _said(self, text: str) -> Iterator[str]:
        lowered = text.lower()
        return (name for name, words in self.keywords.items() if any(is_said(word, lowered) for word in words))

    def inactive(self, cut: int, extras: Iterable[int] = (), only_newest: bool = False) -> Iterable[str]:
        """Return the groups that are not active when the kept part begins at `cut`.

        A call that is sent needs its tool wherever it stands: in the kept part, in a unit that always stays, or in
        one of the `extras`, the units before the cut that stay for this cut. With `only_newest`, what older user
        messages said does not count.
        """
        since = self._log.last_user if only_newest else 0
        called = self._always_called.union(*(self._called_in.get(index, ()) for index in extras if index < cut))
        return [
            name
            for name in self.tools
            if name not in self._hinted
            and self._last_said.get(name, -1) < since
            and self._last_called.get(name, -1) < cut
            and name not in called
        ]
