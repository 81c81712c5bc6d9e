"""Which leaf for which symptom, with the evidence on this transcript (rule book 1.6): one function a row.

A row is seen, not seen, or cannot be told (None), for instance where no response was recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .advice_measures import TEXT, Prompt, tokens_of
from .advice_tree import Leaf, advise, reclaim
from .advice_trial import Trial
from .decisions import Action
from .findings_fixed_part import core_tokens
from .normal_text import normal
from .references import references_of
from .refetches import refetches
from .result_spans import result_tokens
from .validity import validate
from .watched_texts import Use, stands_in, watch_word
from .wording import agreeing, counted, counted_or_no

TOOL_SHARE = 0.4
INSTRUCTION_SHARE = 0.25
HEADROOM = 0.2
LARGEST = 3


@dataclass(frozen=True, slots=True)
class Symptom:
    """One row: what is noticed, whether it is seen here, the evidence, and the leaf that it speaks for."""

    name: str
    seen: bool | None
    evidence: str
    leaf: str


def fails_from_the_first_call(prompt: Prompt, trial: Trial | None) -> Symptom:
    """One pinned span is over the budget alone."""
    name, giant, sizes = "fails from the first call, however short the history", prompt.largest_pinned, prompt.sizes
    if sizes.is_hopeless:
        what = f"what is not recorded, about {counted(sizes.hidden, 'token')}, takes all of {sizes.budget:,} alone"
        return Symptom(name, True, what, "no leaf")
    tokens = giant.tokens if giant else 0
    largest = f"{giant.name}{_place(prompt, giant.id, prompt.call)}" if giant else "nothing"
    named = f"the largest pinned span, {largest}, has"
    seen = not sizes.fits(tokens)
    if prompt.unseen and not seen:
        return Symptom(name, None, f"{prompt.unseen}; of the rest, {named} {counted(tokens, 'token')}", "1A")
    return Symptom(name, seen, f"{named} {sizes.of_budget(tokens)}", "1A")


def grows_steadily(prompt: Prompt, trial: Trial | None) -> Symptom:
    """Old text is the largest reclaimable share and covers the overflow."""
    gains, over = reclaim(prompt.measured), prompt.measured.overflow
    old = f"{counted(prompt.measured.old_history, 'token')} of text older than {prompt.kept}"
    return Symptom(
        "grows by a steady amount each turn; late turns fail",
        over > 0 and gains.history >= over and gains.history >= gains.tool,
        f"{old}, {max(0, over):,} over the budget",
        "2A",
    )


def jumps_after_calls(prompt: Prompt, trial: Trial | None) -> Symptom:
    """Tool results are 40% of the prompt, or the three largest cover the overflow."""
    output, over = prompt.measured.tool_output, prompt.measured.overflow
    largest = sum(sorted((span.tokens for span in (*prompt.results, *prompt.carried)), reverse=True)[:LARGEST])
    share = output / prompt.total if prompt.total else 0.0
    return Symptom(
        "jumps after particular calls; adding a tool broke it",
        share >= TOOL_SHARE or (0 < over <= largest),
        f"tool results are {share:.0%} of {_whole(prompt)}; the {LARGEST} largest have {counted(largest, 'token')}"
        f"{_in_images(prompt)}{_gives(prompt, reclaim(prompt.measured).tool)}"
        if prompt.results
        else "there is no tool result",
        "3A",
    )


def _gives(prompt: Prompt, tokens: int) -> str:
    """Return what 3A gives back where something is over: results seen to be large may hold nothing to project."""
    over = prompt.measured.overflow
    return f"; 3A gives back {tokens:,} of the {over:,} over" if over > 0 else ""


def _in_images(prompt: Prompt) -> str:
    """Return how much of the results no projection of text makes smaller, as part of a sentence; "" if nothing."""
    tokens = sum(span.tokens for span in prompt.carried)
    which = agreeing(len(prompt.carried), "an image or file", "images or files")
    return f"; {tokens:,} of all stand in {which}, which only the tool can send smaller" if tokens else ""


def old_tokens_are_tools(prompt: Prompt, trial: Trial | None) -> Symptom:
    """Inside the old part, tool results outweigh text."""
    tools = sum(map(result_tokens, prompt.old_units))
    text = sum(tokens_of(unit, TEXT) for unit in prompt.old_units)
    return Symptom(
        "“history too long”, yet most old tokens are tool results",
        tools > text,
        f"older than {prompt.kept}: {counted(tools, 'token')} of results, {text:,} of text",
        "3A, not 2A",
    )


def same_base_cost(prompt: Prompt, trial: Trial | None) -> Symptom:
    """Instructions are a quarter of the prompt and repeat themselves."""
    share = core_tokens(prompt.plan.fixed) / prompt.total if prompt.total else 0.0
    lines = len(prompt.repeated_rules)
    name, seen = "same base cost in every call; rules restated", share >= INSTRUCTION_SHARE and lines > 0
    if prompt.unseen and not seen:
        return Symptom(name, None, prompt.unseen, "4A")
    repeat = counted(lines, "line", "repeats", "repeat") if lines else "no line repeats"
    return Symptom(name, seen, f"instructions are {share:.0%} of {_whole(prompt)}; {repeat}", "4A")


def repeats_calls(prompt: Prompt, trial: Trial | None) -> Symptom:
    """A call is kept without its result, told as text or not; one that ends the prompt still waits for it."""
    body, whole = prompt.history.prompt(prompt.call), _told_or_open(prompt)
    broken = validate(body, prompt.history.transcript.dialect)
    split = [v for v in broken if v.rule == "call_without_result" and v.subject not in whole]
    again = sum(one.is_reread for one in refetches(prompt.history.transcript) if one.call <= prompt.call)
    return Symptom(
        "repeats a call that it already made",
        bool(split),
        f"{counted_or_no(len(split), 'call', 'stands', 'stand')} without a result;"
        f" {counted_or_no(again, 'result', 'was', 'were')} fetched again up to call {prompt.call + 1} with nothing"
        " changed",
        "repair pairs, then 3A",
    )


def _told_or_open(prompt: Prompt) -> set[str]:
    """Return the ids of the calls whose results were told as text, and of those with which the prompt ends."""
    units = prompt.log.units
    told = (unit.messages for unit in units if any(part.told for made in unit.messages for part in made.parts))
    last = [units[-1].messages[-1:]] if units else []
    return {call.call_id for messages in (*told, *last) for made in messages for call in made.calls}


def cites_what_was_removed(prompt: Prompt, trial: Trial | None) -> Symptom:
    """What the configuration no longer sends is named by a later response."""
    name, leaf = "confident answer that cites something removed", "restore it, then 5A"
    if trial is None or trial.played is None:
        return Symptom(name, None, "no configuration was tried", leaf)
    gone, upto = trial.lost, f"up to call {prompt.call + 1}"
    if not trial.is_answered:
        return Symptom(name, None, f"no response {upto} is in the recording", leaf)
    if not gone:
        return Symptom(name, False, f"no reference of a response {upto} is lost", leaf)
    results = len(trial.lost_from_results)
    said = f"{counted(len(gone), 'reference')} of responses {upto} {agreeing(len(gone), 'is', 'are')} lost"
    said += f", {results:,} from tool results and {len(gone) - results:,} from other text"
    place = _place(prompt, gone[0].span_id, gone[0].call)
    shown = f", such as {gone[0].text!r} in call {gone[0].call + 1}{place.replace(' (', ' (of ')}"
    return Symptom(name, True, f"{said}{shown}", leaf)


def exact_strings_altered(prompt: Prompt, trial: Trial | None) -> Symptom:
    """Exact strings stand inside what is summarised and not in the summary."""
    name, leaf = "ids, hashes and error codes come back altered", "pin them, 5A"
    if trial is None or trial.played is None:
        return Symptom(name, None, "no configuration was tried", leaf)
    folded = {made.span_id for made in trial.decisions.values() if made.action is Action.SUMMARISE}
    spans = [span for unit in prompt.log.units for span in unit.spans if span.id in folded and span.kind in TEXT]
    exact = {Use(found.kind, found.key) for span in spans for found in references_of(normal(span.text))}
    texts = [made.replacement or "" for made in trial.decisions.values() if made.span_id in folded]
    told = normal("\n".join([*texts, *trial.plan.inserted]))
    gone = [use for use in exact if not stands_in(use, watch_word(use), told)]
    if not exact:
        return Symptom(name, False, "no text that is summarised holds an exact string", leaf)
    said = f"of {counted(len(exact), 'exact string')} in text that is summarised, {len(gone):,}"
    return Symptom(name, bool(gone), f"{said} {agreeing(len(gone), 'is', 'are')} not in the summary", leaf)


def all_pinned(prompt: Prompt, trial: Trial | None) -> Symptom:
    """What is pinned is over the budget together, and nothing alone."""
    tokens = sum(span.tokens for span in prompt.pinned)
    largest, sizes = prompt.measured.largest_pinned, prompt.sizes
    name, seen = "everything left is pinned and still over", not sizes.fits(tokens) and sizes.fits(largest)
    said = f"{counted(tokens, 'token', 'is', 'are')} pinned, the largest span has {largest:,}"
    if prompt.unseen and not seen:
        return Symptom(name, None, f"{prompt.unseen}; of the rest, {said}{_other_way(prompt, seen)}", "5A")
    return Symptom(name, seen, f"{said}{sizes.beside if sizes.hidden else ''}{_other_way(prompt, seen)}", "5A")


def _other_way(prompt: Prompt, seen: bool) -> str:
    """Return why 5A is taken without its symptom, to follow the evidence; "" where it is not taken or is seen."""
    if seen or advise(prompt.measured).leaf is not Leaf.SMALLER_UNIT:
        return ""
    if prompt.measured.largest_pinned > prompt.measured.soft_budget:
        return "; 5A is taken as the largest is over the budget alone and exact strings are needed"
    gives, over = sum(reclaim(prompt.measured)), prompt.measured.overflow
    return f"; 5A is taken for another reason: the branches give back {gives:,} of the {over:,} needed"


def has_headroom(prompt: Prompt, trial: Trial | None) -> Symptom:
    """More than 20% of the budget is free."""
    over, share = prompt.measured.overflow, prompt.sizes.free(prompt.total)
    said = f"{share:.0%} of the budget is free{prompt.sizes.beside}" if over < 0 else f"{counted(over, 'token')} over"
    return Symptom("fits with more than 20% headroom", over < 0 and share >= HEADROOM, said, "leave it alone")


def _place(prompt: Prompt, span_id: str, call: int) -> str:
    """Return a span's number among those of its call, as Inspect has it, in brackets.

    "" where a recorded compaction removed some of the history that is looked at here: Inspect numbers what was sent.
    """
    history = prompt.history
    made, plan = history.transcript.calls[call], history.plan(call)
    if made.captured != made.history:
        return ""
    units = (unit.source or unit for unit in plan.log.units[: plan.count])
    spans = [*(plan.fixed.source or plan.fixed).spans, *(span for unit in units for span in unit.spans)]
    return next((f" (#{place:,})" for place, span in enumerate(spans, 1) if span.id == span_id), "")


def _whole(prompt: Prompt) -> str:
    """Return what shares are of: only what is recorded can be told apart."""
    return "what is recorded" if prompt.sizes.hidden or prompt.unseen else "the prompt"


ROWS: tuple[Callable[[Prompt, Trial | None], Symptom], ...] = (
    fails_from_the_first_call,
    grows_steadily,
    jumps_after_calls,
    old_tokens_are_tools,
    same_base_cost,
    repeats_calls,
    cites_what_was_removed,
    exact_strings_altered,
    all_pinned,
    has_headroom,
)


def symptoms(prompt: Prompt, trial: Trial | None) -> tuple[Symptom, ...]:
    """Return all rows of the table."""
    return tuple(row(prompt, trial) for row in ROWS)
