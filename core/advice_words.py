"""The advice in sentences: what the tree found in a call, and what the recommended configuration does about it.

The tree measures what results have once each is cut, and text older than the least that is kept; a configuration may
mask instead, keep more, or leave whole steps out. So each sentence says which of the two its figures are about.
"""

from __future__ import annotations

from collections.abc import Iterator

from .advice_measures import Prompt, kept_words
from .advice_symptoms import HEADROOM
from .advice_tree import Advice, Leaf
from .advice_trial import Trial, kept_by
from .config import Configuration
from .decisions import Fate
from .plan import Plan
from .sent_sizes import over_as_sent
from .wording import agreeing, counted
from .work_units import Work

__all__ = ["BRANCHES", "SHORT", "TITLES", "configured", "left_out", "one_block", "stay_over", "verdict"]

BRANCHES = "without leaving out whole steps, all branches together"
"""The branches shorten results and text and say rules once: what a cut of history leaves out is more."""
SHORT = 15
"""Turns and steps up to which a task is short (rule B-R4)."""
TITLES = {
    Leaf.FITS: "It fits",
    Leaf.OUT_OF_REACH: "No strategy can make it fit",
    Leaf.CHUNK: "Number the parts of the giant text",
    Leaf.SUMMARISE: "Keep the newest part, one capped summary for the rest",
    Leaf.PROJECT: "Make tool results smaller",
    Leaf.DEDUPLICATE: "Say each rule once, put examples aside",
    Leaf.SMALLER_UNIT: "Make the unit of work smaller",
}


def verdict(prompt: Prompt, advice: Advice, work: Work | None) -> tuple[bool, str]:
    """Return whether to leave the prompt alone, and the advice in one sentence."""
    over, budget, sizes = advice.overflow, prompt.budget, prompt.sizes
    named = f"{prompt.named[:1].upper()}{prompt.named[1:]}"
    if advice.leaf is Leaf.OUT_OF_REACH:
        return False, _hopeless(prompt)
    if over > 0:
        over_by = f"{named} is {counted(over, 'token')} over the budget of {budget:,}{sizes.beside}"
        return False, f"{over_by}: {_why(prompt, advice)}.{_to_do(advice, work)}"
    free = sizes.free(prompt.total)
    room = f"{free:.0%} of {counted(budget, 'token')} free{sizes.beside}"
    if free >= HEADROOM:
        return True, f"Leave it alone: {prompt.named} leaves {room}."
    if len(prompt.log.turns) <= SHORT and len(prompt.log.steps) <= SHORT:
        short = f"a task of at most {SHORT} turns and steps only loses by trimming"
        return True, f"Leave it alone: {prompt.named} fits{sizes.beside}, and {short}."
    return False, f"{named} fits, but leaves only {room}: watch the next calls."


def _hopeless(prompt: Prompt) -> str:
    """Return why no strategy can help, and what can."""
    sizes = prompt.sizes
    what = f" with {sizes.parts}" if sizes.parts else ""
    return (
        f"What is not recorded of call {prompt.call + 1}, about {counted(sizes.hidden, 'token')}{what}, takes the whole"
        f" budget of {sizes.budget:,} alone. It is sent whatever a strategy does: raise the budget above it, or make it"
        " shorter where it is written."
    )


def _to_do(advice: Advice, work: Work | None) -> str:
    """Return what leaf 1A leaves to the user: no configuration makes one call of several."""
    if advice.leaf is not Leaf.CHUNK or work is None:
        return ""
    if work.obstacle:
        return f" {work.obstacle[0].upper()}{work.obstacle[1:]}."
    if not work.units:
        beside = counted(work.budget - work.room, "token")
        return f" What stands beside it, {beside}, leaves no room for a part: make that smaller first."
    return (
        f" Send its {counted(len(work.units), 'numbered part')} one a call, in the place of the whole text, and let a"
        " last call read their answers. The configuration only numbers the parts: in one prompt they are larger than"
        " the text, and never fit."
    )


def _why(prompt: Prompt, advice: Advice) -> str:
    """Return what the leaf was chosen on."""
    gains, measured = advice.reclaim, prompt.measured
    if advice.then:
        return f"no branch covers it alone, {sum(gains):,} come back together"
    return {
        Leaf.CHUNK: one_block(prompt),
        Leaf.SUMMARISE: f"old conversation can give back {gains.history:,} ({measured.old_history:,} older than"
        f" {prompt.kept}, less a summary of {measured.summary_cap:,})",
        Leaf.PROJECT: f"tool results can give back {gains.tool:,} if each is cut to {prompt.projection[0]:,}",
        Leaf.DEDUPLICATE: f"restated rules can give back {prompt.restated:,} and examples {prompt.examples:,}",
        Leaf.SMALLER_UNIT: _nothing_covers(prompt, advice),
    }[advice.leaf]


def _nothing_covers(prompt: Prompt, advice: Advice) -> str:
    """Return why only a smaller unit of work is left: one block that must stay, or branches that give too little."""
    if prompt.measured.largest_pinned > prompt.measured.soft_budget:
        return f"{one_block(prompt)}, and exact strings are needed"
    return f"{BRANCHES} can give back no more than {sum(advice.reclaim):,}"


def one_block(prompt: Prompt) -> str:
    """Return that one pinned text is larger than the budget alone."""
    return f"what cannot go holds one block of {prompt.measured.largest_pinned:,}"


def configured(trial: Trial, leaf: Leaf) -> str:
    """Return what a configuration does with the call, and what is then sent of it; "" where it only numbers parts."""
    done = [*_shrinks(trial.config), *_plans(trial.config)]
    if leaf is Leaf.SMALLER_UNIT and (gone := left_out(trial.plan)):
        done.append(f"leaves out {counted(gone, 'token')} of older steps whole, which no branch does")
    if not done or any(made.kind == "chunk_pinned" for made in trial.config.shrink):
        return ""
    said = done[0] if len(done) == 1 else f"{', '.join(done[:-1])} and {done[-1]}"
    sent = f"{trial.plan.tokens_after:,} of {counted(trial.plan.tokens_before, 'recorded token')}"
    return f"The configuration {said}: of call {trial.prompt.call + 1} it sends {sent}."


def stay_over(trial: Trial) -> str:
    """Return how many calls of the transcript the configuration leaves over the budget, not only the one asked for."""
    judged = trial.replayed.judged_by(trial.prompt.history.config.budget)
    calls, over = len(judged.transcript.calls), over_as_sent(judged)
    if not over.calls:
        unknown = trial.prompt.sizes.is_unknown
        return f"{'By what is recorded, no' if unknown else 'No'} call stays over the budget with it."
    stay = f"{over.calls:,} of {counted(calls, 'call')} {agreeing(over.calls, 'stays', 'stay')}"
    return (
        f"{stay} over the budget with it, {'the worst ' if over.calls > 1 else ''}by {counted(over.largest, 'token')}."
    )


def left_out(plan: Plan) -> int:
    """Return the tokens of the units that are not sent, whether nothing or one summary stands for them."""
    return sum(plan.log.units[index].tokens for index, fate, _ in plan.fates() if fate in (Fate.DROP, Fate.FOLD))


def _shrinks(config: Configuration) -> Iterator[str]:
    for made in config.shrink:
        if made.kind == "dedupe_instructions":
            yield "says each rule once and leaves examples out until a user asks for them"
        elif made.kind == "project_tool_results":
            yield f"cuts each tool result to {counted(made.max_tokens, 'token')}"


def _plans(config: Configuration) -> Iterator[str]:
    strategy, keep = config.strategy, kept_by(config)
    if strategy.kind == "mask_tool_results":
        yield f"puts placeholders for all tool results but the newest {strategy.keep:,} instead of cutting each"
    elif keep is not None:
        kept = f"keeps the last {kept_words(keep)}"
        yield {
            "tiered_injection": f"{kept} with one summary of the rest",
            "summarize_and_keep": f"{kept} with an extract of each older message, as far as there is room",
        }.get(strategy.kind, f"drops what is older than the last {kept_words(keep)} where that does not suffice")
