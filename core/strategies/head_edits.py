"""What the fixed part costs without some of its tools and with a menu or a summary at its end."""

from __future__ import annotations

from collections.abc import Iterable

from ..assembler import Context
from ..plan import HeadEdit, Injected
from ..spans import FixedPart, SpanKind
from .activation import Activation
from .rolling import RollingSummary
from .tiers import menu


class HeadEdits:
    """Makes changed fixed parts of one request; each set of tools is counted once."""

    def __init__(self, fixed: FixedPart, context: Context) -> None:
        self._fixed, self._context = fixed, context
        self._definitions = context.dialect.tools(fixed.head)
        self._tool_tokens = {tool.part: tool.tokens for tool in fixed.tools}
        self._spans = fixed.tokens - fixed.overhead
        self._known: dict[frozenset[int], int] = {}
        self._overhead = fixed.overhead - self._tools_overhead(frozenset())

    def without(
        self, groups: Iterable[str], activation: Activation, summary: RollingSummary | None
    ) -> HeadEdit:
        """Return the fixed part without the tools of these groups, where the menu for them costs less than they do."""
        names = list(groups)
        deferred = {tool.part: f"no keyword of {name} was said" for name in names for tool in activation.tools[name]}
        texts = [] if summary is None else [("summary", SpanKind.SUMMARY, summary.text, "strategy.trigger")]
        plain = self._edit({}, texts)
        if not deferred:
            return plain
        lines = [f"- {name}: {', '.join(activation.keywords[name][:8])}" for name in names]
        menu_text = ("menu", SpanKind.INSTRUCTIONS, menu(lines), "strategy.groups")
        smaller = self._edit(deferred, [menu_text, *texts])
        return smaller if self.tokens(smaller) < self.tokens(plain) else plain

    def tokens(self, edit: HeadEdit) -> int:
        """Return the tokens of a changed fixed part."""
        put_aside = sum(self._tool_tokens[place] for place in edit.deferred)
        return self._spans - put_aside + sum(text.tokens for text in edit.injected) + edit.overhead

    def _edit(self, deferred: dict[int, str], texts: list[tuple[str, SpanKind, str, str]]) -> HeadEdit:
        overhead = self._overhead + self._tools_overhead(frozenset(deferred))
        injected = []
        for span_id, kind, text, setting in texts:
            cost = self._context.dialect.cost_of_system(self._fixed.head, self._context.counter, [[text]])
            overhead += cost.overhead
            injected.append(Injected(span_id, kind, text, cost.parts[0][0], "put at the end of the system part", setting))
        return HeadEdit(deferred, tuple(injected), overhead)

    def _tools_overhead(self, deferred: frozenset[int]) -> int:
        if deferred not in self._known:
            kept = [tool for tool in self._definitions if tool.place not in deferred]
            self._known[deferred] = self._context.dialect.cost_of_tools(kept, self._context.counter).overhead
        return self._known[deferred]
