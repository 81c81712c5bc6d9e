"""What Advise tells in several places is the same everywhere, and the same as Inspect and Compare show.

Each check is of one kind of figure, and is run on the samples and on recordings with budgets that lead to all leaves.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from core.advice import TITLES, Advised, advised
from core.advice_symptoms import Symptom
from core.advice_tree import Leaf
from core.advice_trial import Check
from core.advice_words import BRANCHES
from core.config import load_config
from core.export import pinned
from core.finding import Finding
from core.findings import findings
from core.readers import read
from core.replay import Replay, replay
from core.scorecard import held_against_budget, scorecard
from core.spans import SpanKind
from core.transcript import Transcript
from pages.parts.advice_tree_view import branches, folded
from tests.advice_runs import advice, giant, history

SAMPLES = Path(__file__).parents[1] / "sample_data"
NAMES = ["coding_agent.jsonl", "long_chat.json", "operations_zh.json", "support_triage.jsonl"]
RECORDINGS = [
    "claude-code/vct-v1.0.95.jsonl",
    "claude-code/d-kimuson-demo-v1.0.98.jsonl.gz",
    "cline-roo/roo-heavy-uncondensed.api_conversation_history.json",
    "cline-roo/roo-synth2-heavy-read.api_conversation_history.json",
    "codex/vct-codex-2025-09.jsonl",
    "copilot/vct-copilot-cli.jsonl",
    "gemini-cli/vct-chats-2026-04.jsonl",
    "gemini-contents/gemini-cli-trajectory.json",
    "inspect-ai/2025-05-12-browser.json",
    "iflow-qwen/iflow-zh-session.jsonl",
]
SHARES = (1.5, 0.9, 0.5, 0.35, 0.1)
"""Of the largest prompt; what is advised then goes from leaving it alone to a smaller unit of work."""


@cache
def largest_of(path: Path) -> Transcript:
    return max(read(path).transcripts, key=lambda transcript: len(transcript.calls))


@cache
def advised_at(path: Path, share: float) -> Advised:
    transcript = largest_of(path)
    budget = int(share * max(history(transcript, None).calls["in_window"]))
    config = {"budget": {"soft_limit": budget}, "strategy": {"kind": "full_history"}}
    found = advised(replay(transcript, pinned(load_config(config), transcript)))
    assert found is not None
    return found


def played(found: Advised) -> Replay:
    assert found.config is not None
    return replay(found.prompt.history.transcript, found.config)


def check(found: Advised, begins: str) -> Check | None:
    return next((made for made in found.checks if made.name.startswith(begins)), None)


def symptom(found: Advised, begins: str) -> Symptom:
    return next(row for row in found.symptoms if row.name.startswith(begins))


def told(found: list[Finding], name: str) -> Finding | None:
    return next((one for one in found if one.name == name), None)


def numbers(text: str) -> list[int]:
    return [int(number.replace(",", "")) for number in re.findall(r"(?<![\w.])\d[\d,]*", text)]


def all_agree(found: Advised) -> None:
    for agrees in (totals, restated_rules, shares_of_results, references, configured, results_touched, kept_part, fits):
        agrees(found)
    for agrees in (given_back, splits, smaller_unit_told, calls_left_over):
        agrees(found)


def totals(found: Advised) -> None:
    """The verdict is about the prompt that the columns of a replay, Inspect and Compare show for its call."""
    prompt, made = found.prompt, found.prompt.history
    assert prompt.total == made.calls["in_window"][prompt.call]
    if found.advice.overflow > 0 and found.advice.leaf is not Leaf.OUT_OF_REACH:
        assert numbers(found.verdict)[:3] == [prompt.call + 1, prompt.total - prompt.allowed, prompt.budget]
    captured = prompt.history.transcript.calls[prompt.call].captured
    whole = captured == made.transcript.calls[prompt.call].history
    assert ("with its whole history" in found.verdict) is (not whole and found.advice.leaf is not Leaf.OUT_OF_REACH)


def restated_rules(found: Advised) -> None:
    """The tree, the symptom and the finding tell one number of repeated rules, apart from examples."""
    prompt, row = found.prompt, symptom(found, "same base cost").evidence
    assert prompt.measured.instruction_duplicates == prompt.restated + prompt.examples
    lines = len(prompt.repeated_rules)
    assert (lines > 0) is (prompt.restated > 0)
    if not row.endswith("recorded") or row.startswith("instructions"):
        assert row.endswith(
            f"; {lines:,} line{'s repeat' if lines > 1 else ' repeats'}" if lines else "no line repeats"
        )
    unknown = bool(prompt.unseen) and not prompt.measured.instruction_duplicates
    if found.advice.leaf in (Leaf.FITS, Leaf.OUT_OF_REACH):
        said = f"restated rules {prompt.restated:,}, examples {prompt.examples:,}"
        assert (said in folded(found)) is not unknown
    elif not unknown:
        said = branches(found)[3].evidence
        assert numbers(said) == [prompt.restated, prompt.examples]
    finding = told(findings(prompt.history), "duplicate_instructions")
    if finding is not None and len(prompt.history.transcript.heads) == 1:
        assert finding.figures == {"lines": lines, "tokens": prompt.restated}
    elif len(prompt.history.transcript.heads) == 1:
        assert lines == 0


def shares_of_results(found: Advised) -> None:
    """The finding of results that fill the window and the symptom tell one share, where they look at one call.

    The symptom and the tree tell alike what projecting them gives back.
    """
    given = re.findall(r"; 3A gives back ([\d,]+) of the ([\d,]+) over$", symptom(found, "jumps").evidence)
    over = found.advice.overflow > 0 and bool(found.prompt.results)
    assert given == ([(f"{found.advice.reclaim.tool:,}", f"{found.advice.overflow:,}")] if over else [])
    finding = told(findings(found.prompt.history), "tool_output_share")
    if finding is not None and finding.call == found.prompt.call:
        [share] = re.findall(r"results are (\d+%) of", finding.sentence)
        assert re.findall(r"results are (\d+%) of", symptom(found, "jumps").evidence) == [share]


def references(found: Advised) -> None:
    """What is lost up to the call is one list: the symptom has all of it, the check of 3A those of results."""
    if found.config is None:
        return
    made, row = played(found), symptom(found, "confident answer")
    card, call = scorecard(made), found.prompt.call
    of_results = (SpanKind.TOOL_RESULT, SpanKind.RETRIEVAL)
    lost = [item for item in made.loss.items if item.call <= call]
    results = sum(item.span_kind in of_results for item in lost)
    assert row.seen is bool(lost)
    if lost:
        assert numbers(row.evidence)[:4] == [len(lost), call + 1, results, len(lost) - results]
    if call == len(made.transcript.calls) - 1:
        assert card.references_lost == len(lost)
    quoted, named = check(found, "values that later"), check(found, "identifiers of old")
    assert quoted is None or quoted.passed is (not results)
    assert quoted is None or not results or numbers(quoted.why)[0] == results
    if named is not None and made.loss.used[call]:
        at_call = made.loss.lost[call]
        assert named.passed is (not at_call)
        assert numbers(named.why)[:2] == [made.loss.used[call], call + 1]
        assert not at_call or numbers(named.why)[2] == at_call


def configured(found: Advised) -> None:
    """The sentence on the configuration names its parts, and the size that it and its check tell is Compare's."""
    if found.config is None or found.advice.leaf is Leaf.CHUNK:
        assert found.configured == ""
        return
    made, call, said = played(found), found.prompt.call, found.configured
    kinds = {part.kind for part in found.config.shrink}
    sent, before = made.calls["in_window"][call], found.prompt.total
    assert said.endswith(f": of call {call + 1} it sends {sent:,} of {before:,} recorded tokens.")
    assert ("cuts each tool result" in said) is ("project_tool_results" in kinds)
    assert ("says each rule once" in said) is ("dedupe_instructions" in kinds)
    assert ("placeholders" in said) is (found.config.strategy.kind == "mask_tool_results")
    assert ("with one summary" in said) is (found.config.strategy.kind == "tiered_injection")
    for part in found.config.shrink:
        assert part.kind != "project_tool_results" or f"cuts each tool result to {part.max_tokens} tokens" in said
    within = check(found, "total within")
    assert within is None or numbers(within.why)[0] == sent


def results_touched(found: Advised) -> None:
    """What the check of 3A says of sizes is what the decisions, which Compare shows, take from results."""
    halved = check(found, "size down")
    if halved is None:
        return
    ids = {span.id for span in found.prompt.results}
    made = [d for d in played(found).plan(found.prompt.call).decisions if d.span_id in ids]
    touched = [d for d in made if d.tokens_before != d.tokens_after]
    before, after = sum(d.tokens_before for d in touched), sum(d.tokens_after for d in touched)
    assert numbers(halved.why) == [len(touched), before, after]


def fits(found: Advised) -> None:
    """The verdict, the check of the total and the findings say the same of whether the call is over the budget."""
    prompt, call = found.prompt, found.prompt.call
    assert (found.advice.overflow > 0) is (prompt.history.calls["sent_excess"][call] > 0)
    if found.config is None:
        return
    made = played(found).judged_by(prompt.history.config.budget)
    over = told(findings(made), "over_budget")
    sent, excess = made.calls["in_window"][call], made.calls["sent_excess"]
    assert prompt.sizes.fits(sent) is (excess[call] == 0)
    assert (over.figures["calls"] if over else 0) == sum(one > 0 for one in excess)
    within = check(found, "total within")
    assert within is None or (within.passed is not False) is (excess[call] == 0)


def calls_left_over(found: Advised) -> None:
    """What is said of all calls under the configuration is what Compare's scorecard has in its rows."""
    if found.config is None:
        assert found.stay_over == ""
        return
    made = played(found)
    budget = found.prompt.history.config.budget
    judged = made.judged_by(budget)
    card = held_against_budget(scorecard(made), judged, findings(judged))
    assert card.over_budget == sum(excess > 0 for excess in judged.calls["sent_excess"])
    if not card.over_budget:
        known = "By what is recorded, no" if found.prompt.sizes.is_unknown else "No"
        assert found.stay_over == f"{known} call stays over the budget with it."
        return
    assert numbers(found.stay_over) == [card.over_budget, card.calls, card.largest_excess]


def given_back(found: Advised) -> None:
    """What the branches of 5A give back, what its configuration leaves out, and what that sends, make one sum."""
    if found.advice.leaf is not Leaf.SMALLER_UNIT:
        return
    told_first = found.verdict.partition(". ")[0].rstrip(".")
    card, gains = branches(found)[-1].evidence, sum(found.advice.reclaim)
    assert told_first.endswith(f": {BRANCHES} can give back no more than {gains:,}")
    assert card.startswith(f"{BRANCHES} give back {gains:,} of the {found.advice.overflow:,} needed")
    assert card.endswith("; the configuration above also leaves out older steps whole") is (found.config is not None)
    if found.config is None:
        return
    plan = played(found).plan(found.prompt.call)
    sent, recorded = numbers(found.configured)[-2:]
    [gone] = re.findall(r"leaves out ([\d,]+) tokens of older steps whole", found.configured)
    inserted = sum(made.tokens_after for made in plan.decisions if made.tokens_before == 0)
    assert (sent, recorded) == (plan.tokens_after, found.prompt.total)
    assert 0 <= int(gone.replace(",", "")) - (recorded - sent) <= found.prompt.measured.summary_cap
    assert recorded - sent >= found.advice.overflow > gains
    assert inserted <= found.prompt.measured.summary_cap


def splits(found: Advised) -> None:
    """A split is only recommended where its checks pass: else headline and verdict say so, and what is left."""
    leaf, failed = found.advice.leaf, [made for made in found.checks if made.passed is False]
    if leaf is not Leaf.SMALLER_UNIT or not failed:
        assert leaf is Leaf.CHUNK or found.headline == TITLES[leaf]
        assert "cannot be split to fit" not in found.verdict
        return
    assert found.headline != TITLES[leaf]
    assert f"The work cannot be split to fit: {failed[0].why}." in found.verdict
    assert ("Cut history" in found.headline) is (found.config is not None)
    assert (f"makes call {found.prompt.call + 1} fit" in found.verdict) is (found.config is not None)


def smaller_unit_told(found: Advised) -> None:
    """The symptom of 5A says why the leaf is taken where the symptom is not seen."""
    row, taken = symptom(found, "everything left is pinned"), found.advice.leaf is Leaf.SMALLER_UNIT
    assert ("5A is taken" in row.evidence) is (taken and row.seen is not True)
    if taken and row.seen is not True:
        assert numbers(row.evidence)[-2:] == [sum(found.advice.reclaim), found.advice.overflow]


def kept_part(found: Advised) -> None:
    """What is checked as kept is what the configuration keeps, and the sentence says the same."""
    kept = check(found, "last ")
    if kept is None or found.said is None:
        return
    [(setting, number)] = [(key, value) for key, value in found.said["strategy"].items() if key.startswith("keep_")]
    assert numbers(kept.name) == [number]
    assert kept.why.startswith(f"{setting} {number:,}: ")
    assert ("but for cut results" in kept.name) is (" cut" in kept.why)
    unit = setting.removeprefix("keep_") if number != 1 else setting.removeprefix("keep_").removesuffix("s")
    assert kept.passed is True
    assert f"keeps the last {number:,} {unit}" in found.configured


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", NAMES)
def test_advice_on_a_sample_agrees_with_itself(name: str, share: float) -> None:
    all_agree(advised_at(SAMPLES / name, share))


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", RECORDINGS)
def test_advice_on_a_recording_agrees_with_itself(name: str, share: float, transcripts_folder: Path) -> None:
    all_agree(advised_at(transcripts_folder / name, share))


def test_all_leaves_are_looked_at(transcripts_folder: Path) -> None:
    paths = [*(SAMPLES / name for name in NAMES), *(transcripts_folder / name for name in RECORDINGS)]
    found = [advised_at(path, share) for path in paths for share in SHARES]
    smaller = [one for one in found if one.advice.leaf is Leaf.SMALLER_UNIT]
    assert {(one.safe, one.config is not None) for one in smaller} >= {(True, True), (False, True), (False, False)}
    leaves = {leaf for one in found for leaf in (one.advice.leaf, *one.advice.then)}
    assert leaves >= {Leaf.FITS, Leaf.OUT_OF_REACH, Leaf.SUMMARISE, Leaf.PROJECT, Leaf.SMALLER_UNIT, Leaf.DEDUPLICATE}
    kinds = {one.said["strategy"]["kind"] for one in found if one.said is not None}
    assert kinds == {"tiered_injection", "mask_tool_results", "keep_last"}


@pytest.mark.parametrize("name", NAMES)
def test_findings_of_results_name_what_is_sent(name: str) -> None:
    """Under a strategy the largest results are those that it leaves, at the size that it leaves them."""
    for share in SHARES[2:]:
        found = advised_at(SAMPLES / name, share)
        made = played(found) if found.config is not None else found.prompt.history
        finding = told(findings(made), "tool_output_share")
        if finding is None:
            continue
        assert finding.call is not None
        left = {d.span_id: d.tokens_after for d in made.plan(finding.call).decisions}
        assert numbers(finding.sentence)[-1] == left[finding.span_ids[0]] > 0
        results = [span.id for unit in made.plan(finding.call).log.units for span in unit.spans
                   if span.kind in (SpanKind.TOOL_RESULT, SpanKind.RETRIEVAL)]  # fmt: skip
        assert left[finding.span_ids[0]] == max(left.get(span_id, 0) for span_id in results)


def test_a_giant_that_must_stay_whole_is_the_reason_and_not_the_branches() -> None:
    """With exact strings 5A is taken for one block, even where the branches could give back all that is needed."""
    told = "what cannot go holds one block of {:,}, and exact strings are needed"
    found = advice(giant(), 1_000, exact_strings_needed=True)
    block = found.prompt.measured.largest_pinned
    assert (found.advice.leaf, found.config) == (Leaf.SMALLER_UNIT, None)
    assert told.format(block) in found.verdict and branches(found)[-1].evidence == told.format(block)
    assert "the largest is over the budget alone" in symptom(found, "everything left is pinned").evidence


@pytest.mark.parametrize(
    ("exact", "headline", "left"),
    [
        (False, "Cut history: the work cannot be split to fit", "What is left is to cut history, which makes call 20"),
        (True, "The work cannot be split to fit", "Exact strings are needed, so history is not cut either: raise the"),
    ],
)
def test_a_split_that_fails_says_what_is_left(exact: bool, headline: str, left: str) -> None:
    transcript = largest_of(SAMPLES / "support_triage.jsonl")
    found = advised(history(transcript, 1_400), exact_strings_needed=exact)
    assert found is not None and found.safe is False
    assert found.headline == headline and left in found.verdict
    assert "leaves no room for a unit" in found.verdict


def test_a_giant_that_cannot_be_split_is_not_headed_by_its_split() -> None:
    found = advice(giant(), 40)
    assert found.advice.leaf is Leaf.CHUNK and found.safe is False
    assert found.headline == "One text is too large, and cannot be split to fit"
    assert advice(giant(), 1_000).headline == TITLES[Leaf.CHUNK]
