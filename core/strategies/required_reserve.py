"""One context message with sections in a fixed order, floors for the required ones set aside first.

Invariants (rule book 2, A-R1 to A-R8): order never depends on lengths; a required section is never below its floor,
an optional one never cut to a scrap; lists are cut between items with the count left out; the newest user message is
outside the total and uncut, and the goal is left out when it is that message. What stays is the system part, the
newest user message, the open unit and what rules pin; all else goes, and the decisions say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .. import marks
from ..assembler import Context, UnitAssembler
from ..decisions import Fate, HeadEdit, Injected, Run, Status
from ..plan import Plan
from ..spans import FixedPart, SpanKind
from .inference import Inference
from .keep_last import too_short
from .reserve import CHARACTERS, Floors, Inclusion, Measure, Reserve, Section, fill

ENGLISH = {
    "goal": "Current goal",
    "memory_state": "Memory",
    "confirmed_facts": "Confirmed facts",
    "resource_bindings": "Resources",
    "used_tools": "Tools used",
}
CHINESE = {
    "goal": "当前目标",
    "memory_state": "记忆状态",
    "confirmed_facts": "已确认事实",
    "resource_bindings": "绑定资源",
    "used_tools": "已使用工具",
}
LABELS = {"english": ENGLISH, "chinese": CHINESE}
LEAST_TOTAL = 24
SHARES = 16
"""A total that does not fit is tried in so many parts. Each part says the same at any budget, so a smaller budget never
sends more, though a smaller total can: what one section does not take, the next one may."""
LONGEST_ITEM = 4000
"""Characters of one item that are looked at; every cap is far below."""


@dataclass(frozen=True, slots=True)
class RequiredReserve:
    """The strategy `required_reserve`. Totals, caps and floors are in `unit`: tokens, or characters."""

    total: int = 240
    unit: str = "tokens"
    caps: Mapping[str, int | None] = field(
        default_factory=lambda: {
            "goal": None,
            "memory_state": 40,
            "confirmed_facts": 60,
            "resource_bindings": 30,
            "used_tools": 30,
        }
    )
    required_floor: int = 6
    optional_floor: int = 10
    labels: Mapping[str, str] = field(default_factory=lambda: ENGLISH)
    min_turns: int = 0
    min_steps: int = 0

    def assembler(self, context: Context) -> UnitAssembler:
        """Return an assembler for a new conversation."""
        return _Assembler(context, self)


class _Assembler(UnitAssembler):
    def __init__(self, context: Context, strategy: RequiredReserve) -> None:
        super().__init__(context)
        self.strategy = strategy
        self.inference = Inference(self.log)
        self._known: dict[str, tuple[tuple[str, ...], Section]] = {}
        self.measure = CHARACTERS if strategy.unit == "chars" else _tokens(context)

    def fix(self, fixed: FixedPart) -> None:
        """Take the fixed part, and what one more system text costs in frames."""
        super().fix(fixed)
        self.frame = self.context.dialect.cost_of_system(fixed.head, self.context.counter, [["text"]]).overhead

    def _plan(self) -> Plan:
        log, settings = self.log, self.strategy
        if not self._over(self.size):
            return self.untouched(Status.FITS)
        if too_short(len(log.turns), len(log.steps), settings.min_turns, settings.min_steps):
            return self.untouched(Status.SKIPPED_SHORT)
        self.inference.catch_up()
        cut = log.deepest
        floor = self.kept_tokens(cut)
        injected = self._injected(cut, (self.context.budget or 0) - floor - self.frame)
        if injected is None:
            return self._made(cut, floor, None)
        head = HeadEdit(injected=(injected,), overhead=self.fixed.overhead + self.frame)
        return self._made(cut, floor + injected.tokens + self.frame, head)

    def _made(self, cut: int, tokens: int, head: HeadEdit | None) -> Plan:
        if tokens >= self.size:
            return self.untouched(Status.FITS)
        runs = (
            Run(0, cut, Fate.DROP, "replaced by the sections of the context message", "strategy.total"),
            Run(cut, self.count, Fate.KEEP, "the step in progress always stays", ""),
        )
        return self.made(self.with_extras(runs, cut), tokens, head=head)

    def _injected(self, cut: int, room: int) -> Injected | None:
        """Return the context message for the room (in tokens) that is left: all of it, or the largest that fits."""
        room = min(room, self.size - self.kept_tokens(cut) - self.frame - 1)
        if room <= 0:
            return None
        sections = self._sections(cut)
        whole = self._filled(sections, self.strategy.total)
        if whole is None or whole.tokens <= room:
            return whole
        smaller = (self._filled(sections, self.strategy.total * share // SHARES) for share in range(1, SHARES))
        fitting = (made for made in smaller if made is not None and made.tokens <= room)
        return max(fitting, key=lambda made: made.tokens, default=None)

    def _filled(self, sections: Sequence[Section], total: int) -> Injected | None:
        """Return the context message of a total; None where the total is too small for any."""
        if total < (LEAST_TOTAL if self.strategy.unit == "chars" else LEAST_TOTAL // 4):
            return None
        text = _rendered(fill(sections, total, self.measure, self._floors()), self.strategy.labels)
        if text is None:
            return None
        tokens = self.context.counter.count(text)
        return Injected("context", SpanKind.MEMORY, text, tokens, "sections of what was said before", "strategy.total")

    def _floors(self) -> Floors:
        return Floors(self.strategy.required_floor, self.strategy.optional_floor)

    def _sections(self, cut: int) -> list[Section]:
        known, hints = self.inference, self.context.hints
        is_newest = not hints.goal and known.goal_unit == self.log.last_user
        goal = hints.goal or ("" if is_newest else known.goal)
        memory = (hints.memory,) if hints.memory else known.memory(cut)
        return [
            self._section("goal", (goal,), True),
            self._section("memory_state", memory, True),
            self._section("confirmed_facts", hints.facts or known.facts, False),
            self._section("resource_bindings", hints.bindings or known.bindings, True),
            self._section("used_tools", known.tools, False, ", "),
        ]

    def _section(self, key: str, items: tuple[str, ...], required: bool, joiner: str = " | ") -> Section:
        """Return a section; one whose items did not change since the last call is the same object."""
        known = self._known.get(key)
        if known is None or known[0] != items:
            plain = tuple(words for item in items if (words := " ".join(item[:LONGEST_ITEM].split())))
            several = plain if len(plain) > 1 else ()
            cap, label = self.strategy.caps.get(key), self.strategy.labels.get(key, key)
            made = Section(key, label, joiner.join(plain), required, cap, "inferred", several, joiner)
            known = self._known[key] = (items, made)
        return known[1]


def _tokens(context: Context) -> Measure:
    """Measure in tokens: a line is cut before the space behind its label, where the tokenizer cuts too."""
    count = context.counter.count
    return Measure(lambda content: count(f" {content}\n"), lambda label, first: count(f"- {label}:"))


def _rendered(filled: Reserve, labels: Mapping[str, str]) -> str | None:
    lines = [
        f"- {labels.get(placed.key, placed.key)}: {placed.text}"
        for placed in filled.sections
        if placed.status is not Inclusion.OMITTED and placed.text
    ]
    return "\n".join([marks.CONTEXT, *lines]) if lines else None
