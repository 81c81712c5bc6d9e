"""What random request bodies are made of: texts that once hid a fault, call ids, unknown keys and cache marks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

Wire = dict[str, Any]

PUT_IN = "ZQ-7741"
"""An order number that stands in texts of earlier assemblies alone, so that no new text may say it again."""

RECORDS = json.dumps([{"id": at, "name": f"row{at}", "val": "x" * 20} for at in range(9)])
_SAID = [
    "ok",
    "好的",
    "Please run Python on the list",
    "帮我翻一下接口文档，结果一共 63 条。",
    'KEEP this: order A-1009 of "alpha beta" was paid on 2026-03-04',
    "lone \ud83d surrogate and 😀 together",
    "# Rules\n1. Be brief always.\n2. Cite sources always.\n\n<examples>\nQ: a\n</examples>\nEnd",
    "磁盘已用 85%，剩 12GB，先不用扩。" * 6,
    'the build of "alpha beta" failed at step 7 with error E0432 in /srv/app/main.rs ' * 8,
    "line one\nline two\nline three\n" * 9,
    '{"rows": [1, 2.5, null], "ok": true, "名": "值"}',
    RECORDS,
]
_PUT_IN = [
    f"[summary] asked about {PUT_IN}… (was ~90 tokens)",
    f'[Earlier conversation]\n[user]: is {PUT_IN} of "gamma delta" done',
    f"[left out: m3.0, 90 tokens of {PUT_IN}]",
    f"[Context of this task]\n- Current goal: ship {PUT_IN}",
]
SAID = st.sampled_from([*_SAID, *_PUT_IN])
TEXTS = st.one_of(SAID, SAID, SAID, SAID, st.just(" \n"))
CONTENT = st.one_of(TEXTS, TEXTS, TEXTS, st.sampled_from(["", None]))
OUTPUTS = st.sampled_from(_SAID)
TOLD = "EXECUTION RESULT of ["
"""How a tool's result begins that is told as text."""
_TOLD = st.sampled_from([f"{TOLD}run_python]:\n{said}" for said in ("", "ok", "line of a log\n" * 30, RECORDS)])
"""Texts that may stand inside of other JSON."""
SYSTEM_TEXTS = st.sampled_from(
    [
        "You are helpful.",
        "x y z " * 30,
        "# Rules\n1. Be brief always please.\n2. Cite sources always.\n\n# More\n1. Be brief always please.\n",
        "1. Be brief always please.\n",
        "<examples>\nQ: a\nA: b\n</examples>\n",
        "KEEP the order A-1009 in mind.",
    ]
)
NAMES = st.sampled_from(["search_docs", "run_python", "calendar", "read"])
ARGUMENTS = st.sampled_from(
    [{}, {"path": "/srv"}, {"q": "文档", "n": 3, "deep": {"a": [1, None]}}, {"code": "print(1)\n" * 12}]
)
MARK = {"type": "ephemeral"}
PICTURE = "data:image/png;base64,iVBORw0KGgo="
UNKNOWN = "x_note"
"""A key that no provider knows; each one has a number of its own, so that it can be found again."""
SCHEMA = {"type": "object", "properties": {"q": {"type": "string", "description": "what to look for"}}}


class Ids:
    """Call ids, nearly always new ones."""

    def __init__(self, draw: Callable[[Any], Any], tidy: bool) -> None:
        self._draw, self._tidy = draw, tidy
        self.used: list[str] = []

    def new(self) -> str:
        if self.used and not self._tidy and self._draw(st.integers(0, 11)) == 11:
            return str(self._draw(st.sampled_from(self.used)))
        self.used.append(f"c{len(self.used)}")
        return self.used[-1]

    def any(self) -> str:
        return str(self._draw(st.sampled_from([*self.used, "unknown"])))


class Writer:
    """What the writers of all dialects share. A tidy one writes what a provider takes."""

    def __init__(self, draw: Any, tidy: bool = False) -> None:
        self.draw, self.tidy, self.ids = draw, tidy, Ids(draw, tidy)
        self._notes = 0
        self._tells = False

    def chance(self, of: int) -> bool:
        return bool(self.draw(st.integers(1, of)) == of)

    def text(self) -> str:
        return str(self.draw(_TOLD if self._tells else SAID if self.tidy else TEXTS))

    def content(self) -> Any:
        return self.draw(_TOLD if self._tells else SAID if self.tidy else CONTENT)

    def told(self) -> list[Wire]:
        """Write a reply and the results that a user message tells, one or two of them."""
        reply = self.assistant()  # type: ignore[attr-defined]
        self._tells = True
        results = [message for _ in range(2 if self.chance(5) else 1) for message in self.user()]  # type: ignore[attr-defined]
        self._tells = False
        return [*reply, *results]

    def noted(self, wire: Wire, of: int = 9) -> Wire:
        """Give one of so many an unknown key."""
        if not self.chance(of):
            return wire
        self._notes += 1
        return {**wire, UNKNOWN: self._notes}

    def marked(self, wire: Wire, of: int = 5) -> Wire:
        """Give one of so many a cache mark."""
        return {**wire, "cache_control": MARK} if self.chance(of) else wire

    def before(self, messages: list[Wire], event: list[Wire]) -> list[Wire]:
        """Return an event with what must stand before it."""
        return event

    def named(self) -> list[str]:
        """Draw the names of the tools."""
        return list(self.draw(st.lists(NAMES, max_size=3, unique=True)))


def description(name: str) -> str:
    return f"{name}: " + "x " * 40
