"""The five-branch tree, drawn: each branch with what it asks, what it measured here, and whether it was taken."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass

from core.advice import Advised
from core.advice_tree import Leaf
from core.advice_words import BRANCHES, one_block
from core.wording import counted

UNASKED = (Leaf.FITS, Leaf.OUT_OF_REACH)
"""Leaves that are settled before any branch is asked."""
TAKEN, THEN, PASSED, NOT_ASKED = "taken", "then", "passed over", "not asked"


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch: its question, the evidence here, what it could give back in tokens, and what became of it."""

    leaf: Leaf
    question: str
    evidence: str
    gives: int | None
    state: str


def branches(found: Advised) -> list[Branch]:
    """Return the branches in the order in which the tree asks."""
    measured, gains = found.prompt.measured, found.advice.reclaim
    unseen = found.prompt.unseen
    history = f"{counted(measured.old_history, 'token')} of text older than {found.prompt.kept}"
    if measured.exact_strings_needed:
        history += "; exact strings are needed, so none of it may be summarised"
    cap, projected = found.prompt.projection
    rows = [
        (Leaf.CHUNK, "Is one pinned text larger than the budget?", _largest(found), None),
        (Leaf.SUMMARISE, "Does old conversation cover it, and more than tools do?", history, gains.history),
        (
            Leaf.PROJECT,
            "Do tool results cover it?",
            f"{counted(measured.tool_output, 'token')} of results, {projected:,} if each is cut to {cap}",
            gains.tool,
        ),
        (
            Leaf.DEDUPLICATE,
            "Do restated rules and examples cover it?",
            _restated(found, unseen),
            None if unseen and not gains.instruction else gains.instruction,
        ),
        (Leaf.SMALLER_UNIT, "Nothing covers it: is the unit of work too large?", _rest(found), None),
    ]
    taken = (found.advice.leaf, *found.advice.then)
    return [Branch(leaf, asked, said, gives, _state(leaf, taken)) for leaf, asked, said, gives in rows]


def _largest(found: Advised) -> str:
    giant, unseen = found.prompt.largest_pinned, found.prompt.unseen
    largest = f"the largest, {giant.name}, has {counted(giant.tokens, 'token')}" if giant else "nothing is pinned"
    if found.advice.leaf is Leaf.CHUNK or not unseen:
        return largest
    return f"not known: {unseen}; of the rest, {largest}"


def _restated(found: Advised, unseen: str) -> str:
    rules, examples = found.prompt.restated, found.prompt.examples
    if unseen and not rules + examples:
        return f"not known: {unseen}"
    return f"{counted(rules, 'token')} of rules said before, {examples:,} of examples"


def _rest(found: Advised) -> str:
    """Return what the branches give back together; where 5A is taken, the configuration beside it gives more."""
    together, over, taken = sum(found.advice.reclaim), found.advice.overflow, found.advice.leaf is Leaf.SMALLER_UNIT
    if over <= 0:
        return "nothing has to be given back"
    if taken and found.prompt.measured.largest_pinned > found.prompt.measured.soft_budget:
        return f"{one_block(found.prompt)}, and exact strings are needed"
    more = "; the configuration above also leaves out older steps whole" if taken and found.config is not None else ""
    return f"{BRANCHES} give back {needed(together, over)}{more}"


def needed(gives: int, overflow: int) -> str:
    """Return what is given back against what is needed, in tokens."""
    if gives > overflow:
        return f"{gives:,}, more than the {overflow:,} needed"
    return f"{gives:,} of the {overflow:,} needed" if gives < overflow else f"{gives:,}, all that is needed"


def folded(found: Advised) -> str:
    """Return the five branches as one line, for a prompt that none of them is asked about."""
    gains, prompt = found.advice.reclaim, found.prompt
    known = [f"old conversation {gains.history:,}", f"tool results {gains.tool:,}"]
    if gains.instruction or not prompt.unseen:
        known += [f"restated rules {prompt.restated:,}", f"examples {prompt.examples:,}"]
    why = "nothing has to be given back" if found.advice.overflow <= 0 else "no branch can give back enough"
    return f"The five questions below are not asked: {why}. Could be given back, in tokens: {', '.join(known)}."


def _state(leaf: Leaf, taken: tuple[Leaf, ...]) -> str:
    if leaf is taken[0]:
        return TAKEN
    if leaf in taken:
        return THEN
    order = list(Leaf)
    alone = len(taken) == 1 and taken[0] not in UNASKED
    return NOT_ASKED if taken[0] in UNASKED or (alone and order.index(leaf) > order.index(taken[0])) else PASSED


def tree_html(found: Advised, dark: bool) -> str:
    """Return the tree as HTML: a row of five cards, the taken one marked."""
    cards = "".join(_card(branch, found.advice.overflow, dark) for branch in branches(found))
    return (
        '<div role="list" style="display:grid;grid-template-columns:repeat(5,minmax(0,1fr));gap:0.6rem;'
        f'font-size:0.9rem;line-height:1.35">{cards}</div>'
    )


def _card(branch: Branch, overflow: int, dark: bool) -> str:
    accent = "#5eead4" if dark else "#0f766e"
    plain = "#2b353b" if dark else "#dfe5e8"
    marked = branch.state in (TAKEN, THEN)
    style = "solid" if branch.state != THEN else "dashed"
    opacity = "1" if marked else "0.72"
    badge = f'<span style="color:{accent if marked else "inherit"};font-weight:600">{branch.state}</span>'
    return (
        f'<div role="listitem" style="border:{2 if marked else 1}px {style} {accent if marked else plain};'
        f'border-radius:0.4rem;padding:0.6rem 0.7rem;opacity:{opacity};display:flex;flex-direction:column;gap:0.35rem">'
        f'<div style="display:flex;justify-content:space-between"><b>{branch.leaf}</b>{badge}</div>'
        f'<div style="font-weight:600">{html.escape(branch.question)}</div>'
        f'<div style="overflow-wrap:anywhere">{html.escape(branch.evidence)}</div>'
        f"{''.join(_bar(branch.gives, overflow, accent, plain))}</div>"
    )


def _bar(gives: int | None, overflow: int, accent: str, plain: str) -> Iterator[str]:
    """Yield what a branch gives back against what is needed, as a bar with its figures."""
    if gives is None:
        return
    if overflow <= 0:
        yield f'<div style="margin-top:auto;opacity:0.8">could give back {gives:,}</div>'
        return
    yield (
        f'<div style="margin-top:auto"><div style="height:6px;border-radius:3px;background:{plain}">'
        f'<div style="height:6px;border-radius:3px;width:{min(1.0, gives / overflow):.0%};background:{accent}"></div>'
        f'</div><div style="opacity:0.8;margin-top:0.2rem">gives back {needed(gives, overflow)}</div></div>'
    )
