"""What to do about a transcript that does not fit: the tree's leaf, its evidence, a configuration and its safety.

The tree is asked for one call, the worst one unless another is chosen. What it recommends is tried at once: the
configuration is replayed and the leaf's checks are run on what it would send. "Leave it alone" is an answer too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .advice_checks import checked_leaves
from .advice_configs import Said, candidates
from .advice_cost import dearer
from .advice_measures import Prompt, plan_alone, prompt_of
from .advice_symptoms import HEADROOM, Symptom, symptoms
from .advice_tree import Advice, Leaf, advise
from .advice_trial import Check, Trial
from .config import Configuration, load_config
from .export import as_json
from .replay import Replay, replay
from .wording import counted
from .work_units import Work, split_work

__all__ = ["SHORT", "TITLES", "Advised", "advised"]

SHORT = 15
"""Turns and steps up to which a task is short (rule B-R4)."""
TITLES = {
    Leaf.FITS: "It fits",
    Leaf.OUT_OF_REACH: "No strategy can make it fit",
    Leaf.CHUNK: "Number the parts of the giant text",
    Leaf.SUMMARISE: "Keep the newest part, one capped summary for the rest",
    Leaf.PROJECT: "Shrink tool results at the boundary",
    Leaf.DEDUPLICATE: "Say each rule once, put examples aside",
    Leaf.SMALLER_UNIT: "Make the unit of work smaller",
}

Play = Callable[[Configuration], Replay]


@dataclass(frozen=True)
class Advised:
    """The advice for one call. `said` is a configuration without model and budget; None where none would help.

    For leaf 5A it is what cuts history where the work cannot be split, and the checks are on the units of work.
    """

    prompt: Prompt
    advice: Advice
    leave_alone: bool
    verdict: str
    said: Said | None
    config: Configuration | None
    work: Work | None
    checks: tuple[Check, ...]
    symptoms: tuple[Symptom, ...]
    dearer: str = ""
    """That it costs more than what was recorded, as a sentence; "" where it does not, or where that is unknown."""

    @property
    def safe(self) -> bool | None:
        """Whether all checks passed; None if one could not be told and none failed, or if there is none."""
        results = [check.passed for check in self.checks]
        return False if False in results else None if None in results or not results else True


def advised(
    history: Replay,
    call: int | None = None,
    *,
    published: bool = False,
    exact_strings_needed: bool = False,
    play: Play | None = None,
) -> Advised | None:
    """Return the advice for a call (0-based) of a replay of the whole history; None without a limit or a call.

    `published` asks for the order in which the tree was published. `play` replays the recommended configuration on
    the same transcript, for instance from a cache.
    """
    prompt = prompt_of(history, call, exact_strings_needed)
    if prompt is None:
        return None
    advice = advise(prompt.measured, published)
    work = _work(prompt, advice)
    said, config = _chosen(prompt, advice, work)
    trial = Trial(prompt, None if config is None else (play or _player(history))(config), work)
    leaves = (advice.leaf, *advice.then)
    alone, verdict = _verdict(prompt, advice, work)
    return Advised(
        prompt=prompt,
        advice=advice,
        leave_alone=alone,
        verdict=verdict,
        said=said,
        config=config,
        work=work,
        checks=checked_leaves(trial, leaves),
        symptoms=symptoms(prompt, trial),
        dearer="" if trial.played is None else dearer(trial.played, history.as_captured),
    )


def _player(history: Replay) -> Play:
    return lambda config: replay(history.transcript, config)


def _work(prompt: Prompt, advice: Advice) -> Work | None:
    if advice.leaf is Leaf.CHUNK:
        return split_work(prompt, prompt.largest_pinned)
    return split_work(prompt) if advice.leaf is Leaf.SMALLER_UNIT else None


def _chosen(prompt: Prompt, advice: Advice, work: Work | None) -> tuple[Said | None, Configuration | None]:
    """Return the first configuration under which the call fits, else the first one."""
    base = _base(prompt)
    rules, made = base["rules"], []
    for wanted in candidates(prompt, advice, work):
        said = {**wanted, "rules": [*rules, *wanted.get("rules", ())]}
        said = said if said["rules"] else wanted
        made.append((said, load_config({**base, "name": "", "shrink": [], **said})))
    for said, config in made:
        if prompt.sizes.fits(plan_alone(prompt.history, config, prompt.call).tokens_after):
            return said, config
    return made[0] if made and advice.leaf is not Leaf.SMALLER_UNIT else (None, None)


def _base(prompt: Prompt) -> dict[str, Any]:
    """Return the configuration to start from; its limit leaves room for what is not recorded, which no strategy sees.

    A limit is never raised because counts were too high: nobody knows by how much they are so in another call.
    """
    base: dict[str, Any] = as_json(prompt.history.config)
    if prompt.sizes.hidden:
        base["budget"] = {**base["budget"], "soft_limit": max(0, prompt.allowed)}
    return base


def _verdict(prompt: Prompt, advice: Advice, work: Work | None) -> tuple[bool, str]:
    """Return whether to leave the prompt alone, and the advice in one sentence."""
    over, budget, sizes = advice.overflow, prompt.budget, prompt.sizes
    if advice.leaf is Leaf.OUT_OF_REACH:
        return False, _hopeless(prompt)
    if over > 0:
        over_by = f"Call {prompt.call + 1} is {counted(over, 'token')} over the budget of {budget:,}{sizes.beside}"
        return False, f"{over_by}: {_why(prompt, advice)}.{_to_do(advice, work)}"
    free = sizes.free(prompt.total)
    room = f"{free:.0%} of {counted(budget, 'token')} free{sizes.beside}"
    if free >= HEADROOM:
        return True, f"Leave it alone: the largest prompt looked at leaves {room}."
    if len(prompt.log.turns) <= SHORT and len(prompt.log.steps) <= SHORT:
        short = f"a task of at most {SHORT} turns and steps only loses by trimming"
        return True, f"Leave it alone: it fits{sizes.beside}, and {short}."
    return False, f"It fits, but leaves only {room}: watch the next calls."


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
    gains = advice.reclaim
    if advice.then:
        return f"no branch covers it alone, {sum(gains):,} come back together"
    return {
        Leaf.CHUNK: f"what cannot go holds one block of {prompt.measured.largest_pinned:,}",
        Leaf.SUMMARISE: f"old conversation can give back {gains.history:,}",
        Leaf.PROJECT: f"tool results can give back {gains.tool:,}",
        Leaf.DEDUPLICATE: f"restated rules and examples can give back {gains.instruction:,}",
        Leaf.SMALLER_UNIT: f"all branches together can give back no more than {sum(gains):,}",
    }[advice.leaf]
