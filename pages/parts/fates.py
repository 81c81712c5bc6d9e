"""One call under several configurations: each span with what every configuration does to it, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.decisions import Action, Decision
from core.replay import Replay
from core.spans import OVERHEAD_ID, SpanKind
from core.wording import counted

from .frames import FRAMES_NAME, FRAMES_TEXT, Block, spans_of

_INJECTED_KINDS = {"summary": SpanKind.SUMMARY, "menu": SpanKind.INSTRUCTIONS, "context": SpanKind.MEMORY}


@dataclass(frozen=True, slots=True)
class Fates:
    """A span and what each configuration decides for it; None where a configuration has no such span."""

    block: Block
    decisions: tuple[Decision | None, ...]

    @property
    def differs(self) -> bool:
        """Whether the configurations do not all send the same for it; of one alone, whether it changes it."""
        if len(self.decisions) == 1:
            return self.decisions[0] is None or self.decisions[0].action is not Action.KEEP
        return len({_outcome(decision) for decision in self.decisions}) > 1


def fates(replays: Sequence[Replay], call: int) -> list[Fates]:
    """Return the spans of a call's prompt in its order, then what strategies put in, then the frames."""
    decided = [{made.span_id: made for made in replay.plan(call).decisions} for replay in replays]
    rows = [Block(span.id, str(span.kind), span.name, span.shown, span.tokens) for span in spans_of(replays[0], call)]
    known = {row.id for row in rows}
    added = dict.fromkeys(key for plan in decided for key in plan if key not in known and key != OVERHEAD_ID)
    rows += [_injected(key, decided) for key in added]
    before = next((plan[OVERHEAD_ID].tokens_before for plan in decided if OVERHEAD_ID in plan), 0)
    rows.append(Block(OVERHEAD_ID, str(SpanKind.OVERHEAD), FRAMES_NAME, FRAMES_TEXT, before))
    return [Fates(row, tuple(plan.get(row.id) for plan in decided)) for row in rows]


def fate_text(decision: Decision | None) -> str:
    """Return a decision in one line: the action, the tokens where they change, and the reason."""
    if decision is None:
        return "—"
    if decision.action is Action.KEEP and decision.tokens_after == decision.tokens_before:
        return f"keep · {decision.reason}" if decision.reason else "keep"
    if not decision.tokens_before:
        return f"put in, {counted(decision.tokens_after, 'token')} · {decision.reason}"
    left = f" → {decision.tokens_after:,}" if decision.tokens_after else ""
    return f"{decision.action}{left} · {decision.reason}"


def _injected(key: str, decided: Sequence[dict[str, Decision]]) -> Block:
    texts = [plan[key].replacement for plan in decided if key in plan]
    kind = _INJECTED_KINDS.get(key, SpanKind.OTHER)
    return Block(key, str(kind), f"{key} put in by the strategy", texts[0] or "" if texts else "", 0)


def _outcome(decision: Decision | None) -> tuple[object, ...]:
    if decision is None:
        return ()
    if decision.action is Action.KEEP:
        return (Action.KEEP, decision.tokens_after)
    return (decision.action, decision.tokens_after, decision.replacement)
