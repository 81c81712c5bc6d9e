"""Per-call figures of a replay as columns.

Tokens, status and excess are taken from the plans as they are; totals by kind and by action are differences of running
sums, made for all calls when a column is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .decisions import Action
from .plan import Plan
from .spans import SpanKind


class Columns(Mapping[str, Sequence[Any]]):
    """Per-call columns by name; each is made when it is first asked for."""

    def __init__(
        self,
        plans: Sequence[Plan],
        entered: Sequence[int],
        measures: Mapping[str, Callable[[], Sequence[Any]]] | None = None,
    ) -> None:
        self._plans = plans
        self._measures = measures or {}
        self._made: dict[str, Sequence[Any]] = {"entered": entered}
        self._plain: dict[str, Callable[[Plan], Any]] = {
            "in_window": lambda plan: plan.tokens_after,
            "entered": lambda plan: None,
            "before": lambda plan: plan.tokens_before,
            "status": lambda plan: plan.status,
            "excess": lambda plan: plan.excess,
        }

    def __getitem__(self, name: str) -> Sequence[Any]:
        """Return a column, one value a call. KeyError if there is no such column."""
        if name not in self._made:
            self._make(name)
        return self._made[name]

    def _make(self, name: str) -> None:
        if name in self._plain:
            self._made[name] = [self._plain[name](plan) for plan in self._plans]
            return
        if name in self._measures:
            self._made[name] = self._measures[name]()
            return
        group, _, key = name.partition(".")
        if group == "kind" and key in list(SpanKind):
            rows = [plan.kinds() for plan in self._plans]
            self._made |= {f"kind.{kind}": [row.get(kind, 0) for row in rows] for kind in SpanKind}
        elif group == "action" and key in list(Action):
            counts = [plan.actions() for plan in self._plans]
            self._made |= {f"action.{action}": [row.get(action, 0) for row in counts] for action in Action}
        else:
            raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        """Yield the names of all columns."""
        yield from self._plain
        yield from self._measures
        yield from (f"kind.{kind}" for kind in SpanKind)
        yield from (f"action.{action}" for action in Action)

    def __len__(self) -> int:
        """Return how many columns there are."""
        return len(self._plain) + len(self._measures) + len(SpanKind) + len(Action)
