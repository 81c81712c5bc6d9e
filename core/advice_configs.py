"""A ready configuration for each leaf: shrinkers and strategy with their parameters filled in from the prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from .advice_measures import HARD_CASES, Prompt
from .advice_tree import Advice, Leaf
from .spans import Span
from .work_units import Work

Said = dict[str, Any]
STEP_SHARE = 8
"""An agent's cut moves by an eighth of the budget, so that the provider's prompt cache holds for some calls."""
CHARACTERS_A_TOKEN = 4
KEPT_RESULTS = 5
PATTERN = 60
"""Characters by which a rule finds the one text that it pins."""


def candidates(prompt: Prompt, advice: Advice, work: Work | None) -> Iterator[Said]:
    """Yield configurations for a leaf and those after it, the preferred one first; without model and budget.

    What 1A recommends, no configuration does by itself: it numbers the parts, which are then sent one a call; there is
    none where the giant cannot be split. None does what 5A recommends; for work that cannot be split there are those
    that cut history all the same, unless exact strings are needed.
    """
    leaves = (advice.leaf, *advice.then)
    if advice.leaf in (Leaf.FITS, Leaf.OUT_OF_REACH) or (Leaf.SMALLER_UNIT in leaves and prompt.exact_strings_needed):
        return
    if work is not None and work.obstacle:
        return
    shrink, rules = _shrinkers(prompt, leaves, work), _rules(prompt, leaves)
    for strategy, extra in _strategies(prompt, leaves):
        said: Said = {"rules": rules} if rules else {}
        parts = [*extra, *shrink]
        yield {**said, **({"shrink": parts} if parts else {}), "strategy": strategy}


def _shrinkers(prompt: Prompt, leaves: Sequence[Leaf], work: Work | None) -> list[Said]:
    found: list[Said] = []
    if Leaf.DEDUPLICATE in leaves:
        found.append({"kind": "dedupe_instructions", "hard_case_keywords": list(HARD_CASES)})
    if Leaf.CHUNK in leaves and work is not None:
        found.append({"kind": "chunk_pinned", "max_tokens": max(1, work.room)})
    if Leaf.PROJECT in leaves and len(leaves) > 1:
        found.append(_project(prompt))
    return found


def _project(prompt: Prompt) -> Said:
    return {"kind": "project_tool_results", "max_tokens": prompt.projection[0]}


def _strategies(prompt: Prompt, leaves: Sequence[Leaf]) -> Iterator[tuple[Said, list[Said]]]:
    """Yield strategies with the shrinkers that belong to them."""
    cut = {f"keep_{prompt.keep_most.unit}": prompt.keep_most.number, **_step(prompt)}
    keep_last: Said = {"kind": "keep_last", **cut}
    if Leaf.SUMMARISE in leaves or Leaf.SMALLER_UNIT in leaves:
        cap = prompt.measured.summary_cap
        caps = {"summary_tokens": cap, "summary_chars": cap * CHARACTERS_A_TOKEN}
        yield {"kind": "tiered_injection", **cut, **caps}, []
        yield {"kind": "summarize_and_keep", **cut, "min_turns": 0, "min_steps": 0}, []
    elif leaves == (Leaf.PROJECT,):
        mask: Said = {"kind": "mask_tool_results", "keep": KEPT_RESULTS, **_step(prompt)}
        both: list[tuple[Said, list[Said]]] = [(mask, []), (keep_last, [_project(prompt)])]
        yield from both if _old_results_suffice(prompt) else both[::-1]
    else:
        yield keep_last, []


def _old_results_suffice(prompt: Prompt) -> bool:
    """Whether the results that masking takes, all but the newest, cover the overflow of an agent's run."""
    old = prompt.results[:-KEPT_RESULTS]
    return prompt.is_agent and sum(span.tokens for span in old) >= prompt.measured.overflow


def _step(prompt: Prompt) -> Said:
    share = max(1, prompt.allowed // STEP_SHARE)
    return {"step": int(round(share, 1 - len(str(share))))} if prompt.is_agent else {}


def _rules(prompt: Prompt, leaves: Sequence[Leaf]) -> list[Said]:
    """Return the rule that pins the giant text of leaf 1A: only what is pinned is numbered."""
    giant = prompt.largest_pinned
    if Leaf.CHUNK not in leaves or giant is None:
        return []
    return [{"match": _match(giant), "evict": "pinned"}]


def _match(span: Span) -> Said:
    if span.message < 0:
        return {"kind": str(span.kind), "section": _as_glob(span.name)}
    return {"kind": str(span.kind), "pattern": f"^{re.escape(span.text[:PATTERN])}"}


def _as_glob(name: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", name)
