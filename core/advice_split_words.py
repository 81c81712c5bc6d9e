"""A split that its checks refuse, in words: that it does not hold, and what is left to do.

An advice that recommends a split must not be read without its checks, so headline and verdict are told from both.
"""

from __future__ import annotations

from collections.abc import Sequence

from .advice_measures import Prompt
from .advice_tree import Leaf
from .advice_trial import Check
from .work_units import Work

__all__ = ["headline", "split_fails"]

_RAISE = "raise the budget, or make what must stay smaller"


def headline(leaf: Leaf, title: str, prompt: Prompt, checks: Sequence[Check], has_cut: bool) -> str:
    """Return the title of a leaf, or where its split fails what takes its place; `has_cut` is a cut that fits."""
    if _failed(leaf, checks) is None:
        return title
    if leaf is Leaf.CHUNK:
        return "One text is too large, and cannot be split to fit"
    if has_cut:
        return "Cut history: the work cannot be split to fit"
    return "The work cannot be split to fit" if prompt.exact_strings_needed else "Neither a split nor a cut fits"


def split_fails(leaf: Leaf, prompt: Prompt, work: Work | None, checks: Sequence[Check], has_cut: bool) -> str:
    """Return why a recommended split does not hold and what is left, to follow the verdict; "" where it holds."""
    failed = _failed(leaf, checks)
    if failed is None:
        return ""
    if leaf is Leaf.CHUNK:
        return "" if work is None or not work.units else f" But the parts do not all fit: {failed.why}."
    said = f" The work cannot be split to fit: {failed.why}."
    if has_cut:
        return f"{said} What is left is to cut history, which makes call {prompt.call + 1} fit."
    if prompt.exact_strings_needed:
        return f"{said} Exact strings are needed, so history is not cut either: {_RAISE}."
    return f"{said} No cut of history makes it fit either: {_RAISE}."


def _failed(leaf: Leaf, checks: Sequence[Check]) -> Check | None:
    """Return the first check that a split failed."""
    if leaf not in (Leaf.CHUNK, Leaf.SMALLER_UNIT):
        return None
    return next((check for check in checks if check.passed is False), None)
