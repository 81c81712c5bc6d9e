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
from ..hints import Hints
from ..plan import Plan
from ..spans import FixedPart, SpanKind
from ..tokens import Counter
from .inference import HINTED, INFERRED, Inference, plain
from .keep_last import too_short
from .reserve import CHARACTERS, Floors, Measure, Section, fill

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
        self.told = _told(context.hints)
        self.floors = Floors(strategy.required_floor, strategy.optional_floor)
        self._known: dict[str, tuple[tuple[str, ...], Section]] = {}
        self._reasons: dict[tuple[str, ...], str] = {}
        tokens = _Tokens(context.counter)
        self.measure = CHARACTERS if strategy.unit == "chars" else Measure(tokens.content, tokens.before)

    def hint(self, hints: Hints) -> None:
        """Take the hints of the coming plans; sections are made anew."""
        super().hint(hints)
        self.told = _told(hints)
        self._known.clear()
        self._reasons.clear()

    def fix(self, fixed: FixedPart) -> None:
        """Take the fixed part, and what one more system text costs in frames."""
        super().fix(fixed)
        dialect, counter = self.context.dialect, self.context.counter
        texts = [["text"]] * len(dialect.system_texts(fixed.head))
        frames = [dialect.cost_of_system(fixed.head, counter, given) for given in (texts, [*texts, ["text"]])]
        self.frame = frames[1].overhead - frames[0].overhead

    def _plan(self) -> Plan:
        log, settings = self.log, self.strategy
        if not self._over(self.size):
            return self.untouched(Status.FITS)
        if too_short(len(log.turns), len(log.steps), settings.min_turns, settings.min_steps):
            return self.untouched(Status.SKIPPED_SHORT)
        self.inference.catch_up()
        cut = log.deepest
        floor = self.kept_tokens(cut)
        room = min(self.context.budget or 0, self.size - 1) - floor - self.frame
        injected = self._injected(cut, room) if room > 0 else None
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
        filled = fill(sections, total, self.measure, self.floors)
        shown = {placed.key: placed.text for placed in filled.sections if placed.text}
        if not shown:
            return None
        labels = self.strategy.labels
        text = "\n".join([marks.CONTEXT, *[f"- {labels.get(key, key)}: {said}" for key, said in shown.items()]])
        tokens = self.context.counter.count(text)
        return Injected("context", SpanKind.MEMORY, text, tokens, self._sources(tuple(shown)), "strategy.total")

    def _sources(self, shown: tuple[str, ...]) -> str:
        """Return which of the sections shown come from hints and which were inferred."""
        if shown not in self._reasons:
            named: dict[str, list[str]] = {HINTED: [], INFERRED: []}
            for key in shown:
                named[HINTED if self.told.get(key) else INFERRED].append(key.replace("_", " "))
            parts = (f"{source}: {', '.join(names)}" for source, names in named.items() if names)
            self._reasons[shown] = "; ".join(parts)
        return self._reasons[shown]

    def _sections(self, cut: int) -> list[Section]:
        known, told, sent = self.inference, self.told, self.extras(cut)
        goal = () if known.goal_unit in sent or self._stays(known.goal_unit, cut) else (known.goal,)
        return [
            self._section("goal", told["goal"] or goal, True),
            self._section("memory_state", told["memory_state"] or known.memory(cut, sent), True),
            self._section("confirmed_facts", told["confirmed_facts"] or known.facts, False),
            self._section("resource_bindings", told["resource_bindings"] or known.bindings, True),
            self._section("used_tools", known.tools, False, ", "),
        ]

    def _stays(self, index: int, cut: int) -> bool:
        """Return whether a unit is sent whatever is cut."""
        return index >= cut or (index >= 0 and self.log.units[index].stays)

    def _section(self, key: str, items: tuple[str, ...], required: bool, joiner: str = " | ") -> Section:
        """Return a section; one whose items did not change since the last call is the same object."""
        known = self._known.get(key)
        if known is None or known[0] != items:
            said = tuple(filter(None, items))
            several = said if len(said) > 1 else ()
            cap, label = self.strategy.caps.get(key), self.strategy.labels.get(key, key)
            source = HINTED if self.told.get(key) else INFERRED
            made = Section(key, label, joiner.join(said), required, cap, source, several, joiner)
            known = self._known[key] = (items, made)
        return known[1]


def _told(hints: Hints) -> dict[str, tuple[str, ...]]:
    """Return what hints say by section, each item as one line; nothing where they say nothing."""
    return {
        "goal": (plain(hints.goal),) if hints.goal else (),
        "memory_state": (plain(hints.memory),) if hints.memory else (),
        "confirmed_facts": tuple(map(plain, hints.facts)),
        "resource_bindings": tuple(map(plain, hints.bindings)),
    }


class _Tokens:
    """Measures in tokens: a line is cut before the space behind its label, where the tokenizer cuts too."""

    def __init__(self, counter: Counter) -> None:
        self._count = counter.count
        self._known: dict[str, int] = {}
        self._labels: dict[str, int] = {}

    def content(self, content: str) -> int:
        """Return the tokens of a content; those of a section's whole text are asked for at every call."""
        known = self._known.get(content)
        if known is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            known = self._known[content] = self._count(f" {content}\n")
        return known

    def before(self, label: str, first: bool) -> int:
        """Return the tokens of what stands before a content."""
        if label not in self._labels:
            self._labels[label] = self._count(f"- {label}:")
        return self._labels[label]


MOST_KNOWN = 5_000
