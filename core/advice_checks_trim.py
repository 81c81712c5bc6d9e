"""Checks of the leaves that trim one prompt: 2A, 3A and 4A (rule book 1.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .advice_measures import as_records, kept_words
from .advice_trial import Check, Trial, kept_by
from .boundaries import keep_boundary
from .decisions import Action
from .dialects.base import Message
from .loss_details import LostUse
from .marks import STUB
from .retention import RetentionMeter, rules_of
from .shrinkers.dedupe_instructions import repeated_rules
from .spans import SpanKind
from .validity import new_violations, validate
from .wording import agreeing, counted


def within_budget(trial: Trial) -> Check:
    """Check that the prompt fits; not known where it does, but nobody knows how large what is not recorded is."""
    tokens, sizes = trial.plan.tokens_after, trial.prompt.sizes
    fits, said = sizes.fits(tokens), sizes.of_budget(tokens)
    if not fits:
        return Check("total within the budget", False, f"{said}: still over")
    if sizes.is_unknown:
        return Check("total within the budget", None, f"{said}{sizes.beside}")
    return Check("total within the budget", True, said)


def no_orphans(trial: Trial) -> Check:
    """Check that no rule of the provider is newly broken, above all that no call or result stands alone."""
    name = trial.prompt.history.transcript.dialect
    given = validate(trial.prompt.history.prompt(trial.prompt.call), name)
    found = new_violations(given, validate(trial.request, name))
    whole = "no pair was parted that was whole" if given else "every call has its result, and every result its call"
    why = found[0].problem if found else whole
    return Check("no orphan call or result", not found, why)


# Leaf 2A: window plus one capped summary


def kept_part_identical(trial: Trial) -> Check:
    """Check that what the configuration keeps is sent word for word; what 3A cuts in it is told apart."""
    keep = kept_by(trial.config)
    if keep is None:
        return Check("kept part byte-identical", None, "the configuration does not say how much is kept")
    cut = keep_boundary(trial.prompt.log, keep).cut
    kept = [span for unit in trial.prompt.log.units[cut:] for span in unit.spans]
    other = [span for span in kept if trial.plan.remains(span.message, span.id) is not None]
    shrunk = [span for span in other if trial.decisions[span.id].action is Action.PROJECT]
    gone = len(other) - len(shrunk)
    why = f"{keep.setting.removeprefix('strategy.')} {keep.number:,}: "
    if gone:
        why += (
            f"{gone:,} of {counted(len(kept), 'span', 'is', 'are')} not sent as before, so less is kept than asked for"
        )
    else:
        why += counted(len(kept) - len(shrunk), "span", "is as it was", "are as they were")
        why += f", {counted(len(shrunk), 'result', 'is', 'are')} cut" if shrunk else ""
    but = " but for cut results" if shrunk else ""
    return Check(f"last {kept_words(keep)} byte-identical{but}", not gone, why)


def one_summary(trial: Trial) -> Check:
    """Check that exactly one summary stands for the rest."""
    summaries = _summaries(trial)
    return Check("exactly one summary", len(summaries) == 1, f"{len(summaries):,} in the prompt")


def summary_within_cap(trial: Trial) -> Check:
    """Check that the summary is no longer than its cap."""
    cap = trial.prompt.measured.summary_cap
    tokens = max(_summaries(trial), default=0)
    return Check("summary within its cap", tokens <= cap, f"{tokens:,} of {counted(cap, 'token')}")


def _summaries(trial: Trial) -> list[int]:
    return [
        made.tokens_after for made in trial.decisions.values() if made.action is Action.SUMMARISE and made.replacement
    ]


def identifiers_survive(trial: Trial) -> Check:
    """Check that what the recorded response names of its prompt is still in the summary or the kept part."""
    call, name = trial.prompt.call, "identifiers of old turns survive"
    used, gone = trial.replayed.loss.used[call], [item for item in trial.lost if item.call == call]
    if used is None:
        return Check(name, None, "the response of this call is not in the recording")
    if not used:
        return Check(name, True, f"the response of call {call + 1} names nothing of its prompt")
    why = f"of {counted(used, 'reference')} in the response of call {call + 1}, "
    why += f"{len(gone):,} {agreeing(len(gone), 'is', 'are')} lost, such as {_named(gone)}" if gone else "none is lost"
    return Check(name, not gone, why)


def _named(items: list[LostUse]) -> str:
    return ", ".join(map(repr, list(dict.fromkeys(item.text for item in items))[:3]))


# Leaf 3A: project at the tool boundary


def quoted_values_remain(trial: Trial) -> Check:
    """Check that what responses took from results is still sent."""
    name, gone, upto = "values that later messages quote remain", trial.lost_from_results, trial.prompt.call + 1
    if not trial.is_answered:
        return Check(name, None, f"no response up to call {upto} is in the recording")
    if not gone:
        return Check(name, True, f"no response up to call {upto} names anything that is lost from a result")
    calls = counted(len({item.call for item in gone}), "response")
    lost = f"{counted(len(gone), 'reference', 'is', 'are')} lost from tool results, in {calls} up to call {upto}"
    return Check(name, False, f"{lost}, such as {_named(gone)}")


def call_ids_unchanged(trial: Trial) -> Check:
    """Check that every message sent has the call ids that it had."""
    before = [_ids(message) for unit in trial.prompt.log.units for message in unit.messages]
    known, sent = {ids for ids in before if ids}, [_ids(message) for message in trial.sent]
    changed = [ids for ids in sent if ids and ids not in known]
    number = sum(map(len, sent))
    why = f"{counted(number, 'id', 'is that', 'are those')} of the recording" if number else "what is sent has no ids"
    return Check("call ids unchanged", not changed, f"{changed[0][0]!r} has changed" if changed else why)


def _ids(message: Message) -> tuple[str, ...]:
    return tuple(part.call_id for part in (*message.calls, *message.results))


def record_count_stated(trial: Trial) -> Check:
    """Check that a list of records of which some are left out says how many it had; nobody counts one that is gone."""
    lists = {span.id: records for span in trial.prompt.results if (records := as_records(span.text)) is not None}
    texts = {span_id: _shown(trial, span_id) for span_id in lists}
    gone = [span_id for span_id, text in texts.items() if text is not None and (not text or text.startswith(STUB))]
    cut = {span_id: text for span_id, text in texts.items() if text is not None and span_id not in gone}
    silent = [span_id for span_id, text in cut.items() if not _says_count(text, len(lists[span_id]))]
    told = counted(len(lists) - len(gone), "list", "keeps all its records or states", "keep all their records or state")
    why = f"{told} their number, {len(gone):,} left out whole" if lists else "no tool result is a list of records"
    short = f"a list of {counted(len(lists[silent[0]]), 'record')} is cut and does not say so" if silent else why
    return Check("lists of records that are cut say how many they had", not silent, short)


def _shown(trial: Trial, span_id: str) -> str | None:
    """Return the text in the place of a result; None where it is sent as it is, "" where nothing is."""
    return trial.plan.remains(int(span_id[1:].split(".")[0]), span_id)


def _says_count(text: str, records: int) -> bool:
    return f" of {counted(records, 'record')}]".replace(",", "") in text or len(as_records(text) or ()) == records


def results_halved(trial: Trial) -> Check:
    """Check that the results that are not sent as they were are at most half of what they were."""
    touched = [trial.decisions[span.id] for span in trial.prompt.results if span.id in trial.decisions]
    touched = [made for made in touched if made.tokens_after != made.tokens_before]
    before, after = sum(made.tokens_before for made in touched), sum(made.tokens_after for made in touched)
    smaller = f"{counted(len(touched), 'result')} made smaller or left out"
    return Check(
        "size down by at least half", 2 * after <= before, f"{smaller}: from {before:,} to {counted(after, 'token')}"
    )


# Leaf 4A: deduplicate and demote


def rules_unchanged(trial: Trial) -> Check:
    """Check that every distinct rule is still said."""
    found = RetentionMeter().call(trial.plan, ())
    gone = found.missing_rules
    why = f"{gone[0]!r} is gone" if gone else f"of {counted(found.rules, 'distinct rule')}, none is missing"
    return Check("set of distinct rules unchanged", not gone, why)


def no_duplicate_left(trial: Trial) -> Check:
    """Check that no rule is said twice."""
    left = len(repeated_rules(trial.plan.fixed))
    return Check(
        "no exact duplicate left",
        not left,
        counted(left, "line", "repeats", "repeat") + " what was said before" if left else "none",
    )


def examples_demoted(trial: Trial) -> Check:
    """Check that every example that was put aside comes back when a hard case is named."""
    source = trial.plan.fixed.source or trial.plan.fixed
    examples = [span for span in source.spans if span.kind is SpanKind.EXAMPLES]
    aside = [span.id for span in examples if trial.decisions[span.id].action is Action.DEFER]
    shrinkers = [made.shrinker() for made in trial.config.shrink]
    said = frozenset(word for shrinker in shrinkers for word in shrinker.keywords)
    again = {gone for one in shrinkers for gone in one.fixed(source, said & set(one.keywords), trial.prompt.counter)}
    lost = [span_id for span_id in aside if span_id in again]
    why = (
        "one that was put aside never comes back"
        if lost
        else f"{len(aside):,} of {len(examples):,} put aside, back by a keyword"
    )
    return Check("examples kept for hard cases", not lost, why)


def contradictions_reported(trial: Trial) -> Check:
    """Check that rules which contradict each other are named and both still said."""
    source = trial.plan.fixed.source or trial.plan.fixed
    rules = [rule for span in source.spans if span.kind is SpanKind.INSTRUCTIONS for rule in rules_of(span.text)]
    pairs = list(contradictions(rules))
    gone = set(RetentionMeter().call(trial.plan, ()).missing_rules)
    merged = [pair for pair in pairs if gone.intersection(pair)]
    why = "none found" if not pairs else "; ".join(f"{one!r} against {other!r}" for one, other in pairs[:3])
    return Check("contradictory rules reported, not merged", not merged, why)


_ALWAYS = re.compile(r"\b(?:always|must|should|please|do)\b(?! not)", re.IGNORECASE)
_NEVER = re.compile(r"\b(?:never|(?:do|must|should) not|don't|mustn't|shouldn't)\b", re.IGNORECASE)


def contradictions(rules: list[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of rules that say the same with and without a negation."""
    said: dict[str, tuple[bool, str]] = {}
    for rule in rules:
        negated = _NEVER.search(rule) is not None
        core = " ".join(re.findall(r"\w+", _ALWAYS.sub(" ", _NEVER.sub(" ", rule)).lower()))
        if core in said and said[core][0] is not negated:
            yield said[core][1], rule
        said.setdefault(core, (negated, rule))
