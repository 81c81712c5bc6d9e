"""What must hold for every result of the engine, checked against the request alone where that is possible."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from core.decisions import Decision
from core.dialects import Message
from core.dialects import dialect as dialect_named
from core.dialects.base import PartKind
from core.engine import counter_of
from core.marks import STUB
from core.plan import Action, Status
from core.runtime import ContextRuntime, Hints, Result
from core.spans import SpanKind
from core.units import Unit, units
from core.validity import new_violations, validate
from core.wire import dump
from tests.engine_bodies import Wire
from tests.engine_configurations import KINDS, summarise
from tests.engine_texts import check_texts
from tests.engine_values import TOLD
from tests.engine_wires import check_wires

SHRUNK = ("shrink", "rules.max_tokens")
"""The settings that make single spans smaller before the strategy decides."""


def with_budget(config: Mapping[str, Any], budget: int | None) -> dict[str, Any]:
    return {**config, "budget": {"soft_limit": budget}}


def loaded(config: Mapping[str, Any]) -> ContextRuntime:
    return ContextRuntime.load(config, summarise)


def assemble(config: Mapping[str, Any], body: Wire, hints: Hints | None = None) -> Result:
    return loaded(config).assemble(body, hints)


def whole(config: Mapping[str, Any], body: Wire) -> Result:
    """The body as it is, counted by the same counter."""
    plain = {**with_budget(config, None), "strategy": {"kind": "full_history"}, "shrink": [], "rules": []}
    return assemble(plain, body)


def size(config: Mapping[str, Any], body: Wire) -> int:
    return whole(config, body).tokens_before


def check(config: Mapping[str, Any], body: Wire, dialect: str, hints: Hints | None = None) -> Result:
    """Assemble, and check everything that one result alone must keep."""
    before = copy.deepcopy(body)
    result = assemble(config, body, hints)
    assert (body, dump(body)) == (before, dump(before)), "the input is changed"
    check_accounts(config, body, result)
    check_status(config, result)
    check_units(config, body, dialect, result, hints)
    check_wires(config, body, dialect, result)
    check_texts(loaded(config), body, dialect, result, hints)
    check_settings(config, body, dialect, result)
    found = new_violations(validate(body, dialect), validate(result.request, dialect))
    assert not found, found
    return result


def check_accounts(config: Mapping[str, Any], body: Wire, result: Result) -> None:
    decisions = result.decisions
    assert result.tokens_before == size(config, body)
    assert sum(made.tokens_before for made in decisions) == result.tokens_before
    assert sum(made.tokens_after for made in decisions) == result.tokens_after
    assert sum(result.plan.kinds().values()) == result.tokens_after
    assert Counter(made.action for made in decisions) == Counter(result.plan.actions())
    assert len({made.span_id for made in decisions}) == len(decisions)
    sent = whole(config, result.request)
    assert sent.tokens_before == result.tokens_after, "not what is really sent"
    retrieved = any(span.kind is SpanKind.RETRIEVAL for unit in result.plan.log.units for span in unit.spans)
    if config["strategy"]["kind"] in KINDS and not retrieved:
        told = any(part.told for unit in result.plan.log.units for message in unit.messages for part in message.parts)
        moved = config["model"]["dialect"] == "gemini"
        assert _by_kind(sent, told, moved) == _by_kind(result, told, moved)
    assert result.tokens_after <= result.tokens_before


def _by_kind(result: Result, told: bool, moved: bool) -> dict[str, int]:
    """Tokens by span kind, without what tells a leading system message from a later one: it is read in sections.

    What stands for a result that was told as text is read as the user's when it is assembled again, and so is what
    stands for a text of the model's right before a call where that may not be the model's (`moved`).
    """
    same = {SpanKind.IMAGE: "aside", SpanKind.OTHER: "aside", SpanKind.OVERHEAD: "aside"}
    same[SpanKind.EXAMPLES] = same[SpanKind.SUMMARY] = "instructions"
    same |= {SpanKind.TOOL_RESULT: "told", SpanKind.USER: "told"} if told else {}
    same |= {SpanKind.ASSISTANT: "told", SpanKind.USER: "told"} if moved else {}
    found: Counter[str] = Counter()
    for kind, tokens in result.plan.kinds().items():
        found[same.get(kind, kind)] += tokens
    return {kind: tokens for kind, tokens in found.items() if tokens}


def check_status(config: Mapping[str, Any], result: Result) -> None:
    budget = config.get("budget", {}).get("soft_limit")
    limit = None if budget is None else budget - config["strategy"].get("overhead", 0)
    assert result.excess == (0 if limit is None else max(0, result.tokens_after - limit))
    assert bool(result.blockers) == (result.excess > 0)
    over = (Status.OVER_BUDGET, Status.SKIPPED_SHORT, Status.SKIPPED_EXACT_RECALL)
    assert result.status in over if result.excess else result.status is not Status.OVER_BUDGET
    changed = {made.action for made in result.decisions} - {Action.KEEP}
    assert result.plan.changed == bool(changed)
    if changed:
        assert result.status in (Status.TRIMMED, Status.OVER_BUDGET)
    else:
        assert result.status is not Status.TRIMMED
        assert result.tokens_after == result.tokens_before
    known = {made.span_id for made in result.decisions}
    assert set(result.blockers) <= known


def check_units(config: Mapping[str, Any], body: Wire, dialect: str, result: Result, hints: Hints | None) -> None:
    """Units are whole, and what must stay is as it was, at full charge, beside what shrinkers are asked for."""
    runtime = loaded(config)
    rules = (*runtime.engine(body).rules, *(hints or Hints()).rules())
    spoken = dialect_named(dialect)
    made = {decision.span_id: decision for decision in result.decisions}
    conversation = spoken.split(body)[1]
    staying = must_stay(body, dialect)
    for unit in units(conversation, spoken, counter_of(runtime.config, body.get("model")), rules):
        gone = {_is_gone(config, made[span.id].action) for span in unit.spans}
        assert len(gone) == 1, "a unit is split"
        ages = any(rule.match.asks_for_age for rule in rules)
        for span in unit.spans:
            decision = made[span.id]
            assert decision.tokens_before == span.tokens
            if gone == {True}:
                assert not unit.stays or ages, "pinned or required"
                assert span.message not in staying, "the newest user message or the open unit"
            elif span.message in staying and not decision.setting.startswith(SHRUNK):
                assert decision.action is Action.KEEP
            if decision.action is Action.KEEP and not _is_edited(unit, made):
                assert decision.tokens_after == span.tokens
            if decision.replacement is not None and span.rule.min_tokens is not None and not ages:
                assert decision.tokens_after >= min(span.tokens, span.rule.min_tokens), "smaller than a rule allows"


def check_settings(config: Mapping[str, Any], body: Wire, dialect: str, result: Result) -> None:
    """Masks gain what is asked for, and merged stubs have no stub beside them."""
    settings, made = config["strategy"], result.decisions
    masks = settings["kind"] == "mask_tool_results" and any(one.action is Action.STUB for one in made)
    if masks and not any(map(_is_shrunk, made)):
        assert result.tokens_before - result.tokens_after >= settings["min_cleared"]
    if settings["kind"] == "span_triage" and settings["merge_stubs"] and not any(map(_is_shrunk, made)):
        spoken = dialect_named(dialect)
        given = {id(wire) for wire in spoken.split(body)[1]}
        put = [id(wire) not in given for wire in spoken.split(result.request)[1]]
        read = [spoken.message(wire) for wire in spoken.split(result.request)[1]]
        stubs = [new and message.parts[0].text.startswith(STUB) for new, message in zip(put, read, strict=True)]
        assert not any(before and after for before, after in pairwise(stubs)), "two stubs are neighbours"


def _is_shrunk(made: Decision) -> bool:
    return made.setting.startswith(SHRUNK)


def _is_gone(config: Mapping[str, Any], action: Action) -> bool:
    stubbed = config["strategy"]["kind"] == "span_triage" and action is Action.STUB
    return stubbed or action in (Action.DROP, Action.SUMMARISE)


def _is_edited(unit: Unit, made: Mapping[str, Any]) -> bool:
    return any(made[span.id].action is not Action.KEEP for span in unit.spans)


def must_stay(body: Wire, dialect: str) -> set[int]:
    """The messages of the conversation that are the newest user's, the system's or of the open step.

    They are found without the engine's units.
    """
    spoken = dialect_named(dialect)
    read = [spoken.message(wire) for wire in spoken.split(body)[1]]
    told = told_results(read)
    users = [at for at, message in enumerate(read) if message.is_said and (at not in told or says_more(message))]
    replies = [at for at, message in enumerate(read) if message.role == "assistant"]
    found = [at for at, message in enumerate(read) if message.role == "system"] + users[-1:]
    plain = [at for at in users if not read[at].results and at not in told]
    if replies and not (plain and plain[-1] > replies[-1]):
        first = replies[-1]
        while first > 0 and spoken.continues(read[first - 1], read[first]):
            first -= 1
        found += range(first, replies[-1] + 1)
        ids = {call.call_id for message in read[first : replies[-1] + 1] for call in message.calls}
        answers = [at for at in range(first, len(read)) if read[at].role != "assistant"]
        found += [at for at in answers if any(part.call_id in ids for part in read[at].results)]
        found += [at for at in told if told[at] == replies[-1]]
    return set(found)


def says_more(message: Message) -> bool:
    """Whether a user message that tells a result says something else in texts of its own."""
    first, *rest = (part.text for part in message.parts if part.kind is PartKind.TEXT)
    return not first.endswith("]:\n") and not all(text.startswith(TOLD) for text in rest)


def told_results(read: Sequence[Message]) -> dict[int, int]:
    """The user messages that tell results as text, each with the reply that it comes after."""
    found: dict[int, int] = {}
    for at, message in enumerate(read):
        texts = [part.text for part in message.parts if part.kind is PartKind.TEXT]
        if at and message.role == "user" and texts and texts[0].startswith(TOLD):
            before = at - 1 if read[at - 1].role == "assistant" else found.get(at - 1)
            if before is not None:
                found[at] = before
    return found
