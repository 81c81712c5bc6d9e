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
from .advice_split_words import headline, split_fails
from .advice_symptoms import Symptom, symptoms
from .advice_tree import Advice, Leaf, advise
from .advice_trial import Check, Trial
from .advice_words import TITLES, configured, stay_over, verdict
from .config import Configuration, load_config
from .errors import MissingError
from .export import as_json
from .replay import Replay, replay
from .wording import counted
from .work_units import Work, split_work

__all__ = ["TITLES", "Advised", "advised"]

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
    headline: str = ""
    """The leaf's title, or that its split fails."""
    configured: str = ""
    """What the configuration does and what is then sent, as a sentence; "" where there is none."""
    stay_over: str = ""
    """How many calls of the transcript stay over the budget with it, as a sentence; "" where there is none."""
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

    MissingError if the transcript has calls and not this one. `published` asks for the order in which the tree was
    published. `play` replays the recommended configuration on the same transcript, for instance from a cache.
    """
    calls = len(history.transcript.calls)
    if call is not None and calls and call not in range(calls):
        raise MissingError(
            f"There is no call with the index {call:,}: the transcript has {counted(calls, 'call')}. Give one from 0 to"
            f" {calls - 1:,}, or none for the worst."
        )
    prompt = prompt_of(history, call, exact_strings_needed)
    if prompt is None:
        return None
    advice = advise(prompt.measured, published)
    work = _work(prompt, advice)
    said, config = _chosen(prompt, advice, work)
    trial = Trial(prompt, None if config is None else (play or _player(history))(config), work)
    leaves = (advice.leaf, *advice.then)
    checks, has_cut = checked_leaves(trial, leaves), config is not None
    alone, sentence = verdict(prompt, advice, work)
    return Advised(
        prompt=prompt,
        advice=advice,
        leave_alone=alone,
        verdict=sentence + split_fails(advice.leaf, prompt, work, checks, has_cut),
        said=said,
        config=config,
        work=work,
        checks=checks,
        symptoms=symptoms(prompt, trial),
        configured="" if trial.played is None else configured(trial, advice.leaf),
        headline=headline(advice.leaf, TITLES[advice.leaf], prompt, checks, has_cut),
        stay_over="" if trial.played is None else stay_over(trial),
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
