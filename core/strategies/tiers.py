"""The rules of tiered injection as functions of plain values (rule book 4); the strategy applies them to a request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .. import marks
from ..errors import ConfigError
from ..wording import counted

CORE_SHARE = 0.3
RETRIEVAL_SHARE = 0.4
LINE_LENGTH = 200
GROUPS_FROM = 50
"""Number of tools from which grouping is recommended (rule book 4.4)."""

_LEVELS = {"default": (500, 2000), "sensitive": (500, 800), "tolerant": (500, 2000)}


@dataclass(frozen=True, slots=True)
class ToolGroup:
    """Tools that are injected together when one of their keywords is said. `tools` are globs of tool names."""

    name: str
    keywords: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


def available(window: int, reserve_ratio: float, max_output: int) -> int:
    """Return the soft budget in tokens of a window (M-P1). ConfigError when nothing is left (M-R10)."""
    left = int(window * (1 - reserve_ratio) - max_output)
    if left <= 0:
        raise ConfigError(
            "budget",
            f"nothing is left of a window of {counted(window, 'token')}: {reserve_ratio:.0%} reserve and"
            f" {counted(max_output, 'token')} of output leave {left:,}.",
            "Lower model.max_output or budget.reserve_ratio, or set budget.soft_limit.",
        )
    return left


def core_limit(soft_budget: int) -> int:
    """Return how many tokens core blocks may have in all (M-P2)."""
    return int(CORE_SHARE * soft_budget)


def retrieval_limit(soft_budget: int) -> int:
    """Return how many tokens retrieved results may have in all (M-P8)."""
    return int(RETRIEVAL_SHARE * soft_budget)


def with_core_block(blocks: Sequence[int], block: int, soft_budget: int) -> tuple[int, ...]:
    """Return the sizes of the core blocks with one more. ConfigError, and nothing changed, over the limit (M-R7)."""
    total, limit = sum(blocks) + block, core_limit(soft_budget)
    if total > limit:
        raise ConfigError("core", f"core blocks of {counted(total, 'token')} exceed the limit of {limit:,}.")
    return (*blocks, block)


def core_level(tokens: int, profile: str = "default") -> str:
    """Return ok, notice or warning for the length of the core part in tokens (rule book 4.4)."""
    notice, warning = _LEVELS[profile]
    return "warning" if tokens > warning else "notice" if tokens > notice else "ok"


def select_within(sizes: Sequence[int], limit: int) -> list[int]:
    """Return the places of the results that fit, in order; an oversized one is passed over (M-P8, right form)."""
    shown, used = [], 0
    for place, size in enumerate(sizes):
        if used + size <= limit:
            shown.append(place)
            used += size
    return shown


def is_said(keyword: str, text: str) -> bool:
    """Return whether a keyword stands in a lower-cased text: ASCII ones as whole words, others anywhere."""
    keyword = keyword.lower()
    return _word(keyword).search(text) is not None if keyword.isascii() else keyword in text


@lru_cache(maxsize=4096)
def _word(keyword: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z0-9_]){re.escape(keyword)}(?![a-z0-9_])")


def menu(lines: Sequence[str]) -> str:
    """Return the text that tells the model which tools it can ask for; empty without any."""
    if not lines:
        return ""
    return "\n".join([f"{marks.TOOL_MENU} Not loaded; name what you need and it will be there:", *lines])


def summary_line(role: str, text: str) -> str:
    """Return a message's line in a rolling summary: role and the first 200 characters (M-P6)."""
    read = text[: LINE_LENGTH * 8]
    words = " ".join(read.split())
    cut = len(words) > LINE_LENGTH or len(text) > len(read)
    return f"[{role}]: {words[:LINE_LENGTH]}" + ("..." if cut else "")


def heading(left_out: int) -> str:
    """Return a rolling summary's first line; it says how many older messages have no line."""
    return marks.ROLLING_SUMMARY + (f" ({left_out} older left out)" if left_out else "")
