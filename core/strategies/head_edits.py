"""What the fixed part costs without some of its tools and with a menu or a summary at its end."""

from __future__ import annotations

from collections.abc import Iterable

from ..assembler import Context
from ..decisions import HeadEdit, Injected
from ..spans import FixedPart, SpanKind
from .activation import Activation
from .rolling import RollingSummary
from .tiers import menu

NO_TOOLS: frozenset[int] = frozenset()
PLACE = "put at the end of the system part"


class HeadEdits:
    """Makes changed fixed parts of one request; each set of tools is counted once."""

    def __init__(self, fixed: FixedPart, context: Context) -> None:
        self._fixed, self._context = fixed, context
        self._definitions = context.dialect.tools(fixed.head)
        self._tool_tokens = {tool.part: tool.tokens for tool in fixed.tools}
        self._spans = fixed.tokens - fixed.overhead
        self._known: dict[frozenset[int], int] = {}
        self._texts = len(context.dialect.system_texts(fixed.head))
        self._frames: dict[int, int] = {}
        self._overhead = fixed.overhead - self._tools_overhead(NO_TOOLS)
        self._plain = self._edit({}, [])

    def without(self, groups: Iterable[str], activation: Activation, summary: RollingSummary | None) -> HeadEdit:
        """Return the fixed part without the tools of these groups, where the menu for them costs less than they do."""
        names = list(groups)
        deferred = {tool.part: activation.reasons[name] for name in names for tool in activation.tools[name]}
        texts = []
        if summary is not None:
            why = summary.why or PLACE
            texts.append(Injected("summary", SpanKind.SUMMARY, summary.text, summary.tokens, why, "strategy.trigger"))
        plain = self._edit({}, texts) if texts else self._plain
        if not deferred:
            return plain
        lines = [f"- {name}: {', '.join(activation.keywords[name][:8])}" for name in names]
        text = menu(lines)
        tokens = self._context.counter.count(text)
        first = Injected("menu", SpanKind.INSTRUCTIONS, text, tokens, activation.source, "strategy.groups")
        smaller = self._edit(deferred, [first, *texts])
        return smaller if self.tokens(smaller) < self.tokens(plain) else plain

    def tokens(self, edit: HeadEdit) -> int:
        """Return the tokens of a changed fixed part."""
        tokens = self._spans + edit.overhead
        for place in edit.deferred:
            tokens -= self._tool_tokens[place]
        for text in edit.injected:
            tokens += text.tokens
        return tokens

    def next_frame(self, edit: HeadEdit) -> int:
        """Return what the frame of one more text costs."""
        return self._more_frames(len(edit.injected) + 1) - self._more_frames(len(edit.injected))

    def _edit(self, deferred: dict[int, str], texts: list[Injected]) -> HeadEdit:
        aside = frozenset(deferred) if deferred else NO_TOOLS
        overhead = self._overhead + self._tools_overhead(aside) + self._more_frames(len(texts))
        return HeadEdit(deferred, tuple(texts), overhead)

    def _more_frames(self, texts: int) -> int:
        """Return what the frames of so many more system texts cost."""
        if texts not in self._frames:
            cost = self._context.dialect.cost_of_system
            before, after = (
                cost(self._fixed.head, self._context.counter, [["text"]] * n)
                for n in (self._texts, self._texts + texts)
            )
            self._frames[texts] = after.overhead - before.overhead
        return self._frames[texts]

    def _tools_overhead(self, deferred: frozenset[int]) -> int:
        if deferred not in self._known:
            kept = [tool for tool in self._definitions if tool.place not in deferred]
            self._known[deferred] = self._context.dialect.cost_of_tools(kept, self._context.counter).overhead
        return self._known[deferred]
