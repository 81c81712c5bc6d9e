"""The rule book's case files, and how they are put to the engine."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from core.runtime import ContextRuntime, Result

DATA = Path(__file__).parent / "data"


@cache
def case_file(name: str) -> Any:
    """Return a case file; nobody changes it."""
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def chat() -> list[dict[str, Any]]:
    """The conversation of 20 turns and 41 messages."""
    messages: list[dict[str, Any]] = case_file("ctx_budget_20_turns.json")
    return messages


def tool_chat() -> list[dict[str, Any]]:
    """The conversation of 16 turns and 65 messages, with a tool call and its result in each turn."""
    messages: list[dict[str, Any]] = case_file("tool_pairs_16_turns.json")
    return messages


def budgeted(messages: list[dict[str, Any]], budget: int | None, kind: str, **settings: Any) -> Result:
    """Assemble messages counted by the rule book's estimate (rule B-P1)."""
    config = {
        "counter": {"kind": "cjk_estimate"},
        "budget": {"soft_limit": budget},
        "strategy": {"kind": kind, **settings},
    }
    return ContextRuntime.load(config).assemble({"messages": messages})


def dropped_messages(result: Result) -> int:
    """How many messages are gone without anything in their place."""
    kept = {made.span_id.partition(".")[0] for made in result.decisions if made.action != "drop"}
    gone = {made.span_id.partition(".")[0] for made in result.decisions if made.action == "drop"}
    return len(gone - kept)
