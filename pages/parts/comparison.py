"""What is compared: two to four configurations, each one parameter of the address.

A parameter holds a configuration as compact JSON without model and budget, which all of them share. Without any, three
strategies are compared that suit the transcript, at half of its peak, so that the first look shows differences.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.boundaries import Keep
from core.config import Configuration, load_config, strategy_kinds
from core.decisions import Edit, Fate, Run
from core.errors import ConfigError
from core.export import as_json
from core.plan import Plan
from core.replay import Replay
from core.wording import counted

SLOTS = ("a", "b", "c", "d")
FEWEST = 2
CAPTURED = "as captured"
_AGENT_CALLS_A_TURN = 3


@dataclass(frozen=True)
class Candidate:
    """One configuration of a comparison: its slot, what the address says of it, and what came of it."""

    slot: str
    said: Mapping[str, Any]
    label: str
    config: Configuration
    replay: Replay


def suggestions(calls: int, turns: int, budget: int | None) -> list[dict[str, Any]]:
    """Return three strategies for a transcript: kept by turns in a conversation, by steps in a run of an agent."""
    if calls > _AGENT_CALLS_A_TURN * max(1, turns):
        keep = {"keep_steps": max(2, min(8, calls // 4))}
    else:
        keep = {"keep_turns": max(1, min(4, turns // 4))}
    step = {"step": _step(budget)} if budget and "keep_steps" in keep else {}
    short = {"min_turns": 0, "min_steps": 0}
    return [
        {"strategy": {"kind": "keep_last", **keep, **step}},
        {"strategy": {"kind": "summarize_and_keep", **keep, **step, **short}},
        {"strategy": {"kind": "tiered_injection", **keep, **step}},
    ]


def _step(budget: int) -> int:
    """Return an eighth of a budget, rounded to one digit: the provider's cache then holds for some calls."""
    eighth = max(1, budget // 8)
    return int(round(eighth, 1 - len(str(eighth))))


def parsed(slot: str, text: str) -> dict[str, Any]:
    """Return the configuration that a parameter of the address holds. ConfigError if it is none."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise ConfigError(
            f"address, {slot}", "this is no configuration as JSON.", "Open Compare from the library again."
        )
    return {key: value for key, value in said.items() if key not in ("model", "budget", "provenance")}


def written(said: Mapping[str, Any]) -> str:
    """Return a configuration as it stands in the address."""
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


def label(config: Configuration) -> str:
    """Return a configuration's name, else its strategy and what it keeps."""
    if config.name:
        return config.name
    kind, keep = config.strategy.kind, getattr(config.strategy.strategy(), "keep", None)
    if isinstance(keep, Keep):
        return f"{kind} · {counted(keep.number, keep.unit.removesuffix('s'))}"
    return kind if keep is None else f"{kind} · {counted(keep, 'result')}"


def labels(configs: Sequence[Configuration]) -> list[str]:
    """Return a label for each configuration, numbered where two would be the same."""
    plain = [label(config) for config in configs]
    seen = {CAPTURED: 1}
    found = []
    for text in plain:
        seen[text] = seen.get(text, 0) + 1
        found.append(text if seen[text] == 1 else f"{text} ({seen[text]})")
    return found


IN_WORDS = {"step": "cut in steps of {} tokens"}
"""Settings of which the name alone has another meaning: a step is one reply of a model with its results."""


def settings_line(said: Mapping[str, Any]) -> str:
    """Return in one line what is set beside the strategy's kind and what it keeps, and is not its default."""
    strategy = said.get("strategy") or {}
    defaults = _defaults(strategy.get("kind"))
    shown = [
        IN_WORDS.get(name, f"{name.replace('_', ' ')} {{}}").format(_value(value))
        for name, value in strategy.items()
        if not (name.startswith("keep_") and not said.get("name")) and value != defaults.get(name)
    ]
    kinds = (("rules", "rule"), ("shrink", "shrinker"))
    extra = [counted(len(said[name]), noun) for name, noun in kinds if said.get(name)]
    return " · ".join([*shown, *extra]) or "default settings"


def _defaults(kind: str | None) -> Mapping[str, Any]:
    """Return the settings that a strategy has where none is given, its kind among them, as a file has them."""
    if kind not in strategy_kinds():
        return {}
    found: Mapping[str, Any] = as_json(load_config({"strategy": {"kind": kind}}))["strategy"]
    return found


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return "never"
    return f"{value:,}" if isinstance(value, int) else str(len(value)) if isinstance(value, list) else str(value)


def signature(replay: Replay, call: int) -> tuple[Any, ...]:
    """Return what tells the decisions for a call apart: equal ones send the same body."""
    plan = replay.plan(call)
    if not plan.changed:
        return ()
    planned: Plan = getattr(plan, "inner", plan)  # what the strategy planned, where shrinkers came first
    runs = tuple(
        (run.start, run.stop, run.fate, *_first_text(planned, run)) for run in planned.runs if run.fate != "keep"
    )
    edits = tuple((index, tuple(edit.texts.items())) for index, edit in sorted(planned.edits.items()))
    head = planned.head and (*planned.head.deferred, *(text.text for text in planned.head.injected))
    return plan.tokens_after, runs, edits, head, _shrunk(planned)


def _first_text(plan: Plan, run: Run) -> tuple[Any, ...]:
    """Return the first text that replaces a unit of a run: it tells ways of summarising apart."""
    if run.fate is not Fate.REPLACE:
        return ()
    made = (plan.replacements[index] for index in range(run.start, run.stop))
    # A replacement's texts are a tuple, an edit's a mapping.
    return next((tuple(dict(one.texts).items()) if isinstance(one, Edit) else one.texts for one in made if one), ())


def _shrunk(planned: Plan) -> tuple[Any, ...]:
    """Return the texts that shrinkers left of single spans, as far as the strategy sends them."""
    fixed = [(span_id, made.text) for span_id, made in planned.fixed.shrunk.items()]
    units = [
        (span_id, made.text)
        for unit in planned.log.units[: planned.count]
        for span_id, made in unit.shrunk.items()
        if planned.remains(unit.first, span_id) is None
    ]
    return (*fixed, *units)


def differing_calls(replays: Sequence[Replay]) -> list[int]:
    """Return the calls (0-based) for which not all send the same; for one configuration, those that it changes."""
    calls = range(len(replays[0].transcript.calls))
    if len(replays) == 1:
        return [call for call in calls if replays[0].plan(call).changed]
    return [call for call in calls if len({signature(replay, call) for replay in replays}) > 1]
