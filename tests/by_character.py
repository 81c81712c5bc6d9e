"""The rule book's counter for tiered injection, a token a character, and strategies that are run with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.assembler import Context
from core.config import load_config
from core.dialects import detect
from core.dialects import dialect as dialect_named
from core.plan import apply
from core.runtime import Hints, Result
from core.spans import fixed_part
from core.tokens import Exactness
from core.units import units


class Characters:
    """A token a character, nothing for frames."""

    key = "characters"
    exactness = Exactness.ESTIMATE
    frames = False
    message_overhead = 0

    def count(self, text: str) -> int:
        return len(text)

    def pieces(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

    def remember(self, counts: Mapping[str, int]) -> None:
        pass


def tiered(body: dict[str, Any], budget: int | None, hints: Hints | None = None, **settings: Any) -> Result:
    """Assemble by tiered injection, with the rule book's overhead of 500 unless said otherwise."""
    rules = settings.pop("rules", [])
    config = load_config({"rules": rules, "strategy": {"kind": "tiered_injection", "overhead": 500, **settings}})
    given = hints or Hints()
    counter, spoken = Characters(), dialect_named(detect(body))
    head, messages = spoken.split(body)
    said = (*(rule.rule() for rule in config.rules), *given.rules())
    context = Context(budget, counter, spoken, hints=given)
    assembler = config.strategy.strategy().assembler(context)
    assembler.fix(fixed_part(head, spoken, counter, None, said))
    assembler.extend(units(messages, spoken, counter, said))
    plan = assembler.plan()
    return Result(apply(plan, body, spoken), plan)
